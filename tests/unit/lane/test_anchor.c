/*
 * The anchor of a loop, and whose periods are measured: what lane/turns.c tells stats/turns.c of
 * first ops after waits, and what becomes of the arm that it answers. The test stands in the place
 * of stats/turns.c, and of the doors: it makes the lanes' counts and the clock itself.
 */
#include "../../suite.h"
#include <stdlib.h>

#include "base/clock.h"
#include "base/launcher.h"
#include "base/tuning.h"
#include "graph/build_queue.h"
#include "lane/eager.h"
#include "lane/registry.h"
#include "lane/turns.h"
#include "program.h"

#define ALIKE (REPRISE_TUNE_ANCHOR_ALIKE + REPRISE_TUNE_ANCHOR_CONFIRMED)
#define OPS 32 /* of a period, unless a test says otherwise */
#define NS 10000
#define SECOND UINT64_C(1000000000)

/* ---- in the place of stats/turns.c ---- */

enum what { NOTHING, BEGIN, BEGIN_LOOP, NOTE };

static struct told {
	enum what what;
	uint64_t now, period;
	bool alike;
} told; /* the last time */
static unsigned int times;
static unsigned int loops;
static uint64_t loop_period;    /* of the last one, when it was begun */
static enum reprise_arm answer; /* to the next note */
static uint64_t told_ops, told_replayed, told_launches;
static uint64_t told_ahead; /* of the ranks' clock */

void __wrap_reprise_turns_begin(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns,
                                uint64_t random, uint64_t ahead_ns);
void __wrap_reprise_turns_begin_loop(struct reprise_turns *turns, uint64_t now_ns,
                                     uint64_t period_ns);
enum reprise_arm __wrap_reprise_turns_note(struct reprise_turns *turns, uint64_t now_ns,
                                           uint64_t period_ns, bool alike, bool idle);
void __wrap_reprise_turns_note_replayed(struct reprise_turns *turns, uint64_t replayed,
                                        uint64_t ops, uint64_t launches);

static uint64_t left_out; /* in all */

void __wrap_reprise_turns_leave_out(struct reprise_turns *turns, uint64_t ns);

void __wrap_reprise_turns_leave_out(struct reprise_turns *turns, uint64_t ns)
{
	(void)turns;
	left_out += ns;
}

static bool is_direct;   /* the launch thread is to launch nothing */
static bool told_direct; /* and the launch thread's room was told so */

bool __wrap_reprise_turns_is_direct(const struct reprise_turns *turns);
void __wrap_reprise_async_launch_direct(bool wanted);

bool __wrap_reprise_turns_is_direct(const struct reprise_turns *turns)
{
	(void)turns;
	return is_direct;
}

void __wrap_reprise_async_launch_direct(bool wanted)
{
	told_direct = wanted;
}

static void is_told(enum what what, uint64_t now, uint64_t period, bool alike)
{
	told = (struct told){what, now, period, alike};
	times++;
	if (what != NOTE) {
		loops++;
		loop_period = period;
	}
}

void __wrap_reprise_turns_begin(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns,
                                uint64_t random, uint64_t ahead_ns)
{
	ck_assert_uint_ne(random, 0);
	told_ahead = ahead_ns;
	*turns = (struct reprise_turns){.period_ns = period_ns, .arm = answer};
	is_told(BEGIN, now_ns, period_ns, false);
}

void __wrap_reprise_turns_begin_loop(struct reprise_turns *turns, uint64_t now_ns,
                                     uint64_t period_ns)
{
	turns->period_ns = period_ns;
	turns->arm = answer;
	is_told(BEGIN_LOOP, now_ns, period_ns, false);
}

enum reprise_arm __wrap_reprise_turns_note(struct reprise_turns *turns, uint64_t now_ns,
                                           uint64_t period_ns, bool alike, bool idle)
{
	turns->arm = answer;
	is_told(NOTE, now_ns, period_ns, alike);
	return answer;
}

void __wrap_reprise_turns_note_replayed(struct reprise_turns *turns, uint64_t replayed,
                                        uint64_t ops, uint64_t launches)
{
	(void)turns;
	told_replayed = replayed;
	told_ops = ops;
	told_launches = launches;
}

/* ---- a program's ops ---- */

static struct reprise_call kernel_of(char letter, unsigned int grid)
{
	return (struct reprise_call){.kind = REPRISE_OP_KERNEL,
	                             .kernel = {.function = (CUfunction)(uintptr_t)letter,
	                                        .grid = {grid, 1, 1},
	                                        .block = {1, 1, 1}}};
}

static void comes(struct reprise_lane *lane, struct reprise_call *call)
{
	if (reprise_eager_by_turn() && reprise_turns_goes_on(lane, call))
		return;
	lane->counts.ops++;
	if (reprise_turns_look(lane, call))
		reprise_turns_switch(lane);
	ck_assert_int_eq(call->begins_turn, reprise_eager_turn());
	ck_assert_int_eq(call->unseen, reprise_eager_turn());
}

/* So many ops of the lane and so much time later, an op comes. */
static void comes_after(struct reprise_lane *lane, struct reprise_call call, uint64_t ops,
                        uint64_t ns)
{
	if (reprise_eager_turn())
		lane->counts.in_turns += ops - 1;
	else
		lane->counts.ops += ops - 1;
	lane->counts.replayed += ops;
	reprise_clock_virtual += ns;
	comes(lane, &call);
}

/* The same, and it is the first after a wait. */
static void first_comes(struct reprise_lane *lane, struct reprise_call call, uint64_t ops,
                        uint64_t ns)
{
	reprise_turns_note_wait(REPRISE_SYNC_STREAM);
	comes_after(lane, call, ops, ns);
}

static void visit(char letter, uint64_t ops, uint64_t ns)
{
	first_comes(lane_of(1), kernel_of(letter, 1), ops, ns);
}

/* Asserts that there were as many calls by now, and this one last. */
static void last_was(unsigned int count, enum what what, uint64_t period)
{
	ck_assert_uint_eq(times, count);
	ck_assert_int_eq(told.what, what);
	ck_assert_uint_eq(told.now, reprise_clock_virtual);
	ck_assert_uint_eq(told.period, period);
}

