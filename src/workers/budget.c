#include "workers/budget.h"

#include "base/tuning.h"

void reprise_budget_begin(struct reprise_budget *budget, uint64_t now)
{
	*budget =
		(struct reprise_budget){.begin = now, .seen = now, .credit = REPRISE_TUNE_BUDGET_BURST_NS};
}

static uint64_t share_at(const struct reprise_budget *budget, uint64_t now, bool gains)
{
	if (now - budget->begin < REPRISE_TUNE_BUDGET_FIRST_NS)
		return REPRISE_TUNE_BUDGET_FIRST_SHARE;
	return gains ? REPRISE_TUNE_BUDGET_SHARE : REPRISE_TUNE_BUDGET_UNMEASURED_SHARE;
}

uint64_t reprise_budget_rest(struct reprise_budget *budget, uint64_t now, bool gains)
{
	uint64_t share = share_at(budget, now, gains), credited = (now - budget->seen) / share;

	budget->credit += (int64_t)credited;
	budget->seen += credited * share;
	if (budget->credit > (int64_t)REPRISE_TUNE_BUDGET_BURST_NS)
		budget->credit = REPRISE_TUNE_BUDGET_BURST_NS;
	return budget->credit > 0 ? 0 : (uint64_t)(1 - budget->credit) * share;
}

void reprise_budget_spend(struct reprise_budget *budget, uint64_t nanoseconds)
{
	if (nanoseconds > REPRISE_TUNE_BUDGET_DEBT_NS)
		nanoseconds = REPRISE_TUNE_BUDGET_DEBT_NS;
	budget->credit -= (int64_t)nanoseconds;
}
