/* Which lanes issue what they hold, by who calls what: what a wait, a query and an op come after,
 * and nothing else. Streams: 1 and 2 not blocking, 3 blocking, 0 legacy, 5 of another context. */
#include <sched.h>

#include "../../suite.h"
#include "base/clock.h"
#include "base/ending.h"
#include "lane/async_launch.h"
#include "lane/hold.h"
#include "lane/order.h"
#include "lane/group/group.h"
#include "program.h"

#define HERE ((CUcontext)1)
#define ELSEWHERE ((CUcontext)2)
#define STREAM(number) ((uintptr_t)driver_stream(number))

/* The hold thread is at work while a query waits for it, or the driver keeps it. */
static bool hold_thread_works = true;

int sched_yield(void)
{
	if (hold_thread_works)
		time_passes(1000);
	else
		reprise_clock_virtual += 1001;
	return 0;
}

static void setup(void)
{
	program_begins();
	driver.blocking[3] = true;
	driver.contexts[5] = ELSEWHERE;
}

static void in_context_of(unsigned int stream)
{
	driver.current = stream == 5 ? ELSEWHERE : HERE;
}

static const unsigned int holders[] = {1, 3, 0, 5};

#define HOLDERS (sizeof(holders) / sizeof(holders[0]))

static struct reprise_lane *lane_on(unsigned int stream)
{
	struct reprise_lane *lane;

	in_context_of(stream);
	lane = lane_of(stream);
	in_context_of(0);
	return lane;
}

static const char *const learnt[] = {"0:a 0:b 0:c", "a b c", "", "3:a 3:b 3:c", "", "5:a 5:b 5:c"};
static const char *const held[] = {"0:a 0:b", "a b", "", "3:a 3:b", "", "5:a 5:b"};
static const char *const issued[] = {"0:(a) 0:(b)", "(a) (b)", "",
                                     "3:(a) 3:(b)", "",        "5:(a) 5:(b)"};

/* Two ops are deferred on the stream. `thread`: as if by this thread, or by another one. */
static void is_held(unsigned int stream, uint32_t thread)
{
	struct reprise_lane *lane = lane_on(stream);

	in_context_of(stream);
	for (unsigned int visit = 0; visit < 20 && driver.launches == 0; visit++) {
		calls(learnt[stream]);
		reprise_lanes_sync(REPRISE_SYNC_STREAM, STREAM(stream), false);
		graphs_are_built();
	}
	driver_saw();
	calls(held[stream]);
	IS_SEEN("");
	ck_assert_uint_ne(atomic_load(&lane->deferred_since), 0);
	atomic_store(&lane->thread, thread);
	in_context_of(0);
}

static uint32_t another(void)
{
	return reprise_thread_self() + 1;
}

/* What each of `holders` does: 'I' issues, '-' goes on holding. */

/* ---- waits and queries of another thread ---- */

static const struct {
	enum reprise_sync what;
	uintptr_t handle; /* a stream's number, or a context */
	const char *does;
} waits[] = {
	{REPRISE_SYNC_STREAM, 1, "I---"},
	{REPRISE_SYNC_STREAM, 7, "--I-"}, /* it may be blocking: it has no lane */
	{REPRISE_SYNC_STREAM, 3, "-II-"},
	{REPRISE_SYNC_STREAM, 0, "-II-"},
	{REPRISE_SYNC_DEFAULT, 0, "-III"},
	{REPRISE_SYNC_CONTEXT, (uintptr_t)HERE, "III-"},
	{REPRISE_SYNC_CONTEXT, (uintptr_t)ELSEWHERE, "---I"},
	{REPRISE_SYNC_CONTEXT, 0, "III-"},
	{REPRISE_SYNC_EVENT, 'e', "----"},
	{REPRISE_SYNC_EVENT, 0, "----"},
	{REPRISE_SYNC_EVENT_QUERY, 'e', "----"},
	{REPRISE_SYNC_EVENT_END, 'e', "----"},
	{REPRISE_SYNC_ALL, 0, "IIII"},
	{REPRISE_SYNC_UNKNOWN, 0, "IIII"},
	{REPRISE_SYNC_QUERY, 1, "I---"},
	{REPRISE_SYNC_QUERY, 7, "--I-"},
	{REPRISE_SYNC_QUERY, 3, "-II-"},
	{REPRISE_SYNC_QUERY, 0, "-II-"},
};

