/* The order among the members of a group: which member is behind which, as records and waits,
 * graphs and calls that are no ops make it; and pending waits. */
#include <stdlib.h>
#include <string.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "lane/group/group.h"
#include "program.h"

#define MEMBERS 3
#define EVENTS 5

static struct reprise_lane lanes[MEMBERS];
static struct reprise_lane *const head = &lanes[0];
static struct reprise_group group;

static CUevent event_of(unsigned int number)
{
	return (CUevent)(uintptr_t)('e' + number);
}

static void setup(void)
{
	program_begins();
	driver_saw();
	group = (struct reprise_group){.count = MEMBERS};
	head->context = (CUcontext)1;
	head->group = &group;
	for (unsigned int i = 0; i < MEMBERS; i++) {
		group.members[i] = &lanes[i];
		group.streams[i] = driver_stream(i + 1);
		group.forks.branch_ends[i] = (CUevent)(uintptr_t)(0x3000 + i);
	}
}

static void op(unsigned int member)
{
	reprise_group_issues(head, REPRISE_OP_KERNEL, member, NULL);
}

static void record(unsigned int member, unsigned int event)
{
	reprise_group_issues(head, REPRISE_OP_RECORD, member, event_of(event));
}

static void wait(unsigned int member, unsigned int event)
{
	reprise_group_issues(head, REPRISE_OP_WAIT, member, event_of(event));
}

/* Whether a graph with ops of these members may be launched into the stream of `origin`. */
static bool covers(unsigned int origin, uint8_t members)
{
	struct reprise_op ops[1] = {{.kind = REPRISE_OP_KERNEL, .member = (uint8_t)origin}};
	struct reprise_trace trace = {.ops = ops, .count = 1, .graph = {.members = members}};

	return reprise_group_covers(&group, &trace);
}

/* ---- records and waits: held against a model, at random ---- */

static struct {
	unsigned int count[MEMBERS]; /* ops of each */
	unsigned int behind[MEMBERS]
					   [MEMBERS];     /* how many of each other's a member's next op is behind */
	unsigned int at[EVENTS][MEMBERS]; /* the same of an event */
	bool recorded[EVENTS];
} model;

static void model_op(unsigned int member)
{
	model.behind[member][member] = ++model.count[member];
}

static void model_wait(unsigned int member, unsigned int event)
{
	for (unsigned int i = 0; model.recorded[event] && i < MEMBERS; i++)
		if (model.behind[member][i] < model.at[event][i])
			model.behind[member][i] = model.at[event][i];
}

static void step(void)
{
	unsigned int member = (unsigned int)rand() % MEMBERS, event = (unsigned int)rand() % EVENTS;

	model_op(member);
	switch (rand() % 3) {
	case 0:
		op(member);
		break;
	case 1:
		record(member, event);
		memcpy(model.at[event], model.behind[member], sizeof(model.at[event]));
		model.recorded[event] = true;
		break;
	default:
		wait(member, event);
		model_wait(member, event);
	}
}

START_TEST(records_and_waits_carry_the_order_on)
{
	unsigned int seen[2] = {0};

	srand((unsigned int)_i + 1);
	for (unsigned int i = 0; i < 2000; i++) {
		step();
		for (unsigned int origin = 0; origin < MEMBERS; origin++)
			for (uint8_t members = 1; members < 1 << MEMBERS; members++) {
				bool behind = true;

				for (unsigned int k = 0; k < MEMBERS; k++)
					behind = behind &&
					         ((members >> k & 1) == 0 || model.behind[origin][k] == model.count[k]);
				ck_assert_int_eq(covers(origin, members), behind);
				seen[behind]++;
			}
	}
	ck_assert_uint_gt(seen[0], 1000);
	ck_assert_uint_gt(seen[1], 1000);
}
END_TEST

