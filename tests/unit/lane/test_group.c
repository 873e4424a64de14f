/* Stream groups: when streams merge and part, and what the driver gets on which stream. */
#include <pthread.h>
#include <stdlib.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "lane/behind.h"
#include "lane/eager.h"
#include "lane/group/group.h"
#include "lane/order.h"
#include "program.h"

/* Stream 1 forks to stream 2, and joins again. */
#define FORK "a >e 2:<e 2:b 2:>f c <f d"
#define IN_ORDER "a >e 2:<e 2:b 2:>f c <f d"
#define GRAPH "[a >e b >f c d >_]" /* waits are edges; the branch ends with a record */

static void setup(void)
{
	program_begins();
	watches_up_to(3);
}

static bool grouped(void)
{
	return atomic_load(&reprise_groups) != 0;
}

static void forks(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		calls(FORK " |");
}

static void merges(void)
{
	forks(REPRISE_TUNE_GROUP_FORKS);
	ck_assert(grouped());
	driver_saw();
}

/* ---- detection and merge ---- */

START_TEST(streams_merge_when_forks_join_again)
{
	forks(REPRISE_TUNE_GROUP_FORKS - 1);
	ck_assert(!grouped());
	CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
	ck_assert(grouped());
	ck_assert_uint_eq(count_of(REPRISE_COUNT_lanes_merged), 1);
	CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
}
END_TEST

/* Each waits for the other's last step, by two events in turn. */
#define STEPS "<f 2:<e a >g 2:b 2:>h <h 2:<g a >e 2:b 2:>f"

START_TEST(streams_that_wait_by_turns_merge)
{
	for (unsigned int i = 0; i < 400; i++) {
		calls(STEPS);
		graphs_are_built();
	}
	ck_assert(grouped());
	ck_assert_uint_ge(count_of(REPRISE_COUNT_group_launches), 10);
}
END_TEST

START_TEST(forks_that_never_join_do_not_merge)
{
	for (unsigned int step = 0; step < 20; step++)
		calls("a >e 2:<e 2:b |");
	ck_assert(!grouped());
}
END_TEST

/* What is waited for must have been recorded behind the fork. */
START_TEST(an_older_event_is_no_join)
{
	calls("2:b 2:>f");
	for (unsigned int step = 0; step < 20; step++)
		calls("a >e 2:<e 2:b <f d |");
	ck_assert(!grouped());
}
END_TEST

/* Only pairs of streams that wait for each other take a place of those that may merge: not those
 * that wait for an event that nobody recorded, or that they recorded themselves. */
static void waits_for(struct reprise_lane *lane, uintptr_t event, bool records_it)
{
	struct reprise_call call = {.kind = REPRISE_OP_RECORD, .event = (CUevent)event};

	if (records_it)
		reprise_fork_detect_note(lane, &call);
	call.kind = REPRISE_OP_WAIT;
	reprise_fork_detect_note(lane, &call);
}

#define OTHERS 2000

START_TEST(waits_for_no_other_stream_are_no_forks)
{
	struct reprise_lane *others = calloc(OTHERS, sizeof(*others));

	ck_assert_ptr_nonnull(others);
	for (unsigned int time = 0; time < REPRISE_TUNE_GROUP_FORKS; time++) {
		ck_assert(!grouped());
		for (unsigned int i = 0; i < OTHERS; i++)
			waits_for(&others[i], 0x10000 + i, _i == 1);
		forks(1);
	}
	ck_assert(grouped());
	free(others);
}
END_TEST

START_TEST(streams_of_two_priorities_do_not_merge)
{
	driver.priorities[2] = -1;
	forks(20);
	ck_assert(!grouped());
	driver.priorities[2] = 0;
	forks(REPRISE_TUNE_GROUP_FORKS);
	ck_assert(grouped());
}
END_TEST

START_TEST(nothing_merges_without_a_hold_limit)
{
	static const char *const options[] = {"REPRISE_HOLD=0", NULL};

	program_begins_with(options);
	forks(20);
	ck_assert(!grouped());
}
END_TEST