#define WAITS (sizeof(waits) / sizeof(waits[0]))

static bool is_of_stream(enum reprise_sync what)
{
	return what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_QUERY ||
	       what == REPRISE_SYNC_DEFAULT;
}

static bool waits_for(unsigned int i)
{
	uintptr_t handle = waits[i].handle;

	return reprise_lanes_sync(waits[i].what, is_of_stream(waits[i].what) ? STREAM(handle) : handle,
	                          false);
}

/* Row i / HOLDERS, holder i % HOLDERS. */
static bool does(int i, char what)
{
	const char *row = waits[(size_t)i / HOLDERS].does;

	return row[(size_t)i % HOLDERS] == what;
}

START_TEST(a_wait_issues_what_it_may_observe)
{
	unsigned int holder = holders[(size_t)_i % HOLDERS];

	is_held(holder, another());
	ck_assert(!waits_for((unsigned int)((size_t)_i / HOLDERS)));
	IS_SEEN(does(_i, 'I') ? issued[holder] : "");
}
END_TEST

START_TEST(a_wait_issues_all_that_its_own_thread_holds)
{
	unsigned int holder = holders[(size_t)_i % HOLDERS];

	is_held(holder, reprise_thread_self());
	ck_assert(!waits_for((unsigned int)((size_t)_i / HOLDERS)));
	IS_SEEN(issued[holder]);
}
END_TEST

/* The driver may keep the thread that issues: the query is answered without it. */
START_TEST(a_query_does_not_wait_for_ever)
{
	unsigned int holder = holders[(size_t)_i % HOLDERS], row = (unsigned int)((size_t)_i / HOLDERS);

	if (waits[row].what != REPRISE_SYNC_QUERY)
		return;
	is_held(holder, another());
	hold_thread_works = false;
	ck_assert_int_eq(waits_for(row), does(_i, 'I'));
	IS_SEEN("");
	ck_assert_int_eq(atomic_load(&lane_on(holder)->wanted), does(_i, 'I'));
	hold_thread_works = true;
	time_passes(1000);
	IS_SEEN(does(_i, 'I') ? issued[holder] : "");
}
END_TEST

/* ---- ops and other calls ---- */

static const struct {
	unsigned int stream; /* of the op */
	const char *does;
} ops[] = {{2, "----"}, {3, "-II-"}, {0, "-II-"}};

START_TEST(an_op_comes_after_what_the_legacy_stream_orders)
{
	unsigned int holder = holders[(size_t)_i % HOLDERS], row = (unsigned int)((size_t)_i / HOLDERS);
	const struct reprise_lane *lane = lane_on(ops[row].stream);

	is_held(holder, reprise_thread_self());
	reprise_lanes_make_way(lane, false);
	IS_SEEN(ops[row].does[(size_t)_i % HOLDERS] == 'I' && ops[row].stream != holder ? issued[holder]
	                                                                                : "");
}
END_TEST

/* A copy on the legacy stream may reach devices of other contexts. */
START_TEST(a_copy_on_the_legacy_stream_comes_after_other_contexts)
{
	is_held(5, another());
	reprise_lanes_make_way(lane_on(3), true);
	IS_SEEN("");
	reprise_lanes_make_way(lane_on(0), false);
	IS_SEEN("");
	reprise_lanes_make_way(lane_on(0), true);
	IS_SEEN(issued[5]);
}
END_TEST

