#include "trace/watch.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/store.h"
#include "base/tuning.h"
#include "trace/site.h"
#include "trace/hash_set.h"

#define PAYLOAD_LEAST 65536
#define PAGE_LEAST 4096 /* bytes: no page of a CUDA platform is smaller */

#define ROLL 0xd1342543de82ef95u /* odd; its power of REPRISE_TUNE_WATCH_CONTEXT is ROLL_OUT */
#define ROLL_2 (ROLL * ROLL)
#define ROLL_OUT (ROLL_2 * ROLL_2 * ROLL_2 * ROLL_2)
_Static_assert(REPRISE_TUNE_WATCH_CONTEXT == 8, "ROLL_OUT is the power of 8");

/* Payloads of the kept ops. Blocks never move; they are reused once the segment ends. */
struct block {
	struct block *next;
	size_t size, used;
	unsigned char bytes[];
};

struct reprise_watch {
	struct reprise_op ops[REPRISE_TUNE_SEGMENT_MOST];
	uint32_t gaps[REPRISE_TUNE_SEGMENT_MOST]; /* in ticks; in nanoseconds for the callback */
	struct reprise_site_name names[REPRISE_TUNE_SEGMENT_MOST][REPRISE_SITE_BY_COUNT];
	/* At first: the value did not follow the two before it earlier. Then as its site says. */
	bool any_value[REPRISE_TUNE_SEGMENT_MOST];
	unsigned int count;
	struct reprise_position position; /* of the first op */
	uint32_t segment;                 /* the segment's number */

	uint64_t recent_shapes[REPRISE_TUNE_WATCH_CONTEXT]; /* of the last ops kept, a ring */
	uint64_t recent_values[2];
	unsigned int recent;              /* the ring's oldest */
	uint64_t shapes;                  /* a rolling hash of the ring */
	struct reprise_hash_set in_a_row; /* three values each */
	struct reprise_hash_set parts;    /* segments, and parts of them */
	unsigned int extremum;            /* index of the least hash so far; 0: none */
	uint64_t extremum_key[2];         /* by shapes, then by values */

	/* payloads of the segment; those that a cut moves to the next one */
	struct block *live, *spare;
	struct reprise_sites sites;
};

static _Atomic(struct reprise_watch *) ahead; /* made ahead; NULL: none */

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

static struct reprise_watch *make(void)
{
	struct reprise_watch *watch = reprise_store_take(REPRISE_STORE_WATCHED, sizeof(*watch));

	if (watch != NULL)
		watch->position.before = REPRISE_BEFORE_NOTHING;
	return watch;
}

struct reprise_watch *reprise_watch_new(void)
{
	struct reprise_watch *watch = atomic_exchange(&ahead, NULL);

	return watch != NULL ? watch : make();
}

void reprise_watch_make_ahead(void)
{
	struct reprise_watch *watch, *none = NULL;

	if (atomic_load(&ahead) != NULL || reprise_store_is_short())
		return;
	watch = make();
	for (size_t at = 0; watch != NULL && at < sizeof(*watch); at += PAGE_LEAST)
		((volatile unsigned char *)watch)[at] = ((volatile unsigned char *)watch)[at];
	if (!atomic_compare_exchange_strong(&ahead, &none, watch))
		reprise_watch_free(watch);
}

void reprise_watch_reset(void)
{
	atomic_store(&ahead, NULL);
}

void reprise_watch_free(struct reprise_watch *watch)
{
	if (watch == NULL)
		return;
	for (struct block *lists[] = {watch->live, watch->spare}, **list = lists; list < lists + 2;
	     list++)
		while (*list != NULL) {
			struct block *block = *list;

			*list = block->next;
			reprise_store_give(block);
		}
	reprise_store_give(watch);
}

struct reprise_op *reprise_watch_slot(struct reprise_watch *watch,
                                      const struct reprise_op *examined)
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

/* True if all of the segment's values came together before. */
static bool is_exact(struct reprise_watch *watch, const struct reprise_segment *segment)
{
	uint64_t values =
		reprise_hash_mix(segment->count, segment->position.before <= REPRISE_BEFORE_WAIT);

	for (unsigned int i = 0; i < segment->count; i++)
		values = reprise_hash_mix(values, segment->ops[i].value);
	return reprise_hash_set_note(&watch->parts, values, watch->segment);
}

/* Names the ops' sites; those by context are named already. */
static void name_sites(struct reprise_watch *watch, const struct reprise_segment *segment)
{
	uint64_t whole = segment->count, before = segment->position.before;

	for (unsigned int i = 0; i < segment->count; i++)
		whole = reprise_hash_mix(whole, segment->ops[i].shape);
	for (unsigned int i = 0; i < segment->count; i++) {
		unsigned int position = segment->position.since_wait + i;
		uint64_t shape = segment->ops[i].shape;

		watch->names[i][REPRISE_SITE_BY_SEGMENT].key = reprise_site_key(reprise_hash_mix(whole, i));
		watch->names[i][REPRISE_SITE_BY_POSITION].key =
			position < REPRISE_TUNE_NEAR_WAIT
				? reprise_site_key(reprise_hash_mix(reprise_hash_mix(before, position), shape))
				: 0;
		before = shape;
	}
}

