/* The program's own captures and graphs, beside ours. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cuCtxAttach, cuCtxDetach */

/* Captures on its hot stream now and then, in each mode, and launches what it captured. */
static void own_capture(void)
{
	static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
	                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
	                                            CU_STREAM_CAPTURE_MODE_RELAXED};
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			CUstreamCaptureStatus status;
			CUgraphExec executable;
			CUgraph graph;
			size_t nodes;

			CHECK(cuStreamBeginCapture(stream, modes[iteration % 3]));
			hazard_chain(hazard_x, stream);
			CHECK(cuStreamIsCapturing(stream, &status));
			CHECK(cuStreamEndCapture(stream, &graph));
			CHECK(cuGraphGetNodes(graph, NULL, &nodes));
			printf("%u: status %d, %zu nodes\n", iteration, (int)status, nodes);
			CHECK(cuGraphInstantiate(&executable, graph, 0));
			CHECK(cuGraphLaunch(executable, stream));
			hazard_chain(hazard_x, stream);
			CHECK(cuGraphLaunch(executable, stream));
			CHECK(cuStreamSynchronize(stream));
			CHECK(cuGraphExecDestroy(executable));
			CHECK(cuGraphDestroy(graph));
		}
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static atomic_bool done;
static unsigned spoilt;

static void *capture_all_the_time(void *unused)
{
	CUstream stream;
	CUdeviceptr x;

	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuMemAlloc(&x, WORDS * 4));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	while (!atomic_load(&done)) {
		CUgraph graph = NULL;

		if (cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) != CUDA_SUCCESS)
			spoilt++;
		hazard_chain(x, stream);
		if (cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS || graph == NULL)
			spoilt++;
		else
			CHECK(cuGraphDestroy(graph));
		nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL); /* graphs are built in between */
	}
	return unused;
}

/*
 * Another thread captures in global mode, from when graphs have been replayed for a while: its
 * captures stay valid, and this one's ops stay in order, of which later others come, so that graphs
 * are to be built meanwhile. While a capture is open all is eager: how much is replayed after the
 * other thread has begun is a matter of time, what is replayed before is not. Beside a capture in
 * global mode a stream may be waited for in relaxed mode alone.
 */
static void own_capture_elsewhere(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	pthread_t thread;

	CHECK(cuThreadExchangeStreamCaptureMode(&mode));

	for (unsigned iteration = 0; iteration < 4 * ITERATIONS; iteration++) {
		hazard_chain(iteration < 3 * ITERATIONS ? hazard_x : hazard_y, stream);
		if (iteration == 60)
			hazard_settle(stream);
		if (iteration == ITERATIONS)
			pthread_create(&thread, NULL, capture_all_the_time, NULL);
		if (hazard_springs(iteration))
			CHECK(cuStreamSynchronize(stream));
	}
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	printf("spoilt %u\n", spoilt);
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

/* Breaks its own capture: the documented errors, and the stream works again. */
static void own_capture_invalid(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			CUgraph graph = NULL;
			CUresult results[4];

			results[3] =
				cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL); /* which cannot be */
			CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
			hazard_chain(hazard_x, stream);
			results[0] = cuStreamSynchronize(stream);
			results[1] = cuMemsetD32Async(hazard_y, 5, WORDS, stream);
			results[2] = cuStreamEndCapture(stream, &graph);
			printf("%u: %d %d %d %d\n", iteration, (int)results[0], (int)results[1],
			       (int)results[2], (int)results[3]);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static void *make_traces_all_the_time(void *unused)
{
	CUdeviceptr x;

	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuMemAlloc(&x, WORDS * 4));
	while (!atomic_load(&done)) {
		CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

		for (unsigned iteration = 0; iteration < 150; iteration++) {
			hazard_chain(x, stream);
			CHECK(cuStreamSynchronize(stream));
		}
		CHECK(cuStreamDestroy(stream));
	}
	return unused;
}

#define ENOUGH 12u /* graphs that are built beside what a thread asks */

