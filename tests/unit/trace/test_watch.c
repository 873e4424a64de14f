/* Watching: what repeats is found, soon and not sooner; cuts fall where they fell before. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/store.h"
#include "base/tuning.h"
#include "trace/watch.h"
#include "ops.h"

static struct reprise_watch *watch;
static unsigned int found_count;      /* segments found since forget() */
static struct reprise_segment latest; /* the last of them; its ops are gone */
static uint64_t first_shapes[4096];   /* with which op each segment found began */
static unsigned int op_gap;
static const struct reprise_position after_wait = {.before = REPRISE_BEFORE_WAIT};
static bool any_value[REPRISE_TUNE_SEGMENT_MOST]; /* in the latest */
static unsigned int part_start, part_count;       /* asked for in each segment; 0 ops: all of it */
static bool worthy;                               /* whether it was worth a trace in the latest */

/* Behind a cut: the position is that of the op before. */
static unsigned int cuts_in_a_row, values_known; /* how often that was seen */
static uint64_t last_shape, last_value;          /* 0: of an any-value op */

static void continues(const struct reprise_segment *segment)
{
	if (found_count == 0 ||
	    segment->position.since_wait != latest.position.since_wait + latest.count)
		return;
	ck_assert_uint_eq(segment->position.before, last_shape);
	ck_assert_uint_eq(segment->position.value, last_value);
	cuts_in_a_row++;
	values_known += last_value != 0;
}

static void found(void *context, struct reprise_segment *segment)
{
	continues(segment);
	latest = *segment;
	worthy = reprise_watch_note_part(watch, segment, part_start,
	                                 part_count > 0 ? part_count : segment->count);
	memcpy(any_value, segment->any_value, segment->count * sizeof(*any_value));
	last_shape = segment->ops[segment->count - 1].shape;
	last_value = any_value[segment->count - 1] ? 0 : segment->ops[segment->count - 1].value;
	first_shapes[found_count % 4096] = segment->ops[0].shape;
	found_count++;
}

static void forget(void)
{
	found_count = 0;
	latest = (struct reprise_segment){0};
	worthy = false;
}

static void setup(void)
{
	watch = reprise_watch_new();
	ck_assert_ptr_nonnull(watch);
	op_gap = 0;
	part_start = part_count = 0;
	forget();
	reprise_watch_begin(watch, &after_wait);
}

static void teardown(void)
{
	reprise_watch_free(watch);
}

static void keep(unsigned int shape, unsigned int value)
{
	struct reprise_op op = op_of(shape, value);

	ck_assert_ptr_nonnull(reprise_watch_slot(watch, &op));
	reprise_watch_keep(watch, op_gap, true, found, NULL);
}

static void wait(void)
{
	reprise_watch_end(watch, true, found, NULL);
	reprise_watch_begin(watch, &after_wait);
}

START_TEST(a_segment_is_worth_a_trace_at_its_third_visit)
{
	for (unsigned int visit = 1; visit <= 3; visit++) {
		for (unsigned int i = 0; i < 10; i++)
			keep(i, 0);
		wait();
		ck_assert_uint_eq(found_count, visit < 3 ? 0 : 1);
	}
	ck_assert_uint_eq(latest.count, 10);
	ck_assert(latest.exact);
	ck_assert(latest.ends_in_wait);
	ck_assert_uint_eq(latest.position.before, REPRISE_BEFORE_WAIT);
}
END_TEST

START_TEST(two_values_by_turns_are_two_exact_segments)
{
	for (unsigned int visit = 0; visit < 8; visit++) {
		forget();
		for (unsigned int i = 0; i < 5; i++)
			keep(i, visit % 2);
		wait();
	}
	ck_assert_uint_eq(found_count, 1);
	ck_assert(latest.exact);
}
END_TEST

