#include "stats/waits.h"

#include "stats/usual.h"

static const struct reprise_waits_period none = {0};

void reprise_waits_begin(struct reprise_waits *waits)
{
	waits->count = 0;
}

void reprise_waits_note(struct reprise_waits *waits, uint64_t ops, uint64_t ns)
{
	if (waits->count == 0) {
		waits->first_ops = ops;
		waits->first_ns = ns;
	}
	if (reprise_waits_are_all(waits))
		return;
	waits->waits[waits->count].ops = ops - waits->first_ops;
	waits->waits[waits->count++].ns = ns - waits->first_ns;
}

void reprise_waits_leave_out(struct reprise_waits *waits, uint64_t ops, uint64_t ns)
{
	waits->first_ops += ops;
	waits->first_ns += ns;
}

bool reprise_waits_are_all(const struct reprise_waits *waits)
{
	return waits->count == REPRISE_WAITS_MOST;
}

/* What the period of so many waits had that ended so many waits before the last one. */
static struct reprise_wait period_before(const struct reprise_waits *waits, unsigned int in_period,
                                         unsigned int before)
{
	const struct reprise_wait *end = &waits->waits[waits->count - 1 - before],
							  *begin = end - in_period;

	return (struct reprise_wait){end->ops - begin->ops, end->ns - begin->ns};
}

static uint64_t ops_of(const struct reprise_waits *waits, unsigned int in_period,
                       unsigned int before)
{
	return period_before(waits, in_period, before).ops;
}

static bool are_alike(uint64_t ops, uint64_t others, uint64_t part)
{
	return ops + others / part >= others && ops <= others + others / part;
}

/* True if the last waits, `same` of them, came as those so many waits before them did. */
static bool came_as(const struct reprise_waits *waits, unsigned int before, unsigned int same)
{
	if (waits->count < 1 + same + before)
		return false;
	for (unsigned int i = 0; i < same; i++)
		if (!are_alike(ops_of(waits, 1, i), ops_of(waits, 1, i + before),
		               REPRISE_TUNE_ANCHOR_MARGIN))
			return false;
	return true;
}

/* True if waits come again in an order of so many: a whole period of them has,
 * REPRISE_TUNE_ANCHOR_ALIKE at least, and no order of `fewer` or less explains these: layers that
 * are alike have any order. */
static bool come_again(const struct reprise_waits *waits, unsigned int in_period,
                       unsigned int fewer)
{
	unsigned int same =
		in_period > REPRISE_TUNE_ANCHOR_ALIKE ? in_period : REPRISE_TUNE_ANCHOR_ALIKE;

	if (!came_as(waits, in_period, same))
		return false;
	for (unsigned int i = 1; i <= fewer; i++)
		if (came_as(waits, i, same))
			return false;
	return true;
}

static uint64_t mean_ops(const struct reprise_waits *waits, unsigned int in_period,
                         unsigned int periods)
{
	return ops_of(waits, periods * in_period, 0) / periods;
}

/* True if the last periods of so many waits have about as many ops as their mean. */
static bool are_about_as_long(const struct reprise_waits *waits, unsigned int in_period)
{
	const unsigned int periods = REPRISE_TUNE_ANCHOR_ALIKE + 1;
	uint64_t mean;

	if (waits->count < 1 + periods * in_period)
		return false;
	mean = mean_ops(waits, in_period, periods);
	for (unsigned int i = 0; i < periods; i++)
		if (!are_alike(ops_of(waits, in_period, i * in_period), mean,
		               in_period == 1 ? REPRISE_TUNE_ANCHOR_WAITED_MARGIN
		                              : REPRISE_TUNE_ANCHOR_WAITS_MARGIN))
			return false;
	return true;
}

static struct reprise_waits_period period_of(const struct reprise_waits *waits,
                                             unsigned int in_period, unsigned int periods)
{
	struct reprise_waits_period period = {.waits = in_period, .periods = periods};
	uint64_t ns[REPRISE_TUNE_ANCHOR_ALIKE + 1];

	period.ops = period.least_ops = mean_ops(waits, in_period, periods);
	for (unsigned int i = 0; i < periods; i++) {
		struct reprise_wait had = period_before(waits, in_period, i * in_period);

		ns[i] = had.ns;
		if (had.ops < period.least_ops)
			period.least_ops = had.ops;
	}
	period.ns = reprise_periods_mean(ns, periods);
	return period;
}

static struct reprise_waits_period find_as_long(const struct reprise_waits *waits)
{
	for (unsigned int i = 1; i <= REPRISE_TUNE_ANCHOR_STRIDE_MOST; i++)
		if (are_about_as_long(waits, i))
			return period_of(waits, i, REPRISE_TUNE_ANCHOR_ALIKE + 1);
	return none;
}

static struct reprise_waits_period find_order(const struct reprise_waits *waits, unsigned int more)
{
	const unsigned int most = REPRISE_TUNE_ANCHOR_ALIKE + 1;

	for (unsigned int i = more + 1; i <= REPRISE_TUNE_ANCHOR_ORDER_MOST; i++)
		if (come_again(waits, i, more)) {
			unsigned int periods = (waits->count - 1) / i;

			return period_of(waits, i, periods < most ? periods : most);
		}
	return none;
}

/* Shorter periods are measured sooner, so an order, which may be long, comes last. */
struct reprise_waits_period reprise_waits_find(const struct reprise_waits *waits, unsigned int more)
{
	struct reprise_waits_period period = more == 0 ? find_as_long(waits) : none;

	if (period.waits == 0 && (more != 0 || reprise_waits_are_all(waits)))
		period = find_order(waits, more);
	return period;
}
