/* Calls of ours in a context that need not be the calling thread's: made current for as long as they take. */
#pragma once

#include <cuda.h>
#include <stdbool.h>

/* Makes the context current if it is not; true if reprise_driver_restore_current() has something to undo. */
bool reprise_driver_make_current(CUcontext context);
void reprise_driver_restore_current(bool pushed);