START_TEST(values_that_never_come_again_are_loose_and_settled_by_and_by)
{
	unsigned int visit;

	for (visit = 1; visit <= 20 && !worthy; visit++) {
		for (unsigned int i = 0; i < 5; i++)
			keep(i, i == 3 ? visit : 0);
		wait();
		ck_assert(!latest.exact);
	}
	ck_assert_uint_eq(visit - 1, 7);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_int_eq(any_value[i], i == 3);
}
END_TEST

START_TEST(parts_of_a_long_chain_that_look_alike_settle_nothing)
{
	for (unsigned int i = 0; i < 4000; i++) {
		keep(1, i);
		ck_assert(!worthy);
	}
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int j = 0; j < 4000; j++)
			keep(1, j);
	ck_assert(latest.exact);
	ck_assert(worthy);
}
END_TEST

START_TEST(a_part_is_known_wherever_watching_begins_and_ends)
{
	for (unsigned int visit = 0; visit < 6; visit++) {
		const struct reprise_position position = {.before = 100 + visit, .since_wait = visit + 1};

		/* Ops 1 to 39 since the wait; the first of them are not seen, nor are the last. */
		reprise_watch_begin(watch, &position);
		part_start = 10 - position.since_wait;
		part_count = 20;
		for (unsigned int i = position.since_wait; i < 37 + visit; i++)
			keep(i, i == 5 || i == 35 ? visit : 0);
		reprise_watch_end(watch, false, found, NULL);
		ck_assert_int_eq(worthy, visit >= 3); /* known at the third, and the same at the next */
	}
	ck_assert(!latest.exact);
}
END_TEST

START_TEST(a_part_whose_values_come_round_is_not_loose)
{
	/* Two sets of values by turns, and one op that is always new. */
	for (unsigned int visit = 0; visit < 30; visit++) {
		part_count = 10;
		for (unsigned int i = 0; i < 20; i++)
			keep(i, i == 15 ? 1000 + visit : visit % 2);
		wait();
	}
	ck_assert(worthy);
	ck_assert(!latest.exact);
	for (unsigned int i = 0; i < 20; i++)
		ck_assert_int_eq(any_value[i], i == 15);
}
END_TEST

START_TEST(few_kernels_at_random_with_new_values_settle_nothing)
{
	unsigned int state = 1;

	part_count = 4;
	for (unsigned int i = 0; i < 20000; i++) {
		state = state * 1103515245u + 12345u;
		keep(1 + (state >> 16) % 2, i);
		if (i % 24 == 23)
			wait();
		ck_assert(!worthy);
	}
}
END_TEST

START_TEST(nothing_repeats_nothing_is_found)
{
	for (unsigned int i = 0; i < 5000; i++)
		keep(i, 0);
	wait();
	ck_assert_uint_eq(found_count, 0);
}
END_TEST

START_TEST(a_long_run_without_a_wait_is_cut_where_it_was_cut_before)
{
	enum { PERIOD = 700, PERIODS = 12 };
	uint64_t seen[64];
	unsigned int begun = 0, known = 0;

	for (unsigned int i = 0; i < PERIOD * PERIODS; i++)
		keep(1 + i % PERIOD, 0);
	ck_assert_uint_gt(found_count, 0);
	/* Every segment begins at one of few places of the period. */
	for (unsigned int i = 0; i < found_count; i++) {
		for (known = 0; known < begun && seen[known] != first_shapes[i]; known++)
			;
		if (known == begun) {
			ck_assert_uint_lt(begun, 64);
			seen[begun++] = first_shapes[i];
		}
	}
	ck_assert_uint_le(begun, PERIOD / REPRISE_TUNE_SEGMENT_LEAST + 1);
	ck_assert_uint_le(latest.count, REPRISE_TUNE_SEGMENT_MOST);
	ck_assert_uint_ge(latest.count, REPRISE_TUNE_SEGMENT_LEAST);
}
END_TEST

