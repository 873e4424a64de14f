/* Order among streams, events and host functions. */
#include <stdlib.h>
#include <string.h>

#include "hazard.h"

/* Work on the legacy stream between work on a blocking one: ordered both ways, on the same memory.
 */
static void legacy_blocking(void)
{
	CUstream stream = hazard_stream(CU_STREAM_DEFAULT);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		hazard_launch(hazard_turn, hazard_x, iteration % 3, NULL);
		if (hazard_springs(iteration))
			CHECK(cuCtxSynchronize());
		hazard_chain(hazard_x, stream);
	}
	hazard_print("x", hazard_x);
}

/* The same beside a non-blocking one: not ordered, so on memory of its own. */
static void legacy_nonblocking(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr other;

	CHECK(cuMemAlloc(&other, WORDS * 4));
	CHECK(cuMemsetD32(other, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		hazard_launch(hazard_turn, other, iteration % 3, NULL);
		if (hazard_springs(iteration))
			CHECK(cuCtxSynchronize());
	}
	hazard_print("x", hazard_x);
	hazard_print("other", other);
}

/* A blocking stream on which nothing ever repeats, so that it is hardly looked at, takes what a hot
 * loop of the legacy stream has made so far. */
static void legacy_beside_norepeat(void)
{
	CUstream stream = hazard_stream(CU_STREAM_DEFAULT);
	CUdeviceptr other;
	unsigned random = 1;

	CHECK(cuMemAlloc(&other, WORDS * 4));
	CHECK(cuMemsetD32(other, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < 2 * ITERATIONS; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 2 + 1, NULL);
		if (hazard_springs(iteration) && iteration > ITERATIONS)
			CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 0, stream,
			                     (void *[]){&other, &hazard_x, &iteration}, NULL));
		for (unsigned i = CHAIN / 2 + 1; i < CHAIN; i++)
			hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, hazard_x, i * 7 + 1, NULL);
		CHECK(cuStreamSynchronize(NULL));
		for (unsigned i = 0; i < 16; i++) {
			random = random * 1664525u + 1013904223u;
			CHECK(cuLaunchKernel(random >> 31 ? hazard_mix : hazard_turn, 1, 1, 1,
			                     1 + (random >> 8) % WORDS, 1, 1, 0, stream,
			                     (void *[]){&other, &hazard_y, &random}, NULL));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	hazard_print("other", other);
}

/* Graphs are built while there is nothing to do: where nothing runs until somebody waits, a loop
 * that never does would have none. */
static void wait_seldom(unsigned iteration, CUstream stream)
{
	if (iteration % 8 == 0)
		CHECK(cuStreamSynchronize(stream));
}

/* Two streams hand x to and fro by events that are recorded again and again. */
static void event_ping_pong(void)
{
	CUstream a = hazard_stream(CU_STREAM_NON_BLOCKING), b = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent ping, pong;

	CHECK(cuEventCreate(&ping, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&pong, CU_EVENT_DISABLE_TIMING));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, a);
		CHECK(cuEventRecord(ping, a));
		CHECK(cuStreamWaitEvent(b, ping, 0));
		hazard_launch(hazard_turn, hazard_x, hazard_springs(iteration) ? iteration : 9, b);
		CHECK(cuEventRecord(pong, b));
		CHECK(cuStreamWaitEvent(a, pong, 0));
		wait_seldom(iteration, a);
	}
	hazard_print("x", hazard_x);
}

/* The host asks until the work is done, the stream or an event behind it, and then reads what it
 * made. */
static void event_query_poll(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	CUevent event;
	void *memory;
	uint32_t sum = 0;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, memory, 0));
	memset(memory, 0, WORDS * 4);
	CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_part_of_chain(mapped, hazard_springs(iteration) ? iteration % CHAIN : CHAIN, stream);
		if (hazard_springs(iteration)) {
			while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
				;
		} else {
			CHECK(cuEventRecord(event, stream));
			while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
				;
		}
		sum = sum * 69069u + ((volatile uint32_t *)memory)[iteration % WORDS];
	}
	printf("sum %08x\n", (unsigned)sum);
}

/* The time between events around a hot sequence can be had, and covers what lies between: an op
 * takes a microsecond of the simulation's time. */
static void event_timing(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent begin, end;

	CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
	CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		unsigned ops = hazard_springs(iteration) ? iteration % CHAIN : CHAIN;
		float ms;

		CHECK(cuEventRecord(begin, stream));
		hazard_part_of_chain(hazard_x, ops, stream);
		CHECK(cuEventRecord(end, stream));
		CHECK(cuEventSynchronize(end));
		CHECK(cuEventElapsedTime(&ms, begin, end));
		if (ms < 0.00099f * (float)ops)
			printf("%u: %u ops in %g ms\n", iteration, ops, (double)ms);
	}
	hazard_print("x", hazard_x);
}

static uint32_t host_log;

static void CUDA_CB append(void *value)
{
	host_log = host_log * 69069u + (uint32_t)(uintptr_t)value;
}

