/*
 * A stream group: several streams of one context that fork and join again and again, by events.
 * Their ops are in one sequence, in the order of the program's calls, and each is issued on its own
 * stream. Event records and waits are ops of the sequence, and a trace may span all members.
 *
 * One member's lane, the head, has the sequence, the traces and the lock for all. `group_head` of
 * each member's lane points to the head, the head's own included. A group has the calls of one
 * thread. It is split when another thread calls, when it does not pay, or when a member ends.
 *
 * How invariant 3 is kept:
 *
 * - A graph with ops of a blocking stream is launched into a blocking stream, where the legacy
 * stream is ordered against it. Non-blocking members in it make no difference: all of the graph is
 * behind the origin's first op, and the origin's last op is behind all of it.
 *
 * - A trace that forks is closed (trace/fork.h). It is entered only while the origin's stream is
 * behind the streams of all members in it. Or it is launched beside them (trace/beside.h): it is
 * entered only while all members that begin with it, its roots, are behind the same. Vector clocks
 * tell: an op is a tick of its member, records and waits carry the clocks on, and what the host has
 * waited for is before all that comes. What Reprise does not see counts as not ordered.
 *
 * - A graph is in one stream: its origin's, or the one beside the members'. The next work on any
 * other of its members' streams must wait for the end of that member's branch, and for nothing
 * else. The graph records an event there, the branch end, and the stream has a pending wait for it,
 * issued before other work. No wait is issued if the next work is a graph launched into a stream
 * that is behind the branch.
 *
 * Functions are under the head's lock unless they say otherwise.
 */
#pragma once

#include "lane/lane.h"

/* Known event records: rows, and entries of a row. */
#define REPRISE_GROUP_ROWS 16
#define REPRISE_GROUP_ROW 4

struct reprise_group_clock {
	uint64_t ticks[REPRISE_MEMBERS_MOST];
};

struct reprise_branch_end;

struct reprise_group {
	uint32_t thread; /* the thread whose calls it has */
	unsigned int count;
	/* A bit for each member that is ordered against the legacy default stream. */
	uint8_t blocking;
	uint8_t pending_waits; /* a bit for each member with a pending wait */
	/* A bit for each member that had ops since the watched segment began. */
	uint8_t recent;
	bool knows_records;                                 /* `events` is not empty */
	struct reprise_lane *members[REPRISE_MEMBERS_MOST]; /* the first is the head */
	CUstream streams[REPRISE_MEMBERS_MOST];
	struct reprise_group_clock clocks[REPRISE_MEMBERS_MOST];
	/* the same where this watched segment begins */
	struct reprise_group_clock start[REPRISE_MEMBERS_MOST];
	uint32_t start_segment;
	/* of the stream beside them; what the roots of the graph are behind that was found to be level
	 */
	struct reprise_group_clock beside, entered;
	bool launched_beside; /* into that stream, at any time */
	struct reprise_group_event {
		CUevent event;
		struct reprise_group_clock clock;
	} events[REPRISE_GROUP_ROWS][REPRISE_GROUP_ROW]; /* the last records, by hash of the handle */
	struct reprise_forks forks;
	struct reprise_branch_end *branch_ends[REPRISE_MEMBERS_MOST]; /* to be given back (merge.c) */
	/* How many more times no trace is made of the parts of a fork that was cut: by the hold limit,
	 * or by a call in its midst; and of a segment of which it is not known whether each stream is
	 * behind all where it begins (pieces.c). */
	unsigned int patience, level_patience;
	/* How many ops the lane had had when it was last judged; since then: the ops replayed by graphs
	 * that fork, those of watched segments, and whether a fork joins again in one, as it has to in
	 * a graph. */
	uint64_t judged_at, forked, watched;
	bool joined;
	uint8_t failures; /* for how many a split counts */
};

/* The number of groups, of those that are tracked, and of those with a pending wait. */
extern _Atomic uint32_t reprise_groups, reprise_groups_tracked, reprise_groups_waiting;

/* Calls that may be in the driver and give work to unknown streams. Meanwhile no member is known to
 * be behind another. */
extern _Atomic uint32_t reprise_group_unknown_calls;

/* ---- the order among members ---- */

/*
 * While a group has ops, its order is tracked: it is told of every call on its streams. A call
 * that is eager whatever the lane does, in a pause or in an eager turn, ends that for the groups of
 * its thread and of its stream. From then on until the group's next op nothing is deferred or
 * pending, no record is known, and no member is known to be behind another. Further calls change
 * nothing of that, so they need not tell the group.
 */
static inline bool reprise_group_is_tracked(const struct reprise_lane *lane)
{
	return reprise_lane_is_group(lane) && atomic_load(&lane->tracked);
}

/* track(): an op of the group comes. untrack(): behind a barrier; issues all pending waits. Both
 * do nothing if that is so already. */
void reprise_group_track(struct reprise_lane *head);
void reprise_group_untrack(struct reprise_lane *head);

/* The op is about to be issued on its member's stream: issues the member's pending wait, and adds
 * the op to the order. */
void reprise_group_issues(struct reprise_lane *head, enum reprise_op_kind kind, unsigned int member,
                          CUevent event);

/* True if the trace's graph may be launched: into its origin's stream, or beside its streams. Of
 * one beside, origin(), launched() and is_behind() rely on what it has found. */
