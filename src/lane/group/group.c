/* The order among the members of a group, and their pending waits. All under the head's lock. */
#include "lane/group/group.h"

#include <string.h>

#include "base/hash.h"
#include "base/inside.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "trace/beside.h"

_Atomic uint32_t reprise_groups, reprise_groups_tracked, reprise_groups_waiting,
	reprise_group_unknown_calls;

/* The entry of the event's last record, or else the entry for it: a free one of its row, or one to
 * replace. */
static struct reprise_group_event *slot_of(struct reprise_group *group, CUevent event)
{
	uint64_t hash = reprise_hash_mix((uintptr_t)event, 3);
	struct reprise_group_event *row = group->events[hash % REPRISE_GROUP_ROWS],
							   *free = &row[(hash >> 32) % REPRISE_GROUP_ROW];

	for (struct reprise_group_event *slot = row; slot < row + REPRISE_GROUP_ROW; slot++) {
		if (slot->event == event)
			return slot;
		if (slot->event == NULL)
			free = slot;
	}
	return free;
}

/* Of members that are not there all clocks have no ticks. */
static void merge_clock(const struct reprise_group *group, struct reprise_group_clock *clock,
                        const struct reprise_group_clock *other)
{
	for (unsigned int i = 0; i < group->count; i++)
		if (clock->ticks[i] < other->ticks[i])
			clock->ticks[i] = other->ticks[i];
}

static void tick(struct reprise_group *group, unsigned int member)
{
	group->clocks[member].ticks[member]++;
}

void reprise_group_forget_events(struct reprise_group *group)
{
	if (!group->knows_records)
		return;
	group->knows_records = false;
	for (unsigned int i = 0; i < REPRISE_GROUP_ROWS; i++)
		for (unsigned int j = 0; j < REPRISE_GROUP_ROW; j++)
			group->events[i][j].event = NULL;
}

/* Before records are used or added: what another thread could not take the lock for. */
static void forget_if_told(struct reprise_group *group)
{
	struct reprise_lane *head = group->members[0];

	if (__builtin_expect(atomic_load(&head->forgets), 0) && atomic_exchange(&head->forgets, false))
		reprise_group_forget_events(group);
}

static void note_record(struct reprise_group *group, struct reprise_group_event *slot,
                        CUevent event, const struct reprise_group_clock *clock)
{
	*slot = (struct reprise_group_event){event, *clock};
	group->knows_records = true;
}

/* Adds an op to the order. */
static void order(struct reprise_group *group, enum reprise_op_kind kind, unsigned int member,
                  CUevent event)
{
	tick(group, member);
	group->recent |= (uint8_t)(1u << member);
	if (!reprise_op_is_event(kind))
		return;

	struct reprise_group_event *slot;

	forget_if_told(group);
	slot = slot_of(group, event);
	if (kind == REPRISE_OP_RECORD)
		note_record(group, slot, event, &group->clocks[member]);
	else if (slot->event == event)
		merge_clock(group, &group->clocks[member], &slot->clock);
}

/* True if all that came on the streams of `members` comes before the next op on the stream of
 * `origin`. A call of another thread that is on its way to a member has no known place. */
static bool covers(const struct reprise_group *group, unsigned int origin, uint8_t members)
{
	if (atomic_load(&reprise_group_unknown_calls) != 0)
		return false;
	for (unsigned int member = 0; member < group->count; member++)
		if ((members >> member & 1) != 0 &&
		    (group->clocks[origin].ticks[member] != group->clocks[member].ticks[member] ||
		     atomic_load(&group->members[member]->foreign_calls) != 0))
			return false;
	return true;
}

static bool is_within(const struct reprise_group *group, const struct reprise_group_clock *clock,
                      const struct reprise_group_clock *other)
{
	for (unsigned int i = 0; i < group->count; i++)
		if (clock->ticks[i] > other->ticks[i])
			return false;
	return true;
}

static bool is_same(const struct reprise_group *group, const struct reprise_group_clock *clock,
                    const struct reprise_group_clock *other)
{
	for (unsigned int i = 0; i < group->count; i++)
		if (clock->ticks[i] != other->ticks[i])
			return false;
	return true;
}

/* What the root is behind when its first waits have passed. False if one is for an unknown event.
 */
static bool begin_of(struct reprise_group *group, const struct reprise_trace *trace,
                     unsigned int root, struct reprise_group_clock *begin)
{
	const struct reprise_beside *beside = trace->beside;

	*begin = group->clocks[root];
	for (unsigned int i = 0; i < beside->leading_count; i++) {
		const struct reprise_op *op = &trace->ops[beside->leading[i]];
		const struct reprise_group_event *slot;

		if (op->member != root)
			continue;
		slot = slot_of(group, op->event);
		if (slot->event != op->event)
			return false;
		merge_clock(group, begin, &slot->clock);
	}
	return true;
}