static void CUDA_CB append_status(CUstream stream, CUresult status, void *value)
{
	append((void *)((uintptr_t)value + (uintptr_t)status));
}

/* Host functions in a hot sequence append to a log. */
static void host_func_log(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuLaunchHostFunc(stream, append, (void *)(uintptr_t)(iteration % 11)));
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration))
			CHECK(cuLaunchHostFunc(stream, append, (void *)(uintptr_t)iteration));
		wait_seldom(iteration, stream);
	}
	hazard_print("x", hazard_x);
	printf("log %08x\n", (unsigned)host_log);
}

struct closure {
	uint32_t value;
	const uint32_t *copied;
};

static void CUDA_CB run_once(void *data)
{
	struct closure *closure = data;

	host_log = host_log * 69069u + closure->value + closure->copied[0];
	free(closure);
}

/* Each host function frees what it was given, and so gets something else each time. It sees what
 * the stream has copied by then. */
static void host_func_once(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t *copied;

	CHECK(cuMemAllocHost((void **)&copied, WORDS * 4));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		struct closure *closure = malloc(sizeof(*closure) + iteration % 7 * 64);

		*closure = (struct closure){iteration, copied};
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		CHECK(cuMemcpyDtoHAsync(copied, hazard_x, WORDS * 4, stream));
		if (hazard_springs(iteration) && iteration % 2 == 0)
			printf("%u: %d\n", iteration, (int)cuLaunchHostFunc(stream, NULL, closure));
		if (hazard_springs(iteration) && iteration % 3 == 0)
			free(closure);
		else
			CHECK(cuLaunchHostFunc(stream, run_once, closure));
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		if (iteration % 4 == 0)
			CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	printf("log %08x\n", (unsigned)host_log);
}

/* So do callbacks, which are told the stream's status as well. */
static void callback(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration))
			CHECK(cuStreamAddCallback(stream, append_status, (void *)(uintptr_t)iteration, 0));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamAddCallback(stream, append_status, (void *)(uintptr_t)(iteration % 11), 0));
		wait_seldom(iteration, stream);
	}
	hazard_print("x", hazard_x);
	printf("log %08x\n", (unsigned)host_log);
}

/* Memory taken and given back in stream order; now and then right behind kernels that are deferred,
 * or on another stream that waits for the work. */
/* How much memory the pool had given out at most, for the judge: no more than plain, but for what
 * is under way. */
static void tell_pool_use(void)
{
	CUmemoryPool pool;
	cuuint64_t most;

	CHECK(cuDeviceGetDefaultMemPool(&pool, hazard_device));
	CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &most));
	fprintf(stderr, "pool=%lu\n", (unsigned long)most);
}

/*
 * What the simulation does not have allocated cannot be captured. So while the loop is learnt,
 * memory is given back some iterations late; later at once.
 */
static void free_async(void)
{
	enum { LEARNT = 200, LATE = 3 };
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 other = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr late[LATE] = {0};
	CUevent used;

	CHECK(cuEventCreate(&used, CU_EVENT_DISABLE_TIMING));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUdeviceptr taken, given;

		CHECK(cuMemAllocAsync(&taken, WORDS * 4, stream));
		CHECK(cuMemcpyDtoDAsync(taken, hazard_x, WORDS * 4, stream));
		hazard_chain(taken, stream);
		CHECK(cuMemcpyDtoDAsync(hazard_x, taken, WORDS * 4, stream));
		if (hazard_springs(iteration))
			hazard_part_of_chain(taken, iteration % CHAIN, stream);
		given = iteration < LEARNT ? late[iteration % LATE] : taken;
		if (iteration < LEARNT)
			late[iteration % LATE] = taken;
		if (hazard_springs(iteration) && iteration % 3 == 0) {
			CHECK(cuEventRecord(used, stream));
			CHECK(cuStreamWaitEvent(other, used, 0));
			if (given != 0)
				CHECK(cuMemFreeAsync(given, other));
			CHECK(cuStreamSynchronize(other));
		} else if (given != 0) {
			CHECK(cuMemFreeAsync(given, stream));
		}
		if (iteration % 3 == 0)
			CHECK(cuStreamSynchronize(stream));
		if (iteration < LEARNT && iteration % 10 == 0)
			hazard_settle(stream);
	}
	for (unsigned i = 0; i < LATE; i++)
		CHECK(cuMemFreeAsync(late[i], stream));
	hazard_print("x", hazard_x);
	tell_pool_use();
}

const struct hazard order_hazards[] = {
	{"legacy_blocking", legacy_blocking},
	{"legacy_nonblocking", legacy_nonblocking},
	{"legacy_beside_norepeat", legacy_beside_norepeat},
	{"event_ping_pong", event_ping_pong},
	{"event_query_poll", event_query_poll},
	{"event_timing", event_timing},
	{"host_func_log", host_func_log},
	{"host_func_once", host_func_once},
	{"callback", callback},
	{"free_async", free_async},
	{NULL, NULL},
};