START_TEST(a_third_stream_joins_the_group)
{
	merges();
	for (unsigned int i = 0; i < REPRISE_TUNE_GROUP_FORKS; i++)
		CALLS_ARE_SEEN_AS("a >e 3:<e 3:b 3:>f <f d |", "a >e 3:<e 3:b 3:>f <f d");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_lanes_merged), 2);
	ck_assert_uint_eq(atomic_load(&reprise_groups), 1);
	ck_assert_ptr_eq(reprise_lane_head(lane_of(3)), reprise_lane_head(lane_of(2)));
}
END_TEST

static unsigned int events_to_make;
static CUresult(CUDAAPI *real_create)(CUevent *event, unsigned int flags);

static CUresult CUDAAPI create_event(CUevent *event, unsigned int flags)
{
	if (events_to_make == 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	events_to_make--;
	return real_create(event, flags);
}

/* A group needs an event for each member; those that were made are kept for the next try. */
START_TEST(without_an_event_for_each_member_streams_do_not_merge)
{
	real_create = reprise_driver.cuEventCreate;
	reprise_driver.cuEventCreate = create_event;
	for (unsigned int most = 0; most < 2; most++) {
		events_to_make = most;
		forks(2 * REPRISE_TUNE_GROUP_FORKS);
		ck_assert(!grouped());
		ck_assert_uint_eq(events_to_make, 0);
		ck_assert_ptr_eq(reprise_lane_head(lane_of(2)), lane_of(2));
		CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
	}
	events_to_make = 1; /* one of the two is there */
	forks(2 * REPRISE_TUNE_GROUP_FORKS);
	ck_assert(grouped());
	ck_assert_uint_eq(count_of(REPRISE_COUNT_lanes_merged), 1);
}
END_TEST

/* ---- graphs ---- */

START_TEST(a_fork_is_one_graph)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS("a >e 2:<e 2:b 2:>f c <f", "");
	CALLS_ARE_SEEN_AS("d |", GRAPH);
	CALLS_ARE_SEEN_AS(FORK " |", GRAPH);
	ck_assert_uint_ge(count_of(REPRISE_COUNT_group_launches), 3);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_pending_waits_issued), 0);
}
END_TEST

/* The graph is in stream 1 alone: what comes next on stream 2 waits for the end of its branch. */
START_TEST(a_member_waits_for_the_end_of_its_branch)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS(FORK " 2:x", GRAPH " 2:(<_) 2:x");
	CALLS_ARE_SEEN_AS("2:x |", "2:x"); /* once */
	ck_assert_uint_eq(count_of(REPRISE_COUNT_pending_waits_issued), 1);
}
END_TEST

START_TEST(the_origin_waits_for_nothing)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS(FORK " x |", GRAPH " x");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_pending_waits_issued), 0);
}
END_TEST

START_TEST(a_side_exit_issues_each_op_on_its_stream)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS("a >e 2:<e 2:b 2:x", "(a) (>e) 2:(<_) 2:(<e) 2:(b) 2:x");
	CALLS_ARE_SEEN_AS("|", "");
}
END_TEST

START_TEST(a_call_on_any_member_issues_all)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS("a >e 2:<e 2:b 2:/", "(a) (>e) 2:(<_) 2:(<e) 2:(b)");
	CALLS_ARE_SEEN_AS("2:>f c <f d |", "2:>f c <f d");
}
END_TEST

/* The member that an op is on is part of its shape. */
START_TEST(the_same_op_on_another_member_is_another)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS("a >e 2:<e b", "(a) (>e) 2:(<_) 2:(<e) b");
}
END_TEST

/* Stream 2 has work that stream 1 does not come behind: the graph would overtake it. */
START_TEST(a_graph_is_not_launched_before_what_a_member_has)
{
	learns(FORK " |", GRAPH);
	calls("2:x |");
	driver_saw();
	CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_group_uncovered), 1);
	CALLS_ARE_SEEN_AS(FORK " |", GRAPH); /* the join has put stream 1 behind stream 2 */
}
END_TEST

START_TEST(the_hold_limit_holds_for_all_members)
{
	learns(FORK " |", GRAPH);
	calls("a >e 2:<e 2:b");
	time_passes(250000);
	IS_SEEN("(a) (>e) 2:(<_) 2:(<e) 2:(b)");
}
END_TEST