START_TEST(a_border_is_behind_all_members_with_ops_in_the_segment)
{
	op(0);
	ck_assert(reprise_group_is_border(&group, 0));
	ck_assert(!reprise_group_is_border(&group, 1));
	record(0, 0);
	wait(1, 0);
	ck_assert(!reprise_group_is_border(&group, 0)); /* 1 has the wait */
	ck_assert(reprise_group_is_border(&group, 1));
	record(1, 1);
	wait(0, 1);
	ck_assert(reprise_group_is_border(&group, 0));
	ck_assert(!reprise_group_is_border(&group, 2));
	group.recent = 0; /* the next segment */
	ck_assert(reprise_group_is_border(&group, 2));
	op(2);
	ck_assert(!reprise_group_is_border(&group, 0));
	ck_assert(reprise_group_is_border(&group, 2));
}
END_TEST

/* ---- what is not seen ---- */

START_TEST(a_call_on_its_way_has_no_known_place)
{
	op(0);
	ck_assert(covers(0, 1));
	atomic_store(&lanes[1].foreign_calls, 1);
	ck_assert(covers(0, 1));
	ck_assert(!covers(0, 3));
	atomic_store(&lanes[1].foreign_calls, 0);
	ck_assert(covers(0, 3));
	atomic_store(&reprise_group_unknown_calls, 1);
	ck_assert(!covers(0, 1));
	ck_assert(!reprise_group_is_border(&group, 0));
}
END_TEST

START_TEST(a_call_that_is_no_op_is_ahead_of_all_others_and_may_record_any_event)
{
	record(0, 0);
	reprise_group_note_call(head, 1);
	ck_assert(!covers(0, 2));
	ck_assert(covers(1, 2));
	ck_assert(covers(0, 5));
	wait(2, 0); /* it may be another record's by now */
	ck_assert(!covers(2, 1));
}
END_TEST

START_TEST(an_event_that_others_recorded_carries_nothing)
{
	record(0, 0);
	record(0, 1);
	reprise_group_forget_event(&group, event_of(0));
	wait(1, 0);
	ck_assert(!covers(1, 1));
	wait(1, 1);
	ck_assert(covers(1, 1));
	reprise_group_forget_event(&group, event_of(3)); /* it is not known */
	reprise_group_forget_events(&group);
	wait(2, 1);
	ck_assert(!covers(2, 1));
}
END_TEST

/* Whoever recorded one could not take the lock. */
START_TEST(what_others_recorded_beside_the_lock_is_forgotten_first)
{
	record(0, 0);
	atomic_store(&head->forgets, true);
	op(1); /* uses no record */
	ck_assert(atomic_load(&head->forgets));
	wait(1, 0);
	ck_assert(!atomic_load(&head->forgets));
	ck_assert(!covers(1, 1));
	record(0, 0);
	atomic_store(&head->forgets, true);
	record(0, 1); /* comes behind, and stays */
	ck_assert(!atomic_load(&head->forgets));
	wait(1, 0);
	ck_assert(!covers(1, 1));
	wait(1, 1);
	ck_assert(covers(1, 1));
}
END_TEST

START_TEST(where_the_order_is_lost_none_is_behind_another)
{
	record(0, 0);
	wait(1, 0);
	record(1, 1);
	wait(2, 1);
	ck_assert(covers(2, 7));
	reprise_group_lose_order(head);
	for (unsigned int origin = 0; origin < MEMBERS; origin++)
		for (unsigned int k = 0; k < MEMBERS; k++)
			ck_assert_int_eq(covers(origin, (uint8_t)(1u << k)), origin == k);
	wait(0, 1);
	ck_assert(!covers(0, 2));
}
END_TEST

START_TEST(a_group_that_is_left_knows_nothing_of_its_order)
{
	atomic_store(&head->group_head, head);
	reprise_group_track(head);
	reprise_group_track(head);
	ck_assert_uint_eq(reprise_groups_tracked, 1);
	record(0, 0);
	wait(1, 0);
	ck_assert(covers(1, 3));
	reprise_group_untrack(head);
	ck_assert(!reprise_group_is_tracked(head));
	ck_assert(!covers(1, 3));
	wait(1, 0);
	ck_assert(!covers(1, 3));
	reprise_group_untrack(head);
	ck_assert_uint_eq(reprise_groups_tracked, 0);
}
END_TEST

