/* The doors of what ends or changes (LIFETIME): everything deferred is issued, and the traces that
 * refer to it are forgotten. */
#pragma once

#include <cuda.h>

/* Issues what the lanes hold, and forgets all their traces. Their graphs are put away. */
void reprise_lanes_forget_all(void);

/* The stream, or if it is NULL the context, is destroyed, with the captures that began there
 * (captures.c). */
void reprise_captures_destroyed(CUstream stream, CUcontext context);
