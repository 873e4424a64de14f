/*
 * Ops, and those replayed, over time: a bounded number of intervals, which become twice as long
 * whenever they do not reach any more.
 *
 * Lanes tell what they did once in a few hundred ops, so an interval may have some that came a
 * little earlier. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_SERIES_MOST 64

struct reprise_series {
	uint64_t began_ns, interval_ns;
	uint64_t ops[REPRISE_SERIES_MOST], replayed[REPRISE_SERIES_MOST];
	unsigned int count; /* intervals up to the last that has any */
};

/* Time begins now. */
void reprise_series_begin(void);

/* So many ops came, and so many were replayed. False if it was not noted: another thread is at it,
 * or time has not begun. */
bool reprise_series_note(uint64_t ops, uint64_t replayed);

/* What there is; false as above. */
bool reprise_series_read(struct reprise_series *series);
