/*
 * How long a loop is looked for that turns can measure (lane/anchor.h). Meanwhile the process
 * replays and learns, and what that costs is not measured. So it ends: after
 * REPRISE_TUNE_SEARCH_FIRST_NS all is eager for as long, and looked for again; each pause is twice
 * as long as the one before, and each further search half as long as the first.
 *
 * No threads, locks or clocks: the caller has all of them.
 */
#pragma once

#include <stdint.h>

struct reprise_search {
	uint64_t spent_ns;   /* in this search */
	uint64_t all_ns;     /* in all of them, pauses left out */
	uint64_t at_ns;      /* when it was noted last; 0: not in this search */
	unsigned int pauses; /* since the last verdict */
};

/* There is no loop yet, and ops come. Returns how long all is to be eager from now on; 0: it is
 * looked for further. A time without ops counts as REPRISE_TUNE_SEARCH_GAP_NS at most. */
uint64_t reprise_search_goes_on(struct reprise_search *search, uint64_t now_ns);

/* A loop is found, and measured; or the program has paused. */
void reprise_search_ends(struct reprise_search *search);

/* There is a verdict: a later search is the first again. */
void reprise_search_succeeds(struct reprise_search *search);
