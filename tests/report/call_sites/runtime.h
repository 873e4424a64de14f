/* The functions of the runtime API that are called, so that there need be no header of it. RUNTIME:
 * what is said of each. */
#pragma once

#include <stddef.h>

#ifndef RUNTIME
#define RUNTIME
#endif

RUNTIME int cudaStreamCreate(void **stream);
RUNTIME int cudaMalloc(void **address, size_t bytes);
RUNTIME int cudaFree(void *address);
RUNTIME int cudaMemsetAsync(void *address, int value, size_t bytes, void *stream);
RUNTIME int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
RUNTIME int cudaStreamSynchronize(void *stream);
