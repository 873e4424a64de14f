/* Which traces a lane gives up: with a function that is set, with an event that ends, with what
 * names other contexts, and for want of memory. */
#include "../../suite.h"
#include "base/clock.h"
#include "base/store.h"
#include "driver/driver.h"
#include "graph/building.h"
#include "lane/traces.h"
#include "program.h"

#define TRACE "a b c |"
#define GRAPH "[a b c]"
#define EAGER "a b c"

#define OF_B ((CUfunction)0x4200) /* the function of the kernel b */
#define LETTER(letter) ((CUfunction)(uintptr_t)(letter))
#define HERE ((CUcontext)1)
#define ELSEWHERE ((CUcontext)2)

static CUresult CUDAAPI function_of(CUfunction *function, CUkernel kernel)
{
	*function = OF_B;
	return (CUfunction)kernel == LETTER('b') ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void setup(void)
{
	program_begins();
	watches_up_to(2);
	reprise_driver.cuKernelGetFunction = function_of;
	learns(TRACE, GRAPH);
}

/* Whether the trace is gone. To give up any moves the lane's position: a wait comes first. */
static void is_gone(bool gone)
{
	calls("x |");
	CALLS_ARE_SEEN_AS(TRACE, gone ? EAGER : GRAPH);
}

/* ---- functions that are set ---- */

/* `any`: another handle that was launched may be what is set. */
static const struct {
	struct reprise_function_set set;
	bool forgets, any;
} sets[] = {
	{{.handle = LETTER('a')}, true, false},
	{{.handle = LETTER('b')}, true, false},
	{{.handle = OF_B}, true, false},
	{{.handle = LETTER('x')}, false, false},
	{{.handle = LETTER('b'), .is_kernel = true, .context = HERE, .nowhere = true}, true, false},
	{{.handle = LETTER('x'), .is_kernel = true, .context = HERE, .nowhere = true}, false, false},
	{{.handle = LETTER('x'), .is_kernel = true, .context = HERE, .function = LETTER('c')},
     true,
     false},
	{{.handle = LETTER('x'), .is_kernel = true, .context = HERE, .function = LETTER('y')},
     false,
     false},
	{{.handle = OF_B, .is_kernel = true, .context = HERE, .nowhere = true}, false, false},
	{{.handle = LETTER('x'), .is_kernel = true, .context = HERE}, true, true},
	{{.handle = LETTER('x'), .is_kernel = true, .context = ELSEWHERE, .nowhere = true}, true, true},
	{{.handle = LETTER('x'), .is_kernel = true, .context = ELSEWHERE, .function = LETTER('y')},
     true,
     true},
	{{.handle = LETTER('x'), .context = ELSEWHERE}, false, false},
};

START_TEST(traces_go_that_may_launch_what_is_set)
{
	struct reprise_lane *lane = lane_of(1);

	ck_assert_int_eq(reprise_lane_may_launch_any(lane, &sets[_i].set), sets[_i].any);
	/* The kernel's function is known to the lane, too, without being told apart from it. */
	ck_assert_int_eq(reprise_lane_may_launch(lane, &sets[_i].set),
	                 sets[_i].forgets || sets[_i].set.handle == OF_B);
	reprise_lane_forget_function(lane, &sets[_i].set);
	is_gone(sets[_i].forgets);
}
END_TEST

/* All that the lane launches are kernels: no handle may be another kernel's function. */
START_TEST(a_lane_of_kernels_launches_no_others)
{
	static const struct reprise_function_set set = {.handle = LETTER('x'),
	                                                .is_kernel = true,
	                                                .context = HERE};

	calls("2:b 2:b |");
	ck_assert(!reprise_lane_may_launch_any(lane_of(2), &set));
	ck_assert(!reprise_lane_may_launch(lane_of(2), &set));
	calls("2:a |");
	ck_assert(reprise_lane_may_launch_any(lane_of(2), &set));
}
END_TEST

START_TEST(a_function_is_known_from_its_first_op)
{
	const struct reprise_function_set x = {.handle = LETTER('x')};

	ck_assert(!reprise_lane_may_launch(lane_of(1), &x));
	calls("x");
	ck_assert(reprise_lane_may_launch(lane_of(1), &x));
}
END_TEST

START_TEST(without_a_kernels_function_any_may_be_it)
{
	const struct reprise_function_set set = {.handle = LETTER('x'),
	                                         .is_kernel = true,
	                                         .context = HERE};

	reprise_driver.cuKernelGetFunction = NULL;
	ck_assert_ptr_null(reprise_function_of_kernel(LETTER('b')));
	calls("2:b |");
	ck_assert(reprise_lane_may_launch_any(lane_of(2), &set));
}
END_TEST

START_TEST(a_lane_that_forgets_all_launches_nothing)
{
	const struct reprise_function_set a = {.handle = LETTER('a')};
	struct reprise_lane *lane = lane_of(1);

	atomic_store(&lane->names_elsewhere, true);
	reprise_lane_forget(lane);
	ck_assert(!reprise_lane_may_launch(lane, &a));
	ck_assert(!atomic_load(&lane->launches_functions));
	ck_assert(!atomic_load(&lane->names_elsewhere));
	ck_assert_ptr_null(lane->last);
	ck_assert_ptr_null(lane->expected);
	is_gone(true);
}
END_TEST

/* What was watched of the open segment would become a trace of what has ended. */
START_TEST(the_open_segment_is_forgotten_as_well)
{
	struct reprise_lane *lane = lane_of(1);

	for (unsigned int visit = 0; visit < 20; visit++) {
		calls("d e f g");
		reprise_lane_forget(lane);
		calls("|");
		graphs_are_built();
	}
	CALLS_ARE_SEEN_AS("d e f g |", "d e f g");
}
END_TEST

/* ---- other reasons ---- */

START_TEST(a_trace_of_one_stream_stays_where_forks_go)
{
	reprise_lane_forget_forks(lane_of(1));
	is_gone(false);
}
END_TEST

START_TEST(a_trace_stays_that_names_nothing_elsewhere)
{
	struct reprise_lane *lane = lane_of(1);

	atomic_store(&lane->names_elsewhere, true);
	reprise_lane_forget_elsewhere(lane);
	ck_assert(!atomic_load(&lane->names_elsewhere));
	is_gone(false);
}
END_TEST

#define FORK "a >e 2:<e 2:b 2:>f c <f d |"
#define FORKED "[a >e b >f c d >_]"
#define FORK_EAGER "a >e 2:(<_) 2:<e 2:b 2:>f c <f d" /* after a graph */

/* The event: named by records and waits, named by none. */
static const struct {
	char event;
	bool gone;
} events[] = {{'e', true}, {'f', true}, {'g', false}, {'a', false}};

START_TEST(traces_go_that_name_an_event)
{
	learns(FORK, FORKED);
	reprise_lane_forget_event(reprise_lane_head(lane_of(1)), driver_event(events[_i].event));
	CALLS_ARE_SEEN_AS(FORK, events[_i].gone ? FORK_EAGER : FORKED);
}
END_TEST

START_TEST(forks_go_and_a_run_of_one_stream_stays)
{
	learns(FORK, FORKED);
	learns("x y z |", "[x y z]");
	reprise_lane_forget_forks(reprise_lane_head(lane_of(1)));
	CALLS_ARE_SEEN_AS(FORK, FORK_EAGER);
	CALLS_ARE_SEEN_AS("x y z |", "[x y z]");
}
END_TEST

/* ---- want of memory ---- */

START_TEST(the_least_recently_used_goes_first)
{
	struct reprise_lane *lane = lane_of(1);
	uint64_t oldest;

	learns("d e f |", "[d e f]");
	calls(TRACE);
	oldest = reprise_lane_oldest(lane);
	ck_assert_uint_ne(oldest, 0);
	ck_assert(reprise_lane_evict(lane));
	ck_assert_uint_eq(counted()->evicted, 1);
	ck_assert_uint_gt(reprise_lane_oldest(lane), oldest);
	is_gone(false);
	CALLS_ARE_SEEN_AS("d e f |", "d e f");
}
END_TEST

START_TEST(the_followed_trace_stays)
{
	struct reprise_lane *lane = lane_of(1);

	calls("a b");
	while (reprise_lane_evict(lane))
		continue;
	ck_assert_uint_eq(reprise_lane_oldest(lane), 0);
	CALLS_ARE_SEEN_AS("c |", GRAPH);
	ck_assert(reprise_lane_evict(lane));
	ck_assert(!reprise_lane_evict(lane));
	is_gone(true);
}
END_TEST

START_TEST(what_a_trace_took_is_given_back)
{
	struct reprise_lane *lane = lane_of(1);
	uint64_t used = reprise_store_used(), bytes = lane->index->newest->bytes;

	ck_assert(reprise_lane_evict(lane));
	ck_assert_uint_le(reprise_store_used() + bytes, used);
	used = reprise_store_used();
	learns("d e f |", "[d e f]");
	bytes = lane->index->newest->bytes;
	ck_assert_uint_ge(reprise_store_used(), used + bytes);
	reprise_lane_forget(lane);
	ck_assert_uint_lt(reprise_store_used(), used + bytes);
}
END_TEST

START_TEST(host_memory_comes_of_watches_first_and_of_traces_only_where_they_are_short)
{
	calls("2:x |");
	reprise_clock_virtual += 100000000000;
	calls(TRACE);
	ck_assert(reprise_lanes_evict(true));
	ck_assert_ptr_null(lane_of(2)->watch);
	ck_assert(!reprise_lanes_evict(true)); /* there is enough for traces */
	ck_assert_ptr_nonnull(lane_of(1)->watch);
	is_gone(false);
	calls("2:x |");
	reprise_clock_virtual += 100000000000;
	calls(TRACE);
	ck_assert(reprise_lanes_evict(false)); /* the memory of graphs: watches take none of it */
	ck_assert_ptr_nonnull(lane_of(2)->watch);
	is_gone(true);
}
END_TEST

START_TEST(a_lane_without_traces_has_none_to_give)
{
	calls("2:x |");
	ck_assert(!reprise_lane_evict(lane_of(2)));
	ck_assert_uint_eq(reprise_lane_oldest(lane_of(2)), 0);
	ck_assert_uint_eq(lane_of(2)->counts.evicted, 0);
}
END_TEST

START_TEST(of_all_lanes_the_least_recently_used_goes)
{
	learns("2:d 2:e 2:f |", "2:[d e f]");
	ck_assert(reprise_lanes_evict(false));
	CALLS_ARE_SEEN_AS("2:d 2:e 2:f |", "2:[d e f]");
	is_gone(true);
	ck_assert_uint_eq(counted()->evicted, 1);
}
END_TEST

START_TEST(a_lane_that_is_in_use_is_left_alone)
{
	struct reprise_lane *lane = lane_of(1);

	learns("2:d 2:e 2:f |", "2:[d e f]");
	while (reprise_lane_evict(lane))
		continue;
	ck_assert(reprise_lanes_evict(false)); /* that of stream 2 */
	CALLS_ARE_SEEN_AS("2:d 2:e 2:f |", "2:d 2:e 2:f");
}
END_TEST

START_TEST(a_watch_goes_of_a_lane_without_ops)
{
	struct reprise_lane *lane;
	uint64_t before;

	calls("2:x |");
	lane = lane_of(2);
	before = reprise_clock_ticks();
	time_passes(1000000);
	ck_assert(!reprise_lane_stop_watching(lane, atomic_load(&lane->last_return) - 1));
	ck_assert_ptr_nonnull(lane->watch);
	calls("2:x");
	ck_assert(!reprise_lane_stop_watching(lane, reprise_clock_ticks())); /* a segment is open */
	calls("|");
	ck_assert(!reprise_lane_stop_watching(lane, before));
	ck_assert(reprise_lane_stop_watching(lane, reprise_clock_ticks()));
	ck_assert_ptr_null(lane->watch);
	ck_assert(!reprise_lane_stop_watching(lane, reprise_clock_ticks()));
	learns("2:d 2:e 2:f |", "2:[d e f]");
}
END_TEST

/* What it issues then is watched. */
START_TEST(a_lane_whose_watch_went_can_leave_a_trace)
{
	struct reprise_lane *lane = lane_of(1);

	CALLS_ARE_SEEN_AS("a b c", GRAPH); /* a trace is expected next */
	ck_assert(reprise_lane_stop_watching(lane, reprise_clock_ticks() + 1));
	CALLS_ARE_SEEN_AS("a b x |", "(a) (b) x");
	ck_assert_ptr_nonnull(lane->watch);
}
END_TEST

START_TEST(a_lane_that_watches_anew_has_its_traces)
{
	struct reprise_lane *lane = lane_of(1);
	const struct reprise_index *index = lane->index;

	ck_assert(reprise_lane_stop_watching(lane, reprise_clock_ticks() + 1));
	calls("x |");
	ck_assert_ptr_nonnull(lane->watch);
	ck_assert_ptr_eq(lane->index, index);
	is_gone(false);
}
END_TEST

/* Used later than its last eager call: by replays. */
START_TEST(a_watch_stays_where_traces_are_replayed)
{
	struct reprise_lane *lane = lane_of(1);
	uint64_t before = reprise_clock_ticks();

	reprise_clock_virtual += 1000000;
	calls(TRACE);
	ck_assert(!reprise_lane_stop_watching(lane, before));
	ck_assert_ptr_nonnull(lane->watch);
	calls("a");
	ck_assert(!reprise_lane_stop_watching(lane, reprise_clock_ticks() + 1)); /* it is followed */
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("lane, traces");
	TCase *tests = tcase_create("traces");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, traces_go_that_may_launch_what_is_set, 0, ALL(sets));
	tcase_add_test(tests, a_lane_of_kernels_launches_no_others);
	tcase_add_test(tests, a_function_is_known_from_its_first_op);
	tcase_add_test(tests, without_a_kernels_function_any_may_be_it);
	tcase_add_test(tests, a_lane_that_forgets_all_launches_nothing);
	tcase_add_test(tests, the_open_segment_is_forgotten_as_well);
	tcase_add_test(tests, a_trace_of_one_stream_stays_where_forks_go);
	tcase_add_test(tests, a_trace_stays_that_names_nothing_elsewhere);
	tcase_add_loop_test(tests, traces_go_that_name_an_event, 0, ALL(events));
	tcase_add_test(tests, forks_go_and_a_run_of_one_stream_stays);
	tcase_add_test(tests, the_least_recently_used_goes_first);
	tcase_add_test(tests, the_followed_trace_stays);
	tcase_add_test(tests, what_a_trace_took_is_given_back);
	tcase_add_test(tests,
	               host_memory_comes_of_watches_first_and_of_traces_only_where_they_are_short);
	tcase_add_test(tests, a_lane_without_traces_has_none_to_give);
	tcase_add_test(tests, of_all_lanes_the_least_recently_used_goes);
	tcase_add_test(tests, a_lane_that_is_in_use_is_left_alone);
	tcase_add_test(tests, a_watch_goes_of_a_lane_without_ops);
	tcase_add_test(tests, a_lane_whose_watch_went_can_leave_a_trace);
	tcase_add_test(tests, a_lane_that_watches_anew_has_its_traces);
	tcase_add_test(tests, a_watch_stays_where_traces_are_replayed);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
