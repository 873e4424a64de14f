/* Things that end or change, errors, and the end of the process. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hazard.h"

/* Ops are deferred when the process ends, in three ways. What had to be visible was waited for. */
static void leave_pending(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	fflush(stdout);
	for (unsigned i = 0; i < CHAIN / 2; i++)
		hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, hazard_x, i * 7 + 1, stream);
}

static void exit_pending_return(void)
{
	leave_pending();
}

static void exit_pending_exit(void)
{
	leave_pending();
	exit(7);
}

static void exit_pending_raw(void)
{
	leave_pending();
	_exit(8);
}

static void exit_pending_signal(void)
{
	leave_pending();
	kill(getpid(), SIGTERM);
	pause();
}

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
	}
	hazard_print("x", hazard_x);
}

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
				CHECK(cuLaunchKernel(functions[i], 1, 1, 1, WORDS, 1, 1, 0, streams[i], (void *[]){&x[i], &y[i], &k}, NULL));
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

/* Forks before CUDA is used; then both use it. */
static void fork_before_init(void)
{
	pid_t child = fork();
	CUstream stream;
	int status = 0;

	hazard_set_up();
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	if (child != 0) {
		waitpid(child, &status, 0);
		printf("child ended with %d\n", status);
	}
	hazard_print(child != 0 ? "parent" : "child", hazard_x);
}

/* Another program is started while ops are deferred. */
static void fork_exec_mid_loop(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			hazard_launch(hazard_mix, hazard_x, i, stream);
			if (i == CHAIN / 2 && iteration % 300 == 77 && system("true") != 0)
				printf("true was false\n");
		}
		CHECK(cuStreamSynchronize(stream));
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
	}
	hazard_print("first", x);
	hazard_print("last", x + (4096 - WORDS) * 4);
	hazard_print("middle", x + 1024 * 4);
}

const struct hazard lifetime_hazards[] = {
	{"exit_pending_return", exit_pending_return},
	{"exit_pending_exit", exit_pending_exit},
	{"exit_pending_raw", exit_pending_raw},
	{"exit_pending_signal", exit_pending_signal},
	{"bad_launch", bad_launch},
	{"smem_attribute", smem_attribute},
	{"function_reuse", function_reuse},
	{"stream_reuse", stream_reuse},
	{"second_context", second_context},
	{"fork_before_init", fork_before_init},
	{"fork_exec_mid_loop", fork_exec_mid_loop},
	{"grid_growth", grid_growth},
	{NULL, NULL},
};
