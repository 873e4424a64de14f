/*
 * Whether the launch thread gains, measured by turns while a loop is replayed: in some it launches,
 * in the others the program's own thread does (docs/design/async-launch.md). Both replay, so that
 * little is lost.
 *
 * Two turns, one of each way, in random order, make a pair. In the first quarter of a turn nothing
 * is compared: the pace of the program is measured anew there (lane/async_launch.c). Pairs go on
 * until their interval says whether the thread gains as much as is worth anything,
 * REPRISE_TUNE_TURNS_WORTH, for REPRISE_TUNE_CHOICE_MOST pairs at most.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats/pairs.h"
#include "stats/used.h"

struct reprise_choice {
	bool direct;               /* the program's thread launches, in the turn under way */
	bool second;               /* it is the second of its pair */
	unsigned int wanted, skip; /* periods of it that are compared; and before them, still */
	unsigned int count;        /* compared so far */
	uint64_t sum_ns;           /* of these */
	struct reprise_used used;
	uint64_t first_ns, first_used;  /* of the pair's first turn: a period, and a thousand ops */
	struct reprise_pairs time;      /* without the thread over with it */
	struct reprise_pairs processor; /* with the thread over without it */
};

/* `period_ns`: about as long as a period is. The first turn begins. */
void reprise_choice_begin(struct reprise_choice *choice, uint64_t period_ns, uint64_t random);

/* A period of the present way has ended. `random`: any, for the order of the next pair. True if
 * it is decided: reprise_choice_is_direct(). */
bool reprise_choice_note(struct reprise_choice *choice, uint64_t period_ns, uint64_t random);

/* The turn under way does not count: it begins anew. */
void reprise_choice_interrupt(struct reprise_choice *choice);

/* True if the processor time of the process, and the loop's ops, are to be told before the next
 * note. */
bool reprise_choice_asks_processor(const struct reprise_choice *choice);
void reprise_choice_note_processor(struct reprise_choice *choice, uint64_t ns, uint64_t ops);

/* True if the thread gains too little; or if it takes processor time, and the process takes more
 * than it may: `costly`. */
bool reprise_choice_is_direct(const struct reprise_choice *choice, bool costly);
