/* Graphs brought to a visit: nodes set one by one, whatever their kind. */
#include "hazard.h"

/* What a body of ops of all kinds works on. */
static struct {
	CUdeviceptr sources, scratch;
	unsigned *pinned; /* blocks that are copied from, and one that is copied to */
} all;

#define BLOCK (WORDS * 4)
#define SOURCES 31u
#define PINNED 13u
#define KINDS 9u

/* Blocks that are copied from, each with another value. */
static void make_sources(unsigned first)
{
	CHECK(cuMemAlloc(&all.sources, SOURCES * BLOCK));
	for (unsigned i = 0; i < SOURCES; i++)
		CHECK(cuMemsetD32(all.sources + i * BLOCK, i * i + first, WORDS));
}

static void set_up_all(void)
{
	void *pinned;

	CHECK(cuMemAllocHost(&pinned, (PINNED + 1) * BLOCK));
	all.pinned = pinned;
	for (unsigned i = 0; i < PINNED * WORDS; i++)
		all.pinned[i] = i * i + 1;
	make_sources(3);
	CHECK(cuMemAlloc(&all.scratch, 8 * BLOCK));
	CHECK(cuMemsetD32(all.scratch, 7, 8 * WORDS));
	CHECK(cuCtxSynchronize());
}

/* Op `kind` of a body, with one of many values; then x takes up what it left. */
static void one_of_all(unsigned kind, unsigned value, CUstream stream)
{
	CUdeviceptr source = all.sources + value % SOURCES * BLOCK, y = all.scratch + value % 7 * BLOCK;
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcDevice = all.sources,
	                       .srcPitch = 32,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstDevice = hazard_y,
	                       .dstPitch = 16,
	                       .WidthInBytes = 16,
	                       .Height = 4};

	switch (kind) {
	case 0:
		CHECK(cuMemcpyDtoDAsync(hazard_y, source, BLOCK, stream));
		break;
	case 1:
		CHECK(cuMemcpyHtoDAsync(hazard_y, all.pinned + value % PINNED * WORDS, BLOCK, stream));
		break;
	case 2:
		CHECK(cuMemcpyAsync(y, source, BLOCK, stream));
		CHECK(cuMemcpyAsync(hazard_y, y, BLOCK, stream));
		break;
	case 3:
		CHECK(cuMemcpyDtoHAsync(all.pinned + PINNED * WORDS, hazard_x, BLOCK, stream));
		CHECK(cuMemcpyHtoDAsync(y, all.pinned + PINNED * WORDS, BLOCK, stream));
		CHECK(cuMemcpyDtoDAsync(hazard_y, y, BLOCK, stream));
		break;
	case 4:
		CHECK(cuMemsetD8Async(hazard_y, (unsigned char)value, BLOCK, stream));
		break;
	case 5:
		CHECK(cuMemsetD16Async(hazard_y, (unsigned short)(value * 257), WORDS * 2, stream));
		break;
	case 6:
		CHECK(cuMemsetD32Async(hazard_y, value * 65537, WORDS, stream));
		break;
	case 7:
		CHECK(cuMemsetD2D8Async(hazard_y, 16, (unsigned char)(value * 3), 8, 4, stream));
		break;
	default:
		CHECK(cuMemcpy2DAsync(&plane, stream));
	}
	hazard_launch(hazard_mix, hazard_x, value, stream);
}

/* Kernels, copies and memsets, of all of which the values are new at each iteration. */
static void patch_mixed(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	set_up_all();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned kind = 0; kind < KINDS; kind++)
			one_of_all(kind, iteration * KINDS + kind, stream);
		if (hazard_springs(iteration))
			hazard_launch(hazard_turn, hazard_x, iteration, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

#define NEW 64    /* iterations in which all values are new */
#define SETS 6    /* of values, which come in no order then */
#define MANY 1500 /* iterations: until each set has cost more than a graph */

/* The same ops, whose values come from a few sets once they are any-value. Late in the run what
 * they copy from is freed, and allocated anew. */
static void patch_recurring(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned state = 1;

	set_up_all();
	for (unsigned iteration = 0; iteration < MANY; iteration++) {
		unsigned set = iteration;

		if (iteration >= NEW) {
			state = state * 1664525 + 1013904223;
			set = (state >> 20) % SETS;
		}
		for (unsigned kind = 0; kind < KINDS; kind++)
			one_of_all(kind, set * KINDS + kind, stream);
		if (hazard_is_irregular(iteration))
			hazard_launch(hazard_turn, hazard_x, iteration, stream);
		CHECK(cuStreamSynchronize(stream));
		if (iteration == MANY / 2)
			hazard_await_graphs();
		if (iteration == MANY - MANY / 4) {
			CHECK(cuMemFree(all.sources));
			make_sources(1);
			CHECK(cuCtxSynchronize());
		}
	}
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

const struct hazard patching_hazards[] = {
	{"patch_mixed", patch_mixed},
	{"patch_recurring", patch_recurring},
	{NULL, NULL},
};
