#include "stats/search.h"

#include "base/tuning.h"

static uint64_t most(const struct reprise_search *search)
{
	return search->pauses == 0 ? REPRISE_TUNE_SEARCH_FIRST_NS : REPRISE_TUNE_SEARCH_FIRST_NS / 2;
}

uint64_t reprise_search_goes_on(struct reprise_search *search, uint64_t now_ns)
{
	uint64_t since = search->at_ns != 0 && now_ns > search->at_ns ? now_ns - search->at_ns : 0;
	uint64_t pause;

	if (since > REPRISE_TUNE_SEARCH_GAP_NS)
		since = REPRISE_TUNE_SEARCH_GAP_NS;
	search->at_ns = now_ns;
	search->spent_ns += since;
	search->all_ns += since;
	if (search->spent_ns < most(search))
		return 0;
	pause = (uint64_t)REPRISE_TUNE_SEARCH_FIRST_NS << search->pauses;
	search->spent_ns = search->at_ns = 0;
	if (search->pauses < REPRISE_TUNE_SEARCH_DOUBLED)
		search->pauses++;
	return pause;
}

void reprise_search_ends(struct reprise_search *search)
{
	search->at_ns = 0;
}

void reprise_search_succeeds(struct reprise_search *search)
{
	search->spent_ns = 0;
	search->pauses = 0;
}
