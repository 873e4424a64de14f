#include "lane/enter.h"

#include "base/gate.h"
#include "graph/shadow.h"
#include "stats/counters.h"
#include "lane/backlog.h"
#include "lane/group/group.h"
#include "lane/verify.h"
#include "lane/watching.h"

bool reprise_lane_may_enter(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	if (lane->group == NULL || reprise_group_covers(lane->group, trace))
		return true;
	reprise_count(REPRISE_COUNT_group_uncovered, 1);
	return false;
}

/* No visit begins while what came instead of a trace is watched in one piece; while a call waits
 * for all work, which may include the deferred ops; or while the launch could find no room. */
static bool may_begin(struct reprise_lane *lane)
{
	return lane->counts.ops >= lane->only_watch_until &&
	       __builtin_expect(atomic_load(&reprise_gate_waiting) == 0, 1) &&
	       reprise_backlog_is_small(lane);
}

/* Begins a visit if the call fits. `match`: how it matches the trace's first op. */
static bool begin(struct reprise_lane *lane, struct reprise_trace *trace,
                  const struct reprise_call *call, enum reprise_match match)
{
	if (match == REPRISE_MATCH_NOT || !reprise_lane_may_enter(lane, trace))
		return false;
	if (lane->last != NULL)
		reprise_index_follow(lane->last, trace);
	lane->trace = trace; /* before the segment is closed, which must not evict it */
	lane->cursor = 0;
	lane->paused = false;
	if (__builtin_expect(reprise_verifying, 0))
		reprise_verify_begin(lane);
	reprise_lane_close_segment(lane, false);
	if (match != REPRISE_MATCH_SAME)
		reprise_trace_change(trace, 0, call);
	return true;
}

/* How the call matches the first op of the expected trace; REPRISE_MATCH_NOT if that trace cannot
 * be followed. */
static enum reprise_match match_expected(const struct reprise_lane *lane,
                                         const struct reprise_call *call)
{
	const struct reprise_trace *trace = lane->expected;

	return reprise_trace_usable(trace, lane->counts.ops) ? reprise_op_match(&trace->ops[0], call)
	                                                     : REPRISE_MATCH_NOT;
}

bool reprise_lane_enter_expected(struct reprise_lane *lane, const struct reprise_call *call)
{
	return may_begin(lane) && match_expected(lane, call) == REPRISE_MATCH_SAME &&
	       begin(lane, lane->expected, call, REPRISE_MATCH_SAME);
}

static struct reprise_trace *choose(struct reprise_lane *lane, const struct reprise_op *op,
                                    const struct reprise_call *call)
{
	struct reprise_trace *trace =
		reprise_index_find_value(lane->index, &lane->position, op, lane->counts.ops);

	if (trace == NULL && lane->expected != NULL && lane->expected->any_value[0] &&
	    match_expected(lane, call) != REPRISE_MATCH_NOT)
		trace = lane->expected;
	if (trace == NULL)
		trace = reprise_index_find_shape(lane->index, &lane->position, op, lane->counts.ops);
	return trace;
}

bool reprise_lane_enter_any(struct reprise_lane *lane, const struct reprise_op *op,
                            const struct reprise_call *call)
{
	struct reprise_trace *trace = may_begin(lane) ? choose(lane, op, call) : NULL;

	return trace != NULL && begin(lane, trace, call, reprise_op_match(&trace->ops[0], call));
}
