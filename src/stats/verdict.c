#include "stats/verdict.h"

#include "base/tuning.h"

static int32_t log2_of(uint32_t thousandths)
{
	return reprise_log2(thousandths) - reprise_log2(1000);
}

enum reprise_verdict reprise_verdict_of(const struct reprise_pairs *pairs)
{
	struct reprise_interval interval = reprise_pairs_read(pairs);

	if (!interval.bounded)
		return REPRISE_VERDICT_UNDECIDED;
	if (interval.low > 0)
		return REPRISE_VERDICT_REPLAY;
	return interval.high < log2_of(REPRISE_TUNE_TURNS_WORTH) ? REPRISE_VERDICT_EAGER
	                                                         : REPRISE_VERDICT_UNDECIDED;
}

bool reprise_verdict_is_costly(const struct reprise_interval *used)
{
	return used->bounded && used->low > log2_of(REPRISE_TUNE_TURNS_PROCESSOR);
}
