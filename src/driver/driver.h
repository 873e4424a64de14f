/*
 * The real driver: typed pointers to the functions that Reprise calls, past its own doors.
 *
 * `reprise_driver` is written by reprise_driver_load() and read without a lock afterwards. A test
 * or a benchmark may fill it with functions of its own instead.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

#include "driver/functions.h"

/* Declared by cuda.h only under the name that its macro gives to the newest version. */
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies,
                                   size_t *dependency_count);

struct reprise_driver {
#define X(name) __typeof__(name) *name;
	REPRISE_DRIVER_FUNCTIONS(X, X)
#undef X
};

extern struct reprise_driver reprise_driver;

/*
 * Finds libcuda.so.1, loading it if the program has not, and fills the table. False if there is no
 * driver or if it lacks a needed function; the table is not to be used then. May be called by
 * several threads at once and again: it takes no lock of its own, so that a thread inside the
 * loader's lock (in a constructor) cannot wait for one outside.
 */
bool reprise_driver_load(void);

/* Whether that has been done. */
bool reprise_driver_loaded(void);

/* True if the process has libcuda.so.1 loaded already; loads nothing. */
bool reprise_driver_present(void);

/* The driver's handle, for reprise_real_dlsym(); NULL until one of the two above has found it. */
void *reprise_driver_handle(void);