/* Notes the op at its sites. True if one is known: it then decides the op's gap and any_value. */
static bool note_op(struct reprise_watch *watch, unsigned int i)
{
	const struct reprise_visit visit = {
		.segment = watch->segment,
		.since_wait = watch->position.since_wait + i,
		.gap = watch->gaps[i],
		.value = watch->ops[i].value,
		.is_new = watch->any_value[i],
		.next = i + 1 < watch->count ? watch->ops[i + 1].shape : 0,
	};
	struct reprise_judgement judgement;

	for (unsigned int by = 0; by < REPRISE_SITE_BY_COUNT; by++)
		if (watch->names[i][by].key != 0)
			reprise_site_visit(&watch->sites, &watch->names[i][by], &visit);
	judgement = reprise_site_judge(&watch->sites, watch->names[i]);
	if (judgement.site == NULL)
		return false;
	watch->gaps[i] = judgement.site->gap;
	watch->any_value[i] = reprise_site_is_any_value(&judgement);
	return true;
}

/* Notes the segment's ops. True if one of their sites is known. */
static bool note_ops(struct reprise_watch *watch, struct reprise_segment *segment)
{
	bool known = false;

	name_sites(watch, segment);
	segment->exact = is_exact(watch, segment);
	for (unsigned int i = 0; i < segment->count; i++)
		known = note_op(watch, i) || known;
	if (segment->exact)
		memset(watch->any_value, 0, segment->count * sizeof(*watch->any_value));
	return known;
}

bool reprise_watch_note_part(struct reprise_watch *watch, struct reprise_segment *segment,
                             unsigned int start, unsigned int count)
{
	uint64_t exact_hash = reprise_hash_mix(count, start > 0 ? segment->ops[start - 1].shape
	                                                        : segment->position.before),
			 hash = exact_hash;
	unsigned int any_value = 0, news = 0;
	bool stable = true;

	for (unsigned int i = start; i < start + count; i++) {
		struct reprise_judgement judgement = reprise_site_judge(&watch->sites, watch->names[i]);

		if (judgement.site == NULL)
			return false;
		any_value += segment->any_value[i];
		news += judgement.site->news & 1;
		stable = stable && (judgement.stable || !segment->any_value[i]);
		exact_hash = reprise_hash_mix(exact_hash, segment->ops[i].value);
		hash = reprise_hash_mix(hash, segment->any_value[i] ? segment->ops[i].shape
		                                                    : segment->ops[i].value);
	}
	if (reprise_hash_set_note(&watch->parts, exact_hash, watch->segment) || segment->exact) {
		memset(segment->any_value + start, 0, count * sizeof(*segment->any_value));
		return true;
	}
	/* Where few of the any-value ops are new at this visit, the values may be about to repeat. */
	return hash != exact_hash && reprise_hash_set_note(&watch->parts, hash, watch->segment) &&
	       stable && 2 * news >= any_value;
}

