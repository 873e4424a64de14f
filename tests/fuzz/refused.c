/*
 * Calls that the driver refuses for what they are given, now and then, in places where the same
 * call was accepted before: what each returns, and that all else goes on, is a result as any other.
 * Values change all the while, so that Reprise takes any. Only what conformance has seen refused at
 * the call.
 */
#include "ops.h"

static CUresult launch(CUfunction function, const unsigned *grid, const unsigned *block,
                       unsigned shared, int stream, void **params)
{
	return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
	                      world.stream[stream], params, NULL);
}

static CUresult launch_ex(const unsigned *grid, const unsigned *block, int stream, void **params,
                          CUlaunchAttribute *attribute, unsigned count)
{
	CUlaunchConfig config = {grid[0],   grid[1],  grid[2], block[0],
	                         block[1],  block[2], 0,       world.stream[stream],
	                         attribute, count};

	return cuLaunchKernelEx(&config, world.mix, params, NULL);
}

void fuzz_launch_refused(int s, int what, int when)
{
	unsigned grid[3] = {1 + (unsigned)iteration % 3, 1, 1}, block[3] = {16, 1, 1}, shared = 0;
	void *all[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument}, **params = all;
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
	CUfunction function = world.mix;
	bool bad = fuzz_late(when);
	int stream = fuzz_stream_of(s);

	fuzz_take(fuzz_buffer_of(stream, what), fuzz_buffer_of(stream, what + 1), (unsigned)iteration);
	switch (fuzz_in(what, 13)) {
	case 0:
		grid[1] = bad ? 70000 : 1;
		break;
	case 1:
		grid[2] = bad ? 70000 : 1;
		break;
	case 2:
		grid[0] = bad ? 0 : 2;
		break;
	case 3:
		grid[2] = bad ? 0 : 1;
		break;
	case 4:
		block[0] = bad ? 4096 : 16;
		break;
	case 5:
		block[1] = bad ? 0 : 1;
		break;
	case 6:
		shared = bad ? 1u << 30 : 64 * ((unsigned)iteration % 5);
		break;
	case 7:
		function = bad ? NULL : function;
		break;
	case 8:
		params = bad ? NULL : params;
		break;
	case 9:
		grid[0] = bad ? 1u << 20 : grid[0];
		CALL(launch_ex(grid, block, stream, params, &attribute, 1));
		return;
	case 10:
		attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
		                                .value.clusterDim = {2, 1, 1}};
		grid[0] = bad ? 3 : 2 + 2 * ((unsigned)iteration % 2);
		CALL(launch_ex(grid, block, stream, params, &attribute, 1));
		return;
	case 11:
		attribute = (CUlaunchAttribute){.id = bad ? (CUlaunchAttributeID)1000
		                                          : CU_LAUNCH_ATTRIBUTE_PRIORITY};
		CALL(launch_ex(grid, block, stream, params, &attribute, 1));
		return;
	default:
		attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
		CALL(launch_ex(grid, block, stream, params, bad ? NULL : &attribute, 1));
		return;
	}
	CALL(launch(function, grid, block, shared, stream, params));
	fuzz_spoil();
}

/* Memsets and copies that move on in the stream's field, and now and then would leave it, or are
 * not aligned. */
