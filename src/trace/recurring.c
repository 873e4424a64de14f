#include "trace/recurring.h"

#include "base/tuning.h"

bool reprise_recurring_is_due(struct reprise_recurring *recurring)
{
	if (recurring->misses < REPRISE_TUNE_RECURRING_MISSES)
		return true;
	if (++recurring->skipped < REPRISE_TUNE_RECURRING_SKIPPED)
		return false;
	recurring->skipped = 0;
	return true;
}

bool reprise_recurring_note(struct reprise_recurring *recurring, uint64_t values, uint64_t set_ns,
                            uint64_t price_ns)
{
	for (unsigned int i = 0; i < REPRISE_RECURRING_VALUES; i++) {
		if (recurring->seen[i].values != values)
			continue;
		recurring->misses = 0;
		recurring->seen[i].spent_ns += set_ns;
		if (recurring->seen[i].spent_ns < price_ns)
			return false;
		recurring->seen[i].spent_ns = 0;
		return true;
	}
	recurring->misses += recurring->misses < REPRISE_TUNE_RECURRING_MISSES;
	recurring->seen[recurring->oldest].values = values;
	recurring->seen[recurring->oldest].spent_ns = 0;
	recurring->oldest = (recurring->oldest + 1) % REPRISE_RECURRING_VALUES;
	return false;
}
