/* Captures that end with their stream or context. The doors of captures are in entry.h. */
#pragma once

#include <cuda.h>

/* The stream is destroyed, or the context if `stream` is NULL, with the captures that
 * began there. */
void reprise_program_captures_destroyed(CUstream stream, CUcontext context);
