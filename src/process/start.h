/*
 * Starting: the one place that decides whether Reprise is there at all. Called by every door before
 * anything else.
 */
#pragma once

#include <stdbool.h>

enum reprise_mode {
	REPRISE_MODE_OFF,
	REPRISE_MODE_OBSERVE,
	REPRISE_MODE_ON,
	REPRISE_MODE_VERIFY,
};

/*
 * Reads the options, loads the driver's table; the first call does the work (a few hundred
 * microseconds), later ones cost a load and a branch. Returns the mode. Thread-safe. Must not be
 * called from a constructor (invariant 10).
 */
enum reprise_mode reprise_start(void);

/* After fork, in the child: another thread may have been starting. */
void reprise_start_reset(void);