/* The first op that comes behind a wait at all is the candidate; from its next visit on there are
 * periods. */
static void is_candidate(struct reprise_call call)
{
	first_comes(lane_of(1), call, 1, NS);
	ck_assert_ptr_eq(reprise_turns_lane(), lane_of(1));
}

/* The loop of `letter` is measured. */
static void is_measured(char letter)
{
	unsigned int before = times;

	is_candidate(kernel_of(letter, 1));
	for (unsigned int i = 0; i <= ALIKE + 1; i++) {
		ck_assert_uint_eq(times, before);
		visit(letter, OPS, NS);
	}
	ck_assert_uint_eq(times, before + 1);
	ck_assert(reprise_turns_read().measuring);
}

static void setup(void)
{
	program_begins();
	reprise_turns_start();
	answer = REPRISE_ARM_REPLAY;
}

/* ---- from the first visit to the measurement ---- */

/* Ops of the lane before the first visit: what came before it is no period. */
static const unsigned int before_the_loop[] = {0, OPS - 1, OPS, 2 * OPS, 1000};

START_TEST(periods_alike_make_an_anchor)
{
	uint64_t began;

	is_candidate(kernel_of('a', 1));
	lane_of(1)->counts.ops = before_the_loop[_i];
	visit('a', 1, NS);
	began = reprise_clock_virtual;
	for (unsigned int period = 1; period <= ALIKE; period++)
		visit('a', OPS, NS + 10 * period);
	ck_assert_uint_eq(times, 0);
	visit('a', OPS, NS);
	last_was(1, BEGIN, (reprise_clock_virtual - began) / (ALIKE + 1));
	ck_assert_ptr_eq(reprise_turns_lane(), lane_of(1));
}
END_TEST

/* The period is as long as the alike ones are, whatever came before them. */
START_TEST(periods_that_are_not_alike_count_anew)
{
	is_candidate(kernel_of('a', 1));
	visit('a', 1, NS);
	for (unsigned int period = 0; period < REPRISE_TUNE_ANCHOR_ALIKE; period++)
		visit('a', OPS, 7 * NS);
	visit('a', 2 * OPS, 100 * NS);
	for (unsigned int period = 0; period <= ALIKE; period++) {
		ck_assert_uint_eq(times, 0);
		visit('a', OPS, NS);
	}
	last_was(1, BEGIN, NS);
}
END_TEST

/* A loop that waits so many times: 1, 2, ... With more than eight, all visits but one would pass
 * for a period, to an eighth. */
#define WAITS_MOST 8

START_TEST(as_many_visits_as_the_loop_has_waits_make_a_period)
{
	unsigned int waits = (unsigned int)_i + 1, visits = 0;

	answer = REPRISE_ARM_EAGER;
	is_candidate(kernel_of('a', 1));
	for (; visits < 3000 && times == 0; visits++)
		visit('a', visits % waits == 0 ? 20 * OPS : OPS, NS * (1 + visits % waits));
	ck_assert_uint_eq(visits, 1 + (ALIKE + 1) * waits); /* those of fewer are tried meanwhile */
	last_was(1, BEGIN, NS * waits * (waits + 1) / 2);
	for (unsigned int i = 0; i < waits; i++) {
		ck_assert_uint_eq(times, 1);
		ck_assert(reprise_eager_turn()); /* for the whole period */
		visit('a', (visits + i) % waits == 0 ? 20 * OPS : OPS, NS);
	}
	ck_assert_uint_eq(times, 2);
	ck_assert(told.alike);
}
END_TEST

START_TEST(a_loop_without_replays_is_not_measured)
{
	struct reprise_lane *lane = lane_of(1);

	is_candidate(kernel_of('a', 1));
	for (unsigned int i = 0; i < 100; i++) {
		visit('a', OPS, NS);
		lane->counts.replayed = 7;
	}
	ck_assert_uint_eq(times, 0);
	lane->counts.replayed = 8;
	visit('a', OPS, NS);
	last_was(1, BEGIN, NS);
}
END_TEST

/* A model is copied to the device, say, then compiled: the copies are no loop of two seconds, and
 * the periods of one are no longer for it. */
START_TEST(a_gap_is_no_part_of_a_loop)
{
	static const unsigned int gaps[] = {0, 1, 2, 2 * ALIKE}; /* before this visit */
	struct reprise_lane *lane = lane_of(1);

	is_candidate(kernel_of('a', 1));
	for (unsigned int i = 0; i < 3 * ALIKE; i++) {
		lane->counts.replayed = 0;
		visit('a', OPS, i == gaps[_i] ? 3 * SECOND : NS);
	}
	ck_assert_uint_eq(times, 0);
	visit('a', OPS, NS); /* the first that is replayed */
	ck_assert_uint_eq(times, 1);
	ck_assert_int_eq(told.what, BEGIN);
	ck_assert_uint_ge(told.period, NS);
	ck_assert_uint_le(told.period, 2 * NS);
}
END_TEST

/* The graphs of the loop are built first; or half a second is over since the first replay. */
START_TEST(a_loop_is_measured_when_its_graphs_are_there)
{
	static struct reprise_graph graph;
	uint64_t ns = REPRISE_TUNE_ANCHOR_SETTLED_NS / 100, since;
	bool finishes = _i == 1;

	is_candidate(kernel_of('a', 1));
	ck_assert(reprise_build_queue_push(&graph));
	for (unsigned int i = 0; i <= ALIKE + 1; i++)
		visit('a', OPS, ns);
	since = reprise_clock_virtual;
	for (unsigned int i = 0; i < 100; i++) {
		ck_assert_uint_eq(times, 0);
		if (i == 60 && finishes) {
			ck_assert_ptr_eq(reprise_build_queue_take(), &graph);
			reprise_build_queue_finish();
			break;
		}
		visit('a', OPS, ns);
	}
	ck_assert_uint_eq(times, 0);
	visit('a', OPS, ns);
	last_was(1, BEGIN, ns);
	ck_assert_uint_eq(reprise_clock_virtual - since, finishes ? 61 * ns : 101 * ns);
}
END_TEST

/* ---- periods that are measured ---- */

