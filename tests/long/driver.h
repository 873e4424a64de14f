/*
 * A driver that does nothing but keep, for each stream of the program's, a hash of the ops that it
 * was given, in order: by the program's own calls, by Reprise's, and as nodes of graphs. It counts
 * what is alive. Calls take the time that tests/virtual/costs.h says, on the virtual clock.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#define DRIVER_FUNCTION 4096 /* handles of functions are multiples of it */
#define DRIVER_ORDINARY 100  /* functions whose parameters are alike */

/* The work of one call. */
struct work {
	uintptr_t what; /* a function's handle, or the number of bytes that are set */
	uint32_t value;
};

/* What is alive, Reprise's and the program's, and all ops that were executed. */
extern struct driver {
	uint64_t streams, events, graphs, executables, nodes, ops;
	uint64_t bytes; /* that all this takes */
} driver;

void driver_install(void);

/* All hashes of streams go on like this. */
static inline uint64_t driver_hash(uint64_t hash, const struct work *work)
{
	return (hash ^ work->what) * UINT64_C(0x9e3779b97f4a7c15) + work->value;
}

/* The program's own calls. */
CUcontext driver_context(uintptr_t number);
void driver_enter(CUcontext context);
CUstream driver_make_stream(bool blocking);
CUresult driver_end_stream(CUstream stream);
CUevent driver_make_event(void);
CUresult driver_end_event(CUevent event);
CUresult driver_takes(CUstream stream, const struct work *work); /* NULL: a record or a wait */

/* The hash of what the stream was given. The thread's own stream is a new one after driver_anew().
 */
uint64_t driver_hash_of(CUstream stream);
void driver_anew(CUstream stream);
