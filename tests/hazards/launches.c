/* Launches that no graph may take for others: their attributes, their handles, what they print. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

#include "hazard.h"

/* mix over x in four blocks, with attributes. */
static CUresult launch_with(CUlaunchAttribute *attributes, unsigned count, unsigned argument,
                            CUstream stream)
{
	CUlaunchConfig config = {
		.gridDimX = 4,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = WORDS / 4,
		.blockDimY = 1,
		.blockDimZ = 1,
		.hStream = stream,
		.attrs = attributes,
		.numAttrs = count,
	};

	return cuLaunchKernelEx(&config, hazard_mix, (void *[]){&hazard_x, &hazard_y, &argument}, NULL);
}

/* A hot loop of launches that carry `usual`, but where the trap springs `other`. The parameters are
 * the same. */
static void attribute_changes(CUlaunchAttribute usual, CUlaunchAttribute other)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		for (unsigned i = 0; i < CHAIN; i++) {
			CHECK(launch_with(trap && i == 9 ? &other : &usual, 1, i, stream));
			if (i % 4 == 3)
				hazard_launch(hazard_turn, hazard_x, i, stream);
		}
		if (iteration % 3)
			CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static void cluster_change(void)
{
	attribute_changes((CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	                                      .value.clusterDim = {2, 1, 1}},
	                  (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	                                      .value.clusterDim = {4, 1, 1}});
}

static void cooperative(void)
{
	attribute_changes((CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
	                                      .value.cooperative = 1},
	                  (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
	                                      .value.cooperative = 0});
}

/* By the call that has no attributes. Where the trap springs: the same launch without it,
 * in another grid, with shared memory, and one of too many blocks. */
static void cooperative_call(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned refused = 0, traps = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned trap = hazard_springs(iteration) ? 1 + traps++ % 4 : 0;

		for (unsigned i = 0; i < CHAIN; i++) {
			unsigned argument = i == 5 ? iteration : i, which = i == 9 ? trap : 0;
			void *params[] = {&hazard_x, &hazard_y, &argument};

			if (which == 1)
				CHECK(
					cuLaunchKernel(hazard_mix, 4, 1, 1, WORDS / 4, 1, 1, 0, stream, params, NULL));
			else if (which == 2)
				refused += cuLaunchCooperativeKernel(hazard_mix, 1u << 20, 1, 1, WORDS / 4, 1, 1, 0,
				                                     stream, params) ==
				           CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
			else
				CHECK(cuLaunchCooperativeKernel(hazard_mix, which == 3 ? 2 : 4, 1, 1, WORDS / 4, 1,
				                                1, which == 4 ? 64 : 0, stream, params));
			if (i % 4 == 3)
				hazard_launch(hazard_turn, hazard_x, i, stream);
		}
		if (iteration % 3)
			CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	printf("refused %u\n", refused);
}

static void pdl(void)
{
	attribute_changes((CUlaunchAttribute){.id =
	                                          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	                                      .value.programmaticStreamSerializationAllowed = 1},
	                  (CUlaunchAttribute){.id =
	                                          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	                                      .value.programmaticStreamSerializationAllowed = 0});
}

/* Streams of other priorities, and launches that have one of their own. */
static void priority(void)
{
	CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -3};
	CUstream streams[2];

	CHECK(cuStreamCreateWithPriority(&streams[0], CU_STREAM_NON_BLOCKING, -2));
	streams[1] = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++)
		for (unsigned k = 0; k < 2; k++) {
			hazard_chain(hazard_x, streams[k]);
			own.value.priority = hazard_springs(iteration) ? -1 : -3;
			CHECK(launch_with(&own, 1, k, streams[k]));
			hazard_chain(hazard_x, streams[k]);
			CHECK(cuStreamSynchronize(streams[k]));
		}
	hazard_print("x", hazard_x);
}

