/* Several devices in one process. Needs two: SIM_DEVICES=2. */
#include "hazard.h"

/* What a device has: hazard_x and hazard_y are the first one's. */
struct there {
	CUcontext context;
	CUfunction mix, turn;
	CUdeviceptr x, y;
	CUstream stream;
	CUevent done;
};

static void set_up(struct there *there, CUdevice device, unsigned flags)
{
	CUmodule module;

	CHECK(cuDevicePrimaryCtxRetain(&there->context, device));
	CHECK(cuCtxSetCurrent(there->context));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&there->mix, module, "mix"));
	CHECK(cuModuleGetFunction(&there->turn, module, "turn"));
	CHECK(cuMemAlloc(&there->x, WORDS * 4));
	CHECK(cuMemAlloc(&there->y, WORDS * 4));
	CHECK(cuMemsetD32(there->x, 7 + (unsigned)device, WORDS));
	CHECK(cuMemsetD32(there->y, 5 + (unsigned)device, WORDS));
	CHECK(cuCtxSynchronize());
	there->stream = hazard_stream(flags);
	CHECK(cuEventCreate(&there->done, CU_EVENT_DISABLE_TIMING));
}

static void work_on(struct there *there, unsigned from, unsigned to, CUstream stream)
{
	CHECK(cuCtxSetCurrent(there->context));
	for (unsigned i = from; i < to; i++)
		CHECK(cuLaunchKernel(i % 2 == 0 ? there->mix : there->turn, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                     (void *[]){&there->x, &there->y, &i}, NULL));
}

static void print_both(struct there devices[2])
{
	for (unsigned i = 0; i < 2; i++) {
		CHECK(cuCtxSetCurrent(devices[i].context));
		hazard_print(i == 0 ? "x here" : "x there", devices[i].x);
	}
	CHECK(cuCtxSetCurrent(hazard_context));
}

static void hand_over(struct there *from, struct there *to)
{
	CHECK(cuCtxSetCurrent(from->context));
	CHECK(cuEventRecord(from->done, from->stream));
	CHECK(cuCtxSetCurrent(to->context));
	CHECK(cuStreamWaitEvent(to->stream, from->done, 0));
}

/*
 * Two devices work on each other's results by turns: copies there by name of both contexts, back by
 * addresses alone; now and then within one device instead, and then the copy there is left
 * deferred, too, by another kernel than the one that always comes behind it.
 */
static void peer_copies(void)
{
	struct there devices[2];

	for (int i = 0; i < 2; i++)
		set_up(&devices[i], i, CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		struct there *here = &devices[0], *there = &devices[1];

		work_on(here, 0, CHAIN / 2, here->stream);
		CHECK(cuMemcpyPeerAsync(there->y, there->context, here->x, here->context, WORDS * 4,
		                        here->stream));
		work_on(here, hazard_springs(iteration) ? 1 : 0, hazard_springs(iteration) ? 2 : 1,
		        here->stream);
		hand_over(here, there);
		work_on(there, 0, CHAIN / 2, there->stream);
		if (hazard_springs(iteration))
			CHECK(cuMemcpyPeerAsync(there->x, there->context, there->y, there->context, WORDS * 4,
			                        there->stream));
		CHECK(cuMemcpyAsync(hazard_springs(iteration) ? here->x : here->y, there->x, WORDS * 4,
		                    there->stream));
		hand_over(there, here);
		work_on(here, CHAIN / 2, CHAIN, here->stream);
	}
	print_both(devices);
}

/* A copy from the other device on the legacy stream, in the middle of what that does on a blocking
 * one: after what was issued there before, before the rest. */
static void copy_across(struct there devices[2], unsigned iteration)
{
	unsigned middle = hazard_springs(iteration) ? iteration % CHAIN : CHAIN;

	work_on(&devices[1], 0, middle, devices[1].stream);
	CHECK(cuCtxSetCurrent(devices[0].context));
	CHECK(cuMemcpyAsync(devices[0].x, devices[1].x, WORDS * 4,
	                    iteration % 2 == 0 ? NULL : CU_STREAM_LEGACY));
	work_on(&devices[1], middle, CHAIN, devices[1].stream);
	work_on(&devices[0], 0, CHAIN, NULL);
	CHECK(cuStreamSynchronize(NULL));
	CHECK(cuCtxSetCurrent(devices[1].context));
	CHECK(cuStreamSynchronize(devices[1].stream));
}

