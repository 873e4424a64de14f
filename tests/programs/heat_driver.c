/*
 * heat-driver: the heat equation on a square, by the CUDA driver API.
 *
 *   heat-driver --module heat_kernels.cubin [--size N] [--steps N] [--every N] [--default-stream]
 *
 * The module is a cubin, or a module of the simulated driver. Same results as heat, to the last
 * bit.
 */
#include "driver.h"
#include "heat.h"

static void launch(CUfunction function, unsigned blocks, unsigned threads, CUstream stream,
                   void **parameters)
{
	CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, NULL));
}

int main(int argc, char **argv)
{
	struct heat heat;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction step_function, change_function, fold_function;
	CUstream stream = NULL;
	CUevent begin, end;
	CUdeviceptr now, next, sums[2];
	double *residual, rate = HEAT_RATE, start, last, took;
	float between_events;

	heat_parse(&heat, argc, argv);
	if (!heat.module) {
		fprintf(stderr, "heat-driver: --module FILE is needed\n");
		return 2;
	}
	unsigned size = heat.size, cells = size * size, block = 256,
			 cell_blocks = (cells + block - 1) / block;
	size_t bytes = sizeof(double) * size * size;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoad(&module, heat.module));
	CHECK(cuModuleGetFunction(&step_function, module, "heat_step"));
	CHECK(cuModuleGetFunction(&change_function, module, "heat_change"));
	CHECK(cuModuleGetFunction(&fold_function, module, "heat_fold"));
	if (!heat.default_stream)
		CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
	CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
	CHECK(cuMemAlloc(&now, bytes));
	CHECK(cuMemAlloc(&next, bytes));
	CHECK(cuMemAlloc(&sums[0], sizeof(double) * heat_folded(cells)));
	CHECK(cuMemAlloc(&sums[1], sizeof(double) * heat_folded(cells)));
	CHECK(cuMemHostAlloc((void **)&residual, sizeof(double), 0));
	CHECK(cuMemcpyHtoD(now, heat.cells, bytes));
	CHECK(cuMemcpyHtoD(next, heat.cells, bytes));
	CHECK(cuCtxSynchronize());

	CHECK(cuEventRecord(begin, stream));
	start = last = heat_now_us();
	for (unsigned step = 1; step <= heat.steps; step++) {
		launch(step_function, cell_blocks, block, stream, (void *[]){&now, &next, &size, &rate});
		if (step % heat.every == 0) {
			unsigned count = heat_folded(cells);

			launch(change_function, heat_blocks(count), HEAT_FOLD_BLOCK, stream,
			       (void *[]){&now, &next, &sums[0], &cells});
			for (; count > 1; count = heat_folded(count)) {
				CUdeviceptr folded = sums[1];

				launch(fold_function, heat_blocks(heat_folded(count)), HEAT_FOLD_BLOCK, stream,
				       (void *[]){&sums[0], &folded, &count});
				sums[1] = sums[0];
				sums[0] = folded;
			}
			if (heat.default_stream) {
				CHECK(cuMemcpyDtoH(residual, sums[0], sizeof(double)));
			} else {
				CHECK(cuMemcpyDtoHAsync(residual, sums[0], sizeof(double), stream));
				CHECK(cuStreamSynchronize(stream));
			}
			double time = heat_now_us();
			heat_check(&heat, step, *residual, time - last);
			last = heat_now_us();
		}
		CUdeviceptr swapped = now;
		now = next;
		next = swapped;
	}
	CHECK(cuEventRecord(end, stream));
	CHECK(cuEventSynchronize(end));
	took = heat_now_us() - start;
	CHECK(cuEventElapsedTime(&between_events, begin, end));
	if (!(between_events >= 0)) {
		fprintf(stderr, "heat-driver: %g ms between the events\n", (double)between_events);
		return 1;
	}

	CHECK(cuMemcpyDtoH(heat.cells, now, bytes));
	heat_finish(&heat, took);
	CHECK(cuMemFreeHost(residual));
	CHECK(cuMemFree(sums[1]));
	CHECK(cuMemFree(sums[0]));
	CHECK(cuMemFree(next));
	CHECK(cuMemFree(now));
	CHECK(cuEventDestroy(end));
	CHECK(cuEventDestroy(begin));
	if (stream)
		CHECK(cuStreamDestroy(stream));
	CHECK(cuModuleUnload(module));
	CHECK(cuDevicePrimaryCtxRelease(device));
	return 0;
}