static const struct {
	unsigned int stream;
	const char *does;
} others[] = {{1, "I---"}, {3, "-II-"}, {0, "-III"}, {7, "--I-"}};

START_TEST(a_call_that_is_no_op_comes_after_its_stream)
{
	unsigned int holder = holders[(size_t)_i % HOLDERS], row = (unsigned int)((size_t)_i / HOLDERS);

	is_held(holder, another());
	reprise_lanes_make_way_for(driver_stream(others[row].stream), false);
	IS_SEEN(others[row].does[(size_t)_i % HOLDERS] == 'I' ? issued[holder] : "");
}
END_TEST

START_TEST(an_eager_call_issues_its_own_threads_as_well)
{
	is_held(holders[_i], reprise_thread_self());
	reprise_lanes_eager_call(driver_stream(7), false);
	IS_SEEN(issued[holders[_i]]);
}
END_TEST

START_TEST(another_threads_is_issued_by_the_hold_thread)
{
	is_held(holders[_i], another());
	reprise_lanes_issue_own();
	IS_SEEN("");
	reprise_lanes_issue_all();
	IS_SEEN(issued[holders[_i]]);
}
END_TEST

START_TEST(what_its_own_thread_holds_is_issued_without_the_hold_thread)
{
	is_held(1, reprise_thread_self());
	hold_thread_works = false;
	reprise_lanes_issue_all();
	IS_SEEN(issued[1]);
}
END_TEST

START_TEST(a_barrier_is_for_all)
{
	is_held(holders[_i], another());
	reprise_lanes_barrier(false);
	IS_SEEN(issued[holders[_i]]);
}
END_TEST

/* Stream 7 was never seen. */
START_TEST(a_call_that_orders_a_stream_without_a_lane_comes_after_what_precedes_it)
{
	is_held(0, another());
	reprise_lanes_order(NULL, driver_stream(7), false, false);
	IS_SEEN(issued[0]);
}
END_TEST

START_TEST(a_call_that_orders_a_stream_issues_what_it_holds)
{
	is_held(3, another());
	reprise_lanes_order(lane_on(3), driver_stream(3), false, false);
	IS_SEEN(issued[3]);
	ck_assert_uint_eq(atomic_load(&lane_on(3)->foreign_calls), 0);
	reprise_lanes_order(lane_on(3), driver_stream(3), false, true); /* on its way */
	ck_assert_uint_eq(atomic_load(&lane_on(3)->foreign_calls), 1);
	reprise_lanes_returned();
	ck_assert_uint_eq(atomic_load(&lane_on(3)->foreign_calls), 0);
	reprise_lanes_returned(); /* it returns once */
	ck_assert_uint_eq(atomic_load(&lane_on(3)->foreign_calls), 0);
}
END_TEST

START_TEST(a_call_that_may_give_any_stream_work_is_on_its_way_until_the_next)
{
	lane_on(1);
	reprise_lanes_sync(REPRISE_SYNC_ALL, 0, false);
	ck_assert_uint_eq(atomic_load(&reprise_group_unknown_calls), 0);
	reprise_lanes_sync(REPRISE_SYNC_UNKNOWN, 0, false);
	ck_assert_uint_eq(atomic_load(&reprise_group_unknown_calls), 1);
	reprise_lanes_returned();
	ck_assert_uint_eq(atomic_load(&reprise_group_unknown_calls), 0);
	reprise_lanes_returned();
	ck_assert_uint_eq(atomic_load(&reprise_group_unknown_calls), 0);
}
END_TEST

/* The doors need not call where nothing came since the last barrier but one. */
START_TEST(a_lane_without_news_is_left_alone_from_the_second_barrier_on)
{
	calls("x");
	ck_assert_uint_eq(reprise_attention, 1);
	reprise_lanes_barrier(true);
	ck_assert_uint_eq(reprise_attention, 1);
	reprise_lanes_barrier(true);
	ck_assert_uint_eq(reprise_attention, 0);
}
END_TEST

/* ---- groups ---- */

