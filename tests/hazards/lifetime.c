/* Things that end, and errors. */
#include "hazard.h"

/* The same loop in two contexts, by turns. */
static void second_context(void)
{
	CUcontext contexts[2];
	CUdeviceptr x[2], y[2];
	CUstream streams[2];
	CUfunction functions[2];

	for (unsigned i = 0; i < 2; i++) {
		CUmodule module;

		CHECK(cuCtxCreate(&contexts[i], NULL, 0, hazard_device));
		CHECK(cuModuleLoad(&module, hazard_module_path));
		CHECK(cuModuleGetFunction(&functions[i], module, i == 0 ? "mix" : "turn"));
		CHECK(cuMemAlloc(&x[i], WORDS * 4));
		CHECK(cuMemAlloc(&y[i], WORDS * 4));
		CHECK(cuMemsetD32(x[i], i, WORDS));
		CHECK(cuMemsetD32(y[i], i, WORDS));
		CHECK(cuCtxSynchronize());
		streams[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
		CHECK(cuCtxPopCurrent(NULL));
	}
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++)
		for (unsigned i = 0; i < 2; i++) {
			CHECK(cuCtxPushCurrent(contexts[i]));
			for (unsigned k = 0; k < CHAIN; k++)
				CHECK(cuLaunchKernel(functions[i], 1, 1, 1, WORDS, 1, 1, 0, streams[i],
				                     (void *[]){&x[i], &y[i], &k}, NULL));
			if (hazard_springs(iteration))
				CHECK(cuCtxSynchronize());
			CHECK(cuCtxPopCurrent(NULL));
		}
	for (unsigned i = 0; i < 2; i++) {
		CHECK(cuCtxPushCurrent(contexts[i]));
		hazard_print("x", x[i]);
		CHECK(cuCtxDestroy(contexts[i]));
	}
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("x", hazard_x);
}

/* A context comes, and goes with all of its work pending. */
static void context_that_goes(void)
{
	CUcontext elsewhere;
	CUdeviceptr x, y;
	CUfunction mix;
	CUmodule module;
	CUstream stream;

	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemAlloc(&y, WORDS * 4));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; i < 40 * CHAIN; i++) {
		unsigned argument = i % CHAIN;

		CHECK(cuLaunchKernel(mix, 1, 1, 1, WORDS, 1, 1, 0, stream, (void *[]){&x, &y, &argument},
		                     NULL));
		if (i == 10 * CHAIN)
			hazard_settle(stream);
	}
	CHECK(cuCtxDestroy(elsewhere));
	CHECK(cuCtxSetCurrent(hazard_context));
}

/* Part of a hot chain, which is deferred when it ends. */
static void part_of_chain(CUstream stream)
{
	for (unsigned i = 0; i < CHAIN / 2 + 1; i++)
		hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, hazard_x, i * 7 + 1, stream);
}

/* Streams, events, modules and contexts are destroyed with work deferred, by turns. */
static void destroy_pending(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned traps = 0;
	CUevent event;

	for (unsigned iteration = 0; iteration < 2 * ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
		if (!hazard_springs(iteration))
			continue;
		part_of_chain(stream);
		switch (traps++ % 4) {
		case 0:
			CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
			CHECK(cuEventRecord(event, stream));
			part_of_chain(stream);
			CHECK(cuEventDestroy(event));
			break;
		case 1:
			CHECK(cuStreamDestroy(stream));
			CHECK(cuCtxSynchronize());
			stream = hazard_stream(CU_STREAM_NON_BLOCKING);
			break;
		case 2:
			CHECK(cuModuleUnload(hazard_module));
			CHECK(cuModuleLoad(&hazard_module, hazard_module_path));
			hazard_mix = hazard_function("mix");
			hazard_turn = hazard_function("turn");
			break;
		default:
			context_that_goes();
			break;
		}
	}
	hazard_print("x", hazard_x);
}

/* The device is reset in mid-loop, with work deferred, and everything begins again under the same
 * handles. */
