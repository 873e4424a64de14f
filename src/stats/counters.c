#include "stats/counters.h"

#include "base/placement.h"

_Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];
bool reprise_reporting REPRISE_HOT_DATA;
_Atomic uint64_t reprise_ops_without_lane;

void reprise_counters_reset(void)
{
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		atomic_store(&reprise_counters[i], 0);
	atomic_store(&reprise_ops_without_lane, 0);
}
