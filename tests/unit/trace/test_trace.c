/* Planning, traces and their index. */
#include <stdlib.h>

#include "../../suite.h"
#include "base/store.h"
#include "trace/index.h"
#include "trace/plan.h"
#include "ops.h"

/* ---- planning ---- */

enum { LONG = 400 };

static struct reprise_op ops[LONG];
static uint32_t gaps[LONG];
static bool is_loose[LONG];

static struct reprise_segment segment_of(unsigned int count, uint32_t gap_ns)
{
	for (unsigned int i = 0; i < LONG; i++) {
		ops[i] = op_of(i, 0);
		gaps[i] = gap_ns;
		is_loose[i] = false;
	}
	return (struct reprise_segment){.ops = ops,
	                                .gaps = gaps,
	                                .any_value = is_loose,
	                                .count = count,
	                                .position = {.before = REPRISE_BEFORE_WAIT},
	                                .exact = true};
}

START_TEST(after_a_wait_traces_are_small_first)
{
	struct reprise_segment segment = segment_of(300, 10);
	static const unsigned int wanted[] = {24, 128, 128, 20};
	unsigned int start = 0;

	for (unsigned int i = 0; i < 4; i++) {
		ck_assert_uint_eq(reprise_plan_piece(&segment, start, 100000, false), wanted[i]);
		start += wanted[i];
	}
	segment.position.since_wait = 1000;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 128);
}
END_TEST

START_TEST(where_few_are_wanted_the_first_is_as_long_as_the_others)
{
	struct reprise_segment segment = segment_of(300, 10);

	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, true), 128);
	segment = segment_of(300, 8000);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, true), 5);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 0, true), 1);
}
END_TEST

START_TEST(where_the_program_thinks_evenly_traces_span_more)
{
	struct reprise_segment segment = segment_of(300, 8000);

	segment.position.since_wait = 1;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 200000, false), 5); /* the GPU would wait */
	segment.position.since_wait = 6;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 200000, false), 8);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false),
	                  5); /* no more than the hold limit has room for */
	for (unsigned int i = 0; i < 300; i++)
		gaps[i] = i % 2 != 0 ? 12000 : 4000;
	segment.position.since_wait = 1000;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 200000, false), 5);
	segment = segment_of(300, 10);
	segment.position.since_wait = 1;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 200000, false),
	                  23); /* a fast program's first ops do not wait for others */
}
END_TEST

START_TEST(what_is_patched_comes_in_smaller_traces)
{
	struct reprise_segment segment = segment_of(300, 10);

	segment.position.since_wait = 1000;
	for (unsigned int i = 0; i < 300; i += 2)
		is_loose[i] = true;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 64);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 299, 100000, false), 1);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, true), 128);
}
END_TEST

START_TEST(a_copy_between_devices_is_a_trace_of_its_own)
{
	struct reprise_segment segment = segment_of(300, 10);

	segment.position.since_wait = 1000;
	ops[5].kind = ops[6].kind = REPRISE_OP_COPY;
	ops[5].copy.form = ops[6].copy.form = REPRISE_COPY_PEER;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 5);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 5, 100000, false), 1);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 6, 100000, true), 1);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 7, 100000, false), 128);
}
END_TEST

START_TEST(no_trace_spans_long_pauses)
{
	struct reprise_segment segment = segment_of(300, 8000);

	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 1);
	segment.position.since_wait = 100;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 5);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 40000, false), 2);
	ck_assert_uint_eq(reprise_plan_longest(&segment, 0, 100000), 3);
	ck_assert_uint_eq(reprise_plan_longest(&segment, 0, 400000), 10);
	gaps[2] = 1000000;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 2);
}
END_TEST

START_TEST(a_hold_limit_of_zero_makes_traces_of_one)
{
	struct reprise_segment segment = segment_of(300, 0);

	for (unsigned int start = 0; start < 300; start += 50)
		ck_assert_uint_eq(reprise_plan_piece(&segment, start, 0, false), 1);
}
END_TEST