static void device_reset(void)
{
	for (unsigned round = 0; round < 6; round++) {
		CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

		for (unsigned iteration = 0; iteration < 150 + 13 * round; iteration++) {
			hazard_chain(hazard_x, stream);
			CHECK(cuStreamSynchronize(stream));
		}
		hazard_print("x", hazard_x);
		hazard_chain(hazard_x, stream);
		hazard_launch(hazard_turn, hazard_x, round, stream);
		CHECK(cuDevicePrimaryCtxReset(hazard_device));
		hazard_set_up();
	}
	hazard_print("x", hazard_x);
}

/*
 * The primary context is retained once more and released again in mid-loop, with work deferred: it
 * stays, with all that is in it. Now and then the release is the last, and everything begins again.
 */
static void primary_release(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUcontext again;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			CHECK(cuDevicePrimaryCtxRetain(&again, hazard_device));
			part_of_chain(stream);
			CHECK(cuDevicePrimaryCtxRelease(hazard_device));
			part_of_chain(stream);
		}
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
		if (iteration % 300 == 4 || iteration % 300 == 12)
			hazard_settle(stream);
		if (iteration % 300 != 299)
			continue;
		hazard_print("x", hazard_x);
		part_of_chain(stream);
		CHECK(cuDevicePrimaryCtxRelease(hazard_device));
		hazard_set_up();
		stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	}
	hazard_print("x", hazard_x);
}

static CUfunction failing;

/* A hot chain with one kernel in it that faults if it is to. */
static void chain_that_may_fault(CUstream stream, unsigned at, bool faults)
{
	for (unsigned i = 0; i < CHAIN; i++) {
		unsigned argument = i == at && faults ? 0xdead : i;

		/* A launch behind the fault may hear of it already. */
		(void)cuLaunchKernel(failing, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                     (void *[]){&hazard_x, &hazard_y, &argument}, NULL);
	}
}

/* A kernel in the middle of a hot chain faults: the next wait says so, and so does all that
 * follows. */
static void kernel_traps(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUresult waited = CUDA_SUCCESS;
	unsigned iteration = 0;

	failing = hazard_function("fault");
	for (; iteration < ITERATIONS && waited == CUDA_SUCCESS; iteration++) {
		chain_that_may_fault(stream, CHAIN / 2, iteration == 700);
		waited = cuStreamSynchronize(stream);
		if (iteration == 20 || iteration == 40)
			hazard_settle(stream);
	}
	printf("iteration %u: the wait returned %d\n", iteration, (int)waited);
	for (unsigned i = 0; i < 100; i++) {
		chain_that_may_fault(stream, 0, false);
		if (cuStreamSynchronize(stream) != waited || cuCtxSynchronize() != waited)
			printf("the error did not stay\n");
	}
}

/* After a fault every call returns what the driver returns; after a reset the device is as new. */
static void async_error_sticky(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t word;

	failing = hazard_function("fault");
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		chain_that_may_fault(stream, CHAIN - 1,
		                     iteration == ITERATIONS - 1); /* the last before the wait */
		if (iteration < ITERATIONS - 1)
			CHECK(cuStreamSynchronize(stream));
	}
	for (unsigned i = 0; i < 60; i++) {
		CUdeviceptr memory;
		CUevent event = NULL;
		CUstream another = NULL;
		CUmodule module = NULL;

		printf("%d", (int)cuStreamSynchronize(stream));
		chain_that_may_fault(stream, 0, false);
		printf(" %d %d %d", (int)cuStreamQuery(stream), (int)cuCtxSynchronize(),
		       (int)cuMemcpyDtoH(&word, hazard_x, 4));
		printf(" %d %d %d", (int)cuMemAlloc(&memory, 64), (int)cuEventCreate(&event, 0),
		       (int)cuStreamCreate(&another, 0));
		printf(" %d %d", (int)cuModuleLoad(&module, hazard_module_path),
		       (int)cuMemsetD32Async(hazard_x, 1, WORDS, stream));
		printf(" %d\n",
		       (int)cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		                               1024));
	}
	CHECK(cuDevicePrimaryCtxReset(hazard_device));
	hazard_set_up();
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < 200; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

const struct hazard lifetime_hazards[] = {
	{"destroy_pending", destroy_pending},
	{"device_reset", device_reset},
	{"primary_release", primary_release},
	{"kernel_traps", kernel_traps},
	{"async_error_sticky", async_error_sticky},
	{"second_context", second_context},
	{NULL, NULL},
};
