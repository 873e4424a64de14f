/* The public API: what a program asks of Reprise itself. Plain, every function of it does nothing.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

#define THREADS 4
#define STRETCH 40u /* iterations paused, and as many not */

/*
 * A part of the loop's sequence on mapped memory, then a flush, then the host looks, without a
 * call, for what the kernels write. It is there in the end even if only the hold limit issues it,
 * which the test sets so high that it counts how often that was.
 */
static void flushed(void)
{
	unsigned unseen = 0;
	uint32_t *words, expected = 3;
	CUdeviceptr mapped;
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	CHECK(cuMemHostAlloc((void **)&words, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, words, 0));
	CHECK(cuMemsetD32(mapped, 3, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < ITERATIONS; i++) {
		bool springs = hazard_springs(i);

		for (unsigned j = 0; j < (springs ? CHAIN - 5 : CHAIN); j++) {
			hazard_launch(hazard_mix, mapped, j + 1, stream);
			expected = hazard_mixed(expected, 5, j + 1);
		}
		if (springs) {
			reprise_flush();
			unseen += !hazard_reaches(words, expected);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("unseen %u\n", unseen);
	hazard_print("flushed", mapped);
}

/* Pauses of every depth, one more end than there are beginnings. What is counted as replayed may
 * not move during a pause, and has to after it. */
static void paused(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct reprise_counts before = {0}, after = {0};
	unsigned replayed = 0, missed = 0;

	for (unsigned i = 0; i < ITERATIONS; i++) {
		unsigned stretch = i / STRETCH, depth = 1 + stretch % 3;

		hazard_chain(hazard_x, stream);
		if (i % (2 * STRETCH) == STRETCH) {
			hazard_part_of_chain(hazard_x, CHAIN / 2,
			                     stream); /* which may be deferred at this moment */
			for (unsigned j = 0; j < depth; j++)
				reprise_pause();
			if (depth > 1)
				reprise_resume(); /* the outer pause goes on */
			reprise_read_counts(&before, sizeof(before));
		}
		CHECK(cuStreamSynchronize(stream));
		if (i > 0 && (i + 1) % (2 * STRETCH) == 0) {
			reprise_read_counts(&after, sizeof(after));
			replayed += after.replayed != before.replayed;
			missed += after.ops != before.ops;
			for (unsigned j = 0; j <= depth; j++)
				reprise_resume();
		}
	}
	fprintf(stderr, "replayed_paused=%u\nmissed=%u\n", replayed, missed);
	hazard_print("paused", hazard_x);
}

static _Atomic bool done;
static _Atomic bool wanted, is_paused; /* a pause, until what wants it has been called */

static void *pauses(void *unused)
{
	struct reprise_counts counts;

	while (!atomic_load(&done)) {
		reprise_pause();
		reprise_flush();
		reprise_read_counts(&counts, sizeof(counts));
		sched_yield();
		while (atomic_load(&wanted)) {
			atomic_store(&is_paused, true);
			sched_yield();
		}
		reprise_resume();
		for (int i = 0; i < 200; i++)
			sched_yield();
	}
	return NULL;
}

static void await_pause(void)
{
	atomic_store(&is_paused, false);
	atomic_store(&wanted, true);
	while (!atomic_load(&is_paused))
		sched_yield();
}

/* Several threads pause, flush and count, each on its own, while one goes on with its loop. */
static void paused_threads(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, pauses, NULL);
	for (unsigned i = 0; i < 4 * ITERATIONS; i++) {
		if (i % 64 == 63)
			await_pause();
		hazard_chain(hazard_x, stream);
		atomic_store(&wanted, false);
		CHECK(cuStreamSynchronize(stream));
	}
	atomic_store(&done, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* By far most of it all, since nobody knows how often they cut what was deferred. */
	for (unsigned i = 0; i < 10 * ITERATIONS; i++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (i == 20 || i == 40)
			hazard_settle(stream);
	}
	hazard_print("paused threads", hazard_x);
}

/* With REPRISE_TURNS=1 Reprise goes from replaying to eager calls and back at waits. Another stream
 * holds ops of this thread there, and so does one of another thread. */
static void turned(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 beside = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr x;

	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemsetD32(x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < 4 * ITERATIONS; i++) {
		if (hazard_springs(i))
			hazard_part_of_chain(hazard_x, CHAIN / 3, stream);
		hazard_launch(hazard_mix, hazard_x, i, stream);
		hazard_chain(hazard_x, stream);
		hazard_part_of_chain(x, 5, beside);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("turned", hazard_x);
	hazard_print("beside", x);
}

static CUdeviceptr turned_x;

static void *turns_beside(void *unused)
{
	CUstream stream;

	CHECK(cuCtxSetCurrent(hazard_context));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; i < 2 * ITERATIONS; i++) {
		hazard_chain(turned_x, stream);
		if (hazard_is_irregular(i))
			CHECK(cuStreamSynchronize(stream));
	}
	return NULL;
}

static void turned_threads(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_t thread;

	CHECK(cuMemAlloc(&turned_x, WORDS * 4));
	CHECK(cuMemsetD32(turned_x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	pthread_create(&thread, NULL, turns_beside, NULL);
	for (unsigned i = 0; i < 4 * ITERATIONS; i++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	pthread_join(thread, NULL);
	hazard_print("turned", hazard_x);
	hazard_print("beside", turned_x);
}

/* What one iteration of a loop that does not wait gives its stream. */
static void turns_ahead(CUdeviceptr x, unsigned i, CUstream stream)
{
	if (hazard_is_irregular(i))
		hazard_part_of_chain(x, CHAIN / 3, stream);
	hazard_launch(hazard_mix, x, i, stream);
	hazard_chain(x, stream);
}

/* It waits for nothing until the end. Reprise goes to eager calls and back where it follows no
 * trace, while the GPU is behind, and the program captures now and then. */
static void turned_ahead(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 beside = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr x;

	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemsetD32(x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < 5 * ITERATIONS; i++) {
		CUgraphExec executable;
		CUgraph graph;

		turns_ahead(hazard_x, i, stream);
		hazard_part_of_chain(x, 5, beside);
		if (!hazard_is_irregular(i) || i % 5 != 0)
			continue;
		CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
		turns_ahead(hazard_x, i, stream);
		CHECK(cuStreamEndCapture(stream, &graph));
		CHECK(cuGraphInstantiate(&executable, graph, 0));
		CHECK(cuGraphLaunch(executable, stream));
		CHECK(cuGraphExecDestroy(executable));
		CHECK(cuGraphDestroy(graph));
	}
	hazard_print("turned", hazard_x);
	hazard_print("beside", x);
}

/* The same with a fork in each iteration: turns begin and end within it, too. */
static void turned_fork(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 side = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent forked, joined;
	CUdeviceptr x;

	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemsetD32(x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
	for (unsigned i = 0; i < 3 * ITERATIONS; i++) {
		hazard_part_of_chain(hazard_x, 6, stream);
		CHECK(cuEventRecord(forked, stream));
		CHECK(cuStreamWaitEvent(side, forked, 0));
		hazard_part_of_chain(x, 5, side);
		hazard_part_of_chain(hazard_x, 7, stream);
		CHECK(cuEventRecord(joined, side));
		CHECK(cuStreamWaitEvent(stream, joined, 0));
		turns_ahead(x, i, stream);
	}
	hazard_print("turned", hazard_x);
	hazard_print("beside", x);
}

const struct hazard api_hazards[] = {
	{"turned", turned},
	{"turned_threads", turned_threads},
	{"turned_ahead", turned_ahead},
	{"turned_fork", turned_fork},
	{"flushed", flushed},
	{"paused", paused},
	{"paused_threads", paused_threads},
	{NULL, NULL},
};
