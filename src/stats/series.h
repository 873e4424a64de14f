/*
 * Ops and replayed ops over time, those of eager turns included. A bounded number of intervals,
 * which double in length when the last one is over.
 *
 * Lanes report once in a few hundred ops, so an interval may include ops that came a little
 * earlier; and up to 100 ms earlier what no lane has seen. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_SERIES_MOST 64

struct reprise_series {
	uint64_t began_ns, interval_ns;
	uint64_t ops[REPRISE_SERIES_MOST], replayed[REPRISE_SERIES_MOST];
	unsigned int count; /* up to the last interval with ops */
};

/* Starts the time. */
void reprise_series_begin(void);

/* Adds ops, and ops that were replayed. False if nothing was added: another thread holds the lock,
 * or time has not started. */
bool reprise_series_note(uint64_t ops, uint64_t replayed);

/* Reads the series. False if another thread holds the lock. */
bool reprise_series_read(struct reprise_series *series);
