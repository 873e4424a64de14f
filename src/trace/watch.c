#include "watch.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/hash.h"
#include "../base/store.h"

#define SIGHTINGS 1024  /* segments remembered; the oldest of a bucket gives way */
#define VALUES_KEPT 6   /* of a segment and of each op in it, the last so many different ones: longer cycles are not seen */
#define SETTLED 7       /* a segment that came back so often: its loose ops stay so. In a long chain of one kernel all parts look alike, and do not count */
#define LOOSE 3         /* new values make an op loose */
#define FAR 8192        /* ops: who has not waited for so long has come round, whatever the period */
#define PAYLOAD_LEAST 65536

#define CONTEXT 8    /* shapes that decide where a cut falls */
#define ROLL 0xd1342543de82ef95u /* odd; the same to the power of CONTEXT is ROLL_OUT */
#define ROLL_2 (ROLL * ROLL)
#define ROLL_OUT (ROLL_2 * ROLL_2 * ROLL_2 * ROLL_2)
#define SEEN 16384   /* several of the longest periods */

/* Payloads of the ops in the buffer. Blocks never move; they are reused from the start when the buffer is emptied. */
struct block {
	struct block *next;
	size_t size, used;
	unsigned char bytes[];
};

/* An op of a segment, as it came from the second visit on. */
struct place {
	uint32_t gap; /* the least */
	uint16_t next_value;
	uint16_t news; /* visits with a value that was new */
	uint32_t values[VALUES_KEPT]; /* hashes, cut short: at worst a patch that need not have been, or a trace too many */
};

struct sighting {
	uint64_t shapes;
	uint32_t visits;
	uint32_t returns; /* visits that were not in the midst of others that look alike */
	unsigned int position;
	struct place *places;
};

/* Hashes that came lately, and in which segment first. One that takes another's place lets it be forgotten. */
struct seen {
	uint32_t hashes[SEEN];
	uint32_t segments[SEEN];
};

struct reprise_watch {
	struct reprise_op ops[REPRISE_SEGMENT_MOST];
	uint32_t gaps[REPRISE_SEGMENT_MOST]; /* in ticks, until somebody wants to know */
	bool loose[REPRISE_SEGMENT_MOST];    /* at first: its value and the two before it had not come together */
	unsigned int count;
	struct reprise_spot spot; /* of the first */
	uint32_t segment;         /* counts segments */

	uint64_t recent_shapes[CONTEXT]; /* of the last ops kept, a ring; */
	uint64_t recent_values[2];
	unsigned int recent;         /* the ring's oldest */
	uint64_t shapes;             /* a rolling hash of the ring */
	uint64_t last_shapes;        /* of the last segment */
	struct seen in_a_row;        /* three values */
	struct seen parts;           /* segments, and parts of them */
	unsigned int extremum;       /* index of the least hash so far, 0 if none */
	uint64_t extremum_key[2];    /* by shapes, then by values */

	struct block *live, *spare; /* payloads of the segment; those that the tail moves to at a cut */
	struct sighting sightings[SIGHTINGS];
};

static unsigned char *allocate(struct block **list, size_t size)
{
	struct block *block = *list;

	if (block == NULL || block->size - block->used < size) {
		size_t room = size > PAYLOAD_LEAST ? size : PAYLOAD_LEAST;

		block = reprise_store_take(REPRISE_STORE_TRACES, sizeof(*block) + room);
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
		reprise_store_give(block);
	}
	if (*list != NULL)
		(*list)->used = 0;
}

/* Whether it came before this segment: what is new may well come several times in a row. */
static bool is_seen(const struct seen *seen, uint64_t hash, uint32_t segment)
{
	return seen->hashes[hash % SEEN] == (uint32_t)(hash >> 32) && seen->segments[hash % SEEN] != segment;
}

/* Notes the hash; true if it came before this segment. */
static bool see(struct seen *seen, uint64_t hash, uint32_t segment)
{
	if (seen->hashes[hash % SEEN] == (uint32_t)(hash >> 32))
		return seen->segments[hash % SEEN] != segment;
	seen->hashes[hash % SEEN] = (uint32_t)(hash >> 32);
	seen->segments[hash % SEEN] = segment;
	return false;
}

struct reprise_watch *reprise_watch_new(void)
{
	struct reprise_watch *watch = reprise_store_take(REPRISE_STORE_WATCHED, sizeof(*watch));

	if (watch != NULL)
		watch->spot.before = REPRISE_BEFORE_NOTHING;
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
			reprise_store_give(block);
		}
	for (unsigned int i = 0; i < SIGHTINGS; i++)
		reprise_store_give(watch->sightings[i].places);
	reprise_store_give(watch);
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

bool reprise_watch_came_before(struct reprise_watch *watch, uint64_t hash)
{
	return see(&watch->parts, hash, watch->segment);
}

/* True if the value came at one of the last visits; notes it. */
static bool came_before(struct place *place, uint64_t value)
{
	uint32_t short_value = (uint32_t)(value >> 32);

	for (unsigned int i = 0; i < VALUES_KEPT; i++)
		if (place->values[i] == short_value)
			return true;
	place->values[place->next_value++ % VALUES_KEPT] = short_value;
	return false;
}

/*
 * Notes each op's gap and value. This visit's gaps become the least of all visits since the second, so that one interrupt is not taken for
 * a habit of the program's. False if this is the first that is kept.
 */
