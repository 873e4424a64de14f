#include "stats/usual.h"

#include "base/tuning.h"

static void sort(uint64_t *values, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++) {
		uint64_t value = values[i];
		unsigned int at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

uint64_t reprise_periods_mean(uint64_t *periods, unsigned int count)
{
	uint64_t sum = 0, most;

	sort(periods, count);
	most = REPRISE_TUNE_TURN_OUTLIER * periods[(count - 1) / 2];
	for (unsigned int i = 0; i < count; i++)
		sum += periods[i] < most ? periods[i] : most;
	return sum / count;
}

uint64_t reprise_periods_median(uint64_t *periods, unsigned int count)
{
	sort(periods, count);
	return periods[count / 2];
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* `value` with `other` in it, which weighs as one of `weight`. */
static uint64_t mixed(uint64_t value, uint64_t other, unsigned int weight)
{
	return value - value / weight + other / weight;
}

bool reprise_usual_has_changed(struct reprise_usual *usual, uint64_t took)
{
	uint64_t off = apart(took, usual->mean_ns),
			 most = REPRISE_TUNE_TURNS_SPREADS * usual->spread_ns;

	if (most < usual->mean_ns / REPRISE_TUNE_TURNS_CHANGED)
		most = usual->mean_ns / REPRISE_TUNE_TURNS_CHANGED;
	if (usual->windows >= REPRISE_TUNE_TURNS_KNOWN && off > most)
		return ++usual->unusual >= REPRISE_TUNE_TURNS_UNUSUAL;
	usual->unusual = 0;
	if (usual->windows < 2 * REPRISE_TUNE_TURNS_KNOWN)
		usual->windows++;
	if (usual->windows > 1)
		usual->spread_ns = mixed(usual->spread_ns, off, usual->windows - 1);
	usual->mean_ns = mixed(usual->mean_ns, took, usual->windows);
	return false;
}