static const struct {
	unsigned int ops;
	bool alike;
} periods[] = {{OPS, true},     {OPS - 8, true},  {OPS - 9, false},
               {OPS + 8, true}, {OPS + 9, false}, {2 * OPS, false}};

#define PERIODS (int)(sizeof(periods) / sizeof(periods[0]))

/* In either arm. */
START_TEST(each_period_is_told_of)
{
	answer = _i < PERIODS ? REPRISE_ARM_REPLAY : REPRISE_ARM_EAGER;
	is_measured('a');
	ck_assert_int_eq(reprise_eager_turn(), _i >= PERIODS);
	visit('a', periods[_i % PERIODS].ops, 3 * NS);
	last_was(2, NOTE,
	         periods[_i % PERIODS].alike ? 3 * NS * OPS / periods[_i % PERIODS].ops : 3 * NS);
	ck_assert_int_eq(told.alike, periods[_i % PERIODS].alike);
	visit('a', OPS, 5 * NS);
	last_was(3, NOTE, 5 * NS);
	ck_assert(told.alike);
}
END_TEST

START_TEST(whether_the_launch_thread_launches_is_told)
{
	is_measured('a');
	for (unsigned int turn = 0; turn < 4; turn++) {
		is_direct = turn % 2 == 1;
		visit('a', OPS, NS);
		ck_assert_int_eq(told_direct, is_direct);
	}
}
END_TEST

/* Those that Reprise looked at: ops of eager turns are not replayed. */
START_TEST(how_much_is_replayed_is_told)
{
	struct reprise_lane *lane = lane_of(1);

	is_measured('a');
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, NS);
	ck_assert_uint_eq(told_ops, lane->counts.ops);
	ck_assert_uint_eq(told_replayed, lane->counts.replayed);
	ck_assert_uint_eq(told_launches, lane->counts.launches);
	visit('a', OPS, NS);
	ck_assert_uint_gt(lane->counts.in_turns, 0);
	ck_assert_uint_eq(told_ops, lane->counts.ops);
	ck_assert_uint_eq(told_replayed, lane->counts.replayed);
}
END_TEST

START_TEST(a_period_with_unseen_ops_is_none)
{
	unsigned int before;

	answer = REPRISE_ARM_EAGER;
	is_measured('a');
	before = times;
	reprise_eager_unseen_begin(reprise_clock_virtual);
	for (unsigned int i = 0; i < REPRISE_TUNE_UNSEEN_LOOKED; i++) {
		ck_assert(reprise_eager_unseen());
		reprise_turns_note_unseen();
	}
	ck_assert(!reprise_eager_unseen());
	visit('a', OPS, NS);
	ck_assert_uint_eq(times, before);
	ck_assert(reprise_eager_turn());
	visit('a', OPS, NS);
	last_was(before + 1, NOTE, NS);
}
END_TEST

/* But not that of ops that pass unseen. */
START_TEST(the_time_of_pauses_is_left_out)
{
	reprise_pause_begin();
	reprise_clock_virtual += SECOND;
	reprise_pause_end();
	is_measured('a');
	ck_assert_uint_eq(left_out, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		reprise_pause_begin();
		reprise_clock_virtual += 100 * NS;
		reprise_pause_begin();
		reprise_clock_virtual += 100 * NS;
		reprise_pause_end();
		reprise_clock_virtual += 100 * NS;
		reprise_pause_end();
		visit('a', OPS, NS);
		ck_assert_uint_eq(left_out, i * 300 * NS);
	}
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, NS);
	reprise_eager_unseen_begin(reprise_clock_virtual);
	for (unsigned int i = 0; i < REPRISE_TUNE_UNSEEN_LOOKED; i++)
		reprise_turns_note_unseen();
	visit('a', OPS, NS);
	ck_assert_uint_eq(left_out, 3 * 300 * NS);
}
END_TEST

/* While another loop is looked for, too. */
START_TEST(so_is_that_of_pauses_between_two_loops)
{
	is_measured('a');
	for (unsigned int i = 0; i < REPRISE_TUNE_ANCHOR_LOST; i++)
		visit('a', 2 * OPS, NS);
	ck_assert(!reprise_turns_read().measuring);
	reprise_pause_begin();
	reprise_clock_virtual += 300 * NS;
	reprise_pause_end();
	for (unsigned int i = 0; i <= ALIKE + 4 && !reprise_turns_read().measuring; i++)
		visit('a', 2 * OPS, 3 * NS);
	ck_assert(reprise_turns_read().measuring);
	ck_assert_int_eq(told.what, BEGIN_LOOP);
	ck_assert_uint_eq(left_out, 300 * NS);
}
END_TEST

START_TEST(after_many_other_periods_the_loop_is_another)
{
	is_measured('a');
	for (unsigned int i = 1; i < REPRISE_TUNE_ANCHOR_LOST; i++)
		visit('a', 2 * OPS, NS);
	visit('a', OPS, NS);
	for (unsigned int i = 1; i < REPRISE_TUNE_ANCHOR_LOST; i++)
		visit('a', 2 * OPS, NS);
	last_was(2 * REPRISE_TUNE_ANCHOR_LOST, NOTE, NS);
	answer = REPRISE_ARM_EAGER; /* it is not asked for */
	visit('a', 2 * OPS, NS);
	ck_assert_uint_eq(times, 2 * REPRISE_TUNE_ANCHOR_LOST);
	ck_assert(!reprise_turns_read().measuring);
	ck_assert(!reprise_eager_turn());
	visit('b', 1, 0); /* the anchor is still the candidate */
	for (unsigned int i = 0; i <= ALIKE; i++)
		visit('a', 2 * OPS, 3 * NS);
	last_was(2 * REPRISE_TUNE_ANCHOR_LOST + 1, BEGIN_LOOP, 3 * NS);
	ck_assert(reprise_eager_turn());
}
END_TEST

