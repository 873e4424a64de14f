#include "lane/watching.h"

#include "op/name.h"
#include "lane/traces.h"

/* True if a graph may end before this op: no earlier op runs beside it. */
static bool is_border(const struct reprise_lane *lane, const struct reprise_op *op)
{
	return lane->group == NULL || reprise_group_is_border(lane->group, op->member);
}

void reprise_lane_keep(struct reprise_lane *lane, const struct reprise_op *op, uint64_t gap_ticks)
{
	bool border = is_border(lane, op);

	lane->position = (struct reprise_position){op->shape, op->value, lane->position.since_wait + 1};
	lane->last = NULL;
	if (op->kind == REPRISE_OP_KERNEL) {
		reprise_name_seen(op->kernel.name);
		reprise_lane_learn_function(lane, op->kernel.function);
	} else if (reprise_op_names_elsewhere(op)) {
		atomic_store(&lane->names_elsewhere, true);
	}
	reprise_watch_keep(lane->watch, gap_ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)gap_ticks,
	                   border, reprise_lane_make_traces, lane);
}

void reprise_lane_watch_issued(struct reprise_lane *lane, const struct reprise_op *op,
                               uint64_t gap_ticks)
{
	struct reprise_op *slot;

	reprise_lane_open_segment(lane);
	slot = reprise_watch_slot(lane->watch, op);
	if (slot == NULL)
		return;
	reprise_op_copy(slot, op);
	reprise_lane_keep(lane, slot, gap_ticks);
}