/* Every other value is always new: first those of even ops, then those of odd ones. */
START_TEST(behind_a_cut_the_position_is_known)
{
	enum { PERIOD = 700 };

	for (unsigned int odd = 0; odd < 2; odd++) {
		for (unsigned int i = 0; i < PERIOD * 60; i++)
			keep(1 + i % PERIOD, i % PERIOD % 2 == odd ? 1 + i : 0);
		wait();
	}
	ck_assert_uint_gt(cuts_in_a_row, 50);
	ck_assert_uint_gt(values_known, 0);
	ck_assert_uint_lt(values_known, cuts_in_a_row);
}
END_TEST

START_TEST(an_inserted_op_moves_no_later_cut)
{
	enum { PERIOD = 700 };
	uint64_t before[16];
	unsigned int count, hits = 0;

	for (unsigned int i = 0; i < PERIOD * 6; i++)
		keep(1 + i % PERIOD, 0);
	count = found_count < 16 ? found_count : 16;
	ck_assert_uint_gt(count, 3);
	for (unsigned int i = 0; i < count; i++)
		before[i] = first_shapes[found_count - 1 - i];
	forget();
	for (unsigned int i = 0; i < PERIOD * 6; i++) {
		keep(1 + i % PERIOD, 0);
		if (i == 50)
			keep(999999, 0);
	}
	for (unsigned int i = 0; i < found_count; i++)
		for (unsigned int j = 0; j < count; j++)
			if (first_shapes[i] == before[j]) {
				hits++;
				break;
			}
	ck_assert_uint_ge(hits + 1, found_count);
	ck_assert_uint_gt(hits, 10);
}
END_TEST

START_TEST(a_refused_op_takes_its_segment_with_it)
{
	for (unsigned int visit = 0; visit < 10; visit++) {
		for (unsigned int i = 0; i < 10; i++)
			keep(i, 0);
		reprise_watch_drop(watch);
	}
	wait();
	ck_assert_uint_eq(found_count, 0);
}
END_TEST

START_TEST(a_pause_that_came_once_is_no_habit)
{
	uint64_t slow = reprise_clock_ns_to_ticks(40000);

	for (unsigned int visit = 0; visit < 4; visit++) {
		for (unsigned int i = 0; i < 10; i++) {
			op_gap = visit == 2 && i == 5 ? (uint32_t)slow : 0;
			keep(i, 0);
		}
		reprise_watch_end(watch, true, found, NULL);
		if (visit == 3)
			ck_assert_uint_lt(latest.gaps[5], 20000);
		reprise_watch_begin(watch, &after_wait);
	}
	ck_assert_uint_eq(found_count, 2);
}
END_TEST

/* Three values in a row, in an earlier segment. */
START_TEST(a_value_is_known_by_the_two_before_it)
{
	enum { VALUES = 5, SEGMENTS = 60 }; /* value 0: before the first op */
	unsigned int first_in[VALUES][VALUES][VALUES] = {0}, known = 0, unknown = 0;

	srandom(1);
	for (unsigned int segment = 1; segment <= SEGMENTS; segment++) {
		unsigned int before = 0, last = 0;

		for (unsigned int i = 0; i < 6; i++) {
			unsigned int value = 1 + (unsigned int)random() % (VALUES - 1);
			unsigned int *first = &first_in[before][last][value];

			ck_assert_int_eq(reprise_watch_knows(watch, op_of(1, value).value),
			                 *first != 0 && *first < segment);
			known += *first != 0;
			unknown += *first == 0;
			*first = *first != 0 ? *first : segment;
			keep(1, value);
			before = last;
			last = value;
		}
		wait();
	}
	ck_assert_uint_gt(known, 100);
	ck_assert_uint_gt(unknown, 50);
}
END_TEST