/* From the first period that is measured on, and again for the loop that is measured then. */
START_TEST(a_loop_may_be_another_at_once)
{
	for (unsigned int loop = 0; loop < 3; loop++) {
		unsigned int before;

		for (unsigned int i = 0; !reprise_turns_read().measuring; i++) {
			ck_assert_uint_le(i, 4 * ALIKE);
			visit('a', OPS, NS);
		}
		before = times;
		for (unsigned int i = 1; i <= REPRISE_TUNE_ANCHOR_LOST; i++) {
			ck_assert(reprise_turns_read().measuring);
			visit('a', 2 * OPS, NS);
		}
		ck_assert(!reprise_turns_read().measuring);
		ck_assert_uint_eq(times, before + REPRISE_TUNE_ANCHOR_LOST - 1);
	}
}
END_TEST

/* Many in a row between waits: any op may be the anchor then, and has come again sooner. */
START_TEST(long_periods_are_cut_shorter)
{
	struct reprise_call first = kernel_of('a', 1), inner = kernel_of('b', 1);
	const uint64_t ns = REPRISE_TUNE_ANCHOR_LONG_NS / 10;

	is_candidate(first);
	for (unsigned int i = 0; times == 0; i++) {
		ck_assert_uint_le(i, REPRISE_TUNE_ANCHOR_LONG + ALIKE);
		for (unsigned int step = 0; step < 20; step++) {
			comes_after(lane_of(1), inner, OPS, ns);
		}
		visit('a', OPS, ns);
	}
	ck_assert_uint_le(loop_period, 2 * ns);
}
END_TEST

/* Where several waits make a period, each of them counts, and only where many in a row are long: a
 * program's first steps load and compile. */
START_TEST(waits_that_come_often_stay_the_anchor)
{
	const uint64_t ns = _i == 0 ? REPRISE_TUNE_ANCHOR_LONG_NS * 3 / 4 : NS;
	unsigned int visits = 0, waits = _i == 0 ? 3 : 1;

	is_candidate(kernel_of('a', 1));
	for (; times == 0; visits++) {
		bool is_long = (_i == 1 && visits % 3 == 0) || (_i == 2 && visits < 7);

		ck_assert_uint_le(visits, 1 + (ALIKE + 1) * waits);
		visit('a', visits % waits == 0 ? 20 * OPS : OPS,
		      is_long ? 2 * REPRISE_TUNE_ANCHOR_LONG_NS : ns);
	}
	ck_assert_uint_eq(visits, 1 + (ALIKE + 1) * waits);
}
END_TEST

/* ---- periods that are part of a longer loop ---- */

/* An op that comes behind no wait. */
static void another_comes(void)
{
	struct reprise_call call = kernel_of('b', 1);

	reprise_clock_virtual += NS;
	comes(lane_of(1), &call);
}

/* Behind waits, or not. */
static bool layers_wait;

static void layer_passes(uint64_t ops, uint64_t ns)
{
	if (layers_wait)
		reprise_turns_note_wait(REPRISE_SYNC_STREAM);
	comes_after(lane_of(1), kernel_of('a', 1), ops, ns);
}

/* A step of so many layers alike, and `rest` as many ops as a layer that are none. */
static void step_passes(unsigned int layers, uint64_t layer, unsigned int rest)
{
	for (unsigned int i = 1; i < layers; i++)
		layer_passes(layer, NS);
	layer_passes((1 + rest) * layer, (1 + rest) * NS);
}

/* Any op may be the anchor once so many have come behind no wait. */
static void layers_begin(bool wait)
{
	layers_wait = wait;
	if (wait)
		is_candidate(kernel_of('a', 1));
	else
		for (unsigned int i = 0; i < REPRISE_TUNE_ANCHOR_UNWAITED; i++)
			another_comes();
}

/* Until a loop is measured, or another one. Its period is the whole step, to a sixteenth. */
static void step_is_measured(unsigned int layers, uint64_t layer, unsigned int rest)
{
	uint64_t whole = (layers + rest) * NS;
	unsigned int before;

	for (unsigned int steps = 0; loop_period < whole - whole / 16; steps++) {
		ck_assert_uint_le(steps, REPRISE_TUNE_ANCHOR_PART_PERIODS + 10 * ALIKE);
		step_passes(layers, layer, rest);
	}
	ck_assert_uint_le(loop_period, whole + whole / 16);
	before = times;
	for (unsigned int steps = 0; steps < 2 * REPRISE_TUNE_ANCHOR_PART_PERIODS; steps++) {
		step_passes(layers, layer, rest);
		ck_assert_int_eq(told.what, NOTE);
		ck_assert_uint_eq(told.period, whole);
		ck_assert(told.alike);
		ck_assert_uint_eq(times, before + steps + 1);
	}
}

START_TEST(layers_of_a_step_are_not_the_loop)
{
	layers_begin(_i == 0);
	step_is_measured(12, OPS, 12);
	ck_assert_uint_eq(loops, 1); /* the layers never were */
}
END_TEST

/* More of them than are asked for before a loop is measured. */
START_TEST(layers_that_were_measured_are_left_for_the_step)
{
	layers_begin(true);
	for (unsigned int steps = 0; loops == 0; steps++) {
		ck_assert_uint_le(steps, 2);
		step_passes(2 * ALIKE, OPS, 2 * ALIKE);
	}
	ck_assert_uint_eq(loop_period, NS);
	step_is_measured(2 * ALIKE, OPS, 2 * ALIKE);
	ck_assert_uint_eq(loops, 2);
}
END_TEST

START_TEST(a_loop_may_have_a_little_more)
{
	layers_begin(_i == 0);
	for (unsigned int steps = 0; steps < 2 * REPRISE_TUNE_ANCHOR_PART_PERIODS; steps++)
		step_passes(12, OPS, 1);
	ck_assert_uint_eq(loops, 1);
	ck_assert_uint_lt(loop_period, 2 * NS);
	ck_assert(reprise_turns_read().measuring);
}
END_TEST

/* Where any op may be the anchor, longer ones are not looked for. */
START_TEST(long_layers_of_a_step_are_uneven)
{
	const uint64_t layer = REPRISE_TUNE_ANCHOR_SELDOM;

	layers_begin(false);
	for (unsigned int steps = 0; loops == 0; steps++) {
		ck_assert_uint_le(steps, 2 * ALIKE);
		step_passes(12, layer, 12);
	}
	for (unsigned int steps = 0; steps < REPRISE_TUNE_ANCHOR_PART_PERIODS; steps++) {
		step_passes(12, layer, 12);
		ck_assert_int_eq(told.what, NOTE);
		ck_assert(told.alike);
	}
}
END_TEST

