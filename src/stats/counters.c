#include "stats/counters.h"

#include "base/gate.h"
#include "base/placement.h"

_Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];
bool reprise_reporting REPRISE_HOT_DATA;
_Atomic uint64_t reprise_ops_without_lane;

uint64_t reprise_counted(enum reprise_counter counter)
{
	switch (counter) {
	case REPRISE_COUNT_paused_ops:
		return reprise_gate_counted(REPRISE_GATE_PAUSED);
	case REPRISE_COUNT_unseen_ops:
		return reprise_gate_counted(REPRISE_GATE_UNSEEN);
	default:
		return atomic_load_explicit(&reprise_counters[counter], memory_order_relaxed);
	}
}

void reprise_counters_reset(void)
{
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		atomic_store(&reprise_counters[i], 0);
	atomic_store(&reprise_ops_without_lane, 0);
}
