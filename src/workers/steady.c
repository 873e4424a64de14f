#include "workers/steady.h"

#include "base/tuning.h"

void reprise_steady_note(struct reprise_steady *steady, uint64_t now, uint64_t due_ns, bool held)
{
	uint64_t passed = now - steady->looked_ns;

	steady->looked_ns = now;
	if (!held || steady->seldom)
		return;
	steady->quiet_ns += passed < due_ns ? passed : due_ns;
	if (steady->quiet_ns < REPRISE_TUNE_HOLD_STEADY_NS)
		return;
	steady->seldom = true;
	steady->from_ns = now;
}

void reprise_steady_end(struct reprise_steady *steady, uint64_t now)
{
	steady->looked_ns = now;
	steady->quiet_ns = 0;
	if (steady->seldom)
		steady->until_ns = now;
	steady->seldom = false;
}

unsigned int reprise_steady_times(const struct reprise_steady *steady)
{
	return steady->seldom ? REPRISE_TUNE_HOLD_SELDOM : 1;
}

uint64_t reprise_steady_due(const struct reprise_steady *steady, uint64_t since, uint64_t due_ns)
{
	bool seldom = steady->seldom && since >= steady->from_ns;

	return seldom ? due_ns * REPRISE_TUNE_HOLD_SELDOM : due_ns;
}

uint64_t reprise_steady_limit(const struct reprise_steady *steady, uint64_t since,
                              uint64_t limit_ns)
{
	bool seldom = since >= steady->from_ns && (steady->seldom || since < steady->until_ns);

	return seldom ? limit_ns * REPRISE_TUNE_HOLD_SELDOM : limit_ns;
}