START_TEST(the_last_before_a_wait_is_halved_where_the_host_is_slow)
{
	struct reprise_segment segment = segment_of(5, 8000);

	segment.position.since_wait = 100;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 5);
	segment.ends_in_wait = true;
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 100000, false), 3);
}
END_TEST

/* ---- traces ---- */

static struct reprise_capture_streams capture_streams;

static struct reprise_trace *trace_at(uint64_t before, uint64_t value, unsigned int since_wait,
                                      unsigned int first, unsigned int count, bool any_value)
{
	struct reprise_op some[64];
	struct reprise_position position = {before, value, since_wait};
	bool loosely[64];
	struct reprise_trace *trace;

	for (unsigned int i = 0; i < count; i++) {
		some[i] = op_of(first + i, 0);
		loosely[i] = any_value;
	}
	trace = reprise_trace_new(some, loosely, count, &position, &capture_streams);
	ck_assert_ptr_nonnull(trace);
	atomic_store(&trace->graph.state, REPRISE_GRAPH_READY);
	return trace;
}

static struct reprise_trace *trace_of(uint64_t before, unsigned int position, unsigned int first,
                                      unsigned int count, bool any_value)
{
	return trace_at(before, 0, position, first, count, any_value);
}

START_TEST(a_visit_that_is_kept_changes_the_trace_and_one_that_is_not_does_not)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);
	struct reprise_op first = op_of(1, 4), other = op_of(2, 9), same = op_of(3, 0);

	reprise_trace_copy_values(trace, 1, &other);
	reprise_trace_copy_values(trace, 2, &same);
	ck_assert_uint_eq(trace->changed_count, 1);
	ck_assert_uint_eq(reprise_trace_op(trace, 1)->set.value, 9);
	reprise_trace_end_visit(trace, false);
	ck_assert_uint_eq(trace->changed_count, 0);
	ck_assert_uint_eq(reprise_trace_op(trace, 1)->set.value, 0);

	reprise_trace_copy_values(trace, 1, &other);
	reprise_trace_end_visit(trace, true);
	ck_assert_uint_eq(reprise_trace_op(trace, 1)->set.value, 9);
	ck_assert(!trace->head_moved);
	reprise_trace_copy_values(trace, 0, &first);
	reprise_trace_end_visit(trace, true);
	ck_assert(trace->head_moved);
	reprise_trace_free(trace);
}
END_TEST

/* A graph that is built, and none that is not; from the end of the cooldown on. */
static const struct {
	enum reprise_graph_state state;
	uint64_t cooldown_until;
	bool usable;
} states[] = {
	{REPRISE_GRAPH_EMPTY, 0, false},   {REPRISE_GRAPH_QUEUED, 0, false},
	{REPRISE_GRAPH_READY, 0, true},    {REPRISE_GRAPH_FAILED, 0, false},
	{REPRISE_GRAPH_READY, 99, true},   {REPRISE_GRAPH_READY, 100, true},
	{REPRISE_GRAPH_READY, 101, false},
};

START_TEST(a_trace_is_usable_once_it_is_built_and_not_in_cooldown)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);

	atomic_store(&trace->graph.state, states[_i].state);
	trace->cooldown_until = states[_i].cooldown_until;
	ck_assert_int_eq(reprise_trace_usable(trace, 100), states[_i].usable);
	trace->may_return = true;
	ck_assert_int_eq(reprise_trace_return(trace), states[_i].state == REPRISE_GRAPH_READY);
	trace->may_return = false;
	ck_assert(!reprise_trace_return(trace));
	reprise_trace_free(trace);
}
END_TEST

#define IS_BEHIND(part, end) ck_assert((const void *)(part) >= (const void *)(end))

/* Its parts, one behind the other in one block. */
static const struct {
	unsigned int count, payload;
} sizes[] = {{1, 0}, {1, 1}, {3, 8}, {63, 17}, {64, 16}, {65, 100}, {400, 33}};