bool reprise_group_covers(struct reprise_group *group, const struct reprise_trace *trace);

/* True if the wait for this event, which was recorded before the graph, makes no edge there. */
bool reprise_group_is_behind(struct reprise_group *group, CUevent event);

/* True if the member's stream is behind the streams of all members with ops in this segment: a
 * graph that ends here cuts no fork. */
bool reprise_group_is_border(const struct reprise_group *group, unsigned int member);

/* The watched segment of this number begins with the group's next op. */
void reprise_group_begin_segment(struct reprise_group *group, uint32_t segment);

/* start(): what each member was behind where the segment begins. behind[i] has a bit for each
 * member of whose work member i was behind all. event_start(): the same of the event, as it was
 * recorded last; 0 if that is not known. Of a segment that begins where another one was cut, it is
 * only known that each member is behind itself. */
void reprise_group_start(const struct reprise_group *group, uint32_t segment, uint8_t *behind);
uint8_t reprise_group_event_start(struct reprise_group *group, uint32_t segment, CUevent event);

/* The host waits for all work of these members' streams: a bit for each. Before the wait, whose
 * thread is the group's. If the wait fails: reprise_group_lose_order(). */
void reprise_group_waits(struct reprise_group *group, uint8_t members);

/* True if no graph that was launched beside the members' streams is under way. */
bool reprise_group_beside_is_done(const struct reprise_group *group);

/* origin(): the stream to launch the trace's graph into, without a pending wait; NULL if the driver
 * refused. launched(): it was. */
CUstream reprise_group_origin(struct reprise_lane *head, const struct reprise_trace *trace);
void reprise_group_launched(struct reprise_lane *head, const struct reprise_trace *trace);

/* A call on the member's stream that is no op: it may record events, wait for some, or take any
 * time. */
void reprise_group_note_call(struct reprise_lane *head, unsigned int member);

/* Other calls may have recorded events, or this event. They gave the members' streams no work. */
void reprise_group_forget_events(struct reprise_group *group);
void reprise_group_forget_event(struct reprise_group *group, CUevent event);

/* True if the member with this stream, if there is one, has a pending wait and its stream has
 * unfinished work. Any context may be current. The program does not capture on the stream: it would
 * have no pending wait then. */
bool reprise_group_is_busy(const struct reprise_lane *head, CUstream stream);

/* Issues the member's pending wait. Does nothing if there is no such member. Any context may be
 * current. */
void reprise_group_issue_wait(struct reprise_lane *head, unsigned int member);

/* Issues all pending waits. Any context may be current. */
void reprise_group_issue_waits(struct reprise_lane *head);

/* Calls came that Reprise did not see: no member is known to be behind another. Nothing is
 * deferred. */
void reprise_group_lose_order(struct reprise_lane *head);

/* True if the group has not paid for long. Called at eager ops. */
bool reprise_group_does_not_pay(struct reprise_lane *head);

/* The member with this stream; `count` if there is none. */
unsigned int reprise_group_member(const struct reprise_group *group, CUstream stream);

/* ---- merge and split: the caller holds no lock ---- */

/* Merges the lane of `side` into that of `head`, for the calling thread. False if they cannot
 * merge. Waits for the builder. */
bool reprise_group_merge(struct reprise_lane *head, struct reprise_lane *side);

/* Issues what the lane that has this one's ops defers, and its pending waits. Called before the
 * builder is paused for a merge or split: the driver may keep the thread that issues. */
void reprise_group_flush(struct reprise_lane *lane);

/* Gives each member its own lane again. Does nothing if the lane is in no group. `failed`: the
 * group did not pay, or another thread called, so the next merge takes more forks. Waits for the
 * builder. */
void reprise_group_split(struct reprise_lane *lane, bool failed);
/* The same while building is paused, after reprise_group_flush(). */
void reprise_group_split_paused(struct reprise_lane *lane, bool failed);

/* No lanes merge any more: events are shared with other processes, whose records are not seen. */
void reprise_group_never(void);

/* The context (NULL: any) may be about to end: destroys the branch-end events kept for later
 * groups. An event that a graph may still record stays until its context ends. The thread's capture
 * mode is relaxed. */
void reprise_group_destroy_spares(CUcontext context);

/* After fork, in the child. */
void reprise_group_reset(void);

/* ---- fork detection (detect.c): which streams fork and join again and again. One stream records
 * an event, another waits for it, and the first waits for an event of the other. This decides what
 * may pay, never what is right. ---- */

/* The call, an event record or wait, was made eagerly on the lane's stream. Merges lanes that have
 * forked and joined often enough. No lock is held. */
void reprise_fork_detect_note(struct reprise_lane *lane, const struct reprise_call *call);

/* After fork, in the child. */
void reprise_fork_detect_reset(void);

/* ---- events that other calls use (detect.c) ---- */

/*
 * A call may record events or wait for them. `lane`, if not NULL, was told of the call already. If
 * `event` is NULL, all groups issue what they hold and forget their records of events. Otherwise
 * only groups with a deferred record of `event` issue. `recorded`: the call records `event`, so
 * groups forget their record of it.
 */
void reprise_group_event_used(const struct reprise_lane *lane, CUevent event, bool recorded);
