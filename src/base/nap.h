/* A pause between two polls. It yields at first and sleeps later, so that a thread of lower
 * priority gets the processor. */
#pragma once

#include <sched.h>
#include <time.h>

#include "base/tuning.h"

/* Changes errno. `looks`: the number of polls so far. */
static inline void reprise_nap(unsigned int looks)
{
	struct timespec pause = {.tv_nsec = REPRISE_TUNE_NAP_NS};

	if (looks < REPRISE_TUNE_NAP_YIELDS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}