START_TEST(the_parts_of_a_trace_do_not_overlap_and_fill_it)
{
	static const struct reprise_position position = {.before = REPRISE_BEFORE_WAIT};
	static unsigned char payload[128];
	const unsigned int count = sizes[_i].count;
	const uint64_t used = reprise_store_used();
	struct reprise_capture_streams streams = {0};
	struct reprise_trace *trace;
	unsigned char *end;

	for (unsigned int i = 0; i < count; i++) {
		ops[i] = op_of(i, 0);
		ops[i].payload = payload;
		ops[i].payload_bytes = sizes[_i].payload;
		is_loose[i] = i % 2 == 0;
	}
	trace = reprise_trace_new(ops, is_loose, count, &position, &streams);
	ck_assert_ptr_nonnull(trace);
	ck_assert_uint_ge(reprise_store_used(), used + trace->bytes);
	end = (unsigned char *)trace + trace->bytes;
	IS_BEHIND(trace->ops, (trace + 1));
	IS_BEHIND(trace->incoming, trace->ops + count);
	IS_BEHIND(trace->shape_before, (trace->incoming + count));
	IS_BEHIND(trace->changed, trace->shape_before + count + 1);
	IS_BEHIND(trace->wanted, trace->changed + (count + 63) / 64);
	IS_BEHIND(trace->graph.nodes, (trace->wanted + (count + 63) / 64));
	IS_BEHIND(trace->ops[0].payload, (trace->graph.nodes + count));
	for (unsigned int i = 0; i < count; i++) {
		const unsigned char *after =
			i + 1 < count ? trace->ops[i + 1].payload : trace->incoming[0].payload;

		IS_BEHIND(after, trace->ops[i].payload + sizes[_i].payload);
		after = i + 1 < count ? trace->incoming[i + 1].payload : (unsigned char *)trace->any_value;
		IS_BEHIND(after, trace->incoming[i].payload + sizes[_i].payload);
		ck_assert_uint_eq((uintptr_t)trace->ops[i].payload % 16, 0);
		ck_assert_int_eq(trace->any_value[i], i % 2 == 0);
	}
	IS_BEHIND(end, (trace->any_value + count));
	ck_assert_uint_le(end - (unsigned char *)(trace->any_value + count), 16);
	reprise_trace_free(trace);
	ck_assert_uint_eq(reprise_store_used(), used);
}
END_TEST

/* Each member of the ops is one of the graph's, and each record and wait is counted. */
START_TEST(a_trace_knows_its_members_and_events)
{
	static const struct reprise_position position = {.before = REPRISE_BEFORE_WAIT};
	struct reprise_capture_streams streams = {0};
	struct reprise_trace *trace;

	for (unsigned int i = 0; i < 4; i++)
		ops[i] = op_of(i, 0);
	ops[1].member = 2;
	ops[2].member = 5;
	ops[2].kind = REPRISE_OP_RECORD;
	ops[3].kind = REPRISE_OP_WAIT;
	trace = reprise_trace_new(ops, is_loose, 4, &position, &streams);
	ck_assert_uint_eq(trace->graph.members, 1u << 0 | 1u << 2 | 1u << 5);
	ck_assert_uint_eq(trace->event_count, 2);
	ck_assert_uint_eq(trace->graph.count, 4);
	ck_assert_ptr_eq(trace->graph.ops, trace->ops);
	ck_assert_ptr_eq(trace->graph.capture_streams, &streams);
	reprise_trace_free(trace);
}
END_TEST

START_TEST(a_trace_ends_where_the_hold_limit_strikes_often_not_now_and_then)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 5, false);

	for (unsigned int round = 0; round < 10; round++) {
		ck_assert(!reprise_trace_note_held(trace, 3));
		for (unsigned int visit = 0; visit < 20; visit++)
			reprise_trace_followed(trace, visit);
	}
	ck_assert(!reprise_trace_note_held(trace, 2));
	ck_assert(!reprise_trace_note_held(trace, 3));
	ck_assert(reprise_trace_note_held(trace, 3));
	reprise_trace_free(trace);
}
END_TEST

