/* Waiting for graphs: by a condition, since how soon they are built is a matter of how busy the
 * machine is. */
#pragma once

#include <stdatomic.h>
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

/* Until no graph is to be built any more, or none was built for so long: the wait was in vain then,
 * and would be again, each time, so that it is the last. Without Reprise there is nothing to wait
 * for. */
static inline void await_graphs(uint64_t patience_ns)
{
	static _Atomic bool in_vain;
	struct timespec pause = {.tv_nsec = 100000}; /* the processor is for the building thread */
	uint64_t since = await_now_ns(), built = 0;
	struct reprise_counts counts;

	while (!in_vain && reprise_read_counts(&counts, sizeof(counts)) > 0 &&
	       counts.graphs_waiting > 0) {
		if (counts.graphs_built != built)
			since = await_now_ns();
		built = counts.graphs_built;
		in_vain = await_now_ns() - since >= patience_ns;
		nanosleep(&pause, NULL);
	}
}
