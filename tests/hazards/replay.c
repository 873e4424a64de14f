/* What graphs refer to ends, changes or is refused: handles that come back, settings, limits,
 * updates. */
#include "hazard.h"

/* Each version of a name has its own signature: each caller gets the one it asked for. */
static void version_signature(void)
{
	CUresult (*synchronize)(void);
	CUresult (*synchronize_of)(CUcontext context);
	CUcontext elsewhere;
	CUdeviceptr there, y;
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING), stream_there;
	CUfunction mix_there;
	CUmodule module;
	volatile uint32_t *words;
	uint32_t sum = 0;
	void *memory;

	CHECK(cuGetProcAddress("cuCtxSynchronize", (void **)&synchronize, 12000,
	                       CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	CHECK(cuGetProcAddress("cuCtxSynchronize", (void **)&synchronize_of, 13000,
	                       CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&mix_there, module, "mix"));
	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	CHECK(cuMemHostGetDevicePointer(&there, memory, 0));
	CHECK(cuMemAlloc(&y, WORDS * 4));
	CHECK(cuMemsetD32(there, 1, WORDS));
	CHECK(cuMemsetD32(y, 1, WORDS));
	CHECK(synchronize());
	stream_there = hazard_stream(CU_STREAM_NON_BLOCKING);
	words = memory;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CHECK(cuCtxSetCurrent(elsewhere));
		for (unsigned i = 0; i < CHAIN; i++) {
			unsigned argument = hazard_springs(iteration) ? iteration : i;

			CHECK(cuLaunchKernel(mix_there, 1, 1, 1, WORDS, 1, 1, 0, stream_there,
			                     (void *[]){&there, &y, &argument}, NULL));
		}
		CHECK(cuCtxSetCurrent(hazard_context));
		hazard_chain(hazard_x, stream);
		if (iteration % 2) {
			CHECK(synchronize_of(elsewhere));
			sum = sum * 69069u + words[iteration % WORDS];
		}
		CHECK(synchronize());
	}
	CHECK(synchronize_of(elsewhere));
	printf("there %08x\n", (unsigned)sum);
	hazard_print("x", hazard_x);
}

/* ---- a driver that is newer than every header ---- */

#define NEWER 14000 /* the simulation's, with SIM_NEWER */

/* Forms with other parameters than any that is known, and a function of a new name
 * (tests/sim/newer.c). */
static struct {
	CUresult (*launch)(unsigned long flags, CUfunction function, const unsigned *grid,
	                   const unsigned *block, CUstream stream, void **parameters);
	CUresult (*copy)(unsigned long flags, CUdeviceptr target, CUdeviceptr source, size_t bytes,
	                 CUstream stream);
	CUresult (*synchronize)(unsigned long flags, CUstream stream);
	CUresult (*wait)(unsigned long flags, CUstream stream, CUevent event);
	CUresult (*record)(unsigned long flags, CUevent event, CUstream stream);
	CUresult (*free)(unsigned long flags, CUdeviceptr memory);
	CUresult (*unload)(unsigned long flags, CUmodule module);
	CUresult (*begin_capture)(unsigned long flags, CUstream stream, CUstreamCaptureMode mode);
	CUresult (*read)(unsigned long flags, CUdeviceptr word, CUstream stream, unsigned *value);
} newer;