START_TEST(a_disappointing_trace_is_put_aside_longer_each_time_but_never_for_ever)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);
	uint64_t now = 0, longest = 0;

	for (unsigned int round = 0; round < 40; round++) {
		uint64_t aside;

		while (reprise_trace_usable(trace, now))
			reprise_trace_note_side_exit(trace, now, 2);
		aside = trace->cooldown_until - now;
		ck_assert_uint_ge(aside, longest);
		longest = aside;
		now = trace->cooldown_until;
		ck_assert(reprise_trace_usable(trace, now));
	}
	ck_assert_uint_le(longest, 2000000);
	for (unsigned int i = 0; i < 100; i++)
		reprise_trace_followed(trace, now);
	while (reprise_trace_usable(trace, now))
		reprise_trace_note_side_exit(trace, now, 2);
	ck_assert_uint_lt(trace->cooldown_until - now, 1000);
	reprise_trace_free(trace);
}
END_TEST

START_TEST(a_trace_returns_early_that_is_aside_for_side_exits_alone)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);

	while (reprise_trace_usable(trace, 10))
		reprise_trace_note_side_exit(trace, 10, 2);
	ck_assert(reprise_trace_return(trace));
	ck_assert(reprise_trace_usable(trace, 10));

	reprise_trace_begin_cooldown(trace, 10); /* it does not pay */
	ck_assert(!reprise_trace_return(trace));
	ck_assert(!reprise_trace_usable(trace, 10));

	while (trace->cooldown_until <= 10 || !trace->may_return)
		reprise_trace_note_side_exit(trace, 10, 2);
	atomic_store(&trace->graph.state, REPRISE_GRAPH_QUEUED);
	ck_assert(!reprise_trace_return(trace));
	reprise_trace_free(trace);
}
END_TEST

/* ---- the index ---- */

#define SPOT(before, position) (&(struct reprise_position){before, 0, position})

static struct reprise_index *table;

static void setup(void)
{
	table = calloc(1, sizeof(*table));
}

static void teardown(void)
{
	while (table->oldest != NULL) {
		struct reprise_trace *trace = table->oldest;

		reprise_index_remove(table, trace);
		reprise_trace_free(trace);
	}
	ck_assert_uint_eq(table->count, 0);
	ck_assert_uint_eq(table->nodes, 0);
	free(table);
}

START_TEST(a_trace_is_found_by_what_came_before_and_its_first_value)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);
	struct reprise_op first = op_of(1, 0), other = op_of(1, 5);

	reprise_index_add(table, trace);
	ck_assert_ptr_eq(reprise_index_find_value(table, SPOT(REPRISE_BEFORE_WAIT, 0), &first, 0),
	                 trace);
	ck_assert_ptr_null(reprise_index_find_value(table, SPOT(REPRISE_BEFORE_BARRIER, 0), &first, 0));
	ck_assert_ptr_null(reprise_index_find_value(table, SPOT(REPRISE_BEFORE_WAIT, 0), &other, 0));
	/* Its values came again, so its shape alone does not find it. */
	ck_assert_ptr_null(reprise_index_find_shape(table, SPOT(REPRISE_BEFORE_WAIT, 0), &other, 0));
}
END_TEST

START_TEST(soon_after_a_wait_a_shape_counts_only_at_its_place)
{
	struct reprise_trace *trace = trace_of(7, 8, 1, 3, true);
	struct reprise_op other = op_of(1, 5);

	reprise_index_add(table, trace);
	ck_assert_ptr_eq(reprise_index_find_shape(table, SPOT(7, 8), &other, 0), trace);
	ck_assert_ptr_null(reprise_index_find_shape(table, SPOT(7, 9), &other, 0));
	ck_assert_ptr_eq(reprise_index_find_shape(table, SPOT(7, 5000), &other, 0), trace);
}
END_TEST

START_TEST(far_from_a_wait_the_value_before_tells_where_one_is)
{
	struct reprise_trace *trace = trace_at(7, 11, 1000, 1, 3, false);
	struct reprise_op first = op_of(1, 0);
	struct reprise_position there = {7, 11, 5000}, elsewhere = {7, 12, 5000},
							unknown = {7, 0, 5000};

	reprise_index_add(table, trace);
	ck_assert_ptr_eq(reprise_index_find_value(table, &there, &first, 0), trace);
	ck_assert_ptr_null(reprise_index_find_value(table, &elsewhere, &first, 0));
	ck_assert_ptr_eq(reprise_index_find_value(table, &unknown, &first, 0), trace);
}
END_TEST

