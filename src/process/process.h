/* Steps that happen once in a process: the start, the preparation for the first op, the end; and
 * the reset in a forked child. */
#pragma once

#include "base/options.h"

/* Decides whether Reprise is active; every door calls it first. The first call reads the options (a
 * few hundred microseconds); later ones cost a load and a branch. Returns the mode. Thread-safe.
 * Must not be called from a constructor (invariant 10). */
enum reprise_mode reprise_start(void);

/* Before the first op: registers the exit handler and starts all threads of Reprise's. Not earlier,
 * so that the handler runs before the driver's own. A load and a branch after the first time. */
void reprise_process_prepare(void);
