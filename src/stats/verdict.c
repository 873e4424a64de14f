#include "stats/verdict.h"

#include "base/tuning.h"

/* More pairs would cost more than such a gain is worth. */
static bool is_unclear(const struct reprise_pairs *pairs, const struct reprise_interval *interval)
{
	return pairs->count >= REPRISE_TUNE_TURNS_UNCLEAR_MOST ||
	       (pairs->count >= REPRISE_TUNE_TURNS_UNCLEAR &&
	        interval->high < reprise_log2_of_thousandths(REPRISE_TUNE_TURNS_SMALL));
}

enum reprise_verdict reprise_verdict_of(const struct reprise_pairs *pairs)
{
	struct reprise_interval interval = reprise_pairs_read(pairs);

	if (!interval.bounded)
		return REPRISE_VERDICT_UNDECIDED;
	if (interval.low > 0)
		return REPRISE_VERDICT_REPLAY;
	if (interval.high < reprise_log2_of_thousandths(REPRISE_TUNE_TURNS_WORTH))
		return REPRISE_VERDICT_EAGER;
	return is_unclear(pairs, &interval) ? REPRISE_VERDICT_UNCLEAR : REPRISE_VERDICT_UNDECIDED;
}

bool reprise_verdict_is_costly(const struct reprise_pairs *processor)
{
	struct reprise_interval used = reprise_pairs_read(processor);

	return used.bounded && used.low > reprise_log2_of_thousandths(REPRISE_TUNE_TURNS_PROCESSOR);
}

bool reprise_verdict_seems_costly(const struct reprise_pairs *processor)
{
	return reprise_verdict_is_costly(processor) ||
	       (processor->count >= REPRISE_TUNE_TURNS_DIRECT &&
	        reprise_pairs_read(processor).median >
	            reprise_log2_of_thousandths(REPRISE_TUNE_TURNS_PROCESSOR));
}
