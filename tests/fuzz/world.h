/* What the actions share: streams, buffers, functions, digests. */
#pragma once

#include <cuda.h>
#include <stdint.h>
#include <string.h>

#include "actions.h"

struct fuzz_world {
	CUdevice device;
	CUcontext context, other_context;
	const char *module_path;
	CUmodule module, other_module;
	CUstream stream[STREAMS], other_stream;
	CUfunction mix, turn, stir, shared_mix, spin, signal, other_mix;
	CUlibrary library;
	CUkernel kernel; /* mix again, as a handle without a context */
	CUdeviceptr buffer[STREAMS][BUFFERS], other_buffer[2], managed[STREAMS], flag;
	unsigned *pinned[STREAMS], *landing[STREAMS];
	volatile unsigned *mapped;
	CUdeviceptr mapped_device;
	CUevent event[EVENTS], handing[2], timing[2], edge[STREAMS];
	bool recorded[EVENTS];
	CUgraph graph[STREAMS];
	CUgraphExec exec[STREAMS];
	unsigned signals; /* the last value that the flag is to have */
	unsigned ticks;   /* the same of the mapped word */
};

extern struct fuzz_world world;

/* Mixes into the digest of results. */
CUresult fuzz_result(CUresult result);
#define CALL(call) fuzz_result(call)

/* Mixes into the digest of what the host saw. */
void fuzz_see(uint64_t value);
void fuzz_see_words(const unsigned *words, unsigned count);

/* Appends to the log of a stream's host functions. Called by the driver. */
void CUDA_CB fuzz_log(void *entry);
void *fuzz_log_entry(int stream, unsigned value);

CUresult fuzz_load_module(void);
CUstream fuzz_new_stream(int stream);
void fuzz_wait_host(unsigned microseconds);
