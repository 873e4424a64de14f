/* NVTX ranges that REPRISE_NVTX_OFF names ("eager*"): entered and left at irregular moments, in all
 * the ways that NVTX has. Plain, NVTX does nothing. */
#include <pthread.h>

#include "../nvtx/ways.h"
#include "hazard.h"

static const struct way_names named = {"eager \xc3\xa9", L"eager \u00e9"},
							  other = {"replayed", L"replayed"};

static uint32_t chain_of_mix(CUdeviceptr x, unsigned count, uint32_t expected, CUstream stream)
{
	for (unsigned i = 0; i < count; i++) {
		hazard_launch(hazard_mix, x, i + 1, stream);
		expected = hazard_mixed(expected, 5, i + 1);
	}
	return expected;
}

/*
 * The loop's sequence on mapped memory; in its midst a range now and then. The host looks, without
 * a call, for what came before the range, and for what is in it: the test sets the hold limit so
 * high that it counts how often that issues it. Ranges nest, in another domain too; others are
 * popped that were never pushed.
 */
static void nvtx_ranges(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned unseen = 0, way = 0;
	uint32_t *words, expected = 3;
	CUdeviceptr mapped;

	CHECK(cuMemHostAlloc((void **)&words, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, words, 0));
	CHECK(cuMemsetD32(mapped, 3, WORDS));
	CHECK(cuCtxSynchronize());
	ways_begin();
	for (unsigned i = 0; i < ITERATIONS; i++) {
		bool springs = hazard_springs(i);
		nvtxDomainHandle_t outer = ways_push(i, &other), inner;

		expected = chain_of_mix(mapped, springs ? CHAIN / 2 : CHAIN, expected, stream);
		if (springs) {
			inner = ways_push(way++, &named);
			unseen += !hazard_reaches(words, expected);
			expected = chain_of_mix(mapped, 5, expected, stream);
			unseen += !hazard_reaches(words, expected);
			ways_pop(ways_push(way, &other));
			ways_pop(ways_push(way, &named));
			expected = chain_of_mix(mapped, 3, expected, stream);
			unseen += !hazard_reaches(words, expected);
			ways_pop(inner);
		}
		ways_pop(outer);
		if (springs)
			ways_pop(way % 2 == 0 ? NULL : ways_domain); /* a pop without a push */
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(i, stream);
	}
	printf("unseen %u\n", unseen);
	hazard_print("ranges", mapped);
}

/* ---- a thread in a range beside one that is in none ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned asked, done;
static CUstream beside_stream;

/* Launches on the other thread's stream when it is asked to, all the time within one range. */
static void *launches_in_range(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	ways_push(0, &named); /* never popped */
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (asked == done)
			pthread_cond_wait(&changed, &mutex);
		if (asked == UINT32_MAX)
			break;
		hazard_part_of_chain(hazard_x, 3, beside_stream);
		done++;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void ask(pthread_t *thread, bool last)
{
	if (*thread == 0)
		pthread_create(thread, NULL, launches_in_range, NULL);
	pthread_mutex_lock(&mutex);
	asked = last ? UINT32_MAX : asked + 1;
	pthread_cond_broadcast(&changed);
	while (!last && asked != done)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	if (last)
		pthread_join(*thread, NULL);
}

/* In the midst of what this thread has deferred, the other one launches on the same stream. */
static void nvtx_range_beside(void)
{
	pthread_t thread = 0;

	ways_begin();
	beside_stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		bool springs = hazard_springs(i);

		hazard_part_of_chain(hazard_x, springs ? CHAIN / 2 : CHAIN, beside_stream);
		if (springs)
			ask(&thread, false);
		if (i % 4 == 3)
			CHECK(cuStreamSynchronize(beside_stream));
		hazard_settle_again(i, beside_stream);
	}
	ask(&thread, true);
	hazard_print("beside", hazard_x);
}

/* The same on the side stream of a fork that is deferred, or whose branch is not waited for yet.
 * Now and then this thread enters a range in the midst of the fork. */
static void nvtx_range_beside_fork(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent forked, joined;
	pthread_t thread = 0;
	CUdeviceptr y;

	ways_begin();
	beside_stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc(&y, WORDS * 4));
	CHECK(cuMemsetD32(y, 1, WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		bool springs = hazard_springs(i);

		hazard_part_of_chain(y, 6, stream);
		CHECK(cuEventRecord(forked, stream));
		CHECK(cuStreamWaitEvent(beside_stream, forked, 0));
		hazard_part_of_chain(hazard_x, 5, beside_stream);
		if (springs && i % 2 == 0)
			ask(&thread, false);
		if (springs && i % 3 == 0) { /* and this thread itself */
			ways_push(0, &named);
			hazard_part_of_chain(hazard_x, 2, beside_stream);
			hazard_part_of_chain(y, 2, stream);
			nvtxRangePop();
		}
		hazard_part_of_chain(y, 7, stream);
		CHECK(cuEventRecord(joined, beside_stream));
		CHECK(cuStreamWaitEvent(stream, joined, 0));
		if (springs && i % 2 == 1)
			ask(&thread, false);
		hazard_part_of_chain(y, 3, stream);
		if (i % 4 == 3)
			CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(i, stream);
	}
	ask(&thread, true);
	hazard_print("side", hazard_x);
	hazard_print("origin", y);
}

const struct hazard range_hazards[] = {
	{"nvtx_ranges", nvtx_ranges},
	{"nvtx_range_beside", nvtx_range_beside},
	{"nvtx_range_beside_fork", nvtx_range_beside_fork},
	{NULL, NULL},
};