/* More events than there is room for: what falls out is not known, and nothing is invented. */
START_TEST(of_many_events_none_is_taken_for_another)
{
	unsigned int known = 0;

	for (uintptr_t i = 0; i < 500; i++)
		reprise_group_issues(head, REPRISE_OP_RECORD, 0, (CUevent)(0x5000 + 64 * i));
	for (uintptr_t i = 0; i < 499; i++) {
		reprise_group_issues(head, REPRISE_OP_WAIT, 1, (CUevent)(0x5000 + 64 * i));
		ck_assert(!covers(1, 1)); /* the last record is not waited for */
	}
	for (uintptr_t i = 500; i < 600; i++)
		reprise_group_issues(head, REPRISE_OP_WAIT, 2, (CUevent)(0x5000 + 64 * i));
	ck_assert_uint_eq(group.clocks[2].ticks[0], 0);
	reprise_group_issues(head, REPRISE_OP_WAIT, 1, (CUevent)(0x5000 + 64 * 499));
	ck_assert(covers(1, 1));
	for (unsigned int row = 0; row < REPRISE_GROUP_ROWS; row++)
		for (unsigned int i = 0; i < REPRISE_GROUP_ROW; i++)
			known += group.events[row][i].event != NULL;
	ck_assert_uint_eq(known, REPRISE_GROUP_ROWS * REPRISE_GROUP_ROW);
}
END_TEST

static void forget_all(void)
{
	reprise_group_forget_events(&group);
}

static void forget_each(void)
{
	for (uintptr_t i = 0; i < 500; i++)
		reprise_group_forget_event(&group, (CUevent)(0x5000 + 64 * i));
}

static void note_call(void)
{
	reprise_group_note_call(head, 1);
}

static void lose_order(void)
{
	reprise_group_lose_order(head);
}

static void (*const forgetters[])(void) = {forget_all, forget_each, note_call, lose_order};

/* Wherever in the table they are. */
START_TEST(all_events_are_forgotten)
{
	for (uintptr_t i = 0; i < 500; i++)
		reprise_group_issues(head, REPRISE_OP_RECORD, 0, (CUevent)(0x5000 + 64 * i));
	forgetters[_i]();
	for (unsigned int row = 0; row < REPRISE_GROUP_ROWS; row++)
		for (unsigned int i = 0; i < REPRISE_GROUP_ROW; i++)
			ck_assert_ptr_null(group.events[row][i].event);
	for (uintptr_t i = 0; i < 500; i++)
		reprise_group_issues(head, REPRISE_OP_WAIT, 2, (CUevent)(0x5000 + 64 * i));
	ck_assert_uint_eq(group.clocks[2].ticks[0], 0);
}
END_TEST

/* ---- graphs ---- */

/* Member 0 forks to 1 and joins it: a >e | <e b >f | <f d; then records g, which is 0's last. */
static struct reprise_op ops[] = {{.kind = REPRISE_OP_KERNEL, .member = 0},
                                  {.kind = REPRISE_OP_RECORD, .member = 0},
                                  {.kind = REPRISE_OP_WAIT, .member = 1},
                                  {.kind = REPRISE_OP_KERNEL, .member = 1},
                                  {.kind = REPRISE_OP_RECORD, .member = 1},
                                  {.kind = REPRISE_OP_WAIT, .member = 0},
                                  {.kind = REPRISE_OP_RECORD, .member = 0}};