/*
 * Whether Reprise, if it is there, has built so many graphs, so that there were as many captures of
 * ours; or has had more time for it than it needs on a busy machine.
 */
static bool enough_are_built(time_t since)
{
	struct reprise_counts counts;

	return reprise_read_counts(&counts, sizeof(counts)) == 0 || counts.graphs_built >= ENOUGH ||
	       time(NULL) - since > 10;
}

/* While any stream captures, cuCtxSynchronize fails: the program must not see that because of a
 * capture of ours. */
static void context_sync_beside_build(void)
{
	unsigned failures = 0;
	time_t begin = time(NULL);
	pthread_t thread;

	pthread_create(&thread, NULL, make_traces_all_the_time, NULL);
	for (unsigned i = 0; i < 60000 || !enough_are_built(begin); i++)
		failures += cuCtxSynchronize() != CUDA_SUCCESS;
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	printf("failures %u\n", failures);
}

enum { ELSEWHERE = 4, SLOW_NS = 200000000 }; /* a capture of ours takes twice as long (SIM_SLOW) */

static atomic_uint slow_threads;

static void *synchronise_elsewhere(void *unused)
{
	bool slow = false;
	CUcontext context;

	CHECK(cuCtxCreate(&context, NULL, 0, hazard_device));
	while (!atomic_load(&done)) {
		uint64_t begin = hazard_now_ns();

		CHECK(cuCtxSynchronize());
		slow = slow || hazard_now_ns() - begin > SLOW_NS;
		nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
	}
	atomic_fetch_add(&slow_threads, slow);
	return unused;
}

/* Contexts in which nothing is captured are waited for meanwhile. Some may share a place with the
 * one in which it is, but hardly all. */
static void context_sync_elsewhere(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_t threads[ELSEWHERE];
	struct reprise_counts counts;
	time_t begin = time(NULL);

	for (unsigned i = 0; i < ELSEWHERE; i++)
		pthread_create(&threads[i], NULL, synchronise_elsewhere, NULL);
	do {
		for (unsigned i = 0; i < 3; i++) /* two graphs, at least */
			hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	} while (reprise_read_counts(&counts, sizeof(counts)) > 0 && counts.graphs_built < 2 &&
	         time(NULL) - begin < 20);
	atomic_store(&done, true);
	for (unsigned i = 0; i < ELSEWHERE; i++)
		pthread_join(threads[i], NULL);
	printf("%s\n",
	       atomic_load(&slow_threads) == ELSEWHERE ? "all had to wait" : "not all had to wait");
}

/* What the program asks about captures, of its streams and of the legacy one, while ours are made
 * behind it: never an answer that is about ours. */
static void capture_queries(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 blocking = hazard_stream(CU_STREAM_DEFAULT);
	const CUstream asked[] = {stream, blocking, CU_STREAM_LEGACY};
	unsigned refused = 0, capturing = 0;
	time_t begin = time(NULL);
	pthread_t thread;

	pthread_create(&thread, NULL, make_traces_all_the_time, NULL);
	for (unsigned i = 0; i < 60000 || !enough_are_built(begin); i++) {
		CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE,
							  info = CU_STREAM_CAPTURE_STATUS_NONE;

		if (i % CHAIN == 0 && i < 60000)
			hazard_chain(hazard_x, stream);
		refused += cuStreamIsCapturing(asked[i % 3], &status) != CUDA_SUCCESS;
		refused += cuStreamGetCaptureInfo(asked[i % 3], &info, NULL, NULL, NULL, NULL, NULL) !=
		           CUDA_SUCCESS;
		capturing +=
			status != CU_STREAM_CAPTURE_STATUS_NONE || info != CU_STREAM_CAPTURE_STATUS_NONE;
	}
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	printf("refused %u, capturing %u\n", refused, capturing);
	hazard_print("x", hazard_x);
}

