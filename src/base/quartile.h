/*
 * The lower quartile of readings, without a sort: the second least of each eight, and a mean of
 * these in which the newest weighs a quarter. What happens now and then, such as an interrupt or a
 * wait for room in a stream, is not in it; what happens always is.
 *
 * Any thread, no lock: one of two simultaneous readings may be lost, which does no harm.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/tuning.h"

#define REPRISE_QUARTILE_READINGS 8 /* the second least of so many is their lower quartile */

struct reprise_quartile {
	_Atomic uint64_t value;         /* at least 1; 0: nothing was read */
	_Atomic uint64_t least, second; /* of the readings that are under way */
	_Atomic uint64_t readings;
};

static inline uint64_t reprise_quartile(const struct reprise_quartile *quartile)
{
	return atomic_load_explicit(&quartile->value, memory_order_relaxed);
}

static inline uint64_t reprise_quartile_readings(const struct reprise_quartile *quartile)
{
	return atomic_load_explicit(&quartile->readings, memory_order_relaxed);
}

/* True if it is of eight readings at least. */
static inline bool reprise_quartile_is_known(const struct reprise_quartile *quartile)
{
	return reprise_quartile_readings(quartile) >= REPRISE_QUARTILE_READINGS;
}

/* The value after eight readings whose second least is `second`. It falls at once, since the first
 * calls load what they need; it rises slowly, since a full stream makes all calls wait. */
static inline uint64_t reprise_quartile_after(uint64_t value, uint64_t second)
{
	if (second < value / 2)
		return second;
	if (second > REPRISE_TUNE_QUARTILE_MOST * value)
		second = REPRISE_TUNE_QUARTILE_MOST * value;
	/* Rounded up: the least value could not rise again. */
	return (value * (REPRISE_TUNE_QUARTILE_WEIGHT - 1) + second + REPRISE_TUNE_QUARTILE_WEIGHT -
	        1) /
	       REPRISE_TUNE_QUARTILE_WEIGHT;
}

static inline void reprise_quartile_note(struct reprise_quartile *quartile, uint64_t reading)
{
	uint64_t before = reprise_quartile_readings(quartile),
			 least = atomic_load_explicit(&quartile->least, memory_order_relaxed),
			 second = atomic_load_explicit(&quartile->second, memory_order_relaxed),
			 value = reprise_quartile(quartile);

	if (before % REPRISE_QUARTILE_READINGS == 0)
		least = second = UINT64_MAX;
	if (reading < least) {
		second = least;
		least = reading;
	} else if (reading < second) {
		second = reading;
	}
	if (before < REPRISE_QUARTILE_READINGS)
		value = second < UINT64_MAX ? second : least;
	else if ((before + 1) % REPRISE_QUARTILE_READINGS == 0)
		value = reprise_quartile_after(value, second);
	atomic_store_explicit(&quartile->least, least, memory_order_relaxed);
	atomic_store_explicit(&quartile->second, second, memory_order_relaxed);
	atomic_store_explicit(&quartile->value, value > 0 ? value : 1, memory_order_relaxed);
	atomic_store_explicit(&quartile->readings, before + 1, memory_order_relaxed);
}

static inline void reprise_quartile_forget(struct reprise_quartile *quartile)
{
	atomic_store_explicit(&quartile->value, 0, memory_order_relaxed);
	atomic_store_explicit(&quartile->readings, 0, memory_order_relaxed);
}
