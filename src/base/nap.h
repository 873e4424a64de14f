/* A pause between two looks of a thread that nobody wakes: first the processor is offered to others, later given up, since what is waited for may have a lower priority. */
#pragma once

#include <sched.h>
#include <time.h>

#define REPRISE_NAP_YIELDS 64   /* looks before the first sleep; a guess */
#define REPRISE_NAP_NS 20000    /* of a sleep; a guess */

/* Changes errno. `looks`: how many there have been. */
static inline void reprise_nap(unsigned int looks)
{
	struct timespec pause = {.tv_nsec = REPRISE_NAP_NS};

	if (looks < REPRISE_NAP_YIELDS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}
