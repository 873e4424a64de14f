/* Contexts that end, or may: what Reprise has made there is given back, and what it has made
 * elsewhere stays. */
#include "hazard.h"

/* A context with a loop of its own. */
struct place {
	struct hazard_place of;
	CUstream stream, side;
	CUevent fork, join;
};

static struct place make_place(void)
{
	struct place place = {.of = hazard_make_place()};

	place.stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	place.side = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&place.fork, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&place.join, CU_EVENT_DISABLE_TIMING));
	return place;
}

static void launch_chain(const struct place *place, CUstream stream)
{
	for (unsigned i = 0; i < CHAIN; i++)
		hazard_launch_there(&place->of, i, stream);
}

static void fork_and_join(const struct place *place)
{
	launch_chain(place, place->stream);
	CHECK(cuEventRecord(place->fork, place->stream));
	CHECK(cuStreamWaitEvent(place->side, place->fork, CU_EVENT_WAIT_DEFAULT));
	launch_chain(place, place->side);
	CHECK(cuEventRecord(place->join, place->side));
	CHECK(cuStreamWaitEvent(place->stream, place->join, CU_EVENT_WAIT_DEFAULT));
}

/* Loops in contexts that come and go, with work pending and without: on one stream, and on two that
 * fork and join. */
static void context_ends(void)
{
	uint32_t words[WORDS];

	for (unsigned round = 0; round < 24; round++) {
		struct place place = make_place();

		for (unsigned iteration = 0; iteration < 100; iteration++) {
			if (round % 2 != 0)
				fork_and_join(&place);
			else
				launch_chain(&place, place.stream);
			CHECK(cuStreamSynchronize(place.stream));
		}
		CHECK(cuMemcpyDtoH(words, place.of.x, sizeof(words)));
		printf("%u: %08x\n", round, (unsigned)words[round % WORDS]);
		if (round % 3 != 0)
			launch_chain(&place, place.stream);
		CHECK(cuCtxDestroy(place.of.context));
	}
	CHECK(cuCtxSetCurrent(hazard_context));
}

/* A loop in a context of the program's own, while a library of it retains the device's primary
 * context and releases it, each time for the last time. */
static void context_beside_release(void)
{
	struct place place = make_place();
	CUcontext primary;

	CHECK(cuDevicePrimaryCtxRelease(hazard_device));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		launch_chain(&place, place.stream);
		if (hazard_springs(iteration)) {
			CHECK(cuDevicePrimaryCtxRetain(&primary, hazard_device));
			CHECK(cuDevicePrimaryCtxRelease(hazard_device));
		}
		CHECK(cuStreamSynchronize(place.stream));
	}
	hazard_print("x", place.of.x);
	CHECK(cuCtxDestroy(place.of.context));
}

/* A green context is the last that holds its device's primary context, in which is a loop: with it
 * that ends. Every other time it was not the last. */
static void green_context_ends(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned round = 0; round < 12; round++) {
		CUgreenCtx green = hazard_green_context();

		if (round % 2 != 0)
			CHECK(cuDevicePrimaryCtxRelease(hazard_device));
		for (unsigned iteration = 0; iteration < 100; iteration++) {
			hazard_chain(hazard_x, stream);
			CHECK(cuStreamSynchronize(stream));
		}
		if (round % 3 != 0)
			hazard_chain(hazard_x, stream);
		CHECK(cuGreenCtxDestroy(green));
		if (round % 2 != 0) {
			hazard_set_up();
			stream = hazard_stream(CU_STREAM_NON_BLOCKING);
		}
		hazard_chain(hazard_x, stream);
		hazard_print("x", hazard_x);
	}
}

/*
 * A loop copies to an array of another context, which then ends: what the driver says of each call
 * from then on is what the program hears.
 */
static void context_of_array(void)
{
	CUDA_ARRAY_DESCRIPTOR shape = {.Width = WORDS,
	                               .Height = 4,
	                               .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                               .NumChannels = 1};
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUDA_MEMCPY2D put = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                     .srcDevice = hazard_x,
	                     .srcPitch = WORDS * 4,
	                     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
	                     .dstY = 2,
	                     .WidthInBytes = WORDS * 4,
	                     .Height = 1};

	for (unsigned round = 0; round < 6; round++) {
		CUresult first = CUDA_SUCCESS, last = CUDA_SUCCESS;
		CUcontext there;

		CHECK(cuCtxCreate(&there, NULL, 0, hazard_device));
		CHECK(cuArrayCreate(&put.dstArray, &shape));
		CHECK(cuCtxSetCurrent(hazard_context));
		for (unsigned iteration = 0; iteration < 300; iteration++) {
			hazard_part_of_chain(hazard_x, 5, stream);
			last = cuMemcpy2DAsync(&put, stream);
			if (iteration == 200)
				first = last;
			hazard_part_of_chain(hazard_x, 5, stream);
			CHECK(cuStreamSynchronize(stream));
			if (iteration == 20 || iteration == 40)
				hazard_settle(stream);
			if (iteration == 199)
				CHECK(cuCtxDestroy(there));
		}
		printf("%u: a copy returns %d, and later %d\n", round, (int)first, (int)last);
	}
	hazard_print("x", hazard_x);
}

enum { LOOPS = 300 };

/* A loop of one op, which is another one than before. */
static void new_op(CUstream stream, unsigned shared_bytes)
{
	for (unsigned iteration = 0; iteration < LOOPS; iteration++) {
		CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, shared_bytes, stream,
		                     (void *[]){&hazard_x, &hazard_y, &(unsigned){7}}, NULL));
		if (iteration % 50 == 49)
			hazard_settle(stream);
		else if (iteration % 10 == 9)
			CHECK(cuStreamSynchronize(stream));
	}
}

/*
 * With a hold limit of zero graphs have one op each. They are built while a context has its device
 * to itself, not while there is another: that one waits for events of the loop.
 */
static void alone_on_device(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent event;
	struct place place;

	CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (unsigned round = 0; round < 4; round++) {
		new_op(stream, round * 32);
		place = make_place();
		CHECK(cuCtxSetCurrent(hazard_context));
		new_op(stream, round * 32 + 16);
		CHECK(cuEventRecord(event, stream));
		CHECK(cuCtxSetCurrent(place.of.context));
		CHECK(cuStreamWaitEvent(place.stream, event, CU_EVENT_WAIT_DEFAULT));
		launch_chain(&place, place.stream);
		hazard_print("x there", place.of.x);
		CHECK(cuCtxDestroy(place.of.context));
		CHECK(cuCtxSetCurrent(hazard_context));
		hazard_print("x", hazard_x);
	}
}

const struct hazard context_hazards[] = {
	{"alone_on_device", alone_on_device},
	{"green_context_ends", green_context_ends},
	{"context_ends", context_ends},
	{"context_of_array", context_of_array},
	{"context_beside_release", context_beside_release},
	{NULL, NULL},
};
