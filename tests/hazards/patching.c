/* Graphs brought to a visit: nodes set one by one, whatever their kind, and nodes of ops that do
 * not come. */
#include <sched.h>
#include <time.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

/* A number that looks random, the same for the same iteration. */
static unsigned draw(unsigned iteration, unsigned salt, unsigned below)
{
	unsigned z = (iteration * 2654435761u) ^ (salt * 40503u);

	z = (z ^ (z >> 15)) * 2246822519u;
	return (z ^ (z >> 13)) % below;
}

/* Whether an op is absent in this iteration, once the loop is hot: in about two of five. */
static bool something_is_absent(unsigned iteration)
{
	if (iteration % 60 == 0)
		hazard_await_graphs(); /* what takes an op for absent is a trace */
	return iteration > 60 && draw(iteration, 1, 5) < 2;
}

/* What a body of ops of all kinds works on. */
static struct {
	CUdeviceptr sources, scratch;
	unsigned *pinned; /* blocks that are copied from, and one that is copied to */
} all;

#define BLOCK (WORDS * 4)
#define SOURCES 31u
#define PINNED 13u
#define KINDS 9u

static void set_up_all(void)
{
	void *pinned;

	CHECK(cuMemAllocHost(&pinned, (PINNED + 1) * BLOCK));
	all.pinned = pinned;
	for (unsigned i = 0; i < PINNED * WORDS; i++)
		all.pinned[i] = i * i + 1;
	CHECK(cuMemAlloc(&all.sources, SOURCES * BLOCK));
	CHECK(cuMemAlloc(&all.scratch, 8 * BLOCK));
	for (unsigned i = 0; i < SOURCES; i++)
		CHECK(cuMemsetD32(all.sources + i * BLOCK, i * i + 3, WORDS));
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

/* One op of a long chain does not come, now here, now there. */
static void absent_anywhere(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned absent =
			something_is_absent(iteration) ? draw(iteration, 2, 4 * CHAIN) : UINT32_MAX;

		for (unsigned i = 0; i < 4 * CHAIN; i++)
			if (i != absent)
				hazard_launch(i % 2 ? hazard_turn : hazard_mix, hazard_x, i, stream);
		if (iteration % 3)
			CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Copies and memsets are absent, too, up to three ops at a time and at two places. */
static void absent_mixed(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	set_up_all();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool absent = something_is_absent(iteration);
		unsigned first = draw(iteration, 2, 2 * KINDS), second = draw(iteration, 3, 2 * KINDS);

		for (unsigned i = 0; i < 2 * KINDS; i++)
			if (!absent || (i != first && i != second))
				one_of_all(i % KINDS, i, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

/* What came behind an absent op is left, too: by a wait, by an op that nobody expects, by a host
 * that waits for what was answered. */
static void absent_then_left(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUfunction publish = hazard_function("publish");
	volatile unsigned *flag;
	CUdeviceptr on_device;
	void *mapped;

	CHECK(cuMemHostAlloc(&mapped, 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&on_device, mapped, 0));
	flag = mapped;
	*flag = UINT32_MAX;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned absent = something_is_absent(iteration) ? 12 + draw(iteration, 2, 3) : UINT32_MAX;
		unsigned then = draw(iteration, 3, 4), value = 5;

		for (unsigned i = 0; i < CHAIN; i++) {
			if (i == 11) /* the host's word is set before anything is absent */
				CHECK(cuLaunchKernel(publish, 1, 1, 1, 1, 1, 1, 0, stream,
				                     (void *[]){&on_device, &value}, NULL));
			if (i != absent)
				hazard_launch(i % 2 ? hazard_turn : hazard_mix, hazard_x, i, stream);
			if (absent == UINT32_MAX || i != 18)
				continue;
			if (then == 0)
				CHECK(cuStreamSynchronize(stream));
			else if (then == 1)
				hazard_launch(hazard_turn, hazard_x, iteration, stream);
			else if (then == 2)
				while (*flag != value)
					;
		}
		CHECK(cuStreamSynchronize(stream));
		*flag = 0;
	}
	hazard_print("x", hazard_x);
}

/* The same op is absent in every other iteration: what comes without it gets a trace of its own. */
static void absent_often(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++)
			if (i != 13 || iteration < 60 || draw(iteration, 4, 2) == 0)
				hazard_launch(i % 2 ? hazard_turn : hazard_mix, hazard_x, i, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Until Reprise has built one more graph than `before`, if it is there; as long as a build may take
 * on a busy machine. */
static void await_another_graph(uint64_t before)
{
	struct timespec begin, now;
	struct reprise_counts counts;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (reprise_read_counts(&counts, sizeof(counts)) > 0 && counts.graphs_built <= before &&
	         now.tv_sec - begin.tv_sec < 2);
}

/* A body whose copies are from this memory, or from one of many blocks if 0, and of which one op
 * may be absent. */
static void copies_and_launches(CUdeviceptr source, unsigned iteration, unsigned absent,
                                CUstream stream)
{
	for (unsigned i = 0; i < CHAIN; i++)
		if (i % 6 == 3)
			CHECK(cuMemcpyDtoDAsync(hazard_y,
			                        source != 0 ? source
			                                    : all.sources + iteration * 7 % SOURCES * BLOCK,
			                        BLOCK, stream));
		else if (i != absent)
			hazard_launch(i % 2 ? hazard_turn : hazard_mix, hazard_x, i, stream);
	CHECK(cuStreamSynchronize(stream));
}

/* Ops that are no part of any trace, until what was put aside is tried again. */
static void pass_time(unsigned ops, CUstream stream)
{
	unsigned word = 5;

	for (unsigned i = 0; i < ops; i++)
		CHECK(cuMemcpyHtoDAsync(all.scratch, &word, 4, stream));
	CHECK(cuStreamSynchronize(stream));
}

/*
 * The copies of three visits are from memory of another context, which no graph can be brought to;
 * it is built anew. In these visits, and in the first one of the new graph, an op is absent.
 */
static void refused_with_absent(void)
{
	static const unsigned absents[] = {11, 12, 13, 14, 16, 17, 18, 19};
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct reprise_counts counts;
	CUdeviceptr there;
	CUcontext elsewhere;

	set_up_all();
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuMemAlloc(&there, BLOCK));
	CHECK(cuMemsetD32(there, 4, WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < 60; iteration++)
		copies_and_launches(0, iteration, UINT32_MAX, stream);
	hazard_settle(stream);
	for (unsigned i = 0; i < sizeof(absents) / sizeof(absents[0]); i++) {
		for (unsigned iteration = 0; iteration < 200; iteration++)
			copies_and_launches(0, iteration, UINT32_MAX, stream);
		hazard_settle(stream);
		reprise_read_counts(&counts, sizeof(counts));
		for (unsigned refusal = 0; refusal < 3; refusal++)
			copies_and_launches(there, 0, absents[i], stream);
		await_another_graph(counts.graphs_built);
		pass_time(600, stream);
		copies_and_launches(there, 0, absents[i], stream);
	}
	hazard_print("x", hazard_x);
}

/* Some ops have new values each time; they or others are absent. */
static void absent_and_new(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	set_up_all();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned absent = something_is_absent(iteration) ? draw(iteration, 2, CHAIN) : UINT32_MAX;

		for (unsigned i = 0; i < CHAIN; i++) {
			if (i == absent)
				continue;
			if (i % 4 == 2)
				one_of_all(i % KINDS, iteration * 5 + i, stream);
			else
				hazard_launch(i % 2 ? hazard_turn : hazard_mix, hazard_x, i % 5 ? i : iteration,
				              stream);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

/* Two bodies with a common beginning, in which an op is absent: the other body has it, too. */
static void absent_in_either(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned absent = something_is_absent(iteration) ? 9 + draw(iteration, 2, 5) : UINT32_MAX,
				 body = draw(iteration, 3, 2);

		for (unsigned i = 0; i < CHAIN; i++)
			if (i != absent)
				hazard_launch(i % 2 ? hazard_turn : hazard_mix, hazard_x,
				              i < 17 ? i : i + 100 * body, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

const struct hazard patching_hazards[] = {
	{"patch_mixed", patch_mixed},
	{"absent_anywhere", absent_anywhere},
	{"absent_mixed", absent_mixed},
	{"absent_then_left", absent_then_left},
	{"absent_often", absent_often},
	{"refused_with_absent", refused_with_absent},
	{"absent_and_new", absent_and_new},
	{"absent_in_either", absent_in_either},
	{NULL, NULL},
};