/* ---- a fork that is cut ---- */

#define LONG "a b c >e 2:<e 2:a 2:b 2:c 2:>f d <f e"
#define LONG_GRAPH "[a b c >e a b c >f d e >_]"
#define CUT "a b c >e 2:<e 2:a 2:b 2:c |"
#define REST "2:>f d <f e |"
#define PART "(>_) 2:(<_) 2:(>_) 4102:[a b c >e a b c >_ >_]" /* FORK came before */

static void cuts(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		calls(CUT);
		graphs_are_built();
		calls(REST);
		graphs_are_built();
	}
}

/* The parts would be in the way: it would be seen in one piece never again. */
START_TEST(a_fork_that_was_cut_is_replayed_whole_again)
{
	learns(LONG " |", LONG_GRAPH);
	cuts(REPRISE_TUNE_GROUP_PATIENCE / 2);
	driver_saw();
	calls(CUT);
	IS_SEEN("a b c >e 2:<e 2:a 2:b 2:c");
	calls(REST);
	learns(LONG " |", LONG_GRAPH);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_groups_split), 0);
}
END_TEST

START_TEST(where_forks_pay_rare_cuts_are_never_too_many)
{
	learns(LONG " |", LONG_GRAPH);
	for (unsigned int i = 0; i < 24; i++) {
		cuts(20); /* enough for a cooldown */
		for (unsigned int whole = 0; whole < 100; whole++)
			calls(LONG " |");
		driver_saw();
	}
	calls(CUT);
	ck_assert_ptr_null(strchr(driver_saw(), '[')); /* no graph of a part */
	calls(REST);
	learns(LONG " |", LONG_GRAPH);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_groups_split), 0);
}
END_TEST

/* A longer graph begins with it. */
START_TEST(a_fork_that_joins_was_not_cut)
{
	learns(FORK " " FORK " " FORK " " FORK " |",
	       "[a >e b >f c d a >e b >f c d a >e b >f c d >_] " GRAPH);
	learns(FORK " " FORK " |", "[a >e b >f c d a >e b >f c d >_]");
}
END_TEST

/* Other forks keep the group. */
START_TEST(the_part_of_a_fork_that_is_always_cut_there_is_replayed)
{
	learns(LONG " |", LONG_GRAPH);
	learns(FORK " |", GRAPH);
	for (unsigned int i = 0; i < 2 * REPRISE_TUNE_GROUP_PATIENCE; i++) {
		cuts(1);
		calls(FORK " |");
		driver_saw();
	}
	CALLS_ARE_SEEN_AS(CUT, PART);
}
END_TEST

/* ---- branches that begin side by side ---- */

#define BESIDE "a b c d 2:a 2:b 2:c 2:d 2:>f <f e"
#define BESIDE_GRAPH "4098:[a b c d a b c d >f e >_ >_]"

/* Behind another thread's wait it is not known that the streams are behind all. */
START_TEST(parts_get_no_graph_before_the_whole_may)
{
	merges();
	for (unsigned int i = 0; i < REPRISE_TUNE_GROUP_PATIENCE / 2; i++) {
		calls(BESIDE " |");
		graphs_are_built();
	}
	ck_assert_ptr_null(strchr(driver_saw(), '['));
	learns(BESIDE " ~", BESIDE_GRAPH);
}
END_TEST

/* The graph is in no stream of the program's. */
START_TEST(where_a_wait_for_a_branch_is_refused_the_host_waits_for_the_graph)
{
	merges();
	learns(BESIDE " ~", BESIDE_GRAPH);
	driver.refuses = '<';
	CALLS_ARE_SEEN_AS("x |", "(<_)! (<_)! (|) 2:(|) 4098:(|) x");
	driver.refuses = '\0';
}
END_TEST

/* Loops of steps, each of which waits for the one before, in two ways by turns. */
static const char *const steps[][2] = {
	{"<f 2:<e a >g 2:b 2:>h ", "<h 2:<g a >e 2:b 2:>f "},
	{"<f 2:<e r a >g 2:q 2:>h ", "<h 2:<g r a >e 2:q 2:>f "},
	{"<f 2:<e a b >g 2:q 2:r 2:>h ", "<h 2:<g a b >e 2:q 2:r 2:>f "},
};