/* Whichever is looked at first. `find`: by value or by shape. */
static void the_one_at_this_place_is_taken(unsigned int here_at, unsigned int there_at,
                                           unsigned int elsewhere, bool any_value, bool here_first,
                                           __typeof__(reprise_index_find_value) *find)
{
	struct reprise_trace *here = trace_of(7, here_at, 1, 3, any_value),
						 *there = trace_of(7, there_at, 1, 5, any_value);
	struct reprise_op first = op_of(1, 0);

	reprise_index_add(table, here_first ? here : there);
	reprise_index_add(table, here_first ? there : here);
	there->last_followed = 1000;
	ck_assert_ptr_eq(find(table, SPOT(7, here_at), &first, 0), here);
	ck_assert_ptr_eq(find(table, SPOT(7, there_at), &first, 0), there);
	ck_assert_ptr_eq(find(table, SPOT(7, elsewhere), &first, 0), there);
	here->last_followed = 1001;
	ck_assert_ptr_eq(find(table, SPOT(7, elsewhere), &first, 0), here);
	ck_assert_ptr_eq(find(table, SPOT(7, there_at), &first, 0), there);
}

START_TEST(of_traces_that_begin_alike_the_one_at_this_place_is_taken)
{
	the_one_at_this_place_is_taken(8, 16, 40, false, _i == 0, reprise_index_find_value);
}
END_TEST

START_TEST(of_any_value_traces_that_begin_alike_the_one_at_this_place_is_taken)
{
	the_one_at_this_place_is_taken(5000, 6000, 7000, true, _i == 0, reprise_index_find_shape);
}
END_TEST

START_TEST(what_is_not_built_or_put_aside_is_not_found)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);
	struct reprise_op first = op_of(1, 0);

	reprise_index_add(table, trace);
	atomic_store(&trace->graph.state, REPRISE_GRAPH_QUEUED);
	ck_assert_ptr_null(reprise_index_find_value(table, SPOT(REPRISE_BEFORE_WAIT, 0), &first, 0));
	ck_assert_ptr_eq(reprise_index_same(table, SPOT(REPRISE_BEFORE_WAIT, 0), false, trace->ops, 3),
	                 trace);
	atomic_store(&trace->graph.state, REPRISE_GRAPH_READY);
	reprise_trace_begin_cooldown(trace, 10);
	ck_assert_ptr_null(reprise_index_find_value(table, SPOT(REPRISE_BEFORE_WAIT, 0), &first, 10));
	ck_assert_ptr_eq(reprise_index_find_value(table, SPOT(REPRISE_BEFORE_WAIT, 0), &first,
	                                          1u << 20),
	                 trace);
}
END_TEST

/* So many ops behind a wait, and nowhere else, whatever the value of the op before. */
START_TEST(a_trace_with_a_place_is_found_there_alone)
{
	struct reprise_trace *trace = trace_at(7, 11, 5000, 1, 3, false);
	struct reprise_position there = {7, 11, 5000}, elsewhere = {7, 11, 6000};
	struct reprise_op first = op_of(1, 0);

	reprise_index_add(table, trace);
	ck_assert_ptr_eq(reprise_index_find_value(table, &elsewhere, &first, 0), trace);
	ck_assert_ptr_eq(reprise_index_same(table, &elsewhere, false, trace->ops, 3), trace);
	ck_assert_ptr_null(reprise_index_same(table, &elsewhere, true, trace->ops, 3));
	trace->placed = true;
	ck_assert_ptr_null(reprise_index_find_value(table, &elsewhere, &first, 0));
	ck_assert_ptr_null(reprise_index_same(table, &elsewhere, false, trace->ops, 3));
	ck_assert_ptr_eq(reprise_index_find_value(table, &there, &first, 0), trace);
	ck_assert_ptr_eq(reprise_index_same(table, &there, true, trace->ops, 3), trace);
}
END_TEST