static bool note_places(struct reprise_watch *watch, struct sighting *sighting, unsigned int count)
{
	bool known = sighting->places != NULL;

	if (!known)
		sighting->places = reprise_store_take(REPRISE_STORE_TRACES, count * sizeof(*sighting->places));
	for (unsigned int i = 0; i < count; i++) {
		struct place *place = sighting->places != NULL ? &sighting->places[i] : NULL;

		if (place != NULL && came_before(place, watch->ops[i].value))
			watch->loose[i] = false;
		if (place != NULL && place->news < UINT16_MAX)
			place->news += watch->loose[i];
		if (known && place->gap < watch->gaps[i])
			watch->gaps[i] = place->gap;
		if (place != NULL)
			place->gap = watch->gaps[i];
	}
	return known;
}

/* Whether the segment's shapes, in whole, have come often enough. */
static bool worth_a_look(struct reprise_watch *watch, struct reprise_segment *segment)
{
	uint64_t shapes = reprise_hash_mix(segment->count, segment->spot.before <= REPRISE_BEFORE_WAIT), values = shapes;

	for (unsigned int i = 0; i < segment->count; i++) {
		shapes = reprise_hash_mix(shapes, segment->ops[i].shape);
		values = reprise_hash_mix(values, segment->ops[i].value);
	}

	struct sighting *sighting = &watch->sightings[shapes % SIGHTINGS];

	if (sighting->shapes != shapes) {
		reprise_store_give(sighting->places);
		*sighting = (struct sighting){.shapes = shapes, .position = segment->spot.position};
	}
	sighting->visits++;
	sighting->returns += shapes != watch->last_shapes || segment->spot.position == sighting->position || segment->spot.position >= FAR;
	watch->last_shapes = shapes;
	segment->exact = reprise_watch_came_before(watch, values);
	if (sighting->visits == 1 || !note_places(watch, sighting, segment->count))
		return false;
	if (segment->exact)
		memset(watch->loose, 0, segment->count * sizeof(*watch->loose));
	segment->settled = sighting->returns >= SETTLED;
	for (unsigned int i = 0; segment->settled && !segment->exact && i < segment->count; i++)
		watch->loose[i] = sighting->places != NULL && sighting->places[i].news >= LOOSE;
	return true;
}

static uint32_t to_ns(uint32_t ticks)
{
	uint64_t ns = reprise_clock_ticks_to_ns(ticks);

	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* Ends the segment after its first `count` ops; the others begin the next one. */
static void cut(struct reprise_watch *watch, unsigned int count, bool wait, reprise_watch_found found, void *context)
{
	struct reprise_segment segment = {
		.ops = watch->ops,
		.gaps = watch->gaps,
		.loose = watch->loose,
		.count = count,
		.spot = watch->spot,
		.ends_in_wait = wait,
	};
	unsigned int tail = watch->count - count;

	if (count == 0)
		return;
	if (worth_a_look(watch, &segment)) {
		for (unsigned int i = 0; i < count; i++)
			watch->gaps[i] = to_ns(watch->gaps[i]);
		found(context, &segment);
	}
	watch->spot = (struct reprise_spot){watch->ops[count - 1].shape, watch->loose[count - 1] ? 0 : watch->ops[count - 1].value,
		watch->spot.position + count};
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
		watch->loose[i] = watch->loose[count + i];
	}
	watch->count = tail;
	watch->segment++;
	watch->extremum = 0;
	reset(&watch->live);

	struct block *live = watch->live;

	watch->live = watch->spare;
	watch->spare = live;
}

/* The shapes of the last ops, this one's included, as one number. */
static uint64_t hash_shapes(struct reprise_watch *watch, uint64_t shape)
{
	uint64_t *oldest = &watch->recent_shapes[watch->recent++ % CONTEXT];

	watch->shapes = watch->shapes * ROLL - *oldest * ROLL_OUT + shape;
	*oldest = shape;
	return reprise_hash_mix(watch->shapes, 5);
}

/* The values of this op and the two before it as one number; *known if they came before. */
static uint64_t hash_values(struct reprise_watch *watch, uint64_t value, bool *known)
{
	uint64_t hash = reprise_hash_mix(reprise_hash_mix(watch->recent_values[1], watch->recent_values[0]), value);

	*known = see(&watch->in_a_row, hash, watch->segment);
	watch->recent_values[1] = watch->recent_values[0];
	watch->recent_values[0] = value;
	return hash;
}

/*
 * The op at `i`, just kept, may be the new extremum: less by shapes, or equal by shapes and less by values. Values that are new come last: what never
 * comes again is no place to cut.
 */
static void weigh(struct reprise_watch *watch, unsigned int i)
{
	bool known;
	uint64_t by_shape = hash_shapes(watch, watch->ops[i].shape), by_value = hash_values(watch, watch->ops[i].value, &known);

	watch->loose[i] = !known;
	if (!known)
		by_value = UINT64_MAX;
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
	if (watch->extremum != 0 && (i - watch->extremum >= REPRISE_SEGMENT_SURVIVE || watch->count == REPRISE_SEGMENT_MOST))
		cut(watch, watch->extremum, false, found, context);
}

void reprise_watch_begin(struct reprise_watch *watch, const struct reprise_spot *spot)
{
	watch->count = 0;
	watch->segment++;
	watch->extremum = 0;
	watch->spot = *spot;
	reset(&watch->live);
}

void reprise_watch_end(struct reprise_watch *watch, bool wait, reprise_watch_found found, void *context)
{
	cut(watch, watch->count, wait, found, context);
}

void reprise_watch_drop(struct reprise_watch *watch)
{
	struct reprise_spot nowhere = {REPRISE_BEFORE_NOTHING, 0, watch->spot.position + watch->count};

	reprise_watch_begin(watch, &nowhere);
}

bool reprise_watch_knows(const struct reprise_watch *watch, uint64_t value)
{
	return is_seen(&watch->in_a_row, reprise_hash_mix(reprise_hash_mix(watch->recent_values[1], watch->recent_values[0]), value), watch->segment);
}
