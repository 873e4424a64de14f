/*
 * What is done once in a process: Reprise starts, is prepared for its first op, and ends; and what
 * a forked child begins with.
 */
#pragma once

#include "base/options.h"

/*
 * Decides whether Reprise is there at all; by every door before anything else. Reads the options,
 * loads the driver's table; the first call does the work (a few hundred microseconds), later ones
 * cost a load and a branch. Returns the mode. Thread-safe. Must not be called from a constructor
 * (invariant 10).
 */
enum reprise_mode reprise_start(void);

/*
 * Before the first op: the handler for exit, and all threads of ours. Registered then and not
 * earlier, so that it runs before the driver's own exit handlers. A load and a branch after the
 * first time.
 */
void reprise_process_prepare(void);
