#include "stats/pairs.h"

#include <string.h>

#include "base/tuning.h"

int32_t reprise_log2(uint64_t value)
{
	unsigned int whole = 63 - (unsigned int)__builtin_clzll(value);
	uint64_t part = value << (63 - whole) >> 32; /* from 2^31 up to 2^32 */
	int32_t log2 = (int32_t)whole;

	for (unsigned int bit = 0; bit < REPRISE_LOG2_BITS; bit++) {
		part = part * part >> 31;
		log2 <<= 1;
		if (part >> 32 != 0) {
			part >>= 1;
			log2 |= 1;
		}
	}
	return log2;
}

uint32_t reprise_thousandths(int32_t log2)
{
	uint64_t low = 0, high = UINT64_C(1) << 40; /* in 2^-20 of a thousandth */
	int64_t wanted = (int64_t)log2 + reprise_log2(1000) + (REPRISE_LOG2_BITS << REPRISE_LOG2_BITS);

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (reprise_log2(middle) <= wanted)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)((low + (1u << (REPRISE_LOG2_BITS - 1))) >> REPRISE_LOG2_BITS);
}

int32_t reprise_log2_of_thousandths(uint32_t thousandths)
{
	return reprise_log2(thousandths) - reprise_log2(1000);
}

void reprise_pairs_begin(struct reprise_pairs *pairs)
{
	pairs->count = 0;
	pairs->outside = -1;
	pairs->evidence = 0;
}

/* log2 of (2a + 1) / (2b). */
static int64_t odds(unsigned int a, unsigned int b)
{
	return reprise_log2(2 * a + 1) - reprise_log2(2 * b);
}

/*
 * The bets against a median with k of n pairs on one side are worth
 *
 *     2^n * product of (i + 1/2) for i < k * product of (j + 1/2) for j < n - k / n!
 *
 * One pair more on the other side multiplies that by 2 (n - k + 1/2) / (n + 1); moving the median
 * by a pair, by (k + 1/2) / (n - k - 1/2).
 */
static void weigh(struct reprise_pairs *pairs)
{
	int64_t needed = reprise_log2(REPRISE_TUNE_PAIRS_ODDS);
	unsigned int n = pairs->count, k = (unsigned int)(pairs->outside + 1);

	pairs->evidence += (1 << REPRISE_LOG2_BITS) + odds(n - 1 - k, n);
	while (pairs->evidence >= needed && 2 * (k + 1) < n) {
		pairs->outside++;
		pairs->evidence += reprise_log2(2 * k + 1) - reprise_log2(2 * (n - k) - 1);
		k++;
	}
}

static void add(struct reprise_pairs *pairs, int32_t ratio)
{
	unsigned int at = 0;

	if (pairs->count == REPRISE_PAIRS_MOST)
		return;
	while (at < pairs->count && pairs->ratios[at] <= ratio)
		at++;
	memmove(&pairs->ratios[at + 1], &pairs->ratios[at],
	        (pairs->count - at) * sizeof(*pairs->ratios));
	pairs->ratios[at] = ratio;
	pairs->count++;
	weigh(pairs);
}

void reprise_pairs_add(struct reprise_pairs *pairs, uint64_t over, uint64_t under)
{
	if (over != 0 && under != 0)
		add(pairs, reprise_log2(over) - reprise_log2(under));
}

void reprise_pairs_halve(struct reprise_pairs *pairs)
{
	struct reprise_pairs all = *pairs;
	/* Those left lie evenly about the median. */
	unsigned int first = all.count % 2 == 1 ? 1 : all.count / 2 % 2;

	reprise_pairs_begin(pairs);
	for (unsigned int i = first; i < all.count; i += 2)
		add(pairs, all.ratios[i]);
}

void reprise_pairs_join(struct reprise_pairs *pairs, const struct reprise_pairs *others)
{
	while (pairs->count + others->count > REPRISE_PAIRS_MOST)
		reprise_pairs_halve(pairs);
	for (unsigned int i = 0; i < others->count; i++)
		add(pairs, others->ratios[i]);
}

struct reprise_interval reprise_pairs_read(const struct reprise_pairs *pairs)
{
	unsigned int count = pairs->count;
	struct reprise_interval interval = {.bounded = pairs->outside >= 0};

	if (count == 0)
		return interval;
	interval.median =
		(int32_t)(((int64_t)pairs->ratios[(count - 1) / 2] + pairs->ratios[count / 2]) / 2);
	if (interval.bounded) {
		interval.low = pairs->ratios[pairs->outside];
		interval.high = pairs->ratios[count - 1 - (unsigned int)pairs->outside];
	}
	return interval;
}

bool reprise_pairs_are_rough(const struct reprise_pairs *pairs, int32_t error)
{
	unsigned int count = pairs->count, quarter = count / 4;
	int64_t apart, most = (int64_t)error * 108 / 100; /* of a single pair's quartiles */

	if (count == 0)
		return true;
	apart = (int64_t)pairs->ratios[count - 1 - quarter] - pairs->ratios[quarter];
	return apart * apart > count * most * most;
}

int reprise_pairs_surplus(const struct reprise_pairs *pairs)
{
	int surplus = 0;

	for (unsigned int i = 0; i < pairs->count; i++)
		surplus += (pairs->ratios[i] > 0) - (pairs->ratios[i] < 0);
	return surplus;
}
