/* What changes beneath a hot loop: limits, handles, dimensions. */
#include <pthread.h>
#include <semaphore.h>

#include "hazard.h"

/* A launch that cannot be, in a hot loop: the error comes from that very call, and later calls go
 * on. */
static void bad_launch(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			unsigned argument = 1;
			void *params[] = {&hazard_x, &hazard_y, &argument};

			printf("%u: %d %d\n", iteration,
			       (int)cuLaunchKernel(hazard_mix, 1, 1, 1, 5000, 1, 1, 0, stream, params, NULL),
			       (int)cuLaunchKernel(hazard_mix, 0, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
		}
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* The limit of dynamic shared memory is lowered in mid-loop: the next launch that needs more fails.
 */
static void lower_limits(CUstream stream)
{
	unsigned argument = 3, failures = 0;
	void *params[] = {&hazard_x, &hazard_y, &argument};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool low = hazard_springs(iteration);

		CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		                         low ? 1024 : 8192));
		for (unsigned i = 0; i < CHAIN; i++) {
			CUresult result =
				cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 4096, stream, params, NULL);

			failures += result != CUDA_SUCCESS;
		}
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

static void smem_attribute(void)
{
	lower_limits(hazard_stream(CU_STREAM_NON_BLOCKING));
}

/* Of one function among more than a lane has room to know. */
static void smem_attribute_of_many(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	void *params[] = {&hazard_x, &hazard_y, &(unsigned){3}};
	CUfunction function;
	CUmodule module;

	for (unsigned i = 0; i < 80; i++) {
		CHECK(cuModuleLoad(&module, hazard_module_path));
		CHECK(cuModuleGetFunction(&function, module, "mix"));
		for (unsigned launch = 0; launch < 2;
		     launch++) /* the first may load it, and is nothing that a lane learns from */
			CHECK(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
	}
	lower_limits(stream);
}

static sem_t may_set, has_set;
static int limit;

static void *set_limits(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (sem_wait(&may_set); limit > 0; sem_wait(&may_set)) {
		CHECK(
			cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit));
		sem_post(&has_set);
	}
	return unused;
}

static void have_set(int bytes)
{
	limit = bytes;
	sem_post(&may_set);
	if (bytes > 0)
		sem_wait(&has_set);
}

/* By another thread, when launches that need more have been called. */
static void smem_attribute_by_thread(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned argument = 3, failures = 0;
	void *params[] = {&hazard_x, &hazard_y, &argument};
	pthread_t thread;

	pthread_create(&thread, NULL, set_limits, NULL);
	have_set(8192);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			if (hazard_springs(iteration) && i == CHAIN / 2)
				have_set(1024);
			failures += cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 4096, stream, params,
			                           NULL) != CUDA_SUCCESS;
		}
		if (hazard_springs(iteration))
			have_set(8192);
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	have_set(0);
	pthread_join(thread, NULL);
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

static void set_limit_of_function(CUfunction function, int bytes)
{
	CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
}

static void set_limit_of_kernel(CUkernel kernel, int bytes, CUcontext from)
{
	CHECK(cuCtxSetCurrent(from));
	CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes, kernel,
	                           hazard_device));
	CHECK(cuCtxSetCurrent(hazard_context));
}

/* The same by the kernel's handle, while its function is launched, and by turns the other way
 * round, with another kernel on another stream: two handles of one thing. */
static void set_by_kernels(CUcontext elsewhere)
{
	CUkernel kernels[2] = {hazard_kernel("mix"), hazard_kernel("turn")};
	CUstream streams[2];
	CUfunction functions[2];
	unsigned argument = 3, failures = 0;
	void *params[] = {&hazard_x, &hazard_y, &argument};

	for (unsigned i = 0; i < 2; i++) {
		streams[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
		CHECK(cuKernelGetFunction(&functions[i], kernels[i]));
	}
	set_limit_of_function(functions[0], 8192);
	set_limit_of_kernel(kernels[1], 8192, elsewhere);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration), by_kernel = iteration % 2;
		CUfunction launched = by_kernel ? functions[1] : (CUfunction)kernels[0];
		CUstream stream = streams[by_kernel];

		for (unsigned i = 0; i < CHAIN; i++) {
			if (trap && i == CHAIN / 2 && by_kernel)
				set_limit_of_kernel(kernels[1], 1024, elsewhere);
			else if (trap && i == CHAIN / 2)
				set_limit_of_function(functions[0], 1024);
			failures += cuLaunchKernel(launched, 1, 1, 1, WORDS, 1, 1, 4096, stream, params,
			                           NULL) != CUDA_SUCCESS;
		}
		if (trap && by_kernel)
			set_limit_of_kernel(kernels[1], 8192, elsewhere);
		else if (trap)
			set_limit_of_function(functions[0], 8192);
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

static void kernel_attribute(void)
{
	set_by_kernels(hazard_context);
}

/* A kernel's attribute is set for all contexts of the device, and its function is another one in
 * each. */
static void kernel_attribute_elsewhere(void)
{
	CUcontext elsewhere;

	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuCtxSetCurrent(hazard_context));
	set_by_kernels(elsewhere);
}

#define LIMITS 4

/* A library sets the limit of a kernel's shared memory to what the next launches need, and so to a
 * few values in turn, the least last. Now and then a launch needs what only another limit allows.
 */
