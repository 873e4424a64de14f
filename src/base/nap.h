/* A pause between two polls. It yields at first and sleeps later, so that a thread of lower
 * priority gets the processor. */
#pragma once

#include <sched.h>
#include <time.h>

#define REPRISE_NAP_YIELDS 64 /* polls before the first sleep; a guess */
#define REPRISE_NAP_NS 20000  /* length of a sleep; a guess */

/* Changes errno. `looks`: the number of polls so far. */
static inline void reprise_nap(unsigned int looks)
{
	struct timespec pause = {.tv_nsec = REPRISE_NAP_NS};

	if (looks < REPRISE_NAP_YIELDS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}