/* True if all roots begin behind the same; and if that is all that the members and the stream
 * beside them have and are behind, and nothing more. */
static bool is_level(struct reprise_group *group, const struct reprise_trace *trace)
{
	struct reprise_group_clock level, other, have;
	bool any = false;

	forget_if_told(group);
	if (atomic_load(&reprise_group_unknown_calls) != 0)
		return false;
	for (unsigned int root = 0; trace->beside->roots >> root != 0; root++) {
		if ((trace->beside->roots >> root & 1) == 0)
			continue;
		if (!begin_of(group, trace, root, any ? &other : &level))
			return false;
		if (any && !is_same(group, &level, &other))
			return false;
		any = true;
	}
	for (unsigned int member = 0; member < group->count; member++)
		if ((trace->graph.members >> member & 1) != 0 &&
		    atomic_load(&group->members[member]->foreign_calls) != 0)
			return false;
	have = group->beside;
	for (unsigned int member = 0; member < group->count; member++)
		if ((trace->graph.members >> member & 1) != 0)
			merge_clock(group, &have, &group->clocks[member]);
	if (!is_same(group, &have, &level))
		return false;
	group->entered = level;
	return true;
}

bool reprise_group_covers(struct reprise_group *group, const struct reprise_trace *trace)
{
	return trace->beside != NULL ? is_level(group, trace)
	                             : covers(group, trace->ops[0].member, trace->graph.members);
}

bool reprise_group_is_behind(struct reprise_group *group, CUevent event)
{
	const struct reprise_group_event *slot;

	forget_if_told(group);
	slot = slot_of(group, event);
	return slot->event == event && is_within(group, &slot->clock, &group->entered);
}

/* What the host has waited for is before all later calls of its thread. */
void reprise_group_waits(struct reprise_group *group, uint8_t members)
{
	struct reprise_group_clock waited = {{0}};

	if (atomic_load(&reprise_group_unknown_calls) == 0)
		for (unsigned int member = 0; members >> member != 0; member++)
			if ((members >> member & 1) != 0)
				merge_clock(group, &waited, &group->clocks[member]);
	merge_clock(group, &group->beside, &waited);
	for (unsigned int member = 0; member < group->count; member++)
		merge_clock(group, &group->clocks[member], &waited);
}

void reprise_group_begin_segment(struct reprise_group *group, uint32_t segment)
{
	group->recent = 0;
	group->start_segment = segment;
	memcpy(group->start, group->clocks, group->count * sizeof(*group->start));
}

/* The members of whose work, up to where the segment begins, the clock has all. */
static uint8_t has_start(const struct reprise_group *group, const struct reprise_group_clock *clock)
{
	uint8_t members = 0;

	for (unsigned int i = 0; i < group->count; i++)
		if (clock->ticks[i] >= group->start[i].ticks[i])
			members |= (uint8_t)(1u << i);
	return members;
}

void reprise_group_start(const struct reprise_group *group, uint32_t segment, uint8_t *behind)
{
	for (unsigned int member = 0; member < group->count; member++)
		behind[member] = group->start_segment == segment ? has_start(group, &group->start[member])
		                                                 : (uint8_t)(1u << member);
}

uint8_t reprise_group_event_start(struct reprise_group *group, uint32_t segment, CUevent event)
{
	const struct reprise_group_event *slot;

	forget_if_told(group);
	slot = slot_of(group, event);
	return slot->event == event && group->start_segment == segment ? has_start(group, &slot->clock)
	                                                               : 0;
}

bool reprise_group_is_border(const struct reprise_group *group, unsigned int member)
{
	return covers(group, member, group->recent);
}

/*
 * Notes the records of a launched graph. `before`: the origin's clock before the launch; all
 * records are behind it. A member's last op, if it is a record, is behind all of that member's ops.
 */
static void note_records(struct reprise_group *group, const struct reprise_trace *trace,
                         const struct reprise_group_clock *before)
{
	unsigned int last[REPRISE_MEMBERS_MOST] = {0};

	forget_if_told(group);
	for (unsigned int i = 0; i < trace->count; i++)
		last[trace->ops[i].member] = i;
	for (unsigned int i = 0; i < trace->count; i++) {
		const struct reprise_op *op = &trace->ops[i];

		if (op->kind == REPRISE_OP_RECORD)
			note_record(group, slot_of(group, op->event), op->event,
			            i == last[op->member] ? &group->clocks[op->member] : before);
	}
}