START_TEST(gaps_are_told_in_nanoseconds)
{
	for (unsigned int visit = 0; visit < 4; visit++) {
		for (unsigned int i = 0; i < 10; i++) {
			op_gap = (uint32_t)reprise_clock_ns_to_ticks(1000 * (i + 1));
			keep(i, 0);
		}
		reprise_watch_end(watch, true, found, NULL);
		for (unsigned int i = 0; i < 10 && found_count > 0; i++) {
			ck_assert_uint_ge(latest.gaps[i], 1000 * (i + 1) - 10);
			ck_assert_uint_le(latest.gaps[i], 1000 * (i + 1) + 10);
		}
		reprise_watch_begin(watch, &after_wait);
	}
	ck_assert_uint_eq(found_count, 2);
}
END_TEST

/* Payloads of any size: each stays as it was put, and all is given back. */
START_TEST(payloads_stay_apart_and_are_given_back)
{
	static const uint32_t sizes[] = {1, 16, 17, 1000, 65535, 65536, 65537, 200000, 3};
	const uint64_t used = reprise_store_used();
	struct reprise_watch *own = reprise_watch_new();
	unsigned char *payloads[10 * 9];
	unsigned int count = 0;

	ck_assert_uint_gt(reprise_store_used(), used);
	for (unsigned int segment = 0; segment < 3; segment++) {
		reprise_watch_begin(own, &after_wait);
		for (count = 0; count < sizeof(payloads) / sizeof(payloads[0]); count++) {
			struct reprise_op op = op_of(count, segment), *slot;

			op.payload_bytes = sizes[count % 9];
			slot = reprise_watch_slot(own, &op);
			ck_assert_ptr_nonnull(slot);
			ck_assert_uint_eq((uintptr_t)slot->payload % 8, 0);
			payloads[count] = slot->payload;
			memset(slot->payload, (int)count, op.payload_bytes);
			reprise_watch_keep(own, 0, false, found, NULL);
		}
		for (unsigned int i = 0; i < count; i++)
			ck_assert(payloads[i][0] == i && payloads[i][sizes[i % 9] - 1] == i);
		reprise_watch_drop(own);
	}
	reprise_watch_free(own);
	reprise_watch_free(NULL);
	ck_assert_uint_eq(reprise_store_used(), used);
}
END_TEST

static bool all_in_memory(const void *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)from & ~(page - 1),
			  count = ((uintptr_t)from + bytes - begin + page - 1) / page;
	unsigned char *there = calloc(count, 1);
	bool all = true;

	ck_assert_int_eq(mincore((void *)begin, count * page, there), 0);
	for (size_t i = 0; i < count; i++)
		all = all && (there[i] & 1);
	free(there);
	return all;
}

START_TEST(one_that_was_made_ahead_is_taken_once_and_all_of_it_was_touched)
{
	const uint64_t used = reprise_store_used();
	struct reprise_watch *first, *second;
	uint64_t each;

	reprise_watch_make_ahead();
	each = reprise_store_used() - used;
	ck_assert_uint_gt(each, 0);
	reprise_watch_make_ahead();
	ck_assert_uint_eq(reprise_store_used(), used + each);
	first = reprise_watch_new();
	ck_assert_uint_eq(reprise_store_used(), used + each);
	ck_assert(all_in_memory(first, each - 64)); /* without the store's header */
	second = reprise_watch_new();
	ck_assert_ptr_ne(first, second);
	ck_assert_uint_eq(reprise_store_used(), used + 2 * each);
	reprise_watch_free(first);
	reprise_watch_free(second);
	ck_assert_uint_eq(reprise_store_used(), used);
}
END_TEST

START_TEST(none_is_made_ahead_while_memory_is_short)
{
	void *taken[4096];
	unsigned int count = 0;
	uint64_t used;

	while (count < 4096 && !reprise_store_is_short())
		taken[count++] = reprise_store_take(REPRISE_STORE_TRACES, reprise_store_limit() / 64);
	ck_assert(reprise_store_is_short());
	used = reprise_store_used();
	reprise_watch_make_ahead();
	ck_assert_uint_eq(reprise_store_used(), used);
	while (count > 0)
		reprise_store_give(taken[--count]);
}
END_TEST