static void launched(uint8_t members)
{
	struct reprise_trace trace = {.ops = ops,
	                              .count = sizeof(ops) / sizeof(ops[0]),
	                              .event_count = 5,
	                              .graph = {.members = members}};

	ops[1].event = ops[2].event = event_of(0);
	ops[4].event = ops[5].event = event_of(1);
	ops[6].event = event_of(2);
	ck_assert_ptr_eq(reprise_group_origin(head, &trace), driver_stream(1));
	reprise_group_launched(head, &trace);
}

START_TEST(the_origin_is_behind_its_graph_and_each_branch_waits_for_its_end)
{
	op(2);
	launched(3);
	ck_assert(covers(0, 3));
	ck_assert(!covers(0, 4));
	ck_assert(!covers(1, 1));
	ck_assert(!covers(2, 3));
	ck_assert_uint_eq(group.pending_waits, 2);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_group_launches), 1);
	ck_assert_uint_eq(group.forked, sizeof(ops) / sizeof(ops[0]));
	launched(3);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 1); /* one group */
	ck_assert_uint_eq(count_of(REPRISE_COUNT_group_launches), 2);
}
END_TEST

START_TEST(a_branch_is_behind_what_its_origin_was_behind)
{
	op(2);
	record(2, 4);
	wait(0, 4);
	launched(3);
	ck_assert(covers(1, 4));
	ck_assert(covers(1, 2));
}
END_TEST

/* The event of a member's last op is behind all of that member's, any other behind what came before
 * the graph. */
START_TEST(records_of_a_graph_carry_the_order_on)
{
	op(2);
	record(2, 4);
	wait(0, 4);
	launched(3);
	wait(2, 0);
	ck_assert(!covers(2, 1));
	ck_assert(!covers(2, 2));
	wait(2, 1);
	ck_assert(covers(2, 2));
	ck_assert(!covers(2, 1));
	wait(2, 2);
	ck_assert(covers(2, 7));
}
END_TEST

START_TEST(a_graph_of_one_member_is_an_op_like_others)
{
	launched(1);
	ck_assert(covers(0, 1));
	ck_assert(!covers(1, 1));
	ck_assert(covers(1, 2));
	ck_assert_uint_eq(group.pending_waits, 0);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 0);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_group_launches), 0);
	ck_assert_uint_eq(group.forked, 0);
}
END_TEST

/* ---- pending waits ---- */

START_TEST(a_pending_wait_is_issued_once_and_before_the_members_op)
{
	launched(7);
	ck_assert_uint_eq(group.pending_waits, 6);
	op(0);
	IS_SEEN("");
	op(1);
	IS_SEEN("2:(<_)");
	op(1);
	IS_SEEN("");
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 1);
	reprise_group_issue_wait(head, 0);
	reprise_group_issue_wait(head, MEMBERS); /* there is no such member */
	IS_SEEN("");
	reprise_group_issue_waits(head);
	IS_SEEN("3:(<_)");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_pending_waits_issued), 2);
	ck_assert_uint_eq(atomic_load(&reprise_groups_waiting), 0);
}
END_TEST

START_TEST(a_call_that_is_no_op_and_a_lost_order_issue_them)
{
	launched(7);
	reprise_group_note_call(head, 2);
	IS_SEEN("3:(<_)");
	reprise_group_lose_order(head);
	IS_SEEN("2:(<_)");
	ck_assert_uint_eq(group.pending_waits, 0);
}
END_TEST

static unsigned int issued;

static CUresult CUDAAPI wait_in_context(CUstream stream, CUevent event, unsigned int flags)
{
	ck_assert_ptr_eq(driver.current, head->context);
	issued++;
	return CUDA_SUCCESS;
}

static void issue_one(void)
{
	reprise_group_issue_wait(head, 1);
}

static void issue_all(void)
{
	reprise_group_issue_waits(head);
}

static const struct {
	void (*issue)(void);
	unsigned int waits;
} issuers[] = {{issue_one, 1}, {issue_all, 2}, {note_call, 1}, {lose_order, 2}};

