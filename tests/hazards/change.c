/* What changes beneath a hot loop: limits, handles, dimensions. */
#include "hazard.h"

/* A launch that cannot be, in a hot loop: the error comes from that very call, and later calls go on. */
static void bad_launch(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			unsigned argument = 1;
			void *params[] = {&hazard_x, &hazard_y, &argument};

			printf("%u: %d %d\n", iteration, (int)cuLaunchKernel(hazard_mix, 1, 1, 1, 5000, 1, 1, 0, stream, params, NULL),
			       (int)cuLaunchKernel(hazard_mix, 0, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
		}
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* The limit of dynamic shared memory is lowered in mid-loop: the next launch that needs more fails. */
static void smem_attribute(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned argument = 3, failures = 0;
	void *params[] = {&hazard_x, &hazard_y, &argument};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool low = hazard_springs(iteration);

		CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, low ? 1024 : 8192));
		for (unsigned i = 0; i < CHAIN; i++) {
			CUresult result = cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 4096, stream, params, NULL);

			failures += result != CUDA_SUCCESS;
		}
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

/* The same by the kernel's handle, while its function is launched, and by turns the other way round: two handles of one thing. */
static void kernel_attribute(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned argument = 3, failures = 0;
	void *params[] = {&hazard_x, &hazard_y, &argument};
	CUfunction function;
	CUkernel kernel = hazard_kernel("mix");

	CHECK(cuKernelGetFunction(&function, kernel));
	CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8192));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration), by_kernel = iteration % 2;
		CUfunction launched = by_kernel ? function : (CUfunction)kernel;

		for (unsigned i = 0; i < CHAIN; i++) {
			if (trap && i == CHAIN / 2 && by_kernel)
				CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel, hazard_device));
			else if (trap && i == CHAIN / 2)
				CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
			failures += cuLaunchKernel(launched, 1, 1, 1, WORDS, 1, 1, 4096, stream, params, NULL) != CUDA_SUCCESS;
		}
		if (trap)
			CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8192));
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

/* The module is unloaded and loaded again: the same handles may mean other functions. */
static void function_reuse(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		hazard_settle_again(iteration, stream);
		if (!hazard_springs(iteration))
			continue;
		CHECK(cuStreamSynchronize(stream));
		CHECK(cuModuleUnload(hazard_module));
		CHECK(cuModuleLoad(&hazard_module, hazard_module_path));
		/* By turns the other way round, so that a stale trace would run the wrong one. */
		CHECK(cuModuleGetFunction(&hazard_mix, hazard_module, iteration % 2 != 0 ? "turn" : "mix"));
		CHECK(cuModuleGetFunction(&hazard_turn, hazard_module, iteration % 2 != 0 ? "mix" : "turn"));
	}
	hazard_print("x", hazard_x);
}

static void stream_reuse(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			CHECK(cuStreamDestroy(stream)); /* with its chain pending */
			CHECK(cuCtxSynchronize());
			CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -(int)(iteration % 3)));
		}
		hazard_settle_again(iteration, stream);
	}
	hazard_print("x", hazard_x);
}

/* The grid grows: values change, and no graph may keep the old one. */
static void grid_growth(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr x, y;

	CHECK(cuMemAlloc(&x, 4096 * 4));
	CHECK(cuMemAlloc(&y, 4096 * 4));
	CHECK(cuMemsetD32(x, 1, 4096));
	CHECK(cuMemsetD32(y, 2, 4096));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++)
			CHECK(cuLaunchKernel(hazard_mix, 1 + iteration / 30, 1, 1, 64, 1, 1, 0, stream, (void *[]){&x, &y, &i}, NULL));
		CHECK(cuStreamSynchronize(stream));
		if (iteration % 30 == 10)
			hazard_settle(stream);
	}
	hazard_print("first", x);
	hazard_print("last", x + (4096 - WORDS) * 4);
	hazard_print("middle", x + 1024 * 4);
}

const struct hazard change_hazards[] = {
	{"bad_launch", bad_launch},
	{"smem_attribute", smem_attribute},
	{"kernel_attribute", kernel_attribute},
	{"function_reuse", function_reuse},
	{"stream_reuse", stream_reuse},
	{"grid_growth", grid_growth},
	{NULL, NULL},
};
