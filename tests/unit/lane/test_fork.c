/* A forked child begins as the parent did: whatever was under way when it was forked, locks that
 * other threads held included, its own calls are watched, followed and replayed. */
#include <pthread.h>

#include "../../suite.h"
#include "base/changes.h"
#include "base/ending.h"
#include "base/gate.h"
#include "base/hash.h"
#include "base/store.h"
#include "base/tuning.h"
#include "graph/building.h"
#include "graph/capture_lock.h"
#include "graph/program_captures.h"
#include "lane/async_launch.h"
#include "lane/eager.h"
#include "lane/ended_events.h"
#include "lane/errors.h"
#include "lane/group/group.h"
#include "lane/hold.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/threads.h"
#include "op/function.h"
#include "workers/workers.h"
#include "../../virtual/threads.h"
#include "program.h"

#define FORK "a >e 2:<e 2:b 2:>f c <f d |"
#define FORKED "[a >e b >f c d >_]"

/* What of process/process.c's table is about ops. */
static void (*const resets[])(void) = {
	reprise_lanes_reset,
	reprise_lanes_calls_reset,
	reprise_store_reset,
	reprise_eager_reset,
	reprise_group_reset,
	reprise_ended_reset,
	reprise_fork_detect_reset,
	reprise_hold_reset,
	reprise_errors_reset,
	reprise_async_launch_reset,
	reprise_graph_building_reset,
	reprise_capture_lock_reset,
	reprise_program_captures_reset,
	reprise_gate_reset,
	reprise_functions_reset,
	reprise_changes_reset,
};

/* The functions that the child launches are new to it. */
static void child_begins(void)
{
	for (unsigned int i = 0; i < sizeof(resets) / sizeof(resets[0]); i++)
		resets[i]();
	threads_are_there();
	driver_saw();
	calls("a b c d e f |");
	driver_saw();
}

static void child_works(void)
{
	child_begins();
	ck_assert(reprise_taking_part());
	ck_assert_uint_eq(atomic_load(&reprise_groups), 0);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 0);
	ck_assert_uint_eq(atomic_load(&reprise_group_unknown_calls), 0);
	ck_assert_uint_eq(reprise_errors_count, 0);
	learns("a b c |", "[a b c]");
	learns("d e f |", "[d e f]");
	calls("d e");
	time_passes(250000);
	IS_SEEN("(d) (e)");
	learns(FORK, FORKED);
	CALLS_ARE_SEEN_AS(FORK, FORKED);
	reprise_lanes_barrier(false);
	reprise_lanes_barrier(false);
	ck_assert_uint_eq(reprise_attention, 1); /* a group is told of every call */
}

static void of_nothing(void)
{
}

static void of_a_group(void)
{
	learns(FORK, FORKED);
	calls(FORK); /* with a pending wait */
}

static void of_deferred_ops(void)
{
	learns("a b c |", "[a b c]");
	calls("a b");
}

static void of_a_stop(void)
{
	reprise_stop("a reason");
}

static void of_a_capture(void)
{
	reprise_program_captures_begin(driver_stream(1), (CUcontext)1);
}

static void of_a_call_for_a_context(void)
{
	reprise_context_sync_begin((CUcontext)1);
}

static void *pause_building(void *unused)
{
	reprise_graph_building_pause();
	return NULL;
}

/* By another thread, which the child does not have. */
static void of_paused_building(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, pause_building, NULL), 0);
	pthread_join(thread, NULL);
}

static void *take_lock(void *unused)
{
	reprise_lock_take(&lane_of(1)->lock);
	return NULL;
}

/* The same of the lane's lock. */
static void of_a_call_on_a_kept_stream(void)
{
	pthread_t thread;

	calls("a b c |");
	reprise_lanes_order(lane_of(1), driver_stream(1), false, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, take_lock, NULL), 0);
	pthread_join(thread, NULL);
}

static void of_calls_on_their_way(void)
{
	reprise_lanes_sync(REPRISE_SYNC_UNKNOWN, 0, false);
}

static void of_an_error(void)
{
	reprise_errors_keep(lane_of(1), driver_stream(1), CUDA_ERROR_INVALID_VALUE);
}

static void of_changes(void)
{
	reprise_changes_begin(REPRISE_CHANGES_MEMORY);
	reprise_changes_begin(REPRISE_CHANGES_FUNCTIONS);
}

static void (*const states[])(void) = {
	of_nothing,
	of_a_group,
	of_deferred_ops,
	of_a_stop,
	of_a_capture,
	of_an_error,
	of_calls_on_their_way,
	of_a_call_for_a_context,
	of_changes,
	of_paused_building,
	of_a_call_on_a_kept_stream,
};

START_TEST(a_child_works_whatever_was_under_way)
{
	states[_i]();
	child_works();
}
END_TEST

static void is_noted(unsigned int stream, enum reprise_op_kind kind, uintptr_t event)
{
	const struct reprise_call call = {.kind = kind, .event = (CUevent)event};

	reprise_fork_detect_note(lane_of(stream), &call);
}

#define SIMILAR 4

/* Events that share their place in the table of those that were recorded. */
static void find_similar(uintptr_t *events)
{
	unsigned int count = 0;

	for (uintptr_t event = 0x10000; count < SIMILAR; event++) {
		uint64_t hash = reprise_hash_mix(event, 3), first = reprise_hash_mix(events[0], 3);

		if (count == 0 || (hash % 64 == first % 64 && (hash >> 32) % 4 == (first >> 32) % 4))
			events[count++] = event;
	}
}

/* Nothing of the parent's events takes a place from the child's: forks are seen behind as many. */
START_TEST(a_child_has_room_for_as_many_events)
{
	uintptr_t events[SIMILAR];

	find_similar(events);
	for (uintptr_t event = 0x1000; event < 0x2000; event++)
		is_noted(1, REPRISE_OP_RECORD, event);
	child_begins();
	for (unsigned int i = 0; i < REPRISE_TUNE_GROUP_FORKS; i++) {
		ck_assert_uint_eq(atomic_load(&reprise_groups), 0);
		is_noted(1, REPRISE_OP_RECORD, events[0]);
		is_noted(2, REPRISE_OP_WAIT, events[0]);
		for (unsigned int other = 1; other < SIMILAR; other++)
			is_noted(2, REPRISE_OP_RECORD, events[other]);
		is_noted(1, REPRISE_OP_WAIT, events[1]);
	}
	ck_assert_uint_eq(atomic_load(&reprise_groups), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, fork");
	TCase *tests = tcase_create("fork");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_loop_test(tests, a_child_works_whatever_was_under_way, 0,
	                    sizeof(states) / sizeof(states[0]));
	tcase_add_test(tests, a_child_has_room_for_as_many_events);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
