/*
 * How long a loop is looked for that turns can measure (lane/anchor.h). Meanwhile the process
 * replays and learns, and what that costs for each op is not measured. So it ends: after
 * REPRISE_TUNE_SEARCH_OPS ops, and REPRISE_TUNE_SEARCH_LEAST_NS at least, all is eager for as long
 * as these took, and looked for again. Each pause is twice as long as the one before, and each
 * further search has half as many ops.
 *
 * No threads, locks or clocks: the caller has all of them.
 */
#pragma once

#include <stdint.h>

struct reprise_search {
	uint64_t ops, ns;  /* of this search */
	uint64_t all_ns;   /* of all searches, pauses left out */
	uint64_t at_ns;    /* when it was told last; 0: not since it began, or was interrupted */
	uint64_t pause_ns; /* the next one; 0: there was none since the last verdict */
};

/* There is no loop yet, and `ops` more ops have come. Returns how long all is to be eager from now
 * on; 0: it is looked for further. A time without ops counts as REPRISE_TUNE_SEARCH_GAP_NS at most.
 */
uint64_t reprise_search_goes_on(struct reprise_search *search, unsigned int ops, uint64_t now_ns);

/* A loop is found, and measured; or the program has paused. The time until it goes on is no
 * search's. */
void reprise_search_interrupt(struct reprise_search *search);

/* There is a verdict: a later search is the first again. */
void reprise_search_succeeds(struct reprise_search *search);
