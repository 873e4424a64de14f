/* Waiting for graphs: by a condition, since how soon they are built is a matter of how busy the
 * machine is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "../../include/reprise/reprise.h"

static inline uint64_t await_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Until no graph is to be built any more. False if none was built for so long. Without Reprise
 * there is nothing to wait for. */
static inline bool await_graphs(uint64_t patience_ns)
{
	struct timespec pause = {.tv_nsec = 100000}; /* the processor is for the building thread */
	uint64_t since = await_now_ns(), built = 0;
	struct reprise_counts counts;

	while (reprise_read_counts(&counts, sizeof(counts)) > 0 && counts.graphs_waiting > 0) {
		if (counts.graphs_built != built)
			since = await_now_ns();
		built = counts.graphs_built;
		if (await_now_ns() - since >= patience_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}
