/* Which lanes have to issue what they hold before something else is done: what an op comes after,
 * and what a synchronising call may observe. */
#pragma once

#include "lane/calls.h"
#include "lane/lane.h"

/*
 * Issues what the other lanes hold that must come before an op of `lane`: those of blocking streams
 * before the legacy stream's ops, and the other way round. `is_copy`: before a copy on the legacy
 * stream also those of other contexts, whose devices it may reach. Takes the locks of other lanes,
 * so none may be held.
 */
void reprise_lanes_make_way(const struct reprise_lane *lane, bool is_copy);

/* The same before something on a stream that has no lane in the current context; it may be a copy.
 */
void reprise_lanes_make_way_for(CUstream stream, bool per_thread);

/* Issues what this thread holds, and pays what its joint lanes' streams owe. */
void reprise_lanes_issue_own(void);

/*
 * The same, and what other threads hold: the hold limit's thread issues that, since the driver may
 * keep who does. A lane that it keeps is waited for for a tenth of a second at most.
 */
void reprise_lanes_issue_all(void);

/*
 * As reprise_lanes_issue_own(), and what comes before something on the stream that nobody looks at.
 * What other threads hold elsewhere is left alone: the driver may keep who issues it, and plainly
 * this call has nothing to do with that.
 */
void reprise_lanes_eager_call(CUstream stream, bool per_thread);

/*
 * A call on the stream that is no op: its lane, as reprise_lanes_known() knows it, issues what it
 * holds, and so do others that it comes after. `may_work`: it may be more than a point in the
 * stream's order, and is taken to be on its way until reprise_lanes_returned().
 */
void reprise_lanes_order(struct reprise_lane *lane, CUstream stream, bool per_thread,
                         bool may_work);

/*
 * A call that `lane` was told of, or if NULL none, may record events or wait for them. What joint
 * lanes hold is issued, but for that of a lane that knows nothing of `event`, if that is not NULL:
 * it is the only one then, and `recorded`, or waited for.
 */
void reprise_lanes_meet_events(const struct reprise_lane *lane, CUevent event, bool recorded);

/* Barrier on every lane that needs one; whatever streams of joint lanes owe is paid. */
void reprise_lanes_barrier(bool wait);

/*
 * Issues what the call may observe, and what this thread holds. Parameters as those of
 * reprise_sync(). True if it asks about a stream for which another thread's ops are deferred: they
 * are left to the hold limit's thread, since the driver may keep who issues them for as long as it
 * likes.
 */
bool reprise_lanes_sync(enum reprise_sync what, uintptr_t handle, bool per_thread);

/* What the program is to be told by such a call of ops that were answered with success. While any
 * is kept (errors.h). */
CUresult reprise_lanes_error(enum reprise_sync what, uintptr_t handle, bool per_thread);
