/*
 * A joint lane: several streams of one context whose forks and joins, by events, come again and
 * again. Their ops stand in one sequence, in the order of the program's calls, each issued on its
 * own stream; records of events and waits for them are ops there, and a trace may go through all of
 * them.
 *
 * One of the lanes, the head, has the sequence, the traces and the lock for all; `joined` of each
 * member's lane leads there, the head's own too. The calls of one thread make a joint lane: when
 * another's come, or it does not pay, or a member ends, it is parted, and each stream has its own
 * lane again.
 *
 * What keeps invariant 3:
 *
 *   - A graph with a blocking stream's ops goes into a blocking stream, where the legacy default
 * stream finds them. That others in it are not makes no difference: all of the graph comes behind
 * the origin's first op, and the origin's last op behind all of it.
 *   - A trace that forks is closed (trace/fork.h), and is entered only while its origin's stream is
 * behind those of all members in it. That is known from clocks: each op is a tick of its member's,
 * records and waits carry them on. What is not seen happening counts as not ordered.
 *   - A graph goes into one stream, and the others do not know of it: what comes next on theirs has
 * to wait for the end of its own branch there, and for nothing else. The graph records an event at
 * that end (forks.tails), and the stream owes a wait for it, paid before anything else reaches the
 * stream. If that is another graph launched into a stream behind it, there is nothing to pay.
 *
 * Functions are under the head's lock unless they say otherwise.
 */
#pragma once

#include "lane/lane.h"

#define REPRISE_GROUP_ROWS \
	16 /* events that are known to have been recorded: so many rows of so many */
#define REPRISE_GROUP_ROW 4
#define REPRISE_GROUP_PATIENCE 64

struct reprise_group_clock {
	uint64_t ticks[REPRISE_MEMBERS_MOST];
};

struct reprise_group {
	uint32_t thread; /* whose calls it was made for */
	unsigned int count;
	uint8_t blocking; /* a bit for each member that is ordered against the legacy default stream */
	uint8_t pending_waits; /* a bit for each member whose stream owes a wait */
	uint8_t recent; /* and for each that had ops since the segment began that is being watched */
	struct reprise_lane *members[REPRISE_MEMBERS_MOST]; /* the first is the head */
	CUstream streams[REPRISE_MEMBERS_MOST];
	struct reprise_group_clock clocks[REPRISE_MEMBERS_MOST];
	struct reprise_group_event {
		CUevent event;
		struct reprise_group_clock clock;
	} events[REPRISE_GROUP_ROWS]
			[REPRISE_GROUP_ROW]; /* the last records here, by their handles' hash */
	struct reprise_forks forks;
	unsigned int patience; /* so many pieces of forks are not taken yet, since the whole may turn
	                          out to be fast enough */
	uint64_t judged_at, forked; /* the lane's count of ops when it was last asked whether it pays,
	                               and those replayed since by graphs that fork */
};

/* How many lanes are joint, and how many of them owe a wait. */
extern _Atomic uint32_t reprise_groups, reprise_groups_waiting;

/* Calls that may be in the driver and give streams work, nobody knows which: while there are any,
 * no member is known to be behind another. */
extern _Atomic uint32_t reprise_group_unknown_calls;

/* ---- the order among members ---- */

/* The op, deferred until now or not, is about to be issued on its member's stream: what is owed
 * there is paid. */
void reprise_group_issues(struct reprise_lane *head, enum reprise_op_kind kind, unsigned int member,
                          CUevent event);

/* Whether the trace's graph may be launched into its origin's stream. */
bool reprise_group_covers(const struct reprise_group *group, const struct reprise_trace *trace);

/* Whether the member's stream is behind those of all that had ops lately: there is nothing that a
 * graph would cut in two which ends here. */
bool reprise_group_is_border(const struct reprise_group *group, unsigned int member);

/* The trace's graph is about to be launched: into this stream; and was. */
CUstream reprise_group_origin(struct reprise_lane *head, const struct reprise_trace *trace);
void reprise_group_launched(struct reprise_lane *head, const struct reprise_trace *trace);

/* A call on the member's stream that is no op: it may record events, wait for some, or take any
 * time. */
void reprise_group_note_call(struct reprise_lane *head, unsigned int member);

/* Events may have been recorded by others, but nothing was issued on its streams. */
void reprise_group_forget_events(struct reprise_group *group);
void reprise_group_forget_event(struct reprise_group *group, CUevent event);

/*
 * Whether the member with that stream, if there is one, owes something, and has not finished what
 * its own stream has. Any context may be current, and the program does not capture on that stream,
 * since it would owe nothing then.
 */
bool reprise_group_is_busy(const struct reprise_lane *head, CUstream stream);

/* What the member owes is paid; nothing if there is no such member. Any context may be current. */
void reprise_group_issue_wait(struct reprise_lane *head, unsigned int member);

/* Everything that is owed is paid. Any context may be current. */
void reprise_group_issue_waits(struct reprise_lane *head);

/* Calls came that nobody looked at: no member is known to be behind another. Nothing may be
 * deferred. */
void reprise_group_lose_order(struct reprise_lane *head);

/* Whether it has been of no use for long. Asked at eager ops. */
bool reprise_group_disappoints(struct reprise_lane *head);

/* The member that has this stream, or `count` if none has. */
unsigned int reprise_group_member(const struct reprise_group *group, CUstream stream);

/* ---- joining and parting: no lock is held ---- */

/* The lane of `side` joins that of `head`, for the calling thread. False if they cannot be joined.
 * Waits for the building thread. */
bool reprise_group_merge(struct reprise_lane *head, struct reprise_lane *side);

/*
 * What is deferred on the lane that has this one's ops is issued, and what its streams owe is paid.
 * Before the building thread is made to rest for joining or parting: the driver may keep who does
 * this.
 */
void reprise_group_settle(struct reprise_lane *lane);

/*
 * Each member has its own lane again. Nothing if the lane is none of a joint one. `failed`: it was
 * of no use, so that it takes more to be joined again. Waits for the building thread.
 */
void reprise_group_split(struct reprise_lane *lane, bool failed);
/* The same while the building thread rests. reprise_group_settle() came before. */
void reprise_group_split_paused(struct reprise_lane *lane, bool failed);

/* Events are shared with other processes from now on: nobody knows any more who records one. */
void reprise_group_never(void);

/*
 * The context, or if NULL any of them, may be about to end: the events that were kept for the next
 * joint lane there are destroyed. One that a graph may still record is left to its context. The
 * thread's capture mode is relaxed.
 */
void reprise_group_destroy_spares(CUcontext context);

/* After fork, in the child. */
void reprise_group_reset(void);