static void limits_in_turn(CUfunction launched, void (*set_limit)(int bytes))
{
	static const unsigned limits[LIMITS] = {8192, 4096, 16384, 1024};
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned failures = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		for (unsigned which = 0; which < LIMITS; which++) {
			set_limit((int)limits[which]);
			for (unsigned i = 0; i < CHAIN / 2; i++) {
				unsigned like =
					trap && i == iteration / 4 % 3 ? (which + iteration / 2) % LIMITS : which;

				failures +=
					cuLaunchKernel(launched, 1, 1, 1, WORDS, 1, 1, limits[like] - i % 2 * 512,
				                   stream, (void *[]){&hazard_x, &hazard_y, &i},
				                   NULL) != CUDA_SUCCESS;
				hazard_launch(hazard_turn, hazard_x, i, stream);
			}
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

static void set_by_function(int bytes)
{
	CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
}

static void shared_limits(void)
{
	limits_in_turn(hazard_mix, set_by_function);
}

static CUkernel kernel_to_set;
static CUfunction function_of_kernel;

static void begin_with_kernel(void)
{
	kernel_to_set = hazard_kernel("mix");
	CHECK(cuKernelGetFunction(&function_of_kernel, kernel_to_set));
}

static void set_by_kernel(int bytes)
{
	CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes,
	                           kernel_to_set, hazard_device));
}

/* Set by the kernel's handle, launched by its function. */
static void shared_limits_by_kernel(void)
{
	begin_with_kernel();
	limits_in_turn(function_of_kernel, set_by_kernel);
}

/* Launched by the kernel's handle, too. */
static void shared_limits_of_kernel(void)
{
	kernel_to_set = hazard_kernel("mix");
	limits_in_turn((CUfunction)kernel_to_set, set_by_kernel);
}

/* A limit that is high for long and then low, while another one is raised, without effect on what
 * is launched. */
static void raise_another(CUfunction launched, void (*set_limit)(int bytes),
                          void (*set_another)(int bytes))
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned failures = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool high = iteration / 100 % 2 == 0, trap = hazard_springs(iteration);

		set_limit(high ? 16384 : 4096);
		if (trap)
			set_another(16384 + 16 * (int)iteration);
		for (unsigned i = 0; i < CHAIN; i++)
			failures +=
				cuLaunchKernel(launched, 1, 1, 1, WORDS, 1, 1, high || trap ? 8192 : 2048, stream,
			                   (void *[]){&hazard_x, &hazard_y, &i}, NULL) != CUDA_SUCCESS;
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
		if (iteration % 100 < 14) /* the limit has changed: its graphs are to be built */
			hazard_settle(stream);
	}
	printf("failures %u\n", failures);
	hazard_print("x", hazard_x);
}

static CUcontext elsewhere;

static void set_own_limit(int bytes)
{
	set_limit_of_function(function_of_kernel, bytes);
}

static void set_by_kernel_elsewhere(int bytes)
{
	set_limit_of_kernel(kernel_to_set, bytes, elsewhere);
}

static void set_by_kernel_on_the_other_device(int bytes)
{
	CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes,
	                           kernel_to_set, 1 - hazard_device));
}

/* The function has a limit of its own, which counts, and not its kernel's. */
static void shared_limits_overridden(void)
{
	begin_with_kernel();
	raise_another(function_of_kernel, set_own_limit, set_by_kernel);
}

/* The kernel is given its limit while another context is current, where its function has none. */
static void shared_limits_elsewhere(void)
{
	CUfunction there;

	begin_with_kernel();
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuKernelGetFunction(&there, kernel_to_set));
	CHECK(cuCtxSetCurrent(hazard_context));
	raise_another((CUfunction)kernel_to_set, set_own_limit, set_by_kernel_elsewhere);
}

/* A kernel has a limit on each device. Needs two: SIM_DEVICES=2. */
static void limits_of_devices(void)
{
	begin_with_kernel();
	raise_another(function_of_kernel, set_by_kernel, set_by_kernel_on_the_other_device);
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
		CHECK(
			cuModuleGetFunction(&hazard_turn, hazard_module, iteration % 2 != 0 ? "mix" : "turn"));
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
			CHECK(
				cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -(int)(iteration % 3)));
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
			CHECK(cuLaunchKernel(hazard_mix, 1 + iteration / 30, 1, 1, 64, 1, 1, 0, stream,
			                     (void *[]){&x, &y, &i}, NULL));
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
	{"smem_attribute_of_many", smem_attribute_of_many},
	{"smem_attribute_by_thread", smem_attribute_by_thread},
	{"kernel_attribute", kernel_attribute},
	{"kernel_attribute_elsewhere", kernel_attribute_elsewhere},
	{"shared_limits", shared_limits},
	{"shared_limits_by_kernel", shared_limits_by_kernel},
	{"shared_limits_of_kernel", shared_limits_of_kernel},
	{"shared_limits_overridden", shared_limits_overridden},
	{"shared_limits_elsewhere", shared_limits_elsewhere},
	{"limits_of_devices", limits_of_devices},
	{"function_reuse", function_reuse},
	{"stream_reuse", stream_reuse},
	{"grid_growth", grid_growth},
	{NULL, NULL},
};