static void makes_steps(unsigned int loop, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		calls(steps[loop][i & 1]);
	calls("~");
}

/* Wherever finding begins, and wherever segments are cut: few graphs have all steps, from one wait
 * to the next. */
START_TEST(all_steps_between_two_waits_are_in_graphs)
{
	unsigned int ops, launches;

	for (unsigned int i = 0; i < 40; i++) {
		makes_steps((unsigned int)_i, 50);
		graphs_are_built();
	}
	ops = driver.ops;
	launches = driver.launches;
	makes_steps((unsigned int)_i, 50);
	ck_assert_uint_eq(driver.ops, ops);
	ck_assert_uint_le(driver.launches - launches, 8);
	driver_saw();
}
END_TEST

/* So are most where their number changes from wait to wait. */
START_TEST(as_many_steps_as_there_may_be_are_in_graphs)
{
	unsigned int ops = 0, launches = 0, all = 0;

	for (unsigned int i = 0; i < 80; i++) {
		unsigned int ops_before = driver.ops, launches_before = driver.launches,
					 count = 40 + i * 7 % 20;

		makes_steps(0, count);
		graphs_are_built();
		driver_saw();
		if (i < 60)
			continue;
		ops += driver.ops - ops_before;
		launches += driver.launches - launches_before;
		all += count * 6;
	}
	ck_assert_uint_le(ops, all / 6);
	ck_assert_uint_le(launches, all / 24);
}
END_TEST

/* What a wait is for where the watched segment began is of the segment, not of a graph: stream 2
 * has one op in it, of which stream 1 waits for none. */
START_TEST(a_graph_does_not_know_what_was_before_its_segment)
{
	merges();
	for (unsigned int i = 0; i < 40; i++) {
		calls("2:x 2:>h ~ <h a c 2:b ~");
		graphs_are_built();
		calls("x / " FORK " ~");
		graphs_are_built();
		driver_saw();
	}
	calls("2:x 2:>h ~ <h a c 2:b /");
	driver_saw();
	CALLS_ARE_SEEN_AS(FORK, "a >e 2:(<_) 2:<e 2:b 2:>f c <f d");
}
END_TEST

/* ---- split ---- */

static void *call_from_another_thread(void *words)
{
	calls(words);
	return NULL;
}

static void another_thread_calls(const char *words)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, call_from_another_thread,
	                                (void *)(uintptr_t)words),
	                 0);
	pthread_join(thread, NULL);
}

START_TEST(another_threads_call_splits_it)
{
	learns(FORK " |", GRAPH);
	calls("a >e 2:<e 2:b");
	driver_saw();
	another_thread_calls("2:x");
	IS_SEEN("(a) (>e) 2:(<_) 2:(<e) 2:(b) 2:x");
	ck_assert(!grouped());
	ck_assert_uint_eq(count_of(REPRISE_COUNT_groups_split), 1);
	ck_assert_ptr_eq(reprise_lane_head(lane_of(2)), lane_of(2));
}
END_TEST

/* Each stream's lane finds its stream complete. */
START_TEST(a_split_issues_pending_waits)
{
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS(FORK, GRAPH);
	another_thread_calls("x");
	IS_SEEN("2:(<_) x");
	CALLS_ARE_SEEN_AS("2:x |", "2:x");
}
END_TEST

START_TEST(each_stream_has_its_own_lane_again)
{
	learns(FORK " |", GRAPH);
	another_thread_calls("x |");
	driver_saw();
	learns("a b c | 2:a 2:b 2:c |", "[a b c] 2:[a b c]");
	ck_assert(!grouped());
}
END_TEST

static unsigned int forks_until_merged(void)
{
	unsigned int count = 0;

	for (; !grouped() && count < 1000; count++)
		forks(1);
	return count;
}

