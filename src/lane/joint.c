/* The order among the members of a joint lane, and what their streams owe. All of it under the
 * head's lock. */
#include "lane/joint.h"

#include "base/hash.h"
#include "base/inside.h"
#include "driver/current.h"
#include "driver/driver.h"
#include "stats/counters.h"

#define JUDGED 4096 /* after so many ops, */
#define LEAST \
	4 /* one in so many must have been replayed by a graph that forks: others need no joint lane \
	   */

_Atomic uint32_t reprise_joint_lanes, reprise_joint_debtors, reprise_joint_unknown_calls;

/* Where the event's last record is noted, or else where it may be: a free place of its row, or one
 * that another has to give up. */
static struct reprise_joint_event *slot_of(struct reprise_joint *joint, CUevent event)
{
	uint64_t hash = reprise_hash_mix((uintptr_t)event, 3);
	struct reprise_joint_event *row = joint->events[hash % REPRISE_JOINT_ROWS],
							   *free = &row[(hash >> 32) % REPRISE_JOINT_ROW];

	for (struct reprise_joint_event *slot = row; slot < row + REPRISE_JOINT_ROW; slot++) {
		if (slot->event == event)
			return slot;
		if (slot->event == NULL)
			free = slot;
	}
	return free;
}

static void join_clock(struct reprise_joint_clock *clock, const struct reprise_joint_clock *other)
{
	for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
		if (clock->ticks[i] < other->ticks[i])
			clock->ticks[i] = other->ticks[i];
}

static void tick(struct reprise_joint *joint, unsigned int member)
{
	joint->clocks[member].ticks[member]++;
}

/* An op takes its place in the order. */
static void order(struct reprise_joint *joint, enum reprise_op_kind kind, unsigned int member,
                  CUevent event)
{
	tick(joint, member);
	joint->recent |= (uint8_t)(1u << member);
	if (!reprise_op_is_event(kind))
		return;

	struct reprise_joint_event *slot = slot_of(joint, event);

	if (kind == REPRISE_OP_RECORD)
		*slot = (struct reprise_joint_event){event, joint->clocks[member]};
	else if (slot->event == event)
		join_clock(&joint->clocks[member], &slot->clock);
}

/* Whether all that came on the streams of `members` comes before what is next on the stream of
 * `origin`. What another thread is about to give one of them does not. */
static bool covers(const struct reprise_joint *joint, unsigned int origin, uint8_t members)
{
	if (atomic_load(&reprise_joint_unknown_calls) != 0)
		return false;
	for (unsigned int member = 0; member < joint->count; member++)
		if ((members >> member & 1) != 0 &&
		    (joint->clocks[origin].ticks[member] != joint->clocks[member].ticks[member] ||
		     atomic_load(&joint->members[member]->strangers) != 0))
			return false;
	return true;
}

bool reprise_joint_covers(const struct reprise_joint *joint, const struct reprise_trace *trace)
{
	return covers(joint, trace->ops[0].member, trace->graph.members);
}

bool reprise_joint_is_border(const struct reprise_joint *joint, unsigned int member)
{
	return covers(joint, member, joint->recent);
}

/*
 * Notes the records of a graph that was launched. `before`: its origin's clock before it, which all
 * of them are behind. What is recorded last of a member is behind all of that one's ops.
 */
static void note_records(struct reprise_joint *joint, const struct reprise_trace *trace,
                         const struct reprise_joint_clock *before)
{
	unsigned int last[REPRISE_MEMBERS_MOST] = {0};

	for (unsigned int i = 0; i < trace->count; i++)
		last[trace->ops[i].member] = i;
	for (unsigned int i = 0; i < trace->count; i++) {
		const struct reprise_op *op = &trace->ops[i];

		if (op->kind == REPRISE_OP_RECORD)
			*slot_of(joint, op->event) =
				(struct reprise_joint_event){op->event, i == last[op->member]
			                                                ? joint->clocks[op->member]
			                                                : *before};
	}
}

/* What it says of the order is less than there is, never more: that members of the graph come
 * behind each other in it is not noted, but for the origin. */
