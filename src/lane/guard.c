#include "lane/guard.h"

#include "base/tuning.h"
#include "lane/enter.h"

/* Goes on with a sibling and copies this visit's values to it. */
static void change_over(struct reprise_lane *lane, struct reprise_trace *sibling)
{
	struct reprise_trace *trace = lane->trace;

	for (unsigned int i = 0; i < lane->cursor; i++)
		reprise_trace_copy_values(sibling, i, reprise_trace_op(trace, i));
	reprise_trace_end_visit(trace, false);
	lane->trace = sibling;
}

/* A value miss ends the visit rather than patching the graph: the values may come again in a cycle,
 * or belong to another site that looks alike so far. Watched a few times, they get a trace of their
 * own, and no visit needs a patch. */
bool reprise_lane_go_on(struct reprise_lane *lane, const struct reprise_call *call,
                        enum reprise_match match, enum reprise_exit *why)
{
	struct reprise_trace *trace = lane->trace;

	lane->coming = false;
	if (match == REPRISE_MATCH_NOT || !trace->any_value[lane->cursor]) {
		struct reprise_trace *coming,
			*sibling = reprise_index_sibling(lane->index, trace, lane->cursor, call,
		                                     match != REPRISE_MATCH_NOT, lane->counts.ops, &coming);

		if (sibling == NULL && coming != NULL && reprise_trace_return(coming))
			sibling = coming;
		lane->coming = coming != NULL;
		if (sibling != NULL && reprise_lane_may_enter(lane, sibling)) {
			change_over(lane, sibling);
			reprise_lane_count(&lane->counts.siblings, 1);
			trace = sibling;
			match = reprise_op_match(&trace->ops[lane->cursor], call);
		}
	}
	*why = match == REPRISE_MATCH_NOT ? REPRISE_EXIT_guard : REPRISE_EXIT_values;
	if (match == REPRISE_MATCH_NOT ||
	    (match == REPRISE_MATCH_VALUES && !trace->any_value[lane->cursor]))
		return false;
	if (match != REPRISE_MATCH_SAME)
		reprise_trace_change(trace, lane->cursor, call);
	return true;
}

void reprise_lane_note_value_miss(struct reprise_lane *lane, struct reprise_trace *trace,
                                  unsigned int at, const struct reprise_op *op)
{
	if (lane->coming)
		return;
	trace->value_misses +=
		reprise_watch_knows(lane->watch, op->value) ? 1 : REPRISE_TUNE_VALUE_MISS_NEW;
	if (trace->value_misses < REPRISE_TUNE_VALUE_MISSES_MOST)
		return;
	reprise_index_set_any_value(lane->index, trace, at);
	trace->value_misses = 0;
}