/* `after` of these members, `level` of all others. */
static struct reprise_group_clock chosen(const struct reprise_group_clock *level,
                                         const struct reprise_group_clock *after, uint8_t members)
{
	struct reprise_group_clock clock = *level;

	for (unsigned int member = 0; members >> member != 0; member++)
		if ((members >> member & 1) != 0)
			clock.ticks[member] = after->ticks[member];
	return clock;
}

/* What the members' streams are behind once such a graph was launched, and the events. */
static void launched_beside(struct reprise_group *group, const struct reprise_trace *trace)
{
	const struct reprise_group_clock level = group->entered;
	struct reprise_group_clock after = level;

	for (unsigned int member = 0; member < group->count; member++)
		after.ticks[member] += trace->graph.members >> member & 1;
	for (unsigned int member = 0; member < group->count; member++)
		if ((trace->graph.members >> member & 1) != 0)
			group->clocks[member] = chosen(&level, &after, trace->beside->ends[member]);
	group->beside = after;
	group->launched_beside = true;
	forget_if_told(group);
	for (unsigned int i = 0; trace->event_count > 0 && i < trace->count; i++)
		if (trace->ops[i].kind == REPRISE_OP_RECORD) {
			struct reprise_group_clock clock = chosen(&level, &after, trace->beside->behind[i]);

			note_record(group, slot_of(group, trace->ops[i].event), trace->ops[i].event, &clock);
		}
}

static void note_branches(struct reprise_group *group, const struct reprise_trace *trace,
                          uint8_t members)
{
	reprise_count(REPRISE_COUNT_group_launches, 1);
	group->forked += trace->count;
	if (group->pending_waits == 0)
		atomic_fetch_add(&reprise_groups_waiting, 1);
	group->pending_waits |= members;
}

/* Conservative: of a graph in the origin's stream only the order relative to the origin is kept. */
void reprise_group_launched(struct reprise_lane *head, const struct reprise_trace *trace)
{
	if (trace->beside != NULL) {
		launched_beside(head->group, trace);
		note_branches(head->group, trace, trace->graph.members);
		return;
	}

	struct reprise_group *group = head->group;
	unsigned int origin = trace->ops[0].member;
	struct reprise_group_clock before = group->clocks[origin];
	uint8_t others = trace->graph.members & (uint8_t) ~(1u << origin);

	tick(group, origin);
	for (unsigned int member = 0; others >> member != 0; member++) {
		if ((others >> member & 1) == 0)
			continue;
		merge_clock(group, &group->clocks[member], &before);
		tick(group, member);
		merge_clock(group, &group->clocks[origin], &group->clocks[member]);
	}
	if (trace->event_count > 0)
		note_records(group, trace, &before);
	if (others == 0)
		return;
	note_branches(group, trace, others);
}

/* Asks the driver twice: if the host waited instead, it could wait for a kernel that waits for the
 * program's next call. */