/* Twice as many at most: a fork counts for both streams, and the count of the other is kept. */
START_TEST(after_each_failure_it_takes_more_forks)
{
	unsigned int last = REPRISE_TUNE_GROUP_FORKS, most = last;

	merges();
	for (unsigned int failure = 0; failure < 4; failure++) {
		unsigned int count;

		another_thread_calls("x |");
		ck_assert(!grouped());
		count = forks_until_merged();
		most *= 2;
		ck_assert_uint_gt(count, last);
		ck_assert_uint_le(count, most);
		last = count;
	}
}
END_TEST

/* A quarter of the ops must come from graphs that fork. */
START_TEST(a_group_that_does_not_pay_is_split)
{
	merges();
	driver.quiet = true;
	for (unsigned int i = 0; i < REPRISE_TUNE_GROUP_JUDGED + 10; i++)
		calls_with("x%u", i + 1);
	ck_assert(!grouped());
}
END_TEST

START_TEST(a_group_that_pays_is_kept)
{
	learns(FORK " |", GRAPH);
	driver.quiet = true;
	for (unsigned int i = 0; i < REPRISE_TUNE_GROUP_JUDGED; i++) {
		calls(FORK);
		calls_with("x%u |", i + 1);
	}
	ck_assert(grouped());
	ck_assert_uint_eq(count_of(REPRISE_COUNT_groups_split), 0);
}
END_TEST

START_TEST(a_refused_op_loses_the_order)
{
	learns(FORK " |", GRAPH);
	driver.refuses = 'x';
	CALLS_ARE_SEEN_AS("x |", "x! 2:(<_)");
	driver.refuses = '\0';
	CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
	CALLS_ARE_SEEN_AS(FORK " |", GRAPH);
	driver.refuses = 'x';
	CALLS_ARE_SEEN_AS("x ~", "x! 2:(<_)"); /* this thread has waited for both */
	driver.refuses = '\0';
	CALLS_ARE_SEEN_AS(FORK " |", GRAPH);
}
END_TEST

/* ---- events of another thread, while the driver keeps the group's ---- */

static void *records_f(void *unused)
{
	reprise_group_event_used(NULL, (CUevent)(uintptr_t)'f', true);
	return unused;
}

static void *waits_for_f(void *unused)
{
	reprise_group_event_used(NULL, (CUevent)(uintptr_t)'f', false);
	return unused;
}

static void *host_waits_for_f(void *unused)
{
	ck_assert(!reprise_lanes_sync(REPRISE_SYNC_EVENT, 'f', false));
	return unused;
}

static void *host_asks_for_f(void *unused)
{
	ck_assert(!reprise_lanes_sync(REPRISE_SYNC_EVENT_QUERY, 'f', false));
	return unused;
}

static const struct {
	void *(*uses)(void *);
	bool forgets;
} of_another[] = {{records_f, true},
                  {waits_for_f, false},
                  {host_waits_for_f, false},
                  {host_asks_for_f, false}};