/* A launch in mid-chain records an event that another stream waits for. */
static void launch_events(void)
{
	CUstream a = hazard_stream(CU_STREAM_NON_BLOCKING), b = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent begun, back;

	CHECK(cuEventCreate(&begun, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUlaunchAttribute event = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
		                           .value.launchCompletionEvent.event = begun};

		if (iteration % 2)
			event = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
			                            .value.programmaticEvent.event = begun};
		hazard_chain(hazard_x, a);
		CHECK(launch_with(&event, 1, hazard_springs(iteration) ? iteration : 5, a));
		CHECK(cuStreamWaitEvent(b, begun, 0));
		hazard_chain(hazard_x, b);
		CHECK(cuEventRecord(back, b));
		CHECK(cuStreamWaitEvent(a, back, 0));
		hazard_chain(hazard_x, a);
		if (iteration % 5 == 0)
			CHECK(cuStreamSynchronize(a));
	}
	hazard_print("x", hazard_x);
}

/* Attributes that Reprise does not know: one that the driver does, which is as long as any, and one
 * that nobody knows. */
static void unknown_attribute(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned refused = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUlaunchAttribute known = {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
		                           .value.preferredClusterDim = {2, 1, 1}};
		CUlaunchAttribute unheard = {.id = (CUlaunchAttributeID)99};

		if (hazard_springs(iteration))
			known.value.preferredClusterDim.x = 4;
		hazard_chain(hazard_x, stream);
		CHECK(launch_with(&known, 1, 7, stream));
		hazard_chain(hazard_x, stream);
		if (iteration % 2)
			refused += launch_with(&unheard, 1, 7, stream) == CUDA_ERROR_INVALID_VALUE;
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	printf("refused %u\n", refused);
	hazard_print("x", hazard_x);
}

/* A CUkernel where a CUfunction is expected, as cudart 13 passes them; values change all the time,
 * so that nodes are set. */
static void kernel_handle(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUkernel kernel = hazard_kernel("mix");

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++)
			hazard_launch(i % 3 ? (CUfunction)kernel : hazard_turn, hazard_x,
			              i == 5 ? iteration : i, stream);
		if (hazard_springs(iteration))
			hazard_launch(hazard_mix, hazard_x, iteration, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* What kernels print comes once, in the stream's order. */
static void device_printf(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUfunction say = hazard_function("say");

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned often = iteration % 6, trap = hazard_springs(iteration);

		hazard_chain(hazard_x, stream);
		CHECK(cuLaunchKernel(say, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&often}, NULL));
		if (trap)
			CHECK(cuLaunchKernel(say, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&iteration}, NULL));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Among eight launches of a hot kernel, one of the function and one of the library's kernel. */
