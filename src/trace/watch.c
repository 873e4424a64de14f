#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/hash.h"
#include "trace.h"

#define SIGHTINGS 1024  /* segments remembered; the oldest of a bucket gives way */
#define VALUES_KEPT 6   /* of each shape, the last so many different values: longer cycles are not seen */
#define SHAPE_VISITS 7
#define PAYLOAD_LEAST 65536

/* Payloads of the ops in the buffer. Blocks never move; they are reused from the start when the buffer is emptied. */
struct block {
	struct block *next;
	size_t size, used;
	unsigned char bytes[];
};

struct sighting {
	uint64_t shapes;
	uint32_t visits;
	uint32_t next_value;
	uint64_t values[VALUES_KEPT];
	uint32_t *gaps; /* from the second visit on: the least of each */
};

struct reprise_watch {
	struct reprise_op ops[REPRISE_SEGMENT_MOST];
	uint32_t gaps[REPRISE_SEGMENT_MOST]; /* in ticks, until somebody wants to know */
	unsigned int count;
	uint64_t before;
	unsigned int position;

	uint64_t recent[2];          /* shapes of the last two ops kept */
	unsigned int extremum;       /* index of the least hash so far, 0 if none */
	uint64_t extremum_key[2];    /* by shapes, then by value */

	struct block *live, *spare; /* payloads of the segment; those that the tail moves to at a cut */
	struct sighting sightings[SIGHTINGS];
};

static unsigned char *allocate(struct block **list, size_t size)
{
	struct block *block = *list;

	if (block == NULL || block->size - block->used < size) {
		size_t room = size > PAYLOAD_LEAST ? size : PAYLOAD_LEAST;

		block = malloc(sizeof(*block) + room);
		if (block == NULL)
			return NULL;
		*block = (struct block){*list, room, 0};
		*list = block;
	}

	unsigned char *at = block->bytes + block->used;

	block->used += (size + 15u) & ~(size_t)15;
	if (block->used > block->size)
		block->used = block->size;
	return at;
}

/* Keeps one block for the next segment. */
static void reset(struct block **list)
{
	while (*list != NULL && (*list)->next != NULL) {
		struct block *block = *list;

		*list = block->next;
		free(block);
	}
	if (*list != NULL)
		(*list)->used = 0;
}

struct reprise_watch *reprise_watch_new(void)
{
	struct reprise_watch *watch = calloc(1, sizeof(*watch));

	if (watch != NULL)
		watch->before = REPRISE_BEFORE_NOTHING;
	return watch;
}

void reprise_watch_free(struct reprise_watch *watch)
{
	if (watch == NULL)
		return;
	for (struct block *lists[] = {watch->live, watch->spare}, **list = lists; list < lists + 2; list++)
		while (*list != NULL) {
			struct block *block = *list;

			*list = block->next;
			free(block);
		}
	for (unsigned int i = 0; i < SIGHTINGS; i++)
		free(watch->sightings[i].gaps);
	free(watch);
}

struct reprise_op *reprise_watch_slot(struct reprise_watch *watch, const struct reprise_op *examined)
{
	struct reprise_op *slot = &watch->ops[watch->count];

	*slot = *examined;
	slot->payload = NULL;
	if (examined->payload_bytes > 0) {
		slot->payload = allocate(&watch->live, examined->payload_bytes);
		if (slot->payload == NULL)
			return NULL;
	}
	return slot;
}

/*
 * Makes this visit's gaps the least of all visits since the second, so that one interrupt is not taken for a habit of the
 * program's. False if this is the first that is kept.
 */
static bool least_gaps(struct reprise_watch *watch, struct sighting *sighting, unsigned int count)
{
	bool known = sighting->gaps != NULL;

	if (!known)
		sighting->gaps = malloc(count * sizeof(*sighting->gaps));
	if (sighting->gaps == NULL)
		return true;
	for (unsigned int i = 0; known && i < count; i++)
		if (sighting->gaps[i] < watch->gaps[i])
			watch->gaps[i] = sighting->gaps[i];
	memcpy(sighting->gaps, watch->gaps, count * sizeof(*sighting->gaps));
	return known;
}