static void find_newer(const char *name, void *function)
{
	CHECK(cuGetProcAddress(name, function, NEWER, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
}

static void find_all_newer(void)
{
	find_newer("cuLaunchKernel", &newer.launch);
	find_newer("cuMemcpyAsync", &newer.copy);
	find_newer("cuStreamSynchronize", &newer.synchronize);
	find_newer("cuStreamWaitEvent", &newer.wait);
	find_newer("cuEventRecord", &newer.record);
	find_newer("cuMemFree", &newer.free);
	find_newer("cuModuleUnload", &newer.unload);
	find_newer("cuStreamRead", &newer.read);
}

static void call_newer(unsigned turn, CUstream stream, CUstream other, CUevent event)
{
	static const unsigned one[] = {1, 1, 1}, words[] = {WORDS, 1, 1};
	CUdeviceptr memory;
	CUfunction mix;
	CUmodule module;
	unsigned value;

	switch (turn % 5) {
	case 0:
		CHECK(newer.launch(0, hazard_mix, one, words, stream,
		                   (void *[]){&hazard_x, &hazard_y, &turn}));
		break;
	case 1:
		CHECK(newer.copy(0, hazard_y, hazard_x, WORDS * 2, stream));
		break;
	case 2: /* the other stream's work between this one's */
		CHECK(newer.record(0, event, stream));
		CHECK(newer.wait(0, other, event));
		hazard_launch(hazard_turn, hazard_x, turn, other);
		CHECK(newer.record(0, event, other));
		CHECK(newer.wait(0, stream, event));
		break;
	case 3:
		CHECK(cuMemAlloc(&memory, WORDS * 4));
		CHECK(cuModuleLoad(&module, hazard_module_path));
		CHECK(cuModuleGetFunction(&mix, module, "mix"));
		CHECK(newer.copy(0, memory, hazard_x, WORDS * 4, stream));
		CHECK(cuMemcpyDtoDAsync(hazard_y, memory, WORDS * 4, stream));
		hazard_launch(mix, hazard_x, turn, stream);
		CHECK(newer.synchronize(0, stream));
		CHECK(newer.unload(0, module));
		CHECK(newer.free(0, memory));
		break;
	default:
		CHECK(newer.read(0, hazard_x, stream, &value));
		hazard_launch(hazard_mix, hazard_x, value, stream);
	}
}

/* Newer calls in the midst of a hot loop, now and then: each behind other ops than the one before,
 * so that no trace ends there. */
static void newer_driver(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUstream other = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent event;
	unsigned turn = 0;

	find_all_newer();
	CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned at = 1 + turn * 7 % (CHAIN - 1);

		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		for (unsigned i = 0; i < CHAIN; i++) {
			if (i == at && hazard_springs(iteration))
				call_newer(turn++, stream, other, event);
			hazard_launch(i % 2 ? hazard_mix : hazard_turn, hazard_x, i, stream);
		}
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

/* A newer form of the call that begins a capture: what follows cannot be followed. */
static void newer_capture(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUgraphExec executable;
	CUgraph graph;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (iteration == ITERATIONS / 2)
			find_newer("cuStreamBeginCapture", &newer.begin_capture);
		if (iteration > ITERATIONS / 2 && hazard_springs(iteration)) {
			CHECK(newer.begin_capture(0, stream, CU_STREAM_CAPTURE_MODE_RELAXED));
			hazard_part_of_chain(hazard_x, 5, stream);
			CHECK(cuStreamEndCapture(stream, &graph));
			CHECK(cuGraphInstantiate(&executable, graph, 0));
			CHECK(cuGraphLaunch(executable, stream));
			CHECK(cuStreamSynchronize(stream));
			CHECK(cuGraphExecDestroy(executable));
			CHECK(cuGraphDestroy(graph));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* An array is destroyed; the next has its handle, but not its memory. */
static CUarray array_elsewhere(CUarray old)
{
	CUDA_ARRAY_DESCRIPTOR shape = {.Width = WORDS,
	                               .Height = 4,
	                               .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                               .NumChannels = 1};
	CUarray array;
	CUdeviceptr taken;

	if (old != NULL) {
		CHECK(cuArrayDestroy(old));
		CHECK(cuMemAlloc(&taken, WORDS * 4 * 4));
	}
	CHECK(cuArrayCreate(&array, &shape));
	return array;
}

static void array_reuse(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUarray array = array_elsewhere(NULL);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUDA_MEMCPY2D put = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		                     .srcDevice = hazard_x,
		                     .srcPitch = WORDS * 4,
		                     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
		                     .dstArray = array,
		                     .dstY = 2,
		                     .WidthInBytes = WORDS * 4,
		                     .Height = 1};
		CUDA_MEMCPY2D get = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
		                     .srcArray = array,
		                     .srcY = 2,
		                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		                     .dstDevice = hazard_y,
		                     .dstPitch = WORDS * 4,
		                     .WidthInBytes = WORDS * 4,
		                     .Height = 1};

		hazard_chain(hazard_x, stream);
		CHECK(cuMemcpy2DAsync(&put, stream));
		CHECK(cuMemcpy2DAsync(&get, stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
		if (hazard_springs(iteration))
			array = array_elsewhere(array);
	}
	hazard_print("x", hazard_x);
}

/* A stream of a green context, whose kernels run on some of the multiprocessors only. */
static void green_context(void)
{
	CUdevResource all, part;
	CUdevResourceDesc description;
	CUgreenCtx green;
	CUstream stream;
	unsigned parts = 1;

	CHECK(cuDeviceGetDevResource(hazard_device, &all, CU_DEV_RESOURCE_TYPE_SM));
	CHECK(cuDevSmResourceSplitByCount(&part, &parts, &all, NULL, 0, 16));
	CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
	CHECK(cuGreenCtxCreate(&green, description, hazard_device, CU_GREEN_CTX_DEFAULT_STREAM));
	CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration))
			hazard_launch(hazard_turn, hazard_x, iteration, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	CHECK(cuStreamDestroy(stream));
	CHECK(cuGreenCtxDestroy(green));
	hazard_print("x", hazard_x);
}

/* What a graph may hold once only, or not at all: allocations, and nodes that the device may
 * update. */
static void node_limits(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned refused = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUlaunchAttribute updatable = {.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
		                               .value.deviceUpdatableKernelNode.deviceUpdatable = 1};
		CUlaunchConfig config = {.gridDimX = 1,
		                         .gridDimY = 1,
		                         .gridDimZ = 1,
		                         .blockDimX = WORDS,
		                         .blockDimY = 1,
		                         .blockDimZ = 1,
		                         .hStream = stream,
		                         .attrs = &updatable,
		                         .numAttrs = 1};
		unsigned argument = iteration % 4;
		CUdeviceptr y;

		hazard_chain(hazard_x, stream);
		hazard_launch(hazard_turn, hazard_x, 3, stream); /* not where a trace ends */
		hazard_launch(hazard_mix, hazard_x, 3, stream);
		CHECK(cuMemAllocAsync(&y, WORDS * 4, stream));
		CHECK(cuMemsetD32Async(y, hazard_springs(iteration) ? iteration : 8, WORDS, stream));
		CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                     (void *[]){&hazard_x, &y, &argument}, NULL));
		hazard_chain(hazard_x, stream);
		CHECK(cuMemFreeAsync(y, stream));
		refused +=
			cuLaunchKernelEx(&config, hazard_mix, (void *[]){&hazard_x, &hazard_y, &argument},
		                     NULL) == CUDA_ERROR_NOT_SUPPORTED;
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	printf("refused %u\n", refused);
	hazard_print("x", hazard_x);
}

/* The source of a copy is now and then memory of another context: no update makes that of a node
 * (cuGraphExecUpdate, "Limitations"). */
static void update_refused(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr here, there;
	CUcontext elsewhere;

	CHECK(cuMemAlloc(&here, 31 * WORDS * 4));
	CHECK(cuMemsetD32(here, 3, 31 * WORDS));
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuMemAlloc(&there, WORDS * 4));
	CHECK(cuMemsetD32(there, 4, WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		/* Never the same twice in a while, so that one graph is brought to all of them. */
		CUdeviceptr source =
			hazard_springs(iteration) ? there : here + iteration * 7 % 31 * WORDS * 4;

		/* After others: on a slow host the first op after a wait is a trace of its own, and a copy
		 * alone is left eager. */
		hazard_part_of_chain(hazard_x, CHAIN / 4, stream);
		CHECK(cuMemcpyDtoDAsync(hazard_y, source, WORDS * 4, stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Five parameters of a chain change each time: for the single-node updates of which the third fails
 * (SIM_FAULT). */
static void half_patched(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++)
			hazard_launch(i % 2 ? hazard_mix : hazard_turn, hazard_x,
			              i < 5 ? iteration * 31 + i : i, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

const struct hazard replay_hazards[] = {
	{"version_signature", version_signature},
	{"newer_driver", newer_driver},
	{"newer_capture", newer_capture},
	{"array_reuse", array_reuse},
	{"green_context", green_context},
	{"node_limits", node_limits},
	{"update_refused", update_refused},
	{"half_patched", half_patched},
	{NULL, NULL},
};