START_TEST(the_same_ops_are_one_trace_where_it_is_not_loose_and_fewer_are_another)
{
	struct reprise_trace *trace = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false);
	struct reprise_op others[] = {op_of(1, 0), op_of(2, 7), op_of(3, 0)};

	reprise_index_add(table, trace);
	ck_assert_ptr_eq(reprise_index_same(table, SPOT(REPRISE_BEFORE_WAIT, 0), false, trace->ops, 3),
	                 trace);
	ck_assert_ptr_null(
		reprise_index_same(table, SPOT(REPRISE_BEFORE_WAIT, 0), false, trace->ops, 2));
	trace->any_value[1] = true;
	ck_assert_ptr_eq(reprise_index_same(table, SPOT(REPRISE_BEFORE_WAIT, 0), false, others, 3),
	                 trace);
	others[2] = op_of(3, 1);
	ck_assert_ptr_null(reprise_index_same(table, SPOT(REPRISE_BEFORE_WAIT, 0), false, others, 3));
}
END_TEST

START_TEST(nobody_follows_a_trace_that_is_gone)
{
	struct reprise_trace *a = trace_of(REPRISE_BEFORE_WAIT, 0, 1, 3, false),
						 *b = trace_of(9, 3, 4, 3, false), *c = trace_of(9, 3, 8, 3, false);

	reprise_index_add(table, a);
	reprise_index_add(table, b);
	reprise_index_add(table, c);
	reprise_index_follow(a, c);
	reprise_index_follow(a, b);
	reprise_index_follow(b, b);
	reprise_index_follow(c, b);
	reprise_index_remove(table, b);
	ck_assert_ptr_null(a->follower);
	ck_assert_ptr_null(c->follower);
	reprise_trace_free(b);
	reprise_index_follow(a, c);
	reprise_index_remove(table, a); /* one that follows goes: nothing points at it */
	reprise_trace_free(a);
	reprise_index_remove(table, c);
	reprise_trace_free(c);
}
END_TEST

/* All three begin with the same ops. `order`: in which they are added. */
START_TEST(the_longest_that_begins_alike_is_taken_if_it_can_be)
{
	static const unsigned int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
	                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct reprise_trace *traces[3];

	for (unsigned int i = 0; i < 3; i++) {
		traces[i] = trace_of(7, 8, 1, 3 + i, false);
		traces[i]->replays = 1;
	}
	for (unsigned int i = 0; i < 3; i++)
		reprise_index_add(table, traces[orders[_i][i]]);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_ptr_eq(reprise_index_longest(traces[i], 0), traces[2]);
		ck_assert_ptr_eq(traces[i]->part, i == 0 ? NULL : traces[i - 1]);
	}
	traces[2]->replays = 0; /* nobody knows whether it can be launched */
	ck_assert_ptr_eq(reprise_index_longest(traces[0], 0), traces[1]);
	traces[2]->replays = 1;
	reprise_trace_begin_cooldown(traces[2], 10);
	ck_assert_ptr_eq(reprise_index_longest(traces[0], 10), traces[1]);
	ck_assert_ptr_eq(reprise_index_longest(traces[0], 1u << 20), traces[2]);
	reprise_index_remove(table, traces[1]);
	reprise_trace_free(traces[1]);
	ck_assert_ptr_eq(reprise_index_longest(traces[0], 1u << 20), traces[2]);
	ck_assert_ptr_eq(traces[2]->part, traces[0]);
	reprise_index_remove(table, traces[2]);
	reprise_trace_free(traces[2]);
	ck_assert_ptr_eq(reprise_index_longest(traces[0], 1u << 20), traces[0]);
}
END_TEST

START_TEST(what_takes_any_value_now_has_other_parts)
{
	struct reprise_trace *part = trace_of(7, 8, 1, 3, false), *whole = trace_of(7, 8, 1, 5, false);

	whole->replays = 1;
	reprise_index_add(table, part);
	reprise_index_add(table, whole);
	reprise_index_set_any_value(table, part, _i == 0 ? 0 : 2);
	ck_assert_ptr_eq(reprise_index_longest(part, 0), part);
	ck_assert_ptr_null(whole->part);
	reprise_index_set_any_value(table, whole, _i == 0 ? 0 : 2);
	ck_assert_ptr_eq(reprise_index_longest(part, 0), whole);
	ck_assert_ptr_eq(whole->part, part);
}
END_TEST

