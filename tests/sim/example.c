/*
 * A driver-API program for a GPU or the simulation:  sim-example MODULE  with example_kernels.so,
 * or a cubin of example_kernels.cu. Two streams take turns by events; prints a checksum.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 256, ROUNDS = 50 };

#define CU(call) \
	do { \
		CUresult result = (call); \
		if (result != CUDA_SUCCESS) { \
			fprintf(stderr, "%s: error %d\n", #call, (int)result); \
			exit(1); \
		} \
	} while (0)

int main(int argc, char **argv)
{
	CUstream first, second;
	CUdeviceptr a, b;
	CUcontext context;
	CUmodule module;
	CUfunction step, combine;
	CUevent turn;
	unsigned count = COUNT, multiply = 1664525, round, host[COUNT], sum = 0, i;

	if (argc != 2)
		return 2;
	CU(cuInit(0));
	CU(cuDevicePrimaryCtxRetain(&context, 0));
	CU(cuCtxSetCurrent(context));
	CU(cuModuleLoad(&module, argv[1]));
	CU(cuModuleGetFunction(&step, module, "step"));
	CU(cuModuleGetFunction(&combine, module, "combine"));
	CU(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
	CU(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	CU(cuEventCreate(&turn, CU_EVENT_DISABLE_TIMING));
	CU(cuMemAlloc(&a, sizeof(host)));
	CU(cuMemAlloc(&b, sizeof(host)));
	CU(cuMemsetD32Async(a, 1, COUNT, first));
	CU(cuMemsetD32Async(b, 2, COUNT, first));
	for (round = 0; round < ROUNDS; round++) {
		void *step_params[] = {&a, &count, &multiply, &round}, *combine_params[] = {&b, &a, &count};

		CU(cuLaunchKernel(step, COUNT / 64, 1, 1, 64, 1, 1, 0, first, step_params, NULL));
		CU(cuEventRecord(turn, first));
		CU(cuStreamWaitEvent(second, turn, 0));
		CU(cuLaunchKernel(combine, COUNT / 64, 1, 1, 64, 1, 1, 0, second, combine_params, NULL));
		CU(cuEventRecord(turn, second));
		CU(cuStreamWaitEvent(first, turn, 0));
	}
	CU(cuMemcpyDtoHAsync(host, b, sizeof(host), second));
	CU(cuCtxSynchronize());
	for (i = 0; i < COUNT; i++)
		sum = sum * 69069 + host[i];
	printf("%08x\n", sum);
	return 0;
}
