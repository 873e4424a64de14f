#include "stats/search.h"

#include "base/tuning.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t take_pause(struct reprise_search *search)
{
	uint64_t pause = search->pause_ns != 0 ? search->pause_ns : search->ns;

	pause = least(pause, REPRISE_TUNE_SEARCH_LONGEST_NS);
	search->pause_ns = least(2 * pause, REPRISE_TUNE_SEARCH_LONGEST_NS);
	search->ops = search->ns = search->at_ns = 0;
	return pause;
}

uint64_t reprise_search_goes_on(struct reprise_search *search, unsigned int ops, uint64_t now_ns)
{
	uint64_t since = search->at_ns != 0 && now_ns > search->at_ns ? now_ns - search->at_ns : 0;
	unsigned int part; /* a later search is half as long */

	since = least(since, REPRISE_TUNE_SEARCH_GAP_NS);
	search->at_ns = now_ns;
	search->ns += since;
	search->all_ns += since;
	search->ops += ops;
	part = search->pause_ns == 0 ? 1 : 2;
	if (search->ops < REPRISE_TUNE_SEARCH_OPS / part ||
	    search->ns < REPRISE_TUNE_SEARCH_LEAST_NS / part)
		return 0;
	return take_pause(search);
}

void reprise_search_interrupt(struct reprise_search *search)
{
	search->at_ns = 0;
}

void reprise_search_succeeds(struct reprise_search *search)
{
	search->ops = search->ns = search->pause_ns = 0;
}
