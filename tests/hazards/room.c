/* Memory that runs out: what the graphs of Reprise hold is the program's, as soon as it asks for
 * it. */
#include <pthread.h>
#include <sched.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

#define MOST 4096
#define BLOCK 4096
#define ROUNDS 6u

static CUstream stream;
static CUgraph own;

/* The ways to take memory. Each returns what the driver said; *taken is for `give_back`. */
static CUresult take_plain(void **taken)
{
	return cuMemAlloc((CUdeviceptr *)taken, BLOCK);
}

static CUresult take_pitched(void **taken)
{
	size_t pitch;

	return cuMemAllocPitch((CUdeviceptr *)taken, &pitch, 512, 8, 4);
}

static CUresult take_managed(void **taken)
{
	return cuMemAllocManaged((CUdeviceptr *)taken, BLOCK, CU_MEM_ATTACH_GLOBAL);
}

static CUresult take_in_order(void **taken)
{
	return cuMemAllocAsync((CUdeviceptr *)taken, BLOCK, stream);
}

static CUresult take_array(void **taken)
{
	CUDA_ARRAY_DESCRIPTOR shape = {.Width = BLOCK / 4,
	                               .Height = 1,
	                               .Format = CU_AD_FORMAT_FLOAT,
	                               .NumChannels = 1};

	return cuArrayCreate((CUarray *)taken, &shape);
}

static CUresult take_graph(void **taken)
{
	return cuGraphInstantiate((CUgraphExec *)taken, own, 0);
}

static CUresult give_memory(void *taken)
{
	return cuMemFree((CUdeviceptr)taken);
}

static CUresult give_in_order(void *taken)
{
	return cuMemFreeAsync((CUdeviceptr)taken, stream);
}

static CUresult give_array(void *taken)
{
	return cuArrayDestroy(taken);
}

static CUresult give_graph(void *taken)
{
	return cuGraphExecDestroy(taken);
}

static const struct {
	const char *name;
	CUresult (*take)(void **taken);
	CUresult (*give_back)(void *taken);
} ways[] = {
	{"cuMemAlloc", take_plain, give_memory},
	{"cuMemAllocPitch", take_pitched, give_memory},
	{"cuMemAllocManaged", take_managed, give_memory},
	{"cuMemAllocAsync", take_in_order, give_in_order},
	{"cuArrayCreate", take_array, give_array},
	{"cuGraphInstantiate", take_graph, give_graph},
};

/* Takes all there is, one way, and gives it back. */
static void take_all(unsigned way)
{
	static void *taken[MOST];
	unsigned count = 0;
	CUresult result = CUDA_SUCCESS;

	while (count < MOST && (result = ways[way].take(&taken[count])) == CUDA_SUCCESS)
		count++;
	printf("%s: %u, then %d\n", ways[way].name, count, (int)result);
	while (count > 0)
		CHECK(ways[way].give_back(taken[--count]));
	CHECK(cuStreamSynchronize(stream));
}

static void capture_own_graph(void)
{
	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	hazard_launch(hazard_mix, hazard_x, 1, stream);
	CHECK(cuStreamEndCapture(stream, &own));
}

/* Hot loops whose graphs hold memory; now and then the program takes all that there is, with work
 * deferred. */
static void out_of_memory(void)
{
	unsigned times = 0;

	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	capture_own_graph();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (iteration % 200 < 100)
			hazard_launch(hazard_turn, hazard_x, 4, stream);
		if (iteration % 2)
			CHECK(cuStreamSynchronize(stream));
		if (hazard_springs(iteration)) {
			hazard_launch(hazard_mix, hazard_x, iteration, stream);
			hazard_chain(hazard_x, stream);
			take_all(times++ % (sizeof(ways) / sizeof(ways[0])));
		}
	}
	hazard_print("x", hazard_x);
}

/* The thread is to be cancelled, and is not before it says so: that memory has run out for a moment
 * is no point where that may happen. */
static void *take_all_though_cancelled(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (!hazard_springs(iteration))
			continue;
		pthread_cancel(pthread_self());
		take_all(0);
	}
	pthread_testcancel();
	return NULL;
}

static void cancelled_out_of_memory(void)
{
	pthread_t thread;
	void *ended;

	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	if (pthread_create(&thread, NULL, take_all_though_cancelled, NULL) != 0)
		abort();
	pthread_join(thread, &ended);
	printf("cancelled %d\n", ended == PTHREAD_CANCELED);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream); /* nobody holds anything that this would wait for */
		CHECK(cuStreamSynchronize(stream));
		if (hazard_springs(iteration))
			take_all(0);
	}
	hazard_print("x", hazard_x);
}

/* Loop `number` of many: which kernels, and with what, is its own. */
static void one_of_many(unsigned number, unsigned length, CUstream into)
{
	for (unsigned i = 0; i < length; i++)
		hazard_launch(number >> i % 16 & 1 ? hazard_turn : hazard_mix, hazard_x, number * 64 + i,
		              into);
}

