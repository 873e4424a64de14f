#include "lane/absent.h"

#include "base/tuning.h"
#include "graph/cost.h"

/*
 * Decides whether to replay the trace without `count` ops from op `first` on, rather than leave it,
 * and accounts for the cost.
 *
 * Their nodes are disabled for this visit and enabled for the next: rent, paid at every visit. A
 * trace for what came instead has a price: a few side exits and a build. The rent is paid until it
 * adds up to the price. Then the trace is left, to see whether what comes instead comes often. The
 * cost is at most twice the best possible.
 */
static bool pay_to_skip(const struct reprise_lane *lane, struct reprise_trace *trace,
                        unsigned int first, unsigned int count)
{
	unsigned int absent = trace->absent_count + count;
	uint64_t rent = reprise_cost(REPRISE_COST_toggle, 2 * absent),
			 eager = reprise_cost(REPRISE_COST_eager, trace->count - absent);
	uint64_t price = REPRISE_TUNE_ABSENT_LEARNT_BY * eager +
	                 reprise_cost(REPRISE_COST_build, trace->count),
			 visits = price / (rent + 1);

	if (!reprise_graph_may_disable(&trace->graph) ||
	    rent + reprise_cost(REPRISE_COST_launch, 1) >= eager)
		return false;
	if (visits > UINT16_MAX - REPRISE_TUNE_ABSENT_LEARNT_BY)
		visits = UINT16_MAX - REPRISE_TUNE_ABSENT_LEARNT_BY;
	if (lane->coming) /* what came instead has a trace, not usable yet */
		return true;
	if (++trace->absences[first] <= visits)
		return true;
	if (trace->absences[first] >= visits + REPRISE_TUNE_ABSENT_LEARNT_BY)
		trace->absences[first] = 0;
	return false;
}

/* True if all edges to and from ops `first` to `last` - 1 are full ones. A node behind a
 * programmatic edge waits only for its direct predecessor. If that is disabled, the nodes before it
 * are no longer waited for. In a trace that forks, any later op may be the successor. */
static bool edges_are_full(const struct reprise_trace *trace, unsigned int first, unsigned int last)
{
	unsigned int end = trace->event_count == 0 ? last : trace->count - 1;

	for (unsigned int i = first; i <= end; i++)
		if (reprise_op_is_programmatic(&trace->ops[i]))
			return false;
	return true;
}

static bool can_be_disabled(const struct reprise_trace *trace, unsigned int first,
                            unsigned int last)
{
	for (unsigned int i = first; i < last; i++)
		if (!reprise_op_can_be_disabled(&trace->ops[i]))
			return false;
	return true;
}

bool reprise_lane_skip(struct reprise_lane *lane, const struct reprise_call *call)
{
	struct reprise_trace *trace = lane->trace;
	unsigned int at = lane->cursor;

	for (unsigned int i = at + 1; i < trace->count && i <= at + REPRISE_TUNE_ABSENT_MOST; i++) {
		enum reprise_match match = reprise_op_match(&trace->ops[i], call);

		if (match != REPRISE_MATCH_SAME && (match == REPRISE_MATCH_NOT || !trace->any_value[i]))
			continue;
		if (!edges_are_full(trace, at, i) || !can_be_disabled(trace, at, i) ||
		    !pay_to_skip(lane, trace, at, i - at))
			return false;
		reprise_trace_skip(trace, at, i - at);
		lane->cursor = i;
		if (match != REPRISE_MATCH_SAME)
			reprise_trace_change(trace, i, call);
		return true;
	}
	return false;
}