/* Behind waits a step's layers are not looked for that are too many. A period is any 256 ops. */
START_TEST(more_layers_than_are_looked_for_are_uneven)
{
	const unsigned int layers = 2 * REPRISE_TUNE_ANCHOR_ORDER_MOST;

	layers_begin(true);
	for (unsigned int steps = 0; loops < 2; steps++) {
		ck_assert_uint_le(steps, 4);
		step_passes(layers, OPS, layers);
	}
	for (unsigned int steps = 0; steps < REPRISE_TUNE_ANCHOR_PART_PERIODS; steps++) {
		step_passes(layers, OPS, layers);
		ck_assert_int_eq(told.what, NOTE);
		ck_assert(told.alike);
	}
}
END_TEST

/* ---- other ops behind waits ---- */

/* The other one's periods begin with its own visit. */
START_TEST(a_candidate_that_does_not_come_again_is_left)
{
	is_candidate(kernel_of('a', 1));
	visit('a', OPS, NS);
	for (unsigned int i = 0; i <= REPRISE_TUNE_ANCHOR_MISSED; i++)
		visit('b', 1, NS);
	for (unsigned int i = 0; i <= ALIKE + 1; i++) {
		ck_assert_uint_eq(times, 0);
		visit('b', 32 * OPS, NS);
	}
	last_was(1, BEGIN, NS);
}
END_TEST

START_TEST(one_that_comes_now_and_then_is_not)
{
	is_candidate(kernel_of('a', 1));
	for (unsigned int i = 0; times == 0; i++) {
		ck_assert_uint_le(i, ALIKE + 1);
		visit('a', 1, NS);
		for (unsigned int other = 0; other < REPRISE_TUNE_ANCHOR_MISSED; other++)
			visit('b', 1, NS);
	}
	ck_assert_uint_eq(told.period, (1 + REPRISE_TUNE_ANCHOR_MISSED) * NS);
}
END_TEST

/* No op comes again, whether behind a wait or not: no loop. Returns for how long that went on until
 * an eager turn began. */
static uint64_t no_loop_comes(void)
{
	static unsigned int grid = 2;
	uint64_t began = reprise_clock_virtual;

	for (uintptr_t function = 1000; !reprise_eager_turn(); function++) {
		struct reprise_call call = kernel_of('b', grid++);

		call.kernel.function = (CUfunction)function;
		reprise_clock_virtual += NS;
		if (function % (REPRISE_TUNE_ANCHOR_UNWAITED / 5) == 0)
			reprise_turns_note_wait(REPRISE_SYNC_STREAM);
		comes(lane_of(1), &call);
	}
	return reprise_clock_virtual - began;
}

/* Ops pass unseen until it is over, and one is looked at. Returns how long that took. */
static uint64_t the_pause_passes(void)
{
	uint64_t began = reprise_clock_virtual;

	ck_assert(reprise_eager_unseen());
	while (reprise_eager_unseen()) {
		reprise_clock_virtual += NS;
		reprise_turns_note_unseen();
	}
	visit('a', OPS, NS);
	return reprise_clock_virtual - began;
}

/* The clock is read once in so many ops. */
static void is_about(uint64_t ns, uint64_t wanted)
{
	ck_assert_uint_ge(ns, wanted);
	ck_assert_uint_lt(ns, wanted + 3 * REPRISE_TUNE_ANCHOR_CLOCK * NS);
}

START_TEST(where_no_loop_is_found_all_is_eager_for_a_while)
{
	uint64_t first = (REPRISE_TUNE_SEARCH_OPS - REPRISE_TUNE_ANCHOR_CLOCK) * (uint64_t)NS;

	is_about(no_loop_comes(), first);
	is_about(the_pause_passes(), first);
	ck_assert(!reprise_eager_turn());
	is_about(no_loop_comes(), first / 2);
	is_about(the_pause_passes(), 2 * first);
	ck_assert_uint_eq(times, 0);
	is_about(reprise_turns_read().result.searched_ns,
	         first + first / 2 - REPRISE_TUNE_ANCHOR_CLOCK * NS);
}
END_TEST

/* With each op that is looked at others come in a backoff of another lane, and of `replayed` one is
 * replayed. Returns how many were looked at until an eager turn began. */
static unsigned int none_comes_beside(unsigned int others, unsigned int replayed)
{
	struct reprise_lane *other = lane_of(2);
	unsigned int looked;

	for (looked = 0; !reprise_eager_turn(); looked++) {
		other->counts.ops += others;
		other->counts.replayed += looked % replayed == 0;
		another_comes();
	}
	return looked;
}

/* Watching costs these, too. */
START_TEST(where_next_to_nothing_is_replayed_ops_of_backoffs_end_a_search)
{
	unsigned int least = REPRISE_TUNE_SEARCH_LEAST_NS / NS;

	ck_assert_uint_lt(REPRISE_TUNE_SEARCH_OPS / 10, least);
	ck_assert_uint_lt(least, REPRISE_TUNE_SEARCH_OPS * 2 / 3);
	ck_assert_uint_le(none_comes_beside(9, REPRISE_TUNE_SEARCH_IDLE),
	                  least + 2 * REPRISE_TUNE_ANCHOR_CLOCK);
}
END_TEST

START_TEST(where_more_is_they_do_not)
{
	ck_assert_uint_ge(none_comes_beside(9, REPRISE_TUNE_SEARCH_IDLE / 16),
	                  REPRISE_TUNE_SEARCH_OPS - REPRISE_TUNE_ANCHOR_CLOCK);
}
END_TEST