void reprise_joint_launched(struct reprise_lane *head, const struct reprise_trace *trace)
{
	struct reprise_joint *joint = head->joint;
	unsigned int origin = trace->ops[0].member;
	struct reprise_joint_clock before = joint->clocks[origin];
	uint8_t others = trace->graph.members & (uint8_t) ~(1u << origin);

	tick(joint, origin);
	for (unsigned int member = 0; others >> member != 0; member++) {
		if ((others >> member & 1) == 0)
			continue;
		join_clock(&joint->clocks[member], &before);
		tick(joint, member);
		join_clock(&joint->clocks[origin], &joint->clocks[member]);
	}
	if (trace->event_count > 0)
		note_records(joint, trace, &before);
	if (others == 0)
		return;
	reprise_count(REPRISE_COUNT_joint_launches, 1);
	joint->forked += trace->count - trace->absent_count;
	if (joint->owing == 0)
		atomic_fetch_add(&reprise_joint_debtors, 1);
	joint->owing |= others;
}

/* If the driver does not let a stream wait for an event, the host has to. The context is current.
 */
static void pay(struct reprise_lane *head, unsigned int member)
{
	struct reprise_joint *joint = head->joint;
	int entered;

	if ((joint->owing >> member & 1) == 0)
		return;
	entered = reprise_enter();
	if (reprise_driver.cuStreamWaitEvent(joint->streams[member], joint->forks.tails[member],
	                                     CU_EVENT_WAIT_DEFAULT) != CUDA_SUCCESS)
		for (unsigned int i = 0; i < joint->count; i++)
			reprise_driver.cuStreamSynchronize(joint->streams[i]);
	reprise_leave(entered);
	reprise_count(REPRISE_COUNT_joint_debts_paid, 1);
	joint->owing &= (uint8_t) ~(1u << member);
	if (joint->owing == 0)
		atomic_fetch_sub(&reprise_joint_debtors, 1);
}

void reprise_joint_pay(struct reprise_lane *head, unsigned int member)
{
	bool pushed;

	if ((head->joint->owing >> member & 1) == 0)
		return;
	pushed = reprise_driver_make_current(head->context);
	pay(head, member);
	reprise_driver_restore_current(pushed);
}

bool reprise_joint_is_busy(const struct reprise_lane *head, CUstream stream)
{
	unsigned int member = reprise_joint_member(head->joint, stream);

	return (head->joint->owing >> member & 1) != 0 &&
	       reprise_driver_query(stream) == CUDA_ERROR_NOT_READY;
}

void reprise_joint_pay_all(struct reprise_lane *head)
{
	for (unsigned int member = 0; member < head->joint->count; member++)
		reprise_joint_pay(head, member);
}

void reprise_joint_issues(struct reprise_lane *head, enum reprise_op_kind kind, unsigned int member,
                          CUevent event)
{
	pay(head, member);
	order(head->joint, kind, member, event);
}

CUstream reprise_joint_origin(struct reprise_lane *head, const struct reprise_trace *trace)
{
	unsigned int origin = trace->ops[0].member;

	pay(head, origin);
	return head->joint->streams[origin];
}

void reprise_joint_forget_events(struct reprise_joint *joint)
{
	for (unsigned int i = 0; i < REPRISE_JOINT_ROWS; i++)
		for (unsigned int j = 0; j < REPRISE_JOINT_ROW; j++)
			joint->events[i][j].event = NULL;
}

void reprise_joint_forget_event(struct reprise_joint *joint, CUevent event)
{
	if (slot_of(joint, event)->event == event)
		slot_of(joint, event)->event = NULL;
}

void reprise_joint_strange(struct reprise_lane *head, unsigned int member)
{
	reprise_joint_pay(head, member);
	tick(head->joint, member);
	reprise_joint_forget_events(head->joint);
}

void reprise_joint_lose(struct reprise_lane *head)
{
	reprise_joint_pay_all(head);
	for (unsigned int member = 0; member < head->joint->count; member++)
		tick(head->joint, member);
	reprise_joint_forget_events(head->joint);
}

bool reprise_joint_disappoints(struct reprise_lane *head)
{
	struct reprise_joint *joint = head->joint;
	uint64_t ops = head->counts.ops - joint->judged_at, forked = joint->forked;

	if (ops < JUDGED)
		return false;
	joint->judged_at = head->counts.ops;
	joint->forked = 0;
	return forked < ops / LEAST;
}

unsigned int reprise_joint_member(const struct reprise_joint *joint, CUstream stream)
{
	unsigned int member = 0;

	while (member < joint->count && joint->streams[member] != stream)
		member++;
	return member;
}