START_TEST(a_child_does_not_take_the_one_of_its_parent)
{
	struct reprise_watch *own;

	reprise_watch_make_ahead();
	reprise_store_reset();
	reprise_watch_reset();
	own = reprise_watch_new();
	ck_assert_uint_gt(reprise_store_used(), 0);
	reprise_watch_free(own);
	ck_assert_uint_eq(reprise_store_used(), 0);
	watch = NULL; /* the parent's */
}
END_TEST

START_TEST(a_dropped_segment_leaves_little_behind)
{
	const uint64_t used = reprise_store_used();

	for (unsigned int segment = 0; segment < 50; segment++) {
		reprise_watch_begin(watch, &after_wait);
		for (unsigned int i = 0; i < 20; i++) {
			struct reprise_op op = op_of(i, 0);

			op.payload_bytes = 60000;
			ck_assert_ptr_nonnull(reprise_watch_slot(watch, &op));
			reprise_watch_keep(watch, 0, false, found, NULL);
		}
		reprise_watch_drop(watch);
		ck_assert_uint_le(reprise_store_used(), used + 140000);
	}
}
END_TEST

/* ---- where a long run is cut ---- */

#define LEAST REPRISE_TUNE_SEGMENT_LEAST
#define SURVIVE REPRISE_TUNE_SEGMENT_SURVIVE
#define MOST REPRISE_TUNE_SEGMENT_MOST

static struct reprise_op *base; /* of the segment's ops */

static void begin_segment(void)
{
	struct reprise_op op = op_of(1, 0);

	reprise_watch_begin(watch, &after_wait);
	base = reprise_watch_slot(watch, &op);
}

/* How many ops the segment has. */
static unsigned int length(void)
{
	struct reprise_op op = op_of(1, 0);

	return (unsigned int)(reprise_watch_slot(watch, &op) - base);
}

static void keep_op(const struct reprise_op *op, bool border)
{
	struct reprise_op *slot = reprise_watch_slot(watch, op);

	ck_assert_ptr_nonnull(slot);
	if (op->payload_bytes > 0)
		memset(slot->payload, (int)op->value, op->payload_bytes);
	reprise_watch_keep(watch, 0, border, found, NULL);
}

/* A model of cuts, where all shapes are alike and no value comes twice: the first border stays the
 * least, until it is a cut, or an event that was recorded before it is waited for behind it. */
static struct {
	struct reprise_op ops[MOST];
	unsigned int count, least;
} model;

static void keep_in_model(const struct reprise_op *op, bool border)
{
	unsigned int i = model.count++, before = i, cut_at = 0;

	model.ops[i] = *op;
	while (op->kind == REPRISE_OP_WAIT && before-- > 0)
		if (model.ops[before].kind == REPRISE_OP_RECORD && model.ops[before].event == op->event) {
			model.least = before < model.least ? 0 : model.least;
			break;
		}
	if (model.least == 0 && border && i >= LEAST)
		model.least = i;
	if (model.least != 0 && (i == model.least + SURVIVE || model.count == MOST))
		cut_at = model.least;
	else if (model.count == MOST)
		cut_at = MOST;
	if (cut_at == 0)
		return;
	model.count -= cut_at;
	memmove(model.ops, model.ops + cut_at, model.count * sizeof(*model.ops));
	model.least = 0;
}

/* The ops that a cut left, and what they carry. */
static void is_as_in_model(void)
{
	unsigned char payload[200];

	for (unsigned int k = 0; k < model.count; k++) {
		const struct reprise_op *op = &model.ops[k];

		memset(payload, (int)op->value, sizeof(payload));
		if (base[k].kind != op->kind || base[k].value != op->value ||
		    base[k].payload_bytes != op->payload_bytes ||
		    (op->payload_bytes > 0 && memcmp(base[k].payload, payload, op->payload_bytes) != 0))
			ck_abort_msg("op %u of %u is another one", k, model.count);
	}
}

