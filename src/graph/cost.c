#include "graph/cost.h"

#include "base/quartile.h"
#include "base/tuning.h"

_Atomic uint64_t reprise_cost_estimates[REPRISE_COST_COUNT] = {
#define X(name, ns, text) (ns) * 1000u,
	REPRISE_COSTS(X)
#undef X
};

static _Atomic bool measured[REPRISE_COST_COUNT];

bool reprise_cost_is_measured(enum reprise_cost cost)
{
	return atomic_load_explicit(&measured[cost], memory_order_relaxed);
}

/* A launch may wait for room in its stream, which is no cost of the launch. */
static struct reprise_quartile launches;

void reprise_cost_took(enum reprise_cost cost, uint64_t ns, uint64_t count)
{
	uint64_t estimate = atomic_load_explicit(&reprise_cost_estimates[cost], memory_order_relaxed),
			 took;

	if (count == 0)
		return;
	took = ns * 1000 / count;
	atomic_store_explicit(&measured[cost], true, memory_order_relaxed);
	if (cost == REPRISE_COST_launch) {
		reprise_quartile_note(&launches, took);
		atomic_store_explicit(&reprise_cost_estimates[cost], reprise_quartile(&launches),
		                      memory_order_relaxed);
		return;
	}
	if (took > estimate * REPRISE_TUNE_COST_MOST)
		took = estimate * REPRISE_TUNE_COST_MOST;
	/* Never 0: the estimate could not rise again. */
	atomic_store_explicit(&reprise_cost_estimates[cost],
	                      (estimate * (REPRISE_TUNE_COST_WEIGHT - 1) + took) /
	                              REPRISE_TUNE_COST_WEIGHT +
	                          1,
	                      memory_order_relaxed);
}