/* A part that can be replayed does instead, at the cost of a launch. */
START_TEST(a_trace_with_a_part_is_put_aside_sooner)
{
	struct reprise_trace *part = trace_of(7, 8, 1, 3, false), *whole = trace_of(7, 8, 1, 30, false);
	unsigned int exits[2]; /* where the part is in cooldown; where it can be replayed */

	reprise_index_add(table, part);
	reprise_index_add(table, whole);
	for (unsigned int i = 0; i < 2; i++) {
		part->cooldown_until = i == 0 ? UINT64_MAX : 0;
		for (unsigned int visit = 0; visit < 2 * REPRISE_TUNE_TRUST_MOST; visit++)
			reprise_trace_followed(whole, 0);
		whole->cooldown_until = 0;
		for (exits[i] = 0; reprise_trace_usable(whole, 1); exits[i]++)
			reprise_trace_note_side_exit(whole, 1, 10);
	}
	ck_assert_uint_eq(exits[0], 7);
	ck_assert_uint_eq(exits[1], 2);
	whole->cooldown_until = 0; /* few ops weigh as much as ever */
	reprise_trace_followed(whole, 2);
	reprise_trace_note_side_exit(whole, 2, 1);
	ck_assert(!reprise_trace_usable(whole, 2));
	for (unsigned int visit = 0; visit < 2 * REPRISE_TUNE_TRUST_MOST; visit++)
		reprise_trace_followed(whole, 3);
	whole->cooldown_until = 0;
	for (exits[1] = 0; reprise_trace_usable(whole, 4); exits[1]++)
		reprise_trace_note_side_exit(whole, 4, 1);
	ck_assert_uint_eq(exits[1], 5);
}
END_TEST

static const struct {
	struct reprise_position part, whole;
	bool together;
} places[] = {
	{{7, 0, 8}, {7, 0, 8}, true},         {{7, 11, 8}, {7, 12, 8}, true},
	{{7, 11, 8}, {7, 11, 60}, false}, /* a wait comes, by the longer one's distance from the last */
	{{7, 11, 8}, {7, 11, 1060}, false},   {{7, 11, 1008}, {7, 11, 60}, false},
	{{7, 11, 1008}, {7, 11, 1060}, true}, {{7, 11, 1008}, {7, 12, 1060}, false},
	{{7, 0, 1008}, {7, 0, 1060}, false}, /* behind any value */
};

START_TEST(a_longer_one_begins_at_the_same_place)
{
	const struct reprise_position *part = &places[_i].part, *whole = &places[_i].whole;
	struct reprise_trace *traces[] = {trace_at(part->before, part->value, part->since_wait, 1, 3,
	                                           false),
	                                  trace_at(whole->before, whole->value, whole->since_wait, 1, 5,
	                                           false)};

	traces[1]->replays = 1;
	for (unsigned int i = 0; i < 2; i++)
		reprise_index_add(table, traces[i]);
	ck_assert_ptr_eq(reprise_index_longest(traces[0], 0), traces[places[_i].together]);
}
END_TEST

START_TEST(a_longer_one_has_the_same_ops)
{
	struct reprise_trace *part = trace_of(7, 8, 1, 3, false), *whole = trace_of(7, 8, 1, 5, false);

	whole->replays = 1;
	if (_i == 0)
		whole->ops[2].set.value++;
	else
		whole->any_value[2] = true;
	reprise_index_add(table, part);
	reprise_index_add(table, whole);
	ck_assert_ptr_eq(reprise_index_longest(part, 0), part);
}
END_TEST