static void legacy_peer_copy(void)
{
	struct there devices[2];

	for (int i = 0; i < 2; i++)
		set_up(&devices[i], i, CU_STREAM_DEFAULT);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++)
		copy_across(devices, iteration);
	print_both(devices);
}

/* Such copies, of a row of the other device's array, which is filled by that device just before and
 * anew just after: an array's handle does not tell whose it is. */
static void legacy_array_copy(void)
{
	CUDA_ARRAY_DESCRIPTOR shape = {.Width = WORDS,
	                               .Height = 1,
	                               .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                               .NumChannels = 1};
	struct there devices[2], *here = &devices[0], *there = &devices[1];
	CUarray array;

	for (int i = 0; i < 2; i++)
		set_up(&devices[i], i, CU_STREAM_DEFAULT);
	CHECK(cuArrayCreate(&array, &shape)); /* of the second one, whose context is current */

	CUDA_MEMCPY2D put = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                     .srcDevice = there->x,
	                     .srcPitch = WORDS * 4,
	                     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
	                     .dstArray = array,
	                     .WidthInBytes = WORDS * 4,
	                     .Height = 1};
	CUDA_MEMCPY2D get = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
	                     .srcArray = array,
	                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                     .dstDevice = here->x,
	                     .dstPitch = WORDS * 4,
	                     .WidthInBytes = WORDS * 4,
	                     .Height = 1};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		work_on(there, 0, CHAIN, there->stream);
		CHECK(cuMemcpy2DAsync(&put, there->stream));
		CHECK(cuCtxSetCurrent(here->context));
		CHECK(cuMemcpy2DAsync(&get, iteration % 2 == 0 ? NULL : CU_STREAM_LEGACY));
		work_on(there, 0, CHAIN, there->stream);
		CHECK(cuMemcpy2DAsync(&put, there->stream));
		work_on(here, 0, CHAIN, NULL);
		CHECK(cuStreamSynchronize(NULL));
		CHECK(cuCtxSetCurrent(there->context));
		CHECK(cuStreamSynchronize(there->stream));
	}
	print_both(devices);
}

/* Such copies, from an address that was a pool's memory on this device before, and was given back
 * in stream order. */
static void pool_memory_elsewhere(void)
{
	struct there devices[2], *here = &devices[0], *there = &devices[1];
	CUdeviceptr memory, before;

	for (int i = 0; i < 2; i++)
		set_up(&devices[i], i, CU_STREAM_DEFAULT);
	before = there->x;
	CHECK(cuCtxSetCurrent(here->context));
	CHECK(cuMemAllocAsync(&memory, 65536, here->stream));
	CHECK(cuMemsetD32Async(memory, 9, WORDS, here->stream));
	CHECK(cuStreamSynchronize(here->stream));
	for (unsigned iteration = 0; iteration < 200; iteration++) {
		CHECK(cuMemcpyAsync(here->x, memory, WORDS * 4,
		                    iteration % 2 == 0 ? NULL : CU_STREAM_LEGACY));
		work_on(here, 0, CHAIN, NULL);
		CHECK(cuStreamSynchronize(NULL));
	}
	CHECK(cuMemFreeAsync(memory, here->stream));
	CHECK(cuStreamSynchronize(here->stream));
	CHECK(cuCtxSetCurrent(there->context));
	CHECK(cuMemAlloc(&there->x, 65536));
	if (there->x != memory)
		printf("the address did not come back\n");
	CHECK(cuMemcpyDtoD(there->x, before, WORDS * 4));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++)
		copy_across(devices, iteration);
	print_both(devices);
}

const struct hazard device_hazards[] = {
	{"peer_copies", peer_copies},
	{"legacy_peer_copy", legacy_peer_copy},
	{"legacy_array_copy", legacy_array_copy},
	{"pool_memory_elsewhere", pool_memory_elsewhere},
	{NULL, NULL},
};