/* One op of so many is a border, or an event's record, or a wait for one. */
static const struct {
	unsigned int border, record, wait;
} runs[] = {{1, 1000, 1000}, {20, 1000, 1000}, {150, 1000, 1000}, {100000, 1000, 1000},
            {1, 20, 20},     {20, 5, 5},       {100, 30, 30},     {50, 100, 3},
            {10, 3, 200},    {1, 1000, 2}};

START_TEST(a_run_is_cut_at_a_border_that_survives_and_that_parts_no_fork)
{
	unsigned int cuts = 0;

	memset(&model, 0, sizeof(model));
	srandom((unsigned int)_i);
	begin_segment();
	for (unsigned int i = 1; i < 6000; i++) {
		struct reprise_op op = op_of(1, i);
		bool border = random() % runs[_i].border == 0;
		unsigned int before = model.count;

		op.kind = random() % runs[_i].wait == 0     ? REPRISE_OP_WAIT
		          : random() % runs[_i].record == 0 ? REPRISE_OP_RECORD
		                                            : REPRISE_OP_SET;
		if (op.kind == REPRISE_OP_SET)
			op.payload_bytes = (uint32_t)random() % 3 * 100;
		else
			op.event = (CUevent)(uintptr_t)(1 + random() % 8);
		keep_op(&op, border);
		keep_in_model(&op, border);
		if (length() != model.count)
			ck_abort_msg("op %u: %u ops are left, not %u", i, length(), model.count);
		if (model.count > before)
			continue;
		cuts++;
		is_as_in_model();
	}
	ck_assert_uint_gt(cuts, 30);
}
END_TEST

/* Three ops each; the last one is a border. */
struct run {
	unsigned int shapes[3], values[3];
};

static unsigned int next_value = 1000;

static void keep_run(const struct run *run)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct reprise_op op = op_of(run->shapes[i], run->values[i]);

		keep_op(&op, i == 2);
	}
}

static void keep_new(unsigned int count)
{
	while (count-- > 0) {
		struct reprise_op op = op_of(1, next_value++);

		keep_op(&op, false);
	}
}

/* True if the cut falls at the first one of two runs, not at the other. */
static bool cuts_at_first(const struct run *first, const struct run *other)
{
	const unsigned int at = LEAST + 10, apart = 15;

	begin_segment();
	keep_new(at - 2);
	keep_run(first);
	keep_new(apart - 3);
	keep_run(other);
	ck_assert_uint_eq(length(), at + apart + 1);
	keep_new(SURVIVE - apart);
	if (length() == SURVIVE + 1)
		return true;
	keep_new(apart);
	ck_assert_uint_eq(length(), SURVIVE + 1);
	return false;
}

/* By the shapes of the last ops, whichever of two comes first, and whatever the values are. */
/* What waits are for was asked where the segment began that was cut. */
START_TEST(what_a_cut_leaves_waits_for_nothing_that_is_known)
{
	unsigned int kept = 0;

	begin_segment();
	while (length() == kept) {
		struct reprise_op op = {.kind = REPRISE_OP_WAIT, .shape = 1, .value = kept, .waits_for = 3};

		keep_op(&op, kept == LEAST);
		kept++;
	}
	ck_assert_uint_gt(length(), 0);
	ck_assert_uint_lt(length(), kept);
	for (unsigned int i = 0; i < length(); i++)
		ck_assert_uint_eq(base[i].waits_for, 0);
}
END_TEST