START_TEST(the_oldest_that_nobody_has_in_hand_goes_first)
{
	struct reprise_trace *traces[3];

	for (unsigned int i = 0; i < 3; i++) {
		traces[i] = trace_of(9, i, 10 * i, 3, false);
		reprise_index_add(table, traces[i]);
	}
	for (unsigned int i = 0; i < 3; i++)
		reprise_index_use(table, traces[i]);
	ck_assert_ptr_eq(reprise_index_oldest(table, NULL), traces[0]);
	ck_assert_ptr_eq(reprise_index_oldest(table, traces[0]), traces[1]);
	atomic_store(&traces[1]->graph.state, REPRISE_GRAPH_QUEUED);
	ck_assert_ptr_eq(reprise_index_oldest(table, traces[0]), traces[2]);
	reprise_index_use(table, traces[0]);
	ck_assert_ptr_eq(reprise_index_oldest(table, NULL), traces[2]);
	reprise_index_remove(table, traces[2]);
	ck_assert_ptr_eq(reprise_index_oldest(table, NULL), traces[0]);
	reprise_trace_free(traces[2]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *plan = tcase_create("plan"), *trace = tcase_create("trace"),
		  *index = tcase_create("index");

	tcase_add_test(plan, after_a_wait_traces_are_small_first);
	tcase_add_test(plan, where_few_are_wanted_the_first_is_as_long_as_the_others);
	tcase_add_test(plan, where_the_program_thinks_evenly_traces_span_more);
	tcase_add_test(plan, what_is_patched_comes_in_smaller_traces);
	tcase_add_test(plan, a_copy_between_devices_is_a_trace_of_its_own);
	tcase_add_test(plan, no_trace_spans_long_pauses);
	tcase_add_test(plan, a_hold_limit_of_zero_makes_traces_of_one);
	tcase_add_test(plan, the_last_before_a_wait_is_halved_where_the_host_is_slow);
	suite_add_tcase(suite, plan);
	tcase_add_test(trace, a_visit_that_is_kept_changes_the_trace_and_one_that_is_not_does_not);
	tcase_add_loop_test(trace, a_trace_is_usable_once_it_is_built_and_not_in_cooldown, 0,
	                    sizeof(states) / sizeof(states[0]));
	tcase_add_loop_test(trace, the_parts_of_a_trace_do_not_overlap_and_fill_it, 0,
	                    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(trace, a_trace_knows_its_members_and_events);
	tcase_add_test(trace, a_trace_ends_where_the_hold_limit_strikes_often_not_now_and_then);
	tcase_add_test(trace, a_disappointing_trace_is_put_aside_longer_each_time_but_never_for_ever);
	tcase_add_test(trace, a_trace_returns_early_that_is_aside_for_side_exits_alone);
	suite_add_tcase(suite, trace);
	tcase_add_checked_fixture(index, setup, teardown);
	tcase_add_test(index, a_trace_is_found_by_what_came_before_and_its_first_value);
	tcase_add_test(index, soon_after_a_wait_a_shape_counts_only_at_its_place);
	tcase_add_test(index, far_from_a_wait_the_value_before_tells_where_one_is);
	tcase_add_loop_test(index, of_traces_that_begin_alike_the_one_at_this_place_is_taken, 0, 2);
	tcase_add_loop_test(index, of_any_value_traces_that_begin_alike_the_one_at_this_place_is_taken,
	                    0, 2);
	tcase_add_test(index, what_is_not_built_or_put_aside_is_not_found);
	tcase_add_test(index, a_trace_with_a_place_is_found_there_alone);
	tcase_add_test(index, the_same_ops_are_one_trace_where_it_is_not_loose_and_fewer_are_another);
	tcase_add_test(index, nobody_follows_a_trace_that_is_gone);
	tcase_add_test(index, the_oldest_that_nobody_has_in_hand_goes_first);
	tcase_add_loop_test(index, the_longest_that_begins_alike_is_taken_if_it_can_be, 0, 6);
	tcase_add_loop_test(index, a_longer_one_begins_at_the_same_place, 0,
	                    sizeof(places) / sizeof(*places));
	tcase_add_loop_test(index, a_longer_one_has_the_same_ops, 0, 2);
	tcase_add_test(index, a_trace_with_a_part_is_put_aside_sooner);
	tcase_add_loop_test(index, what_takes_any_value_now_has_other_parts, 0, 2);
	suite_add_tcase(suite, index);
	return run_suite(suite);
}