#define FORK "a >e 2:<e 2:b 2:>f c <f d"
#define GRAPH "[a >e b >f c d >_]"
#define HELD "a >e 2:<e 2:b"
#define ISSUED "(a) (>e) 2:(<_) 2:(<e) 2:(b)"

static void group_holds(uint32_t thread)
{
	learns(FORK " |", GRAPH);
	calls(HELD);
	IS_SEEN("");
	atomic_store(&lane_of(1)->thread, thread);
	atomic_store(&lane_of(2)->thread, thread);
}

/* The event: recorded by a deferred op, known and not recorded yet, unknown, any. */
static const struct {
	enum reprise_sync what;
	uintptr_t handle;
	bool by_another, by_this;
} of_groups[] = {
	{REPRISE_SYNC_EVENT, 'e', true, true},
	{REPRISE_SYNC_EVENT, 'f', false, true},
	{REPRISE_SYNC_EVENT, 'g', false, true},
	{REPRISE_SYNC_EVENT, 0, true, true},
	{REPRISE_SYNC_EVENT_QUERY, 'e', true, true},
	{REPRISE_SYNC_EVENT_QUERY, 'f', false, true},
	{REPRISE_SYNC_EVENT_QUERY, 'g', false, true},
	{REPRISE_SYNC_EVENT_QUERY, 0, true, true},
	{REPRISE_SYNC_EVENT_END, 'e', false, true},
	{REPRISE_SYNC_STREAM, 2, true, true},
	{REPRISE_SYNC_STREAM, 9, false, true},
	{REPRISE_SYNC_QUERY, 2, true, true},
	{REPRISE_SYNC_QUERY, 9, false, true},
	{REPRISE_SYNC_DEFAULT, 0, false, true},
	{REPRISE_SYNC_CONTEXT, (uintptr_t)HERE, true, true},
	{REPRISE_SYNC_CONTEXT, (uintptr_t)ELSEWHERE, false, true},
	{REPRISE_SYNC_ALL, 0, true, true},
};

static void group_is_asked(unsigned int i, bool by_this)
{
	uintptr_t handle =
		is_of_stream(of_groups[i].what) ? STREAM(of_groups[i].handle) : of_groups[i].handle;
	bool issues = by_this ? of_groups[i].by_this : of_groups[i].by_another;

	calls("9:x |");
	group_holds(by_this ? reprise_thread_self() : another());
	ck_assert(!reprise_lanes_sync(of_groups[i].what, handle, false));
	IS_SEEN(issues ? ISSUED : "");
}

START_TEST(a_group_is_asked_by_another_thread)
{
	group_is_asked((unsigned int)_i, false);
}
END_TEST

START_TEST(a_group_is_asked_by_its_own_thread)
{
	group_is_asked((unsigned int)_i, true);
}
END_TEST

START_TEST(a_query_of_an_event_that_a_group_defers_does_not_wait_for_ever)
{
	group_holds(another());
	hold_thread_works = false;
	ck_assert(reprise_lanes_sync(REPRISE_SYNC_EVENT_QUERY, 'e', false));
	ck_assert(!reprise_lanes_sync(REPRISE_SYNC_EVENT_QUERY, 'f', false));
	IS_SEEN("");
}
END_TEST

/* After a graph: stream 2 has a pending wait. */
static const struct {
	enum reprise_sync what;
	uintptr_t handle;
	bool busy, pending;
	const char *seen;
} pending_waits[] = {
	{REPRISE_SYNC_STREAM, 1, false, false, ""},
	{REPRISE_SYNC_STREAM, 2, false, false, "2:(<_)"},
	{REPRISE_SYNC_STREAM, 2, true, false, "2:(<_)"},
	{REPRISE_SYNC_QUERY, 1, true, false, ""},
	{REPRISE_SYNC_QUERY, 2, false, false, "2:(<_)"},
	{REPRISE_SYNC_QUERY, 2, true, true, ""},
	{REPRISE_SYNC_DEFAULT, 0, true, false, "2:(<_)"},
	{REPRISE_SYNC_CONTEXT, (uintptr_t)HERE, false, false, ""},
	{REPRISE_SYNC_EVENT, 'e', false, false, ""},
	{REPRISE_SYNC_UNKNOWN, 0, false, false, "2:(<_)"},
};