static void launch_and_destroy(CUgraph graph, CUstream stream)
{
	CUgraphExec executable;

	CHECK(cuGraphInstantiate(&executable, graph, 0));
	CHECK(cuGraphLaunch(executable, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuGraphExecDestroy(executable));
	CHECK(cuGraphDestroy(graph));
}

/* Sets an attribute of the stream on which a capture began, or destroys a context that has no part
 * in it, or gives its own back, which stays. */
static void disturb(CUstream stream, unsigned iteration)
{
	CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_SPIN};
	CUcontext context;

	if (iteration % 2) {
		CHECK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
		return;
	}
	if (iteration % 4) {
		CHECK(cuCtxAttach(&context, 0));
		CHECK(cuCtxDetach(context));
		if (cuCtxDestroy(context) != CUDA_ERROR_INVALID_CONTEXT)
			printf("a primary context was destroyed\n");
		return;
	}
	CHECK(cuCtxCreate(&context, NULL, 0, hazard_device));
	CHECK(cuCtxDestroy(context));
	CHECK(cuCtxSetCurrent(hazard_context));
}

/* Another stream, hot as well, joins the capture through an event, works in it and goes back. */
static void fork_with(void (*meanwhile)(CUstream stream, unsigned iteration))
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 other = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent away, back;
	CUdeviceptr x;

	CHECK(cuEventCreate(&away, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemsetD32(x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		hazard_chain(x, other);
		if (hazard_springs(iteration)) {
			CUgraph graph;

			CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
			hazard_chain(hazard_x, stream);
			CHECK(cuEventRecord(away, stream));
			CHECK(cuStreamWaitEvent(other, away, 0));
			if (meanwhile != NULL)
				meanwhile(stream, iteration);
			hazard_chain(x, other);
			hazard_chain(hazard_x, stream);
			CHECK(cuEventRecord(back, other));
			CHECK(cuStreamWaitEvent(stream, back, 0));
			CHECK(cuStreamEndCapture(stream, &graph));
			CHECK(cuStreamSynchronize(other));
			launch_and_destroy(graph, stream);
		}
		CHECK(cuStreamSynchronize(other));
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	hazard_print("other", x);
}

static void fork_into_capture(void)
{
	fork_with(NULL);
}

/* What does not end the capture is not taken for its end. */
static void capture_goes_on(void)
{
	fork_with(disturb);
}

static CUgraph handed_over;

static void *end_capture(void *stream)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuStreamEndCapture(stream, &handed_over));
	return NULL;
}

/* A relaxed capture is ended by another thread than began it; another ends with its stream, which
 * is destroyed. */
static void capture_ends_otherwise(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			CUstream doomed = hazard_stream(CU_STREAM_NON_BLOCKING);
			pthread_t thread;

			CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
			hazard_chain(hazard_x, stream);
			pthread_create(&thread, NULL, end_capture, stream);
			pthread_join(thread, NULL);
			hazard_chain(hazard_x, stream);
			launch_and_destroy(handed_over, stream);
			CHECK(cuStreamBeginCapture(doomed, CU_STREAM_CAPTURE_MODE_RELAXED));
			hazard_chain(hazard_x, doomed);
			CHECK(cuStreamDestroy(doomed));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static sem_t step_wanted, step_done;
static unsigned step;
static CUdeviceptr x_there;

static void count_nodes(const char *who, CUresult ended, CUgraph graph)
{
	size_t nodes = 0;

	if (ended == CUDA_SUCCESS) {
		CHECK(cuGraphGetNodes(graph, NULL, &nodes));
		CHECK(cuGraphDestroy(graph));
	}
	printf("%s: %d, %zu nodes\n", who, (int)ended, nodes);
}

static void begin_own(void)
{
	CHECK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

static void end_own(const char *who, CUdeviceptr x)
{
	CUgraph graph = NULL;
	CUresult ended;

	hazard_chain(x, CU_STREAM_PER_THREAD);
	ended = cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph);
	count_nodes(who, ended, graph);
}

enum { LOOP, BEGIN, END, OVER };

/* A second thread does what it is told to: loops on its own default stream, or captures there. */
static void *capture_there(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		while (sem_wait(&step_wanted) != 0)
			;
		if (step == OVER)
			return unused;
		if (step == BEGIN) {
			begin_own();
		} else if (step == END) {
			end_own("there", x_there);
		} else {
			hazard_chain(x_there, CU_STREAM_PER_THREAD);
			CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
		}
		sem_post(&step_done);
	}
}

