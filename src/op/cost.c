#include "op/cost.h"

#include "base/quartile.h"
#include "op/memory.h"

static struct reprise_quartile costs[REPRISE_OP_KIND_COUNT][REPRISE_WAY_COUNT];
static struct reprise_quartile in_turns[REPRISE_OP_KIND_COUNT]; /* no copies */

enum reprise_way reprise_op_way(const struct reprise_op *op)
{
	enum reprise_memory target = reprise_memory_kind(op->target_memory),
						source = reprise_memory_kind(op->source_memory);

	if (!reprise_op_is_copy(op->kind))
		return REPRISE_WAY_NONE;
	if (target == REPRISE_MEMORY_DEVICE)
		return source == REPRISE_MEMORY_DEVICE   ? REPRISE_WAY_WITHIN
		       : source == REPRISE_MEMORY_PINNED ? REPRISE_WAY_TO_DEVICE
		                                         : REPRISE_WAY_PAGEABLE_TO_DEVICE;
	return source == REPRISE_MEMORY_DEVICE && target == REPRISE_MEMORY_PINNED
	           ? REPRISE_WAY_FROM_DEVICE
	           : REPRISE_WAY_PAGEABLE_FROM_DEVICE;
}

void reprise_op_cost_note(enum reprise_op_kind kind, enum reprise_way way, uint64_t ticks)
{
	if (reprise_op_is_copy(kind) == (way != REPRISE_WAY_NONE))
		reprise_quartile_note(&costs[kind][way], ticks);
}

void reprise_op_cost_note_in_turn(enum reprise_op_kind kind, uint64_t ticks)
{
	if (!reprise_op_is_copy(kind))
		reprise_quartile_note(&in_turns[kind], ticks);
}

uint64_t reprise_op_cost(enum reprise_op_kind kind, enum reprise_way way)
{
	return reprise_quartile(&costs[kind][way]);
}

uint64_t reprise_op_cost_alone(enum reprise_op_kind kind, enum reprise_way way)
{
	return reprise_quartile_is_known(&in_turns[kind]) ? reprise_quartile(&in_turns[kind])
	                                                  : reprise_op_cost(kind, way);
}

uint64_t reprise_op_cost_of_kind(enum reprise_op_kind kind)
{
	uint64_t sum = 0, readings = 0;

	if (reprise_quartile_is_known(&in_turns[kind]))
		return reprise_quartile(&in_turns[kind]);
	for (int way = 0; way < REPRISE_WAY_COUNT; way++) {
		const struct reprise_quartile *cost = &costs[kind][way];

		sum += reprise_quartile(cost) * reprise_quartile_readings(cost);
		readings += reprise_quartile_readings(cost);
	}
	return readings > 0 ? sum / readings : 0;
}

bool reprise_op_cost_is_known(const struct reprise_op *op)
{
	return reprise_quartile_is_known(&costs[op->kind][reprise_op_way(op)]);
}