START_TEST(a_pending_wait_is_issued_where_it_is_waited_for)
{
	uintptr_t handle = is_of_stream(pending_waits[_i].what) ? STREAM(pending_waits[_i].handle)
	                                                        : pending_waits[_i].handle;

	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS(FORK, GRAPH);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 1);
	driver.busy = pending_waits[_i].busy;
	ck_assert_int_eq(reprise_lanes_sync(pending_waits[_i].what, handle, false),
	                 pending_waits[_i].pending);
	IS_SEEN(pending_waits[_i].seen);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), pending_waits[_i].seen[0] == '\0');
}
END_TEST

/* Work on the legacy stream comes behind a blocking member's branch. */
START_TEST(pending_waits_are_issued_before_work_on_the_legacy_stream)
{
	driver.blocking[4] = true;
	learns("3:a 3:>e 4:<e 4:b 4:>f 3:c 3:<f 3:d |", "3:" GRAPH);
	CALLS_ARE_SEEN_AS("3:a 3:>e 4:<e 4:b 4:>f 3:c 3:<f 3:d", "3:" GRAPH);
	ck_assert(!reprise_lanes_hold()); /* which is known from then on */
	CALLS_ARE_SEEN_AS("0:x", "4:(<_) 0:x");
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 0);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("lane, order");
	TCase *tests = tcase_create("order");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, a_wait_issues_what_it_may_observe, 0, WAITS * HOLDERS);
	tcase_add_loop_test(tests, a_wait_issues_all_that_its_own_thread_holds, 0, WAITS * HOLDERS);
	tcase_add_loop_test(tests, a_query_does_not_wait_for_ever, 0, WAITS * HOLDERS);
	tcase_add_loop_test(tests, an_op_comes_after_what_the_legacy_stream_orders, 0,
	                    ALL(ops) * (int)HOLDERS);
	tcase_add_test(tests, a_copy_on_the_legacy_stream_comes_after_other_contexts);
	tcase_add_loop_test(tests, a_call_that_is_no_op_comes_after_its_stream, 0,
	                    ALL(others) * (int)HOLDERS);
	tcase_add_loop_test(tests, an_eager_call_issues_its_own_threads_as_well, 0, (int)HOLDERS);
	tcase_add_loop_test(tests, another_threads_is_issued_by_the_hold_thread, 0, (int)HOLDERS);
	tcase_add_test(tests, what_its_own_thread_holds_is_issued_without_the_hold_thread);
	tcase_add_loop_test(tests, a_barrier_is_for_all, 0, (int)HOLDERS);
	tcase_add_test(tests, a_call_that_orders_a_stream_without_a_lane_comes_after_what_precedes_it);
	tcase_add_test(tests, a_call_that_orders_a_stream_issues_what_it_holds);
	tcase_add_test(tests, a_call_that_may_give_any_stream_work_is_on_its_way_until_the_next);
	tcase_add_test(tests, a_lane_without_news_is_left_alone_from_the_second_barrier_on);
	tcase_add_loop_test(tests, a_group_is_asked_by_another_thread, 0, ALL(of_groups));
	tcase_add_loop_test(tests, a_group_is_asked_by_its_own_thread, 0, ALL(of_groups));
	tcase_add_test(tests, a_query_of_an_event_that_a_group_defers_does_not_wait_for_ever);
	tcase_add_loop_test(tests, a_pending_wait_is_issued_where_it_is_waited_for, 0,
	                    ALL(pending_waits));
	tcase_add_test(tests, pending_waits_are_issued_before_work_on_the_legacy_stream);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