/* Its next ops come in no order until they are recorded anew. */
START_TEST(an_event_that_is_not_deferred_waits_for_nobody)
{
	struct reprise_lane *head;
	pthread_t thread;

	learns(FORK " |", GRAPH);
	calls("a >e");
	driver_saw();
	head = reprise_lane_head(lane_of(1));
	reprise_lock_take(&head->lock); /* as who issues what is deferred */
	ck_assert_int_eq(pthread_create(&thread, NULL, of_another[_i].uses, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0); /* else the test ends by its time limit */
	reprise_lock_give(&head->lock);
	IS_SEEN("");
	ck_assert_int_eq(atomic_load(&head->forgets), of_another[_i].forgets);
	CALLS_ARE_SEEN_AS("2:<e 2:b 2:>f c <f d |", GRAPH);
	ck_assert(!atomic_load(&head->forgets));
}
END_TEST

/* It is issued first. When nobody keeps the lock, nothing is forgotten but the event itself. */
START_TEST(an_event_that_is_deferred_is_issued_first)
{
	struct reprise_lane *head;

	learns(FORK " |", GRAPH);
	calls("a >e");
	driver_saw();
	head = reprise_lane_head(lane_of(1));
	ck_assert(reprise_held_has(&head->held, (CUevent)(uintptr_t)'e'));
	reprise_group_event_used(NULL, (CUevent)(uintptr_t)'e', true);
	IS_SEEN("(a) (>e)");
	ck_assert(!reprise_held_has(&head->held, (CUevent)(uintptr_t)'e'));
	ck_assert(!atomic_load(&head->forgets));
	calls("2:<e 2:b 2:>f c <f d |");
	CALLS_ARE_SEEN_AS(FORK, GRAPH);
	ck_assert(!reprise_held_has(&head->held, (CUevent)(uintptr_t)'e')); /* it was launched */
}
END_TEST

START_TEST(as_many_records_as_there_is_room_for_are_known_one_by_one)
{
	static struct reprise_held_records held;
	CUevent other = (CUevent)(uintptr_t)1;

	for (unsigned int i = 0; i < REPRISE_HELD_MOST; i++)
		for (unsigned int again = 0; again < 2; again++)
			reprise_held_add(&held, (CUevent)(uintptr_t)(0x1000 + 64 * i));
	for (unsigned int i = 0; i < REPRISE_HELD_MOST; i++)
		ck_assert(reprise_held_has(&held, (CUevent)(uintptr_t)(0x1000 + 64 * i)));
	ck_assert(!reprise_held_has(&held, other));
	reprise_held_add(&held, (CUevent)(uintptr_t)2);
	ck_assert(reprise_held_has(&held, other));
	reprise_held_add(&held, (CUevent)(uintptr_t)3);
	ck_assert(reprise_held_has(&held, other));
	reprise_held_none(&held);
	ck_assert(!reprise_held_has(&held, other));
	ck_assert(!reprise_held_has(&held, (CUevent)(uintptr_t)0x1000));
}
END_TEST

/* Stream 1 waits for its fork behind the next wait of the host, and never for all of it: no segment
 * has both, and none begins where stream 1 is behind all. */
#define JOINED_LATE "<f a >e 2:<e 2:b 2:>f 2:c 2:d | "
#define LATER (REPRISE_TUNE_GROUP_FORKS << REPRISE_TUNE_GROUP_UNJOINED_SPLITS)

START_TEST(a_group_whose_forks_join_in_no_segment_is_split_soon)
{
	for (unsigned int i = 0; !grouped(); i++) {
		calls(JOINED_LATE);
		ck_assert_uint_lt(i, 2 * REPRISE_TUNE_GROUP_FORKS);
	}
	for (unsigned int ops = 0; grouped(); ops += 8) {
		calls(JOINED_LATE);
		ck_assert_uint_le(ops, REPRISE_TUNE_GROUP_UNJOINED +
		                           16); /* the first is cut short, the last seen behind its end */
	}
	ck_assert_uint_eq(lane_of(1)->splits, REPRISE_TUNE_GROUP_UNJOINED_SPLITS);
	ck_assert_uint_eq(lane_of(2)->splits, REPRISE_TUNE_GROUP_UNJOINED_SPLITS);
	for (unsigned int i = 0; i < LATER / 2; i++) {
		calls(JOINED_LATE);
		ck_assert(!grouped());
	}
	for (unsigned int i = 0; i <= LATER / 2; i++)
		calls(JOINED_LATE);
	ck_assert(grouped());
}
END_TEST

/* The ops to come of a backoff are counted already. The merge ends it, and takes them back. */
START_TEST(a_group_is_judged_by_the_ops_that_it_has_had)
{
	struct reprise_lane *lane = lane_of(1);

	forks(REPRISE_TUNE_GROUP_FORKS - 1);
	lane->counts.ops += REPRISE_TUNE_BACKOFF_LEAST;
	lane->counts.backed_off += REPRISE_TUNE_BACKOFF_LEAST;
	atomic_store(&lane->backoff_ops, REPRISE_TUNE_BACKOFF_LEAST);
	calls(FORK " |");
	ck_assert(grouped());
	ck_assert_uint_lt(lane->counts.ops, REPRISE_TUNE_BACKOFF_LEAST);
	calls(FORK " |");
	ck_assert(grouped());
}
END_TEST

/* No graph of it has been built yet. */
START_TEST(a_group_whose_forks_join_has_longer)
{
	merges();
	for (unsigned int ops = 8; ops < REPRISE_TUNE_GROUP_JUDGED; ops += 8) {
		ck_assert(grouped());
		calls(FORK " |");
	}
	calls(FORK " |");
	ck_assert(!grouped());
	ck_assert_uint_eq(lane_of(1)->splits, 1);
}
END_TEST

/* ---- eager for a while ---- */

static bool tracked(void)
{
	return atomic_load(&reprise_groups_tracked) != 0;
}

/* Work that was not told may be on any member: the next fork passes eagerly. */
static void next_fork_is_eager(void)
{
	ck_assert(!reprise_lanes_hold_anything());
	CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
	ck_assert(tracked());
	CALLS_ARE_SEEN_AS(FORK " |", GRAPH);
}

/* All calls are eager now. */
static void is_told_once(void)
{
	ck_assert(tracked());
	CALLS_ARE_SEEN_AS("2:b", "2:b");
	ck_assert(!tracked());
	CALLS_ARE_SEEN_AS(FORK " | 2:b", IN_ORDER " 2:b");
	ck_assert(!tracked());
}

START_TEST(in_a_pause_a_group_is_told_once)
{
	merges();
	learns(FORK " |", GRAPH);
	reprise_pause_begin();
	is_told_once();
	reprise_pause_end();
	next_fork_is_eager();
}
END_TEST

START_TEST(where_ops_pass_unseen_a_group_is_told_once)
{
	merges();
	learns(FORK " |", GRAPH);
	reprise_eager_turn_begin();
	reprise_eager_unseen_begin(UINT64_MAX);
	is_told_once();
	reprise_eager_turn_end();
	next_fork_is_eager();
}
END_TEST

/* The member's stream waits for its branch before a call that passes unseen. */
START_TEST(a_group_that_is_left_has_no_pending_wait)
{
	merges();
	learns(FORK " |", GRAPH);
	CALLS_ARE_SEEN_AS(FORK, GRAPH);
	atomic_fetch_add(&reprise_pauses, 1); /* by another thread */
	CALLS_ARE_SEEN_AS("3:c 2:b", "2:(<_) 3:c 2:b");
}
END_TEST

/* Whether the GPU has caught up, all its streams tell. */
START_TEST(where_a_groups_record_passes_in_a_turn_the_stream_is_not_asked)
{
	struct reprise_lane *head = lane_of(1);
	uint64_t seen_ns, seen_ops;

	merges();
	reprise_eager_turn_begin();
	reprise_lanes_eager_call(driver_stream(1), false);
	reprise_lane_attend(head);
	head->counts.in_turns = 1; /* at others the anchor is looked after */
	reprise_behind_want(head, 1);
	CALLS_ARE_SEEN_AS(">e", ">e");
	ck_assert_uint_eq(head->counts.in_turns, 2);
	ck_assert(reprise_eager_turn());
	ck_assert(!reprise_behind_seen(&seen_ns, &seen_ops));
}
END_TEST

/* Another thread has begun the turn since they were deferred. */
START_TEST(a_record_that_passes_comes_behind_what_is_deferred)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b", "");
	atomic_store(&reprise_pauses, REPRISE_PAUSE_FLAGS);
	CALLS_ARE_SEEN_AS(">e", "(a) (b) >e");
}
END_TEST

