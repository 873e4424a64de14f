#include "op/cost.h"

#include <stdatomic.h>

#include "base/tuning.h"

static _Atomic uint64_t costs[REPRISE_OP_KIND_COUNT];

void reprise_op_cost_note(enum reprise_op_kind kind, uint64_t ticks)
{
	uint64_t known = atomic_load_explicit(&costs[kind], memory_order_relaxed), now;

	if (known == 0 || ticks < known / 2) /* falls fast: a kernel's first calls load its code */
		now = (known + ticks) / (known == 0 ? 1 : 2);
	else
		now =
			(known * (REPRISE_TUNE_EAGER_WEIGHT - 1) +
		     (ticks < REPRISE_TUNE_EAGER_MOST * known ? ticks : REPRISE_TUNE_EAGER_MOST * known)) /
			REPRISE_TUNE_EAGER_WEIGHT;
	atomic_store_explicit(&costs[kind], now > 0 ? now : 1, memory_order_relaxed);
}

uint64_t reprise_op_cost(enum reprise_op_kind kind)
{
	return atomic_load_explicit(&costs[kind], memory_order_relaxed);
}
