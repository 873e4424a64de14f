/* Reprise's driver calls on the program's threads: in a context that may not be the current one,
 * and without effect on the program's captures. */
#pragma once

#include <cuda.h>
#include <stdbool.h>

/* Makes the context current if it is not. True if reprise_driver_restore_current() has to undo
 * that. */
bool reprise_driver_make_current(CUcontext context);
void reprise_driver_restore_current(bool pushed);

/* cuStreamQuery in relaxed capture mode, so that no capture of the program's is invalidated. */
CUresult reprise_driver_query(CUstream stream);

/* True if the device's primary context is active (cuDevicePrimaryCtxGetState), or if the driver
 * does not say. */
bool reprise_driver_primary_is_there(CUdevice device);