/* What is taken of the device's memory, if it is more than ever before. */
static void note_used(size_t *most)
{
	size_t unused, all;

	CHECK(cuMemGetInfo(&unused, &all));
	if (all - unused > *most)
		*most = all - unused;
}

static volatile uint32_t *words_of_loops; /* what the loops work on, where the host sees it */

static void loop(unsigned number)
{
	for (unsigned iteration = 0; iteration < 12; iteration++) {
		one_of_many(number, 8, stream);
		CHECK(cuStreamSynchronize(stream));
	}
}

/* Some visits that others launch: this thread waits for what they do without a call. What else
 * waits to be built is out of the way first: it would take the place of this loop's graphs. */
static void leave_to_thread(unsigned number)
{
	hazard_settle(stream);
	loop(number);
	hazard_settle(stream);
	for (unsigned visit = 0; visit < 3; visit++) {
		uint32_t before = words_of_loops[0];

		one_of_many(number, 8, stream);
		while (words_of_loops[0] == before)
			sched_yield();
		CHECK(cuStreamSynchronize(stream));
	}
}

/* Loops that come one after another, each often enough to be worth graphs, and none ever again. */
static void many_loops(void (*now_and_then)(unsigned number))
{
	size_t most = 0;

	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned number = 0; number < 10000; number++) {
		loop(number);
		if (now_and_then != NULL && number % 500 == 499)
			now_and_then(number);
		note_used(&most);
	}
	fprintf(stderr, "used=%zu\n", most);
	hazard_print("x", hazard_x);
}

static void ten_thousand_loops(void)
{
	many_loops(NULL);
}

static void ten_thousand_loops_left_to_thread(void)
{
	void *memory;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&hazard_x, memory, 0));
	CHECK(cuMemsetD32(hazard_x, 3, WORDS));
	CHECK(cuCtxSynchronize());
	words_of_loops = memory;
	many_loops(leave_to_thread);
}

/* Loops on one stream, and then others on another, so long that each has two graphs. Returns
 * whether graphs were seen to wait to be built. */
static bool loops_on_two_streams(bool settle)
{
	CUstream streams[] = {hazard_stream(CU_STREAM_NON_BLOCKING),
	                      hazard_stream(CU_STREAM_NON_BLOCKING)};
	struct reprise_counts counts;
	bool waited = false;

	for (unsigned which = 0; which < 2; which++) {
		for (unsigned iteration = 0; iteration < (which ? 400 : 60); iteration++) {
			for (unsigned number = 0; number < 12; number++) {
				one_of_many(16 * which + number, 2 * CHAIN, streams[which]);
				if (iteration % 8 == 0) /* else the graphs that go are still running */
					CHECK(cuStreamSynchronize(streams[which]));
			}
			waited = waited || (reprise_read_counts(&counts, sizeof(counts)) > 0 &&
			                    counts.graphs_waiting > 0);
			if (settle && (iteration == 16 || iteration == 32))
				hazard_settle(streams[which]);
		}
		CHECK(cuStreamSynchronize(streams[which]));
	}
	return waited;
}

/* The first fill what graphs may take; they stop, and the others have room only if the first give
 * way. */
static void lane_gives_way(void)
{
	loops_on_two_streams(true);
	hazard_print("x", hazard_x);
}

/* To build takes long (SIM_SLOW), and the loops go on meanwhile; it is over for some of their
 * graphs. */
static void slow_build(void)
{
	struct reprise_counts counts;

	bool waited = loops_on_two_streams(false);

	while (reprise_read_counts(&counts, sizeof(counts)) > 0 && counts.graphs_built == 0)
		sched_yield();
	fprintf(stderr, "built_unseen=%u\n", counts.graphs_built > 0 && !waited);
	hazard_print("x", hazard_x);
}

static CUdeviceptr x_beside;
static pthread_barrier_t beside;

/* On a busy machine graphs give way to each other before they are launched, in some rounds. */
#define ROUNDS_BESIDE 24u

/* New loops on another stream, whose graphs want the memory that the others take. */
static void *loop_beside(void *unused)
{
	CUstream into;

	CHECK(cuCtxSetCurrent(hazard_context));
	into = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned round = 0; round < ROUNDS_BESIDE; round++) {
		pthread_barrier_wait(&beside);
		for (unsigned iteration = 0; iteration < 12; iteration++) {
			for (unsigned i = 0; i < CHAIN; i++)
				hazard_launch(round >> i % 8 & 1 ? hazard_turn : hazard_mix, x_beside,
				              round * 64 + i, into);
			CHECK(cuStreamSynchronize(into));
		}
		hazard_await_graphs();
		pthread_barrier_wait(&beside);
	}
	return unused;
}

/*
 * Visits are queued, and launching them takes long (SIM_SLOW); meanwhile another stream's graphs
 * want room, and the ones that are queued were used least recently.
 */
