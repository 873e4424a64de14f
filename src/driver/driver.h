/*
 * The real driver: typed pointers to the functions that Reprise calls, past its own doors.
 *
 * reprise_driver_load() writes `reprise_driver`; it is read without a lock afterwards. A test or a
 * benchmark may fill it with its own functions.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

#include "driver/functions.h"

/* cuda.h declares it only under the name that its macro gives to the newest version. */
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
 * Finds libcuda.so.1, loads it if the program has not, and fills the table. False if there is no
 * driver, or if it lacks a needed function: then the table must not be used. Any thread, any number
 * of times. Takes no lock, so that a thread inside the loader's lock (in a constructor) cannot wait
 * for one outside.
 */
bool reprise_driver_load(void);

/* The first needed function that the driver lacks, after reprise_driver_load() has found a driver
 * and failed; NULL if it lacks none. */
const char *reprise_driver_lacks(void);

/* True if reprise_driver_load() has succeeded. */
bool reprise_driver_loaded(void);

/* True if the process has loaded libcuda.so.1. Loads nothing. */
bool reprise_driver_present(void);

/* The driver's handle, for reprise_real_dlsym(). NULL until reprise_driver_load() or
 * reprise_driver_present() has found it. */
void *reprise_driver_handle(void);

/* ---- on the program's threads: in a context that may not be the current one, and without effect
 * on the program's captures ---- */

/* The current context, NULL if there is none. False, and nothing written, if the driver does not
 * say. */
bool reprise_driver_current(CUcontext *context);

/* Makes the context current if it is not. True if reprise_driver_restore_current() has to undo
 * that. What a thread of the program's must not be left with, or ops need, is asked of the driver a
 * second time where it refuses: here, and below. */
bool reprise_driver_make_current(CUcontext context);
void reprise_driver_restore_current(bool pushed);

/* Relaxed capture mode for this thread's calls from now on, so that they do not invalidate a
 * capture of the program's. Returns the mode that the thread had, for reprise_driver_end_relaxed().
 */
CUstreamCaptureMode reprise_driver_begin_relaxed(void);
void reprise_driver_end_relaxed(CUstreamCaptureMode mode);

/* cuStreamQuery in relaxed capture mode, so that no capture of the program's is invalidated. */
CUresult reprise_driver_query(CUstream stream);

/* cuStreamSynchronize likewise. */
CUresult reprise_driver_synchronize(CUstream stream);

/* True if the device's primary context is active (cuDevicePrimaryCtxGetState), or if the driver
 * does not say. */
bool reprise_driver_primary_is_there(CUdevice device);

/* The device's primary context, NULL if it is not active, or if the driver does not say. Retaining
 * an active one makes none. */
CUcontext reprise_driver_primary(CUdevice device);
