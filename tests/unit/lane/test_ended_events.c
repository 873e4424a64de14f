/* Events that the program destroys while traces may name them: each is destroyed once, by the last
 * that forgets it, and its handle is nobody's meanwhile. */
#include "../../suite.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "lane/ended_events.h"
#include "lane/group/group.h"
#include "lane/order.h"
#include "lane/traces.h"
#include "program.h"

#define FORK "a >e 2:<e 2:b 2:>f c <f d"
#define GRAPH "[a >e b >f c d >_]"

static unsigned int destroyed;
static CUevent last_destroyed;
static CUresult state; /* what a query of an event is told */

static CUresult CUDAAPI destroy_event(CUevent event)
{
	if ((uintptr_t)event > 'z')
		return CUDA_SUCCESS; /* it was Reprise's own */
	destroyed++;
	last_destroyed = event;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI query_event(CUevent event)
{
	return state;
}

static struct reprise_lane *head;

static void setup(void)
{
	program_begins();
	reprise_driver.cuEventDestroy_v2 = destroy_event;
	reprise_driver.cuEventQuery = query_event;
	learns(FORK " |", GRAPH);
	head = reprise_lane_head(lane_of(1));
	destroyed = 0;
}

static struct reprise_ended *ends(char event)
{
	struct reprise_ended *noted;
	CUresult result;

	ck_assert(reprise_ended_note(driver_event(event), &result, &noted));
	ck_assert_int_eq(result, CUDA_SUCCESS);
	ck_assert_ptr_nonnull(noted);
	return noted;
}

/* The program's own call is made: nothing of Reprise's names it. */
static void is_not_noted(CUevent event)
{
	struct reprise_ended *noted;
	CUresult result = CUDA_ERROR_UNKNOWN;

	ck_assert(!reprise_ended_note(event, &result, &noted));
	ck_assert_int_eq(result, CUDA_SUCCESS);
	ck_assert_ptr_null(noted);
	ck_assert_uint_eq(atomic_load(&head->ended), 0);
}

START_TEST(an_event_that_no_lane_names_is_not_noted)
{
	is_not_noted(driver_event('g'));
	is_not_noted(NULL);
}
END_TEST

static const struct {
	CUresult state;
	bool noted;
} states[] = {{CUDA_SUCCESS, true},
              {CUDA_ERROR_NOT_READY, true},
              {CUDA_ERROR_INVALID_HANDLE, false},
              {CUDA_ERROR_LAUNCH_FAILED, false}};

START_TEST(what_the_driver_does_not_take_for_an_event_is_not_noted)
{
	state = states[_i].state;
	if (states[_i].noted)
		ends('e');
	else
		is_not_noted(driver_event('e'));
}
END_TEST

/* A query may end the capture. */
START_TEST(while_the_program_captures_the_driver_is_not_asked)
{
	reprise_program_captures_begin(driver_stream(1), (CUcontext)1);
	state = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	ends('e');
}
END_TEST

START_TEST(it_is_destroyed_when_its_lane_has_forgotten_it)
{
	struct reprise_ended *noted = ends('e');

	ck_assert(reprise_ended_any(head));
	ck_assert(reprise_ended_is_kept(noted));
	ck_assert_uint_eq(destroyed, 0);
	reprise_lanes_barrier(false);
	ck_assert_uint_eq(destroyed, 1);
	ck_assert_ptr_eq(last_destroyed, driver_event('e'));
	ck_assert(!reprise_ended_any(head));
	ck_assert(!reprise_knows(&head->events, driver_event('e')));
	ck_assert(reprise_knows(&head->events, driver_event('f')));
	reprise_lanes_barrier(false);
	ck_assert_uint_eq(destroyed, 1);
	calls("x |");
	driver_saw();
	CALLS_ARE_SEEN_AS(FORK " |", "a >e 2:<e 2:b 2:>f c <f d"); /* the trace is gone */
}
END_TEST

/* The lane was first: then it is for the thread that destroys it. */
START_TEST(it_is_not_kept_if_its_lane_has_forgotten_it_before)
{
	struct reprise_ended *noted = ends('e');

	reprise_lanes_barrier(false);
	ck_assert_uint_eq(destroyed, 0);
	ck_assert(!reprise_ended_any(head));
	ck_assert(!reprise_ended_is_kept(noted));
}
END_TEST

START_TEST(an_event_ends_once)
{
	struct reprise_ended *noted;
	CUresult result;

	ck_assert(reprise_ended_is_kept(ends('e')));
	ck_assert(reprise_ended_note(driver_event('e'), &result, &noted));
	ck_assert_int_eq(result, CUDA_ERROR_INVALID_HANDLE);
	ck_assert_ptr_null(noted);
	ck_assert_uint_eq(atomic_load(&head->ended), 1);
	reprise_lanes_barrier(false);
	is_not_noted(driver_event('e'));
}
END_TEST

START_TEST(each_of_several_is_destroyed)
{
	ck_assert(reprise_ended_is_kept(ends('e')));
	ck_assert(reprise_ended_is_kept(ends('f')));
	ck_assert_uint_eq(atomic_load(&head->ended), 2);
	reprise_lanes_barrier(false);
	ck_assert_uint_eq(destroyed, 2);
	ck_assert_uint_eq(atomic_load(&head->ended), 0);
}
END_TEST

/* A graph that names it is being built: the lane forgets it another time. */
START_TEST(it_stays_while_a_graph_that_names_it_is_built)
{
	struct reprise_trace *trace = head->index->newest;

	atomic_store(&trace->graph.state, REPRISE_GRAPH_QUEUED);
	ck_assert(reprise_ended_is_kept(ends('e')));
	reprise_lanes_barrier(false);
	ck_assert_uint_eq(destroyed, 0);
	ck_assert(reprise_ended_any(head));
	atomic_store(&trace->graph.state, REPRISE_GRAPH_READY);
	calls("x");
	reprise_lanes_barrier(false);
	ck_assert_uint_eq(destroyed, 1);
	ck_assert(!reprise_ended_any(head));
}
END_TEST

START_TEST(a_split_forgets_them)
{
	ck_assert(reprise_ended_is_kept(ends('e')));
	reprise_group_split(lane_of(1), false);
	ck_assert_uint_eq(destroyed, 1);
	is_not_noted(driver_event('f')); /* events are of groups alone */
}
END_TEST

START_TEST(a_forked_child_has_none)
{
	ends('e');
	reprise_ended_reset();
	ends('e');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, ended events");
	TCase *tests = tcase_create("ended events");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, an_event_that_no_lane_names_is_not_noted);
	tcase_add_loop_test(tests, what_the_driver_does_not_take_for_an_event_is_not_noted, 0,
	                    sizeof(states) / sizeof(states[0]));
	tcase_add_test(tests, while_the_program_captures_the_driver_is_not_asked);
	tcase_add_test(tests, it_is_destroyed_when_its_lane_has_forgotten_it);
	tcase_add_test(tests, it_is_not_kept_if_its_lane_has_forgotten_it_before);
	tcase_add_test(tests, an_event_ends_once);
	tcase_add_test(tests, each_of_several_is_destroyed);
	tcase_add_test(tests, it_stays_while_a_graph_that_names_it_is_built);
	tcase_add_test(tests, a_split_forgets_them);
	tcase_add_test(tests, a_forked_child_has_none);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