static void evicted_while_queued(void)
{
	pthread_t thread;

	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc(&x_beside, WORDS * 4));
	CHECK(cuMemsetD32(x_beside, 1, WORDS));
	CHECK(cuCtxSynchronize());
	pthread_barrier_init(&beside, NULL, 2);
	pthread_create(&thread, NULL, loop_beside, NULL);
	for (unsigned round = 0; round < ROUNDS_BESIDE; round++) {
		for (unsigned iteration = 0; iteration < 24; iteration++) {
			hazard_chain(hazard_x, stream);
			CHECK(cuStreamSynchronize(stream));
		}
		hazard_await_graphs();
		for (unsigned visit = 0; visit < 8; visit++)
			hazard_chain(hazard_x, stream);
		pthread_barrier_wait(&beside);
		pthread_barrier_wait(&beside);
		CHECK(cuStreamSynchronize(stream));
	}
	pthread_join(thread, NULL);
	hazard_print("x", hazard_x);
	hazard_print("beside", x_beside);
}

/*
 * A loop of two traces, of which then the first comes alone, again and again, with an eager op
 * behind it. Loops on another stream want room for the second, which has followed the first one.
 */
static void evicted_follower(void)
{
	CUstream another = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned word = 5;

	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned iteration = 0; iteration < 60; iteration++) {
			hazard_chain(hazard_x, stream);
			CHECK(cuStreamSynchronize(stream));
			if (iteration == 30)
				hazard_await_graphs();
		}
		for (unsigned number = 0; number < 4; number++) {
			hazard_part_of_chain(hazard_x, CHAIN / 3, stream);
			CHECK(cuStreamSynchronize(stream));
			for (unsigned iteration = 0; iteration < 12; iteration++) {
				one_of_many(1 + 4 * round + number, CHAIN, another);
				CHECK(cuStreamSynchronize(another));
			}
			hazard_await_graphs();
			CHECK(cuMemcpyHtoDAsync(hazard_y, &word, 4, stream));
		}
	}
	hazard_print("x", hazard_x);
}

/* More streams than can be watched within the host's memory, most of them still. */
static void many_streams(void)
{
	static CUstream streams[150];

	for (unsigned i = 0; i < 150; i++)
		streams[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < 20; iteration++)
		for (unsigned i = 0; i < 150; i++) {
			hazard_chain(hazard_x, streams[i]);
			CHECK(cuStreamSynchronize(streams[i]));
		}
	for (unsigned iteration = 0; iteration < 2 * ITERATIONS; iteration++) {
		hazard_chain(hazard_x, streams[0]);
		CHECK(cuStreamSynchronize(streams[0]));
	}
	hazard_print("x", hazard_x);
}

/* The same, and none of them is still. Those that come last, which are not watched, ask for it
 * after so many ops each time. */
static void streams_beyond_tables(void)
{
	enum { MANY = 118, LAST = 6, OPS = 1100 };
	CUstream streams[MANY];

	for (unsigned i = 0; i < MANY; i++)
		streams[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < 36; iteration++) {
		for (unsigned i = 0; i < MANY; i++) {
			hazard_chain(hazard_x, streams[i]);
			CHECK(cuStreamSynchronize(streams[i]));
		}
		for (unsigned i = MANY - LAST; iteration % 6 == 5 && i < MANY; i++) {
			for (unsigned k = 0; k < OPS; k++)
				hazard_launch(hazard_mix, hazard_x, k, streams[i]);
			CHECK(cuStreamSynchronize(streams[i]));
		}
		if (iteration % 4 == 0)
			hazard_await_graphs();
	}
	hazard_print("x", hazard_x);
}

/* More streams than lanes have numbers; the last of them hold ops at one time. */
static void streams_beyond_numbers(void)
{
	enum { MANY = 280, LAST = 8 };
	CUstream streams[LAST];
	CUdeviceptr x[LAST];

	for (unsigned i = 0; i < LAST; i++)
		CHECK(cuMemAlloc(&x[i], WORDS * 4));
	for (unsigned i = 0; i < MANY; i++) {
		streams[i % LAST] = hazard_stream(CU_STREAM_NON_BLOCKING);
		hazard_launch(hazard_mix, x[i % LAST], i, streams[i % LAST]);
		CHECK(cuStreamSynchronize(streams[i % LAST]));
	}
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned k = 0; k < CHAIN; k++)
			for (unsigned i = 0; i < LAST; i++)
				hazard_launch(hazard_mix, x[i], k, streams[i]);
		CHECK(cuCtxSynchronize());
	}
	for (unsigned i = 0; i < LAST; i++)
		hazard_print("x", x[i]);
}

const struct hazard room_hazards[] = {
	{"out_of_memory", out_of_memory},
	{"cancelled_out_of_memory", cancelled_out_of_memory},
	{"ten_thousand_loops", ten_thousand_loops},
	{"ten_thousand_loops_left_to_thread", ten_thousand_loops_left_to_thread},
	{"lane_gives_way", lane_gives_way},
	{"slow_build", slow_build},
	{"evicted_while_queued", evicted_while_queued},
	{"evicted_follower", evicted_follower},
	{"many_streams", many_streams},
	{"streams_beyond_tables", streams_beyond_tables},
	{"streams_beyond_numbers", streams_beyond_numbers},
	{NULL, NULL},
};
