/*
 * What of the runtime API program.c calls, made of the driver API: a stand-in for cudart, which
 * does not run on the simulated driver. Each function reaches the driver by another, as in cudart,
 * and in a static cudart that has such a name.
 *
 * RUNTIME is how the functions are declared; INNER, where it is given, is how those between are.
 */
#include <cuda.h>
#include <stddef.h>

#include "runtime.h"

#ifndef INNER
#define INNER static __attribute__((noinline))
#endif

#define DO(call) \
	do { \
		CUresult result = (call); \
		if (result != CUDA_SUCCESS) \
			return (int)result; \
	} while (0)

INNER int libcudart_static_0a(void)
{
	static CUcontext context;

	if (context != NULL)
		return 0;
	DO(cuInit(0));
	DO(cuDevicePrimaryCtxRetain(&context, 0));
	DO(cuCtxSetCurrent(context));
	return 0;
}

INNER int libcudart_static_1b(void **address, size_t bytes)
{
	DO(cuMemAlloc((CUdeviceptr *)address, bytes));
	return 0;
}

INNER int libcudart_static_2c(void *address)
{
	DO(cuMemFree((CUdeviceptr)address));
	return 0;
}

INNER int libcudart_static_3d(void *to, const void *from, size_t bytes, void *stream)
{
	DO(cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream));
	return 0;
}

INNER int libcudart_static_4e(void *to, const void *from, size_t bytes, void *stream)
{
	DO(libcudart_static_3d(to, from, bytes, stream));
	return 0;
}

INNER int libcudart_static_5f(void *stream)
{
	DO(cuStreamSynchronize(stream));
	return 0;
}

RUNTIME int cudaStreamCreate(void **stream)
{
	DO(libcudart_static_0a());
	DO(cuStreamCreate((CUstream *)stream, CU_STREAM_NON_BLOCKING));
	return 0;
}

RUNTIME int cudaMalloc(void **address, size_t bytes)
{
	DO(libcudart_static_0a());
	DO(libcudart_static_1b(address, bytes));
	return 0;
}

RUNTIME int cudaFree(void *address)
{
	DO(libcudart_static_2c(address));
	return 0;
}

RUNTIME int cudaMemsetAsync(void *address, int value, size_t bytes, void *stream)
{
	DO(cuMemsetD8Async((CUdeviceptr)address, (unsigned char)value, bytes, stream));
	return 0;
}

RUNTIME int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	DO(libcudart_static_4e(to, from, bytes, stream));
	return 0;
}

RUNTIME int cudaStreamSynchronize(void *stream)
{
	DO(libcudart_static_5f(stream));
	return 0;
}
