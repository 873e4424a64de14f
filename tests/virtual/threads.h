/*
 * The threads of Reprise where the clock is virtual: they do not exist. What they do is done in the
 * program's thread, when it says so, until there is nothing more to do or their time is over. To
 * sleep moves the clock.
 */
#pragma once

#include <stdint.h>

#include "base/worker.h"

/* They count as there, so that Reprise leaves them their work. */
void threads_are_there(void);

/* The worker runs for `ns` of the virtual clock at most. It looks for work at least once. */
void thread_runs(struct reprise_worker *worker, uint64_t ns);