START_TEST(the_same_op_is_the_least_wherever_it_comes)
{
	unsigned int firsts = 0;

	for (unsigned int i = 0; i < 100; i++) {
		struct run one = {{10 + 6 * i, 11 + 6 * i, 12 + 6 * i}, {i, i, i}},
				   two = {{13 + 6 * i, 14 + 6 * i, 15 + 6 * i}, {i, i, i}};
		bool first = cuts_at_first(&one, &two);

		firsts += first;
		one.values[2] = two.values[1] = 500 + i;
		ck_assert_int_ne(cuts_at_first(&two, &one), first);
	}
	ck_assert_uint_gt(firsts, 25);
	ck_assert_uint_lt(firsts, 75);
}
END_TEST

/* Where the shapes are alike: values that came in a row before come first; of these one is always
 * the least. */
START_TEST(among_ops_of_one_shape_known_values_are_the_least)
{
	unsigned int firsts = 0;

	for (unsigned int i = 0; i < 100; i++) {
		struct run one = {{1, 1, 1}, {10 + 6 * i, 11 + 6 * i, 12 + 6 * i}},
				   two = {{1, 1, 1}, {13 + 6 * i, 14 + 6 * i, 15 + 6 * i}}, fresh = one;
		bool first;

		begin_segment();
		keep_run(&one);
		keep_run(&two);
		reprise_watch_end(watch, true, found, NULL);
		first = cuts_at_first(&one, &two);
		firsts += first;
		ck_assert_int_ne(cuts_at_first(&two, &one), first);
		fresh.values[2] = next_value++;
		ck_assert(cuts_at_first(&one, &fresh));
		fresh.values[2] = next_value++;
		ck_assert(!cuts_at_first(&fresh, &two));
	}
	ck_assert_uint_gt(firsts, 25);
	ck_assert_uint_lt(firsts, 75);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch");
	TCase *tests = tcase_create("watch");

	reprise_clock_start();
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_segment_is_worth_a_trace_at_its_third_visit);
	tcase_add_test(tests, two_values_by_turns_are_two_exact_segments);
	tcase_add_test(tests, values_that_never_come_again_are_loose_and_settled_by_and_by);
	tcase_add_test(tests, parts_of_a_long_chain_that_look_alike_settle_nothing);
	tcase_add_test(tests, a_part_is_known_wherever_watching_begins_and_ends);
	tcase_add_test(tests, a_part_whose_values_come_round_is_not_loose);
	tcase_add_test(tests, few_kernels_at_random_with_new_values_settle_nothing);
	tcase_add_test(tests, nothing_repeats_nothing_is_found);
	tcase_add_test(tests, a_long_run_without_a_wait_is_cut_where_it_was_cut_before);
	tcase_add_test(tests, behind_a_cut_the_position_is_known);
	tcase_add_test(tests, an_inserted_op_moves_no_later_cut);
	tcase_add_test(tests, a_refused_op_takes_its_segment_with_it);
	tcase_add_test(tests, a_pause_that_came_once_is_no_habit);
	tcase_add_test(tests, a_value_is_known_by_the_two_before_it);
	tcase_add_test(tests, gaps_are_told_in_nanoseconds);
	tcase_add_test(tests, payloads_stay_apart_and_are_given_back);
	tcase_add_test(tests, one_that_was_made_ahead_is_taken_once_and_all_of_it_was_touched);
	tcase_add_test(tests, none_is_made_ahead_while_memory_is_short);
	tcase_add_test(tests, a_child_does_not_take_the_one_of_its_parent);
	tcase_add_test(tests, a_dropped_segment_leaves_little_behind);
	tcase_add_loop_test(tests, a_run_is_cut_at_a_border_that_survives_and_that_parts_no_fork, 0,
	                    sizeof(runs) / sizeof(runs[0]));
	tcase_add_test(tests, what_a_cut_leaves_waits_for_nothing_that_is_known);
	tcase_add_test(tests, the_same_op_is_the_least_wherever_it_comes);
	tcase_add_test(tests, among_ops_of_one_shape_known_values_are_the_least);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