static void there(unsigned what)
{
	step = what;
	sem_post(&step_wanted);
	while (sem_wait(&step_done) != 0)
		;
}

/* The thread's default stream in another context is another stream. */
static void capture_elsewhere(void)
{
	CUcontext elsewhere;
	CUgraph graph = NULL;
	CUresult ended;

	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	begin_own();
	ended = cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph);
	count_nodes("elsewhere", ended, graph);
	CHECK(cuCtxDestroy(elsewhere));
	CHECK(cuCtxSetCurrent(hazard_context));
}

/* What ends, or is refused, while this thread captures on its own default stream, and is not its
 * capture. */
static void capture_beside(unsigned what)
{
	begin_own();
	if (what == 0) {
		there(BEGIN);
		there(END);
	} else if (what == 1) {
		capture_elsewhere();
	} else {
		printf("begun again: %d\n", (int)cuStreamBeginCapture(CU_STREAM_PER_THREAD,
		                                                      CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	}
	end_own("here", hazard_x);
}

/* Captures of two threads on their default streams overlap: one handle, two streams. So they do in
 * two contexts. */
static void captures_of_threads(void)
{
	pthread_t thread;
	unsigned times = 0;

	CHECK(cuMemAlloc(&x_there, WORDS * 4));
	CHECK(cuMemsetD32(x_there, 1, WORDS));
	CHECK(cuCtxSynchronize());
	sem_init(&step_wanted, 0, 0);
	sem_init(&step_done, 0, 0);
	pthread_create(&thread, NULL, capture_there, NULL);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		there(LOOP);
		hazard_chain(hazard_x, CU_STREAM_PER_THREAD);
		CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
		if (hazard_springs(iteration))
			capture_beside(times++ % 3);
	}
	step = OVER;
	sem_post(&step_wanted);
	pthread_join(thread, NULL);
	hazard_print("x", hazard_x);
	hazard_print("there", x_there);
}

static void *begin_and_end(void *unused)
{
	(void)unused;
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
	hazard_launch(hazard_mix, x_there, 1, CU_STREAM_PER_THREAD);
	return NULL;
}

/* A thread ends in the midst of a capture on its own stream, which nobody can end any more. */
static void capture_of_ended_thread(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t words[WORDS], sum = 0;
	pthread_t thread;

	CHECK(cuMemAlloc(&x_there, WORDS * 4));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (hazard_springs(iteration)) {
			pthread_create(&thread, NULL, begin_and_end, NULL);
			pthread_join(thread, NULL);
		}
	}
	/* Nothing may be asked of the whole context any more. */
	CHECK(cuMemcpyDtoHAsync(words, hazard_x, sizeof(words), stream));
	CHECK(cuStreamSynchronize(stream));
	for (unsigned i = 0; i < WORDS; i++)
		sum = sum * 31 + words[i];
	printf("x %08x\n", sum);
}

const struct hazard capture_hazards[] = {
	{"capture_of_ended_thread", capture_of_ended_thread},
	{"captures_of_threads", captures_of_threads},
	{"own_capture", own_capture},
	{"own_capture_elsewhere", own_capture_elsewhere},
	{"own_capture_invalid", own_capture_invalid},
	{"context_sync_elsewhere", context_sync_elsewhere},
	{"context_sync_beside_build", context_sync_beside_build},
	{"capture_queries", capture_queries},
	{"fork_into_capture", fork_into_capture},
	{"capture_goes_on", capture_goes_on},
	{"capture_ends_otherwise", capture_ends_otherwise},
	{NULL, NULL},
};