static uint32_t to_ns(uint32_t ticks)
{
	uint64_t ns = reprise_clock_ticks_to_ns(ticks);

	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* Ends the segment after its first `count` ops; the others begin the next one. */
static void cut(struct reprise_watch *watch, unsigned int count, bool wait,
                reprise_watch_found found, void *context)
{
	struct reprise_segment segment = {
		.ops = watch->ops,
		.gaps = watch->gaps,
		.any_value = watch->any_value,
		.count = count,
		.position = watch->position,
		.ends_in_wait = wait,
	};
	unsigned int tail = watch->count - count;

	if (count == 0)
		return;
	if (note_ops(watch, &segment)) {
		for (unsigned int i = 0; i < count; i++)
			watch->gaps[i] = to_ns(watch->gaps[i]);
		found(context, &segment);
	}
	watch->position =
		(struct reprise_position){watch->ops[count - 1].shape,
	                              watch->any_value[count - 1] ? 0 : watch->ops[count - 1].value,
	                              watch->position.since_wait + count};
	for (unsigned int i = 0; i < tail; i++) {
		struct reprise_op *op = &watch->ops[count + i];
		unsigned char *payload =
			op->payload_bytes > 0 ? allocate(&watch->spare, op->payload_bytes) : NULL;

		if (op->payload_bytes > 0 && payload == NULL) {
			tail = i;
			break;
		}
		if (payload != NULL)
			memcpy(payload, op->payload, op->payload_bytes);
		watch->ops[i] = *op;
		watch->ops[i].payload = payload;
		watch->ops[i].waits_for = 0; /* where this segment begins it was not asked */
		watch->gaps[i] = watch->gaps[count + i];
		watch->names[i][REPRISE_SITE_BY_CONTEXT] = watch->names[count + i][REPRISE_SITE_BY_CONTEXT];
		watch->any_value[i] = watch->any_value[count + i];
	}
	watch->count = tail;
	watch->segment++;
	watch->extremum = 0;
	reset(&watch->live);

	struct block *live = watch->live;

	watch->live = watch->spare;
	watch->spare = live;
}

/* A hash of the shapes of the last ops, this one included. */
static uint64_t hash_shapes(struct reprise_watch *watch, uint64_t shape)
{
	uint64_t *oldest = &watch->recent_shapes[watch->recent++ % REPRISE_TUNE_WATCH_CONTEXT];

	watch->shapes = watch->shapes * ROLL - *oldest * ROLL_OUT + shape;
	*oldest = shape;
	return reprise_hash_mix(watch->shapes, 5);
}

/* A hash of this op's value and the two before it. *known: they came in a row before. */
static uint64_t hash_values(struct reprise_watch *watch, uint64_t value, bool *known)
{
	uint64_t hash =
		reprise_hash_mix(reprise_hash_mix(watch->recent_values[1], watch->recent_values[0]), value);

	*known = reprise_hash_set_note(&watch->in_a_row, hash, watch->segment);
	watch->recent_values[1] = watch->recent_values[0];
	watch->recent_values[0] = value;
	return hash;
}

/* The op at `i`, just kept, may be the new extremum: the least by shapes, then by values. New
 * values come last: a cut at an op that never comes again is useless. */
static void weigh(struct reprise_watch *watch, unsigned int i, bool border)
{
	bool known;
	uint64_t by_shape = hash_shapes(watch, watch->ops[i].shape),
			 by_value = hash_values(watch, watch->ops[i].value, &known);

	watch->names[i][REPRISE_SITE_BY_CONTEXT].key = reprise_site_key(by_shape);
	watch->any_value[i] = !known;
	if (!known)
		by_value = UINT64_MAX;
	if (i < REPRISE_TUNE_SEGMENT_LEAST || !border)
		return;
	if (watch->extremum != 0 &&
	    (by_shape > watch->extremum_key[0] ||
	     (by_shape == watch->extremum_key[0] && by_value >= watch->extremum_key[1])))
		return;
	watch->extremum = i;
	watch->extremum_key[0] = by_shape;
	watch->extremum_key[1] = by_value;
}

/* A wait for an event that was recorded before the extremum: a cut there would separate the two. */
static void uncross(struct reprise_watch *watch, unsigned int i)
{
	for (unsigned int before = i; before-- > 0;)
		if (watch->ops[before].kind == REPRISE_OP_RECORD &&
		    watch->ops[before].event == watch->ops[i].event) {
			if (before < watch->extremum)
				watch->extremum = 0;
			return;
		}
}

void reprise_watch_keep(struct reprise_watch *watch, uint32_t gap_ticks, bool border,
                        reprise_watch_found found, void *context)
{
	unsigned int i = watch->count++;

	watch->gaps[i] = gap_ticks;
	if (watch->ops[i].kind == REPRISE_OP_WAIT)
		uncross(watch, i);
	weigh(watch, i, border);
	if (watch->extremum != 0 && (i - watch->extremum >= REPRISE_TUNE_SEGMENT_SURVIVE ||
	                             watch->count == REPRISE_TUNE_SEGMENT_MOST))
		cut(watch, watch->extremum, false, found, context);
	else if (watch->count == REPRISE_TUNE_SEGMENT_MOST)
		cut(watch, watch->count, false, found, context);
}

uint32_t reprise_watch_segment(const struct reprise_watch *watch)
{
	return watch->segment;
}

void reprise_watch_begin(struct reprise_watch *watch, const struct reprise_position *position)
{
	watch->count = 0;
	watch->segment++;
	watch->extremum = 0;
	watch->position = *position;
	memset(watch->recent_shapes, 0, sizeof(watch->recent_shapes));
	watch->shapes = 0;
	hash_shapes(watch, position->before);
	watch->recent_values[1] = 0;
	watch->recent_values[0] = position->value;
	reset(&watch->live);
}

void reprise_watch_end(struct reprise_watch *watch, bool wait, reprise_watch_found found,
                       void *context)
{
	cut(watch, watch->count, wait, found, context);
}

void reprise_watch_drop(struct reprise_watch *watch)
{
	struct reprise_position nowhere = {REPRISE_BEFORE_NOTHING, 0,
	                                   watch->position.since_wait + watch->count};

	reprise_watch_begin(watch, &nowhere);
}

bool reprise_watch_knows(struct reprise_watch *watch, uint64_t value)
{
	return reprise_hash_set_has(
		&watch->in_a_row,
		reprise_hash_mix(reprise_hash_mix(watch->recent_values[1], watch->recent_values[0]), value),
		watch->segment);
}
