/*
 * Hazards on the simulated driver: programs that make a sequence hot and then spring a trap, at irregular iterations. They
 * print what they end with; compare.py runs them plain and under Reprise. The arithmetic is order-sensitive, so a lost, doubled,
 * reordered or stale op shows.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "../programs/driver.h"

#define WORDS 16u
#define ITERATIONS 1200u
#define CHAIN 24u

struct hazard {
	const char *name;
	void (*run)(void);
};

extern const struct hazard memory_hazards[], order_hazards[], lifetime_hazards[], capture_hazards[], manners_hazards[],
	process_hazards[]; /* each ends with a NULL name */

/* Set up before a hazard runs; one block of WORDS threads works on `x` and reads `y`. */
extern CUcontext hazard_context;
extern CUdevice hazard_device;
extern CUmodule hazard_module;
extern CUfunction hazard_mix, hazard_turn, hazard_fold;
extern CUdeviceptr hazard_x, hazard_y;
extern const char *hazard_module_path;

/* True at irregular iterations, about one in thirty-seven, once the loop is hot. */
bool hazard_springs(unsigned iteration);

void hazard_launch(CUfunction function, CUdeviceptr x, unsigned argument, CUstream stream);

/* CHAIN launches on x: mix and turn by turns, arguments by place. */
void hazard_chain(CUdeviceptr x, CUstream stream);

/* Prints what x holds, as one number. Waits for everything. */
void hazard_print(const char *what, CUdeviceptr x);

/* What mix and turn make of a word, on the host. */
uint32_t hazard_mixed(uint32_t x, uint32_t y, uint32_t argument);

CUstream hazard_stream(unsigned flags);