START_TEST(the_time_of_a_pause_is_not_searched)
{
	for (unsigned int i = 0; i < 4 * REPRISE_TUNE_ANCHOR_CLOCK; i++)
		another_comes();
	reprise_pause_begin();
	reprise_clock_virtual += 10 * (uint64_t)REPRISE_TUNE_SEARCH_LEAST_NS;
	reprise_pause_end();
	for (unsigned int i = 0; i < 4 * REPRISE_TUNE_ANCHOR_CLOCK; i++)
		another_comes();
	/* Time begins with the first look at the clock, and anew with the one behind the pause. */
	ck_assert_uint_eq(reprise_turns_read().result.searched_ns,
	                  2 * 3 * REPRISE_TUNE_ANCHOR_CLOCK * NS - REPRISE_TUNE_ANCHOR_CLOCK * NS);
}
END_TEST

START_TEST(a_loop_that_is_measured_is_looked_for_no_more)
{
	is_measured('a');
	for (unsigned int i = 0; i < 3 * REPRISE_TUNE_SEARCH_OPS; i++)
		visit('a', OPS, NS);
	ck_assert(!reprise_eager_turn());
	ck_assert_uint_lt(reprise_turns_read().result.searched_ns, 100 * NS);
}
END_TEST

/* The last visit was so long ago, in time and in periods. Others are looked at every so often. */
static const struct {
	uint64_t period, ns;
	bool lost;
} absences[] = {
	{NS, REPRISE_TUNE_ANCHOR_LOST_NS, false},
	{NS, REPRISE_TUNE_ANCHOR_LOST_NS + 1, true},
	{7000000, REPRISE_TUNE_ANCHOR_LOST *UINT64_C(7000000), false},
	{7000000, REPRISE_TUNE_ANCHOR_LOST *UINT64_C(7000000) + 1, true},
};

static void measured_with(uint64_t period)
{
	is_candidate(kernel_of('a', 1));
	for (unsigned int i = 0; i <= ALIKE + 1; i++)
		visit('a', OPS, period);
	last_was(1, BEGIN, period);
}

START_TEST(an_anchor_is_lost_after_a_long_time)
{
	uint64_t step = absences[_i].ns / REPRISE_TUNE_ANCHOR_MISSED;

	measured_with(absences[_i].period);
	for (unsigned int i = 1; i < REPRISE_TUNE_ANCHOR_MISSED; i++)
		visit('b', OPS, step);
	ck_assert(reprise_turns_read().measuring);
	visit('b', OPS, absences[_i].ns - (REPRISE_TUNE_ANCHOR_MISSED - 1) * step);
	ck_assert_int_eq(reprise_turns_read().measuring, !absences[_i].lost);
	ck_assert_uint_eq(times, 1);
	if (!absences[_i].lost) {
		visit('a', OPS, NS);
		last_was(2, NOTE, absences[_i].ns + NS);
		return;
	}
	for (unsigned int i = 0; i <= ALIKE + 1; i++)
		visit('b', OPS, 3 * NS);
	last_was(2, BEGIN_LOOP, 3 * NS);
}
END_TEST

/* Two first ops, and whether they are one anchor. */
static struct reprise_call copy_of(size_t bytes)
{
	return (struct reprise_call){.kind = REPRISE_OP_COPY, .copy = {.bytes = bytes}};
}

static struct reprise_call set_of(size_t width)
{
	return (struct reprise_call){.kind = REPRISE_OP_SET, .set = {.width = width}};
}

START_TEST(an_anchor_is_known_by_what_both_arms_can_compare)
{
	const struct {
		struct reprise_call one, other;
		bool same;
	} pairs[] = {
		{kernel_of('a', 1), kernel_of('a', 1), true},
		{kernel_of('a', 1), kernel_of('b', 1), false},
		{kernel_of('a', 1), kernel_of('a', 2), true}, /* of another shape */
		{copy_of(4), copy_of(4), true},
		{copy_of(4), copy_of(8), true},
		{set_of(4), set_of(4), true},
		{set_of(4), set_of(8), true},
		{set_of(4), copy_of(4), false},
		{set_of(4), kernel_of('a', 1), false},
	};

	if ((size_t)_i >= sizeof(pairs) / sizeof(pairs[0]))
		return;
	is_candidate(pairs[_i].one);
	for (unsigned int i = 0; i <= ALIKE + 1; i++)
		first_comes(lane_of(1), pairs[_i].one, OPS, NS);
	ck_assert_uint_eq(times, 1);
	first_comes(lane_of(1), pairs[_i].other, OPS, NS);
	ck_assert_uint_eq(times, 1 + pairs[_i].same);
	first_comes(lane_of(2), pairs[_i].one, OPS, NS); /* of another lane */
	ck_assert_uint_eq(times, 1 + pairs[_i].same);
}
END_TEST

static const struct {
	enum reprise_sync what;
	bool waits;
} syncs[] = {
	{REPRISE_SYNC_STREAM, true},     {REPRISE_SYNC_QUERY, false},
	{REPRISE_SYNC_EVENT, true},      {REPRISE_SYNC_EVENT_QUERY, false},
	{REPRISE_SYNC_EVENT_END, false}, {REPRISE_SYNC_DEFAULT, true},
	{REPRISE_SYNC_CONTEXT, true},    {REPRISE_SYNC_ALL, true},
	{REPRISE_SYNC_UNKNOWN, true},
};

START_TEST(a_query_is_no_wait)
{
	struct reprise_call call = kernel_of('a', 1);

	is_measured('a');
	comes(lane_of(1), &call); /* the same op, not behind a wait */
	ck_assert_uint_eq(times, 1);
	reprise_turns_note_wait(syncs[_i].what);
	comes(lane_of(1), &call);
	ck_assert_uint_eq(times, 1 + syncs[_i].waits);
	comes(lane_of(1), &call); /* once */
	ck_assert_uint_eq(times, 1 + syncs[_i].waits);
	reprise_turns_on = false;
	reprise_turns_note_wait(syncs[_i].what);
	ck_assert(!reprise_anchor_waited);
}
END_TEST

/* ---- the busiest lane ---- */

/* Another lane has replayed so much, and never waits: it is waited for four times. */
static const struct {
	unsigned int times, more;
	bool busier;
} lanes[] = {{1, 0, false}, {2, 1, false}, {2, 2, true}, {10, 0, true}};