/* Whether the segment's values, or failing that its shapes, have come often enough. */
static bool worth_a_trace(struct reprise_watch *watch, struct reprise_segment *segment)
{
	uint64_t shapes = reprise_hash_mix(segment->count, segment->before <= REPRISE_BEFORE_WAIT), values = shapes;

	for (unsigned int i = 0; i < segment->count; i++) {
		shapes = reprise_hash_mix(shapes, segment->ops[i].shape);
		values = reprise_hash_mix(values, segment->ops[i].value);
	}

	struct sighting *sighting = &watch->sightings[shapes % SIGHTINGS];

	if (sighting->shapes != shapes) {
		free(sighting->gaps);
		*sighting = (struct sighting){.shapes = shapes};
	}
	sighting->visits++;
	for (unsigned int i = 0; i < VALUES_KEPT; i++)
		if (sighting->values[i] == values)
			segment->exact = true;
	if (!segment->exact)
		sighting->values[sighting->next_value++ % VALUES_KEPT] = values;
	if (sighting->visits == 1 || !least_gaps(watch, sighting, segment->count))
		return false;
	return segment->exact || sighting->visits >= SHAPE_VISITS;
}

static uint32_t to_ns(uint32_t ticks)
{
	uint64_t ns = reprise_clock_ticks_to_ns(ticks);

	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* Ends the segment after its first `count` ops; the others begin the next one. */
static void cut(struct reprise_watch *watch, unsigned int count, bool wait, reprise_watch_found found, void *context)
{
	struct reprise_segment segment = {watch->ops, watch->gaps, count, watch->before, watch->position, wait, false};
	unsigned int tail = watch->count - count;

	if (count == 0)
		return;
	if (worth_a_trace(watch, &segment)) {
		for (unsigned int i = 0; i < count; i++)
			watch->gaps[i] = to_ns(watch->gaps[i]);
		found(context, &segment);
	}
	watch->before = watch->ops[count - 1].shape;
	watch->position += count;
	for (unsigned int i = 0; i < tail; i++) {
		struct reprise_op *op = &watch->ops[count + i];
		unsigned char *payload = op->payload_bytes > 0 ? allocate(&watch->spare, op->payload_bytes) : NULL;

		if (op->payload_bytes > 0 && payload == NULL) {
			tail = i;
			break;
		}
		if (payload != NULL)
			memcpy(payload, op->payload, op->payload_bytes);
		watch->ops[i] = *op;
		watch->ops[i].payload = payload;
		watch->gaps[i] = watch->gaps[count + i];
	}
	watch->count = tail;
	watch->extremum = 0;
	reset(&watch->live);

	struct block *live = watch->live;

	watch->live = watch->spare;
	watch->spare = live;
}

/* The op at `i`, just kept, may be the new extremum. Less by shapes, or equal by shapes and less by value. */
static void weigh(struct reprise_watch *watch, unsigned int i)
{
	uint64_t by_shape = reprise_hash_mix(reprise_hash_mix(watch->recent[1], watch->recent[0]), watch->ops[i].shape);
	uint64_t by_value = reprise_hash_mix(watch->ops[i].value, 5);

	if (i < REPRISE_SEGMENT_LEAST)
		return;
	if (watch->extremum != 0 && (by_shape > watch->extremum_key[0] ||
	                             (by_shape == watch->extremum_key[0] && by_value >= watch->extremum_key[1])))
		return;
	watch->extremum = i;
	watch->extremum_key[0] = by_shape;
	watch->extremum_key[1] = by_value;
}

void reprise_watch_keep(struct reprise_watch *watch, uint32_t gap_ticks, reprise_watch_found found, void *context)
{
	unsigned int i = watch->count++;

	watch->gaps[i] = gap_ticks;
	weigh(watch, i);
	watch->recent[1] = watch->recent[0];
	watch->recent[0] = watch->ops[i].shape;
	if (watch->extremum != 0 && (i - watch->extremum >= REPRISE_SEGMENT_SURVIVE || watch->count == REPRISE_SEGMENT_MOST))
		cut(watch, watch->extremum, false, found, context);
}

void reprise_watch_begin(struct reprise_watch *watch, uint64_t before, unsigned int position)
{
	watch->count = 0;
	watch->extremum = 0;
	watch->before = before;
	watch->position = position;
	reset(&watch->live);
}

void reprise_watch_end(struct reprise_watch *watch, bool wait, reprise_watch_found found, void *context)
{
	cut(watch, watch->count, wait, found, context);
}

void reprise_watch_drop(struct reprise_watch *watch)
{
	reprise_watch_begin(watch, REPRISE_BEFORE_NOTHING, watch->position + watch->count);
}

uint64_t reprise_watch_last(const struct reprise_watch *watch)
{
	return watch->count > 0 ? watch->ops[watch->count - 1].shape : watch->before;
}