static bool wait_for_branches(const struct reprise_group *group, unsigned int member)
{
	for (unsigned int asked = 0; asked < 2; asked++)
		if (reprise_driver.cuStreamWaitEvent(group->streams[member],
		                                     group->forks.branch_ends[member],
		                                     CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS)
			return true;
	return false;
}

/* The host waits, for all streams that graphs were launched into. */
static void wait_for_graphs(const struct reprise_group *group)
{
	for (unsigned int i = 0; i < group->count; i++)
		reprise_driver.cuStreamSynchronize(group->streams[i]);
	if (group->launched_beside)
		reprise_driver.cuStreamSynchronize(group->forks.beside);
}

/* Issues the member's pending wait. If the driver refuses, the host waits. The context is current.
 */
static void issue_wait(struct reprise_lane *head, unsigned int member)
{
	struct reprise_group *group = head->group;
	int entered;

	if ((group->pending_waits >> member & 1) == 0)
		return;
	entered = reprise_enter();
	if (!wait_for_branches(group, member))
		wait_for_graphs(group);
	reprise_leave(entered);
	reprise_count(REPRISE_COUNT_pending_waits_issued, 1);
	group->pending_waits &= (uint8_t) ~(1u << member);
	if (group->pending_waits == 0)
		atomic_fetch_sub(&reprise_groups_waiting, 1);
}

void reprise_group_issue_wait(struct reprise_lane *head, unsigned int member)
{
	bool pushed;

	if ((head->group->pending_waits >> member & 1) == 0)
		return;
	pushed = reprise_driver_make_current(head->context);
	issue_wait(head, member);
	reprise_driver_restore_current(pushed);
}

bool reprise_group_is_busy(const struct reprise_lane *head, CUstream stream)
{
	unsigned int member = reprise_group_member(head->group, stream);

	return (head->group->pending_waits >> member & 1) != 0 &&
	       reprise_driver_query(stream) == CUDA_ERROR_NOT_READY;
}

void reprise_group_issue_waits(struct reprise_lane *head)
{
	for (unsigned int member = 0; member < head->group->count; member++)
		reprise_group_issue_wait(head, member);
}

void reprise_group_issues(struct reprise_lane *head, enum reprise_op_kind kind, unsigned int member,
                          CUevent event)
{
	issue_wait(head, member);
	order(head->group, kind, member, event);
}

/* The stream beside the members' comes behind what they have. */
static bool come_behind(struct reprise_lane *head, const struct reprise_trace *trace)
{
	struct reprise_group *group = head->group;
	CUstream beside = group->forks.beside;
	bool done = true;

	for (unsigned int member = 0; done && member < group->count; member++) {
		if ((trace->graph.members >> member & 1) == 0)
			continue;
		issue_wait(head, member);
		done = reprise_driver.cuEventRecord(group->forks.before, group->streams[member]) ==
		           CUDA_SUCCESS &&
		       reprise_driver.cuStreamWaitEvent(beside, group->forks.before,
		                                        CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS;
		if (done)
			merge_clock(group, &group->beside, &group->clocks[member]);
	}
	return done;
}

bool reprise_group_beside_is_done(const struct reprise_group *group)
{
	return !group->launched_beside || reprise_driver_query(group->forks.beside) == CUDA_SUCCESS;
}

CUstream reprise_group_origin(struct reprise_lane *head, const struct reprise_trace *trace)
{
	unsigned int origin = trace->ops[0].member;

	if (trace->beside != NULL) {
		struct reprise_group *group = head->group;

		return group->forks.beside != NULL && (is_within(group, &group->entered, &group->beside) ||
		                                       come_behind(head, trace))
		           ? group->forks.beside
		           : NULL;
	}
	issue_wait(head, origin);
	return head->group->streams[origin];
}

void reprise_group_forget_event(struct reprise_group *group, CUevent event)
{
	if (slot_of(group, event)->event == event)
		slot_of(group, event)->event = NULL;
}

void reprise_group_note_call(struct reprise_lane *head, unsigned int member)
{
	reprise_group_issue_wait(head, member);
	tick(head->group, member);
	reprise_group_forget_events(head->group);
}

void reprise_group_lose_order(struct reprise_lane *head)
{
	reprise_group_issue_waits(head);
	for (unsigned int member = 0; member < head->group->count; member++)
		tick(head->group, member);
	reprise_group_forget_events(head->group);
}

void reprise_group_track(struct reprise_lane *head)
{
	if (__builtin_expect(atomic_load_explicit(&head->tracked, memory_order_relaxed), 1))
		return;
	atomic_store(&head->tracked, true);
	atomic_fetch_add(&reprise_groups_tracked, 1);
}

void reprise_group_untrack(struct reprise_lane *head)
{
	if (!atomic_load_explicit(&head->tracked, memory_order_relaxed))
		return;
	reprise_group_lose_order(head);
	atomic_store(&head->tracked, false);
	atomic_store_explicit(&head->noisy, false, memory_order_relaxed);
	atomic_fetch_sub(&reprise_groups_tracked, 1);
}

bool reprise_group_does_not_pay(struct reprise_lane *head)
{
	struct reprise_group *group = head->group;
	uint64_t now = reprise_lane_ops(head), ops = now - group->judged_at, forked = group->forked;
	bool hopeless = !group->joined && forked == 0 && group->watched >= REPRISE_TUNE_GROUP_UNJOINED;

	if (!hopeless && ops < REPRISE_TUNE_GROUP_JUDGED)
		return false;
	group->failures = hopeless ? REPRISE_TUNE_GROUP_UNJOINED_SPLITS : 1;
	group->judged_at = now;
	group->forked = group->watched = 0;
	group->joined = false;
	if (forked < ops / REPRISE_TUNE_GROUP_LEAST)
		return true;
	group->patience = group->level_patience = REPRISE_TUNE_GROUP_PATIENCE;
	return false;
}

unsigned int reprise_group_member(const struct reprise_group *group, CUstream stream)
{
	unsigned int member = 0;

	while (member < group->count && group->streams[member] != stream)
		member++;
	return member;
}