static void launch_among_hot(CUfunction hot, CUfunction function, CUkernel kernel)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < 8; i++)
			hazard_launch(hot, hazard_x, i, stream);
		hazard_launch(function, hazard_x, hazard_springs(iteration) ? iteration : 1, stream);
		hazard_launch((CUfunction)kernel, hazard_x, 2, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* One kernel among hot ones is on the deny list, launched as a function and as a library's kernel.
 * The driver must see each of its launches. */
static void denied_kernel(void)
{
	launch_among_hot(hazard_mix, hazard_turn, hazard_kernel("turn"));
}

#define TEMPLATE "_ZN5chain4turnIjEEvPT_PKS1_S1_"
#define ALIKE "_ZN5chain9turn_backIjEEvPT_PKS1_S1_"

/* The same where the kernel is a template's instance, and the list has it as C++ does. The hot
 * one's name begins alike, in the same namespace. */
static void denied_template(void)
{
	launch_among_hot(hazard_function(ALIKE), hazard_function(TEMPLATE), hazard_kernel(TEMPLATE));
}

/* The module beside the hazards' own that is linked with the device runtime. */
static const char *launching_module(void)
{
	static char path[4096];
	const char *slash = strrchr(hazard_module_path, '/');

	snprintf(path, sizeof(path), "%.*slaunching_kernels.so",
	         slash != NULL ? (int)(slash + 1 - hazard_module_path) : 0, hazard_module_path);
	return path;
}

/* Among hot kernels one of that module, as a function and as a library's kernel. */
static void launch_linked(const char *name)
{
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;
	CUmodule module;

	CHECK(cuModuleLoad(&module, launching_module()));
	CHECK(cuModuleGetFunction(&function, module, name));
	CHECK(cuLibraryLoadFromFile(&library, launching_module(), NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cuLibraryGetKernel(&kernel, library, name));
	launch_among_hot(hazard_mix, function, kernel);
}

/* It launches others: of these a graph's next may come too early. */
static void launching_kernel(void)
{
	launch_linked("mix");
}

/* It launches none, though others of its module do. */
static void linked_kernel(void)
{
	launch_linked("blend");
}

/* Questions about kernels that were never launched, and first launches, which load them, while a
 * host function runs that waits for an op: this thread's, or another one's. */
static volatile uint32_t *published;
static CUdeviceptr published_there;
static CUfunction publish;
static sem_t is_ready, may_launch, has_launched, may_go_on;

static void CUDA_CB wait_until_published(void *value)
{
	while (*published < (uint32_t)(uintptr_t)value)
		sched_yield();
}

#define LOOPS 4
#define STEADY 40   /* iterations of one loop before the next one's turn */
#define QUESTIONS 5 /* so each comes in each loop */
#define ASKED (QUESTIONS * LOOPS)

static unsigned loop_of(unsigned iteration)
{
	return iteration / STEADY % LOOPS;
}

/* Ends in the middle of what is one visit. */
static void launch_until_published(unsigned iteration, CUstream stream)
{
	for (unsigned i = 0; i < 4 + loop_of(iteration); i++)
		hazard_launch(hazard_mix, hazard_x, i, stream);
	CHECK(cuLaunchKernel(publish, 1, 1, 1, 1, 1, 1, 0, stream,
	                     (void *[]){&published_there, &iteration}, NULL));
}

static void launch_the_rest(unsigned iteration, CUstream stream)
{
	for (unsigned i = 0; i < 6; i++)
		hazard_launch(hazard_turn, hazard_x, i, stream);
	if (iteration < LOOPS * STEADY && iteration % STEADY == STEADY / 2) /* no function waits yet */
		hazard_settle(stream);
	else
		CHECK(cuStreamSynchronize(stream));
}

/* Once all loops are hot. They differ, since one may be launched in two pieces that end just where
 * it is asked. */
static bool is_asked_in(unsigned iteration)
{
	return iteration > LOOPS * STEADY && iteration % STEADY == STEADY - 1;
}

/* Where they are launched first, and on what. */
static CUstream first_launches;
static CUdeviceptr first_launched;

static void ask_about(CUkernel kernel, unsigned number)
{
	CUfunction function;
	size_t offset, size;
	int value;

	switch (number % QUESTIONS) {
	case 0:
		CHECK(cuKernelGetParamInfo(kernel, 0, &offset, &size));
		break;
	case 1:
		CHECK(cuKernelGetFunction(&function, kernel));
		break;
	case 2:
		CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 2048, kernel,
		                           hazard_device));
		break;
	case 3:
		CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, (CUfunction)kernel, 32, 0));
		break;
	default:
		hazard_launch((CUfunction)kernel, first_launched, number, first_launches);
	}
}

static void set_up_publishing(void)
{
	void *pinned;

	CHECK(cuMemHostAlloc(&pinned, 4, CU_MEMHOSTALLOC_DEVICEMAP));
	published = pinned;
	*published = 0;
	CHECK(cuMemHostGetDevicePointer(&published_there, pinned, 0));
	publish = hazard_function("publish");
	CHECK(cuMemAlloc(&first_launched, WORDS * sizeof(uint32_t)));
	CHECK(cuMemsetD32(first_launched, 1, WORDS));
	CHECK(cuCtxSynchronize());
}

/* So that the stream is hardly looked at. */
static void never_repeat(void)
{
	static uint32_t random = 1;

	for (unsigned i = 0; i < 80; i++) {
		random = random * 1664525u + 1013904223u;
		CHECK(cuLaunchKernel(random >> 31 ? hazard_mix : hazard_turn, 1, 1, 1,
		                     1 + (random >> 8) % WORDS, 1, 1, (random >> 16) % 1024, first_launches,
		                     (void *[]){&first_launched, &hazard_y, &random}, NULL));
	}
	CHECK(cuStreamSynchronize(first_launches));
}

