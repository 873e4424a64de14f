/* What the queries cost that frameworks make by the thousand: ns a call, the median of 31 times
 * 100,000 calls. By what this costs it is decided whether they are worth answering from memory
 * (docs/decisions/0060-queries-are-the-drivers.md).
 *
 *     cc -O2 -I CUDA/include tests/research/asking.c -o asking -L CUDA/lib64 -lcudart -lcuda
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 31, CALLS = 100000 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define MEASURE(call) \
	do { \
		double took[TIMES]; \
		for (int i = 0; i < TIMES; i++) { \
			double start = now_ns(); \
			for (int j = 0; j < CALLS; j++) { \
				if (call) { \
					fprintf(stderr, "asking: %s failed\n", #call); \
					return 1; \
				} \
			} \
			took[i] = (now_ns() - start) / CALLS; \
		} \
		qsort(took, TIMES, sizeof *took, ascending); \
		printf("| %s | %.1f (%.1f to %.1f) |\n", #call, took[TIMES / 2], took[0], \
		       took[TIMES - 1]); \
	} while (0)

int main(void)
{
	int device, active, value;
	unsigned flags;
	CUcontext context;
	CUstream stream;
	enum cudaStreamCaptureStatus status;
	CUstreamCaptureStatus driver_status;

	if (cudaFree(NULL) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
		return 1;
	printf("| call | ns, the median, least and greatest of %d |\n|---|---|\n", TIMES);
	MEASURE(cuCtxGetDevice(&device));
	MEASURE(cuCtxGetCurrent(&context));
	MEASURE(cuDevicePrimaryCtxGetState(0, &flags, &active));
	MEASURE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	MEASURE(cuStreamIsCapturing(stream, &driver_status));
	MEASURE(cudaGetDevice(&device));
	MEASURE(cudaGetLastError());
	MEASURE(cudaPeekAtLastError());
	MEASURE(cudaSetDevice(0));
	MEASURE(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
	MEASURE(cudaStreamIsCapturing((cudaStream_t)stream, &status));
	return 0;
}