/* An eager call of another thread's, on a member's stream. */
static void *calls_eagerly(void *unused)
{
	atomic_fetch_add(&reprise_pauses, 1);
	calls("2:b");
	atomic_fetch_sub(&reprise_pauses, 1);
	return NULL;
}

START_TEST(another_threads_eager_call_ends_the_order)
{
	pthread_t thread;

	merges();
	learns(FORK " |", GRAPH);
	ck_assert_int_eq(pthread_create(&thread, NULL, calls_eagerly, NULL), 0);
	pthread_join(thread, NULL);
	IS_SEEN("2:(<_) 2:b");
	ck_assert(!tracked());
}
END_TEST

/* What a record in a pause is behind is not known. */
START_TEST(a_record_of_a_pause_orders_nothing)
{
	merges();
	learns(FORK " |", GRAPH);
	reprise_pause_begin();
	calls("2:b 2:>f");
	reprise_pause_end();
	CALLS_ARE_SEEN_AS("<f", "<f");
	CALLS_ARE_SEEN_AS(FORK " |", IN_ORDER);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("group");
	TCase *tests = tcase_create("group"), *other = tcase_create("other options");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, streams_merge_when_forks_join_again);
	tcase_add_test(tests, streams_that_wait_by_turns_merge);
	tcase_add_test(tests, forks_that_never_join_do_not_merge);
	tcase_add_test(tests, an_older_event_is_no_join);
	tcase_add_loop_test(tests, waits_for_no_other_stream_are_no_forks, 0, 2);
	tcase_add_test(tests, streams_of_two_priorities_do_not_merge);
	tcase_add_test(tests, a_third_stream_joins_the_group);
	tcase_add_test(tests, without_an_event_for_each_member_streams_do_not_merge);
	tcase_add_test(tests, a_fork_is_one_graph);
	tcase_add_test(tests, a_member_waits_for_the_end_of_its_branch);
	tcase_add_test(tests, the_origin_waits_for_nothing);
	tcase_add_test(tests, a_side_exit_issues_each_op_on_its_stream);
	tcase_add_test(tests, a_call_on_any_member_issues_all);
	tcase_add_test(tests, the_same_op_on_another_member_is_another);
	tcase_add_test(tests, a_graph_is_not_launched_before_what_a_member_has);
	tcase_add_test(tests, the_hold_limit_holds_for_all_members);
	tcase_add_test(tests, a_fork_that_was_cut_is_replayed_whole_again);
	tcase_add_test(tests, where_forks_pay_rare_cuts_are_never_too_many);
	tcase_add_test(tests, a_fork_that_joins_was_not_cut);
	tcase_add_test(tests, the_part_of_a_fork_that_is_always_cut_there_is_replayed);
	tcase_add_test(tests, parts_get_no_graph_before_the_whole_may);
	tcase_add_test(tests, as_many_steps_as_there_may_be_are_in_graphs);
	tcase_add_test(tests, a_graph_does_not_know_what_was_before_its_segment);
	tcase_add_loop_test(tests, all_steps_between_two_waits_are_in_graphs, 0,
	                    sizeof(steps) / sizeof(*steps));
	tcase_add_test(tests, where_a_wait_for_a_branch_is_refused_the_host_waits_for_the_graph);
	tcase_add_test(tests, another_threads_call_splits_it);
	tcase_add_test(tests, a_split_issues_pending_waits);
	tcase_add_test(tests, each_stream_has_its_own_lane_again);
	tcase_add_test(tests, after_each_failure_it_takes_more_forks);
	tcase_add_test(tests, a_group_that_does_not_pay_is_split);
	tcase_add_test(tests, a_group_that_pays_is_kept);
	tcase_add_test(tests, a_refused_op_loses_the_order);
	tcase_add_loop_test(tests, an_event_that_is_not_deferred_waits_for_nobody, 0,
	                    sizeof(of_another) / sizeof(*of_another));
	tcase_add_test(tests, a_group_whose_forks_join_in_no_segment_is_split_soon);
	tcase_add_test(tests, a_group_is_judged_by_the_ops_that_it_has_had);
	tcase_add_test(tests, a_group_whose_forks_join_has_longer);
	tcase_add_test(tests, in_a_pause_a_group_is_told_once);
	tcase_add_test(tests, where_ops_pass_unseen_a_group_is_told_once);
	tcase_add_test(tests, a_group_that_is_left_has_no_pending_wait);
	tcase_add_test(tests, where_a_groups_record_passes_in_a_turn_the_stream_is_not_asked);
	tcase_add_test(tests, a_record_that_passes_comes_behind_what_is_deferred);
	tcase_add_test(tests, another_threads_eager_call_ends_the_order);
	tcase_add_test(tests, a_record_of_a_pause_orders_nothing);
	tcase_add_test(tests, an_event_that_is_deferred_is_issued_first);
	tcase_add_test(tests, as_many_records_as_there_is_room_for_are_known_one_by_one);
	tcase_add_test(other, nothing_merges_without_a_hold_limit);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, other);
	return run_suite(suite);
}