START_TEST(a_lane_half_as_busy_is_measured_only_if_the_busiest_does_not_wait)
{
	struct reprise_lane *one = lane_of(1), *other = lane_of(2);
	unsigned int visits = 0, cycle = ALIKE + 2 + REPRISE_TUNE_ANCHOR_MISSED + 1;

	is_candidate(kernel_of('a', 1));
	for (; times == 0 && visits < 10 * cycle; visits++) {
		other->counts.replayed = lanes[_i].times * (one->counts.replayed + OPS) + lanes[_i].more;
		visit('a', OPS, NS);
	}
	last_was(1, BEGIN, NS);
	ck_assert_uint_eq(visits,
	                  (lanes[_i].busier ? REPRISE_TUNE_ANCHOR_PASSED_OVER * cycle : 0) + ALIKE + 2);
}
END_TEST

/* It does: its next first op is the candidate, whatever it is. What the other lane has had until
 * then is no period of it. */
START_TEST(the_busiest_lane_is_looked_at_instead)
{
	struct reprise_lane *other = lane_of(2);

	other->counts.replayed = 1000000;
	is_candidate(kernel_of('a', 1));
	for (unsigned int i = 0; i <= ALIKE + 1; i++)
		visit('a', OPS, NS);
	ck_assert_ptr_eq(reprise_turns_lane(), other);
	other->counts.ops = lane_of(1)->counts.ops;
	for (unsigned int i = 0; i <= ALIKE + 1; i++) {
		ck_assert_uint_eq(times, 0);
		first_comes(other, kernel_of('b', 1), OPS, 3 * NS);
	}
	last_was(1, BEGIN, 3 * NS);
}
END_TEST

/* ---- arms ---- */

START_TEST(a_turn_begins_and_ends_at_the_anchor)
{
	struct reprise_lane *lane = lane_of(1);
	struct reprise_call call = kernel_of('b', 1);
	uint64_t ops;

	is_measured('a');
	for (unsigned int turn = 0; turn < 3; turn++) {
		answer = REPRISE_ARM_EAGER;
		atomic_store(&lane->noisy, false);
		visit('a', OPS, NS);
		ck_assert(reprise_eager_turn());
		ck_assert(atomic_load(&lane->noisy));
		answer = REPRISE_ARM_REPLAY; /* for the next period */
		ops = lane->counts.in_turns;
		for (unsigned int i = 0; i < OPS - 1; i++)
			comes(lane, &call);
		ck_assert_uint_eq(lane->counts.in_turns, ops + OPS - 1);
		ck_assert(reprise_eager_turn());
		ops = lane->counts.ops;
		visit('a', 1, 3 * NS);
		last_was(3 + 2 * turn, NOTE, 3 * NS);
		ck_assert(told.alike);
		ck_assert(!reprise_eager_turn());
		ck_assert_uint_eq(lane->counts.ops, ops + 1);
	}
}
END_TEST

/* What comes first after a wait may be the anchor, and so may an op now and then that does not. */
START_TEST(most_ops_of_an_eager_turn_are_no_anchor_and_pass)
{
	struct reprise_lane *lane = lane_of(1);
	struct reprise_call call = kernel_of('b', 1);
	unsigned int passed = 0;

	is_measured('a');
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, NS);
	reprise_turns_note_wait(REPRISE_SYNC_STREAM);
	ck_assert(!reprise_anchor_passes(lane, &call, lane->counts.ops + 1));
	reprise_anchor_waited = false;
	while (reprise_anchor_passes(lane, &call, lane->counts.ops + 1))
		passed++;
	ck_assert_uint_lt(passed, REPRISE_TUNE_ANCHOR_UNWAITED);
	ck_assert_uint_gt(passed, REPRISE_TUNE_ANCHOR_UNWAITED / 2);
}
END_TEST

/* Lanes are told of the next wait, and know their place when the turn ends. */
START_TEST(ops_of_an_eager_turn_are_news)
{
	struct reprise_lane *lane = lane_of(1);
	struct reprise_call call = kernel_of('b', 1);
	static struct reprise_trace trace;

	is_measured('a');
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, NS);
	lane->position = (struct reprise_position){REPRISE_BEFORE_WAIT, 7, 40};
	lane->last = lane->expected = &trace;
	atomic_store(&lane->noisy, false);
	comes(lane, &call);
	ck_assert(atomic_load(&lane->noisy));
	reprise_lane_place(lane);
	ck_assert_uint_eq(lane->position.before, REPRISE_BEFORE_NOTHING);
	ck_assert_uint_eq(lane->position.value, 0);
	ck_assert_uint_eq(lane->position.since_wait, 41);
	ck_assert_ptr_null(lane->last);
	ck_assert_ptr_null(lane->expected);
	lane->trace = &trace; /* deferred by another thread just before */
	lane->last = &trace;
	comes(lane, &call);
	ck_assert_uint_eq(lane->position.since_wait, 41);
	ck_assert_ptr_eq(lane->last, &trace);
	lane->trace = lane->last = NULL;
}
END_TEST

/* Other first ops go on with the arm; so does an op of another lane. */
START_TEST(other_ops_leave_the_arm)
{
	is_measured('a');
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, NS);
	answer = REPRISE_ARM_REPLAY;
	visit('b', OPS, NS);
	first_comes(lane_of(2), kernel_of('a', 1), OPS, NS);
	ck_assert(reprise_eager_turn());
	visit('a', OPS, NS);
	ck_assert(!reprise_eager_turn());
}
END_TEST

/* In an eager turn the anchor is looked after, once in so many ops of a lane. */
START_TEST(an_eager_turn_ends_when_its_anchor_is_lost)
{
	struct reprise_lane *lane = lane_of(1);
	struct reprise_call call = kernel_of('b', 1);

	measured_with(absences[_i].period);
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, absences[_i].period);
	lane->counts.in_turns = 1;
	reprise_clock_virtual += absences[_i].ns;
	for (unsigned int i = 1; i < REPRISE_TUNE_ANCHOR_LOOKED_AFTER; i++)
		comes(lane, &call);
	ck_assert(reprise_eager_turn());
	comes(lane, &call);
	ck_assert_int_eq(reprise_eager_turn(), !absences[_i].lost);
	ck_assert_int_eq(reprise_turns_read().measuring, !absences[_i].lost);
	if (!absences[_i].lost)
		return;
	for (unsigned int i = 0; i <= ALIKE + 1; i++)
		visit('c', OPS, 3 * NS); /* whatever comes next is looked at */
	last_was(3, BEGIN_LOOP, 3 * NS);
}
END_TEST