/* Whether that is current already, another one, or none. */
START_TEST(a_pending_wait_is_issued_in_the_groups_context_and_the_threads_stays_current)
{
	CUcontext current = (CUcontext)(uintptr_t)(_i / 4);

	reprise_driver.cuStreamWaitEvent = wait_in_context;
	driver.current = head->context;
	launched(7);
	driver.current = current;
	issuers[_i % 4].issue();
	ck_assert_uint_eq(issued, issuers[_i % 4].waits);
	ck_assert_ptr_eq(driver.current, current);
	issuers[_i % 4].issue();
	ck_assert_uint_eq(issued, issuers[_i % 4].waits);
	ck_assert_ptr_eq(driver.current, current);
}
END_TEST

static unsigned int waited[MEMBERS];

static CUresult CUDAAPI refuse_wait(CUstream stream, CUevent event, unsigned int flags)
{
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult CUDAAPI synchronize(CUstream stream)
{
	waited[(uintptr_t)stream - (uintptr_t)driver_stream(1)]++;
	return CUDA_SUCCESS;
}

START_TEST(where_a_wait_is_refused_the_host_waits_for_all_members)
{
	reprise_driver.cuStreamWaitEvent = refuse_wait;
	reprise_driver.cuStreamSynchronize = synchronize;
	launched(3);
	reprise_group_issue_wait(head, 1);
	for (unsigned int i = 0; i < MEMBERS; i++)
		ck_assert_uint_eq(waited[i], 1);
	ck_assert_uint_eq(group.pending_waits, 0);
}
END_TEST

START_TEST(a_member_is_busy_while_it_has_a_pending_wait_and_work)
{
	driver.busy = true;
	ck_assert(!reprise_group_is_busy(head, driver_stream(2)));
	launched(3);
	ck_assert(reprise_group_is_busy(head, driver_stream(2)));
	ck_assert(!reprise_group_is_busy(head, driver_stream(1)));
	ck_assert(!reprise_group_is_busy(head, driver_stream(9)));
	driver.busy = false;
	ck_assert(!reprise_group_is_busy(head, driver_stream(2)));
}
END_TEST

START_TEST(a_stream_is_its_members)
{
	for (unsigned int i = 0; i < MEMBERS; i++)
		ck_assert_uint_eq(reprise_group_member(&group, driver_stream(i + 1)), i);
	ck_assert_uint_eq(reprise_group_member(&group, driver_stream(9)), MEMBERS);
}
END_TEST

/* ---- whether it pays ---- */

#define JUDGED REPRISE_TUNE_GROUP_JUDGED
#define LEAST (JUDGED / REPRISE_TUNE_GROUP_LEAST)
#define UNJOINED REPRISE_TUNE_GROUP_UNJOINED

static const struct {
	uint64_t ops, forked, watched;
	bool joined, judged, pays;
} pays[] = {{UNJOINED, 0, UNJOINED - 1, false, false, true},
            {UNJOINED, 0, UNJOINED, false, true, false},
            {UNJOINED, 1, UNJOINED, false, false, true},
            {UNJOINED, 0, UNJOINED, true, false, true},
            {JUDGED - 1, 0, 0, false, false, true},
            {JUDGED, 0, 0, false, true, false},
            {JUDGED, LEAST, JUDGED, true, true, true},
            {JUDGED, LEAST - 1, JUDGED, true, true, false},
            {2 * JUDGED, 2 * LEAST, JUDGED, true, true, true},
            {2 * JUDGED, 2 * LEAST - 1, JUDGED, true, true, false}};

START_TEST(a_group_pays_if_enough_of_its_ops_are_of_graphs_that_fork)
{
	group.judged_at = head->counts.ops = 1000;
	head->counts.ops += pays[_i].ops;
	group.forked = pays[_i].forked;
	group.watched = pays[_i].watched;
	group.joined = pays[_i].joined;
	ck_assert_int_eq(reprise_group_does_not_pay(head), !pays[_i].pays);
	ck_assert_uint_eq(group.judged_at, pays[_i].judged ? head->counts.ops : 1000);
	ck_assert_uint_eq(group.forked, pays[_i].judged ? 0 : pays[_i].forked);
	ck_assert_uint_eq(group.watched, pays[_i].judged ? 0 : pays[_i].watched);
	ck_assert_int_eq(group.joined, pays[_i].joined && !pays[_i].judged);
}
END_TEST

/* ---- where a watched segment begins ---- */

START_TEST(what_a_segment_begins_behind_is_known_of_that_segment)
{
	uint8_t behind[MEMBERS];

	op(0);
	record(0, 0);
	wait(1, 0);
	record(1, 1);
	op(2);
	reprise_group_begin_segment(&group, 7);
	op(1);
	record(2, 2);
	reprise_group_start(&group, 7, behind);
	ck_assert_uint_eq(behind[0], 1);
	ck_assert_uint_eq(behind[1], 1 | 2);
	ck_assert_uint_eq(behind[2], 4);
	ck_assert_uint_eq(reprise_group_event_start(&group, 7, event_of(0)), 1);
	ck_assert_uint_eq(reprise_group_event_start(&group, 7, event_of(1)), 1 | 2);
	ck_assert_uint_eq(reprise_group_event_start(&group, 7, event_of(2)), 4);
	ck_assert_uint_eq(reprise_group_event_start(&group, 7, event_of(3)), 0);
	/* the next one begins where this was cut */
	reprise_group_start(&group, 8, behind);
	for (unsigned int i = 0; i < MEMBERS; i++)
		ck_assert_uint_eq(behind[i], 1u << i);
	ck_assert_uint_eq(reprise_group_event_start(&group, 8, event_of(1)), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, group order");
	TCase *tests = tcase_create("group order");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, records_and_waits_carry_the_order_on, 0, 4);
	tcase_add_test(tests, a_border_is_behind_all_members_with_ops_in_the_segment);
	tcase_add_test(tests, a_call_on_its_way_has_no_known_place);
	tcase_add_test(tests, a_call_that_is_no_op_is_ahead_of_all_others_and_may_record_any_event);
	tcase_add_test(tests, an_event_that_others_recorded_carries_nothing);
	tcase_add_test(tests, what_others_recorded_beside_the_lock_is_forgotten_first);
	tcase_add_test(tests, where_the_order_is_lost_none_is_behind_another);
	tcase_add_test(tests, a_group_that_is_left_knows_nothing_of_its_order);
	tcase_add_test(tests, of_many_events_none_is_taken_for_another);
	tcase_add_loop_test(tests, all_events_are_forgotten, 0,
	                    sizeof(forgetters) / sizeof(forgetters[0]));
	tcase_add_test(tests, the_origin_is_behind_its_graph_and_each_branch_waits_for_its_end);
	tcase_add_test(tests, a_branch_is_behind_what_its_origin_was_behind);
	tcase_add_test(tests, records_of_a_graph_carry_the_order_on);
	tcase_add_test(tests, a_graph_of_one_member_is_an_op_like_others);
	tcase_add_test(tests, a_pending_wait_is_issued_once_and_before_the_members_op);
	tcase_add_test(tests, a_call_that_is_no_op_and_a_lost_order_issue_them);
	tcase_add_loop_test(
		tests, a_pending_wait_is_issued_in_the_groups_context_and_the_threads_stays_current, 0,
		3 * sizeof(issuers) / sizeof(issuers[0]));
	tcase_add_test(tests, where_a_wait_is_refused_the_host_waits_for_all_members);
	tcase_add_test(tests, a_member_is_busy_while_it_has_a_pending_wait_and_work);
	tcase_add_test(tests, a_stream_is_its_members);
	tcase_add_test(tests, what_a_segment_begins_behind_is_known_of_that_segment);
	tcase_add_loop_test(tests, a_group_pays_if_enough_of_its_ops_are_of_graphs_that_fork, 0,
	                    sizeof(pays) / sizeof(pays[0]));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