void fuzz_memory_refused(int s, int what, int when)
{
	int stream = fuzz_stream_of(s);
	CUstream on = world.stream[stream];
	CUdeviceptr at = world.field[stream] + (unsigned)iteration * 64 % (FIELD_USED - 256),
				end = world.field[stream] + FIELD_BYTES;
	bool bad = fuzz_late(when);
	unsigned value = (unsigned)iteration;

	switch (fuzz_in(what, 12)) {
	case 0:
		CALL(cuMemsetD32Async(bad ? end - 32 : at, value, 16, on));
		break;
	case 1:
		CALL(cuMemsetD32Async(bad ? at + 2 : at, value, 16, on));
		break;
	case 2:
		CALL(cuMemsetD16Async(bad ? at + 1 : at, (unsigned short)value, 16, on));
		break;
	case 3:
		CALL(cuMemsetD8Async(bad ? end - 8 : at, (unsigned char)value, 16, on));
		break;
	case 4:
		CALL(cuMemcpyDtoDAsync(bad ? end - 32 : at, fuzz_buffer_of(stream, what), 64, on));
		break;
	case 5:
		CALL(cuMemcpyDtoDAsync(fuzz_buffer_of(stream, what), bad ? end - 32 : at, 64, on));
		break;
	case 6:
		CALL(cuMemcpyHtoDAsync(bad ? end - 32 : at, world.pinned[stream], 64, on));
		break;
	case 7:
		CALL(cuMemcpyAsync(bad ? end - 32 : at, fuzz_buffer_of(stream, what), 64, on));
		break;
	case 8:
		CALL(cuMemcpyDtoDAsync(bad ? 0 : at, fuzz_buffer_of(stream, what), 64, on));
		break;
	case 9:
		CALL(cuMemsetD2D8Async(at, bad ? 8 : 32, (unsigned char)value, 16, 3, on));
		break;
	case 10:
		CALL(cuMemsetD2D32Async(at, bad ? 30 : 32, value, 4, 3, on));
		break;
	default:
		CALL(cuMemcpyHtoDAsync(at, bad ? NULL : world.pinned[stream], 64, on));
		break;
	}
}

/* Sizes of zero do nothing. */
void fuzz_nothing(int s, int what, int when)
{
	int stream = fuzz_stream_of(s);
	CUstream on = world.stream[stream];
	CUdeviceptr at = world.field[stream] + 256;
	size_t none = fuzz_late(when) ? 0 : 1;
	unsigned char value = (unsigned char)iteration;

	switch (fuzz_in(what, 6)) {
	case 0:
		CALL(cuMemsetD8Async(at, value, 16 * none, on));
		break;
	case 1:
		CALL(cuMemsetD2D8Async(at, 32, value, 16, 3 * none, on));
		break;
	case 2:
		CALL(cuMemsetD2D8Async(at, 32 * none, value, 16, 3 * none, on));
		break;
	case 3:
		CALL(cuMemsetD2D8Async(at, 32, value, 16 * none, 3, on));
		break;
	case 4:
		CALL(cuMemcpyDtoDAsync(at, fuzz_buffer_of(stream, what), 64 * none, on));
		break;
	default:
		CALL(cuMemcpyHtoDAsync(at, world.pinned[stream], 64 * none, on));
		break;
	}
}

/* Calls without what they need. */
void fuzz_call_refused(int s, int what, int when)
{
	int stream = fuzz_stream_of(s);
	CUstream on = world.stream[stream];
	bool bad = fuzz_late(when);

	switch (fuzz_in(what, 6)) {
	case 0:
		fuzz_function(stream);
		CALL(cuLaunchHostFunc(on, bad ? NULL : fuzz_log, fuzz_log_entry(stream, (unsigned)what)));
		break;
	case 1:
		CALL(cuEventRecord(bad ? NULL : world.edge[stream], on));
		break;
	case 2:
		CALL(cuStreamWaitEvent(on, bad ? NULL : world.edge[stream], 0));
		break;
	case 3:
		CALL(cuStreamWaitEvent(on, world.edge[stream], bad ? 77 : 0));
		break;
	case 4:
		if (bad && fuzz_simulated) /* no GPU was asked */
			CALL(cuMemcpy2DAsync(NULL, on));
		break;
	default:
		if (bad)
			CALL(cuFuncSetAttribute(world.shared_mix,
			                        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 24));
		break;
	}
}

/* More memory than there is: Reprise gives up its graphs for it, in vain. */
void fuzz_too_much(int what)
{
	CUdeviceptr at = 0;

	if (what % 2 == 0)
		CALL(cuMemAlloc(&at, 1ull << 50));
	else
		CALL(cuMemAllocManaged(&at, 1ull << 60, CU_MEM_ATTACH_GLOBAL));
	fuzz_look_at_state();
}