/* A loop whose periods are long is followed by one whose ops come fast, and have no visit in
 * them. */
START_TEST(an_anchor_that_many_ops_have_left_behind_is_lost)
{
	struct reprise_lane *lane = lane_of(1);
	struct reprise_call call = kernel_of('b', 1);
	unsigned int most = REPRISE_TUNE_ANCHOR_LOST * OPS, passed = 0;

	measured_with(7000000);
	answer = REPRISE_ARM_EAGER;
	visit('a', OPS, 7000000);
	lane->counts.in_turns = 1;
	reprise_clock_virtual += REPRISE_TUNE_ANCHOR_LOST_NS + 1;
	for (; reprise_eager_turn(); passed++)
		comes(lane, &call);
	ck_assert_uint_gt(passed, most);
	ck_assert_uint_le(passed, most + REPRISE_TUNE_ANCHOR_LOOKED_AFTER);
	ck_assert(!reprise_turns_read().measuring);
}
END_TEST

/* ---- the process ---- */

/* As a launcher tells it. */
START_TEST(a_rank_has_a_clock_in_common_with_others)
{
	if (_i == 1)
		setenv("OMPI_COMM_WORLD_RANK", "3", 1);
	else
		unsetenv("OMPI_COMM_WORLD_RANK");
	reprise_launcher_look();
	is_measured('a');
	ck_assert_uint_eq(told_ahead, _i == 1 ? reprise_clock_common_ns() - reprise_clock_ns() : 0);
	ck_assert(_i == 0 || told_ahead > 0);
}
END_TEST

START_TEST(a_child_looks_for_its_own_loop)
{
	uint32_t attention = atomic_load(&reprise_attention);

	is_measured('a');
	reprise_turns_note_wait(REPRISE_SYNC_ALL);
	reprise_turns_reset();
	ck_assert(!reprise_anchor_waited);
	ck_assert(!reprise_turns_read().measuring);
	ck_assert_ptr_null(reprise_turns_lane());
	ck_assert_uint_eq(atomic_load(&reprise_attention),
	                  attention); /* only what a lane does is waited for */
	is_measured('b');
	last_was(2, BEGIN, NS);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("lane, anchor");
	TCase *tests = tcase_create("anchor");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, periods_alike_make_an_anchor, 0, ALL(before_the_loop));
	tcase_add_test(tests, periods_that_are_not_alike_count_anew);
	tcase_add_loop_test(tests, as_many_visits_as_the_loop_has_waits_make_a_period, 0, WAITS_MOST);
	tcase_add_test(tests, a_loop_without_replays_is_not_measured);
	tcase_add_loop_test(tests, a_gap_is_no_part_of_a_loop, 0, 4);
	tcase_add_loop_test(tests, a_loop_is_measured_when_its_graphs_are_there, 0, 2);
	tcase_add_loop_test(tests, each_period_is_told_of, 0, 2 * PERIODS);
	tcase_add_test(tests, whether_the_launch_thread_launches_is_told);
	tcase_add_test(tests, how_much_is_replayed_is_told);
	tcase_add_test(tests, a_period_with_unseen_ops_is_none);
	tcase_add_test(tests, the_time_of_pauses_is_left_out);
	tcase_add_test(tests, so_is_that_of_pauses_between_two_loops);
	tcase_add_test(tests, after_many_other_periods_the_loop_is_another);
	tcase_add_test(tests, a_loop_may_be_another_at_once);
	tcase_add_test(tests, long_periods_are_cut_shorter);
	tcase_add_loop_test(tests, waits_that_come_often_stay_the_anchor, 0, 3);
	tcase_add_loop_test(tests, layers_of_a_step_are_not_the_loop, 0, 2);
	tcase_add_test(tests, layers_that_were_measured_are_left_for_the_step);
	tcase_add_loop_test(tests, a_loop_may_have_a_little_more, 0, 2);
	tcase_add_test(tests, long_layers_of_a_step_are_uneven);
	tcase_add_test(tests, more_layers_than_are_looked_for_are_uneven);
	tcase_add_test(tests, a_candidate_that_does_not_come_again_is_left);
	tcase_add_test(tests, one_that_comes_now_and_then_is_not);
	tcase_add_test(tests, where_no_loop_is_found_all_is_eager_for_a_while);
	tcase_add_test(tests, where_next_to_nothing_is_replayed_ops_of_backoffs_end_a_search);
	tcase_add_test(tests, where_more_is_they_do_not);
	tcase_add_test(tests, the_time_of_a_pause_is_not_searched);
	tcase_add_test(tests, a_loop_that_is_measured_is_looked_for_no_more);
	tcase_add_loop_test(tests, an_anchor_is_lost_after_a_long_time, 0, ALL(absences));
	tcase_add_loop_test(tests, an_anchor_is_known_by_what_both_arms_can_compare, 0, 9);
	tcase_add_loop_test(tests, a_query_is_no_wait, 0, ALL(syncs));
	tcase_add_loop_test(tests, a_lane_half_as_busy_is_measured_only_if_the_busiest_does_not_wait, 0,
	                    ALL(lanes));
	tcase_add_test(tests, the_busiest_lane_is_looked_at_instead);
	tcase_add_test(tests, a_turn_begins_and_ends_at_the_anchor);
	tcase_add_test(tests, most_ops_of_an_eager_turn_are_no_anchor_and_pass);
	tcase_add_test(tests, ops_of_an_eager_turn_are_news);
	tcase_add_test(tests, other_ops_leave_the_arm);
	tcase_add_loop_test(tests, an_eager_turn_ends_when_its_anchor_is_lost, 0, ALL(absences));
	tcase_add_test(tests, an_anchor_that_many_ops_have_left_behind_is_lost);
	tcase_add_loop_test(tests, a_rank_has_a_clock_in_common_with_others, 0, 2);
	tcase_add_test(tests, a_child_looks_for_its_own_loop);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
