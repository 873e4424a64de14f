#include "lane/alternate.h"

#include "base/tuning.h"
#include "lane/guard.h"
#include "lane/making.h"

/* Number of the visit's ops whose values differ in the alternate. */
static unsigned int differing(const struct reprise_trace *trace)
{
	const struct reprise_trace *alternate = trace->alternate;
	unsigned int count = 0;

	for (unsigned int i = 0; i < trace->count; i++)
		count += (trace->any_value[i] || alternate->any_value[i]) &&
		         !reprise_op_same_values(&alternate->ops[i], reprise_trace_op(trace, i));
	return count;
}

/* True if setting `fewer` fewer nodes saves more than comparing all ops costs. */
static bool is_worth_it(const struct reprise_trace *trace, unsigned int fewer)
{
	return fewer * REPRISE_TUNE_TURNS_COMPARED >= trace->count;
}

/* True if values have come by turns for long enough. */
static bool comes_by_turns(struct reprise_trace *trace)
{
	if (trace->returned * REPRISE_TUNE_TURNS_SHARE >= trace->changed_count &&
	    is_worth_it(trace, trace->returned))
		trace->turns += trace->returned;
	else if (trace->turns > 0)
		trace->turns--;
	return trace->turns >= REPRISE_TUNE_TURNS_MOST;
}

static bool alternate_needs_fewer(const struct reprise_lane *lane,
                                  const struct reprise_trace *trace)
{
	unsigned int others;

	if (!reprise_trace_usable(trace->alternate, lane->counts.ops) ||
	    trace->alternate->graph.disabled_count != 0)
		return false;
	others = differing(trace);
	return others < trace->changed_count && is_worth_it(trace, trace->changed_count - others);
}

void reprise_lane_take_turns(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	if (trace->absent_count != 0)
		return;
	if (trace->alternate != NULL) {
		if (alternate_needs_fewer(lane, trace))
			reprise_lane_change_over(lane, trace->alternate);
	} else if (comes_by_turns(trace)) {
		trace->turns = 0;
		reprise_lane_make_alternate(lane, trace);
	}
}
