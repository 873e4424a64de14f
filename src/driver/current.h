/* Calls of ours on a thread of the program's: in a context that need not be its, made current for
 * as long as they take, and beside its captures. */
#pragma once

#include <cuda.h>
#include <stdbool.h>

/* Makes the context current if it is not; true if reprise_driver_restore_current() has something to
 * undo. */
bool reprise_driver_make_current(CUcontext context);
void reprise_driver_restore_current(bool pushed);

/* cuStreamQuery, in relaxed mode: no capture of the program's is to end for what is asked. */
CUresult reprise_driver_query(CUstream stream);

/* Whether the device's primary context is active (cuDevicePrimaryCtxGetState); true, too, if the
 * driver does not say. */
bool reprise_driver_primary_is_there(CUdevice device);
