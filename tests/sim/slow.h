/* Entry points that take longer, as SIM_SLOW says: computing, while other threads' calls go on. */
#pragma once

#include <stdint.h>

struct sim_slow {
	uint64_t nanoseconds; /* 0: not slow */
	unsigned long calls;  /* so many of the first */
};

/* What is said of an entry point. */
struct sim_slow sim_slow_find(const char *name);

void sim_slow_down(const struct sim_slow *slow, unsigned long call);