static void load_behind_function(bool backs_off, unsigned flags)
{
	CUstream streams[LOOPS], functions = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUkernel kernels[ASKED];

	set_up_publishing();
	first_launches = hazard_stream(flags);
	for (unsigned i = 0; i < LOOPS; i++)
		streams[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; i < ASKED; i++)
		kernels[i] = hazard_kernel("mix");
	for (unsigned iteration = 1; iteration < ASKED * STEADY; iteration++) {
		CUstream stream = streams[loop_of(iteration)];
		bool asks = is_asked_in(iteration);

		if (backs_off)
			never_repeat();
		if (asks)
			CHECK(cuLaunchHostFunc(functions, wait_until_published, (void *)(uintptr_t)iteration));
		launch_until_published(iteration, stream);
		if (asks)
			ask_about(kernels[iteration / STEADY], iteration / STEADY);
		launch_the_rest(iteration, stream);
	}
	hazard_print("x", hazard_x);
	hazard_print("first launched", first_launched);
}

static void loading_behind_function(void)
{
	load_behind_function(false, CU_STREAM_NON_BLOCKING);
}

static void loading_in_backoff_stream(void)
{
	load_behind_function(true, CU_STREAM_NON_BLOCKING);
}

/* The legacy stream waits for it, so that each of its calls is seen. */
static void loading_in_backoff_blocking_stream(void)
{
	hazard_launch(hazard_mix, hazard_x, 0, NULL);
	CHECK(cuCtxSynchronize());
	load_behind_function(true, CU_STREAM_DEFAULT);
}

static void await_semaphore(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		continue;
}

static void *launch_beside(void *unused)
{
	CUstream streams[LOOPS];

	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned i = 0; i < LOOPS; i++)
		streams[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 1; iteration < ASKED * STEADY; iteration++) {
		CUstream stream = streams[loop_of(iteration)];
		bool asked = is_asked_in(iteration);

		if (asked) {
			sem_post(&is_ready);
			await_semaphore(&may_launch);
		}
		launch_until_published(iteration, stream);
		if (asked) {
			sem_post(&has_launched);
			await_semaphore(&may_go_on);
		}
		launch_the_rest(iteration, stream);
	}
	return unused;
}

static void loading_beside_deferred(void)
{
	CUstream functions = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUkernel kernels[ASKED];
	pthread_t thread;

	set_up_publishing();
	first_launches = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; i < ASKED; i++)
		kernels[i] = hazard_kernel("mix");
	sem_init(&is_ready, 0, 0);
	sem_init(&may_launch, 0, 0);
	sem_init(&has_launched, 0, 0);
	sem_init(&may_go_on, 0, 0);
	pthread_create(&thread, NULL, launch_beside, NULL);
	for (unsigned iteration = 1; iteration < ASKED * STEADY; iteration++) {
		if (!is_asked_in(iteration))
			continue;
		await_semaphore(&is_ready);
		CHECK(cuLaunchHostFunc(functions, wait_until_published, (void *)(uintptr_t)iteration));
		sem_post(&may_launch);
		await_semaphore(&has_launched);
		ask_about(kernels[iteration / STEADY], iteration / STEADY);
		sem_post(&may_go_on);
	}
	pthread_join(thread, NULL);
	hazard_print("x", hazard_x);
	hazard_print("first launched", first_launched);
}

const struct hazard launch_hazards[] = {
	{"loading_behind_function", loading_behind_function},
	{"loading_in_backoff_stream", loading_in_backoff_stream},
	{"loading_in_backoff_blocking_stream", loading_in_backoff_blocking_stream},
	{"loading_beside_deferred", loading_beside_deferred},
	{"cluster_change", cluster_change},
	{"cooperative", cooperative},
	{"cooperative_call", cooperative_call},
	{"pdl", pdl},
	{"priority", priority},
	{"launch_events", launch_events},
	{"unknown_attribute", unknown_attribute},
	{"kernel_handle", kernel_handle},
	{"device_printf", device_printf},
	{"denied_kernel", denied_kernel},
	{"denied_template", denied_template},
	{"launching_kernel", launching_kernel},
	{"linked_kernel", linked_kernel},
	{NULL, NULL},
};
