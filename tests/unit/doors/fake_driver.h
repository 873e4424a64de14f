/*
 * A libcuda.so.1 that does nothing but remember: each of its functions writes down who was called
 * with what, and answers what the test told it to. It exports every name of the table of entry
 * points, and some that no table knows.
 */
#pragma once

#include <stdint.h>

#define FAKE_INTEGERS 12
#define FAKE_FLOATS 8

/* A function of the fake driver, seen as one that takes every argument register and some of the
 * stack. */
typedef unsigned int fake_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                   uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                   double, double, double, double, double, double, double, double);

struct fake_log {
	unsigned int calls;
	const char *name; /* of the last one called */
	uint64_t integers[FAKE_INTEGERS];
	double floats[FAKE_FLOATS];
	unsigned int result;  /* what to answer */
	void (*called)(void); /* if it is there, calls it */
	int capturing;        /* what cuStreamIsCapturing says of every stream, unlogged */
};

extern struct fake_log fake_log;

/* The names that no table knows. */
#define FAKE_UNKNOWN(X) \
	X(cuFutureThing) \
	X(cuCtxSynchronize_v9) \
	X(cuEventDestroy_v9) \
	X(cuFuncSetAttribute_v9) \
	X(cuGetProcAddress_v9) \
	X(cuGraphLaunch_v9) \
	X(cuLaunchHostFunc_v9) \
	X(cuMemFreeAsync_v9) \
	X(cuModuleUnload_v9) \
	X(cuOccupancyMaxPotentialBlockSize_v9) \
	X(cuStreamBeginCapture_v9) \
	X(cuStreamWaitValue32_v9) \
	X(cuFuncSetSomething) \
	X(cuIpcGetEventHandle_v9) \
	X(cuIpcOpenEventHandle_v9) \
	X(cuKernelSetAttribute_v9) \
	X(cuModuleUnload_9) \
	X(cuModuleUnload_v12) \
	X(cuModuleUnload_v9_ptds) \
	X(cuModuleUnload_v9_ptsz) \
	X(cuModuleUnload_w9) \
	X(cuModuleUnloadav9) \
	X(cuModuleUnloadv9) \
	X(cuModuleUnloa_v9) \
	X(cuStreamEndCapture_v9)

#define FAKE_FUNCTION(name) fake_function name;
FAKE_UNKNOWN(FAKE_FUNCTION)
