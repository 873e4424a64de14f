/* Programs that capture by themselves. */
#include "hazard.h"

#include <pthread.h>
#include <stdio.h>

static void expect_capture_status(cudaStream_t stream, enum cudaStreamCaptureStatus wanted,
                                  unsigned iteration)
{
	enum cudaStreamCaptureStatus status;

	CHECK(cudaStreamIsCapturing(stream, &status));
	EXPECT(status == wanted, "iteration %u: capture status %d, not %d", iteration, (int)status,
	       (int)wanted);
}

/* Ends a capture of BODY mixes, launches its graph times over, and lets the mirror follow. */
static void end_and_launch(cudaStream_t stream, cudaStream_t launch_stream, struct mirror *mirror,
                           unsigned times, unsigned iteration)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec;
	size_t nodes = 0;

	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
	EXPECT(nodes == BODY, "iteration %u: the program's graph has %zu nodes, not %d", iteration,
	       nodes, BODY);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (unsigned i = 0; i < times; i++) {
		CHECK(cudaGraphLaunch(exec, launch_stream));
		for (uint32_t k = 0; k < BODY; k++)
			mirror_mixed(mirror, scramble(k));
	}
	CHECK(cudaStreamSynchronize(launch_stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

/* Issues the same launches as mirror_body into a capture: nothing runs. */
static void capture_body(struct mirror *mirror, cudaStream_t stream)
{
	for (unsigned k = 0; k < BODY; k++) {
		uint32_t argument = scramble(k);

		launch(kernel_mix, 1, WORDS, (void *[]){&mirror->device, &argument}, stream);
	}
}

/* The program captures its hot sequence on its hot stream, in each mode. */
static void own_capture(void)
{
	static const enum cudaStreamCaptureMode modes[] = {
		cudaStreamCaptureModeGlobal,
		cudaStreamCaptureModeThreadLocal,
		cudaStreamCaptureModeRelaxed,
	};
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			if (i % 2)
				CHECK(cudaStreamSynchronize(stream));
			expect_capture_status(stream, cudaStreamCaptureStatusNone, i);
			CHECK(cudaStreamBeginCapture(stream, modes[scramble(i) % 3]));
			capture_body(&mirror, stream);
			expect_capture_status(stream, cudaStreamCaptureStatusActive, i);
			end_and_launch(stream, stream, &mirror, 2, i);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static volatile bool loop_ended;
static volatile unsigned captures_done;

static void *capture_again_and_again(void *unused)
{
	struct mirror mirror;
	cudaStream_t stream;

	(void)unused;
	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	do {
		double end = seconds_now() + 100e-6;

		CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
		capture_body(&mirror, stream);
		while (seconds_now() < end)
			;
		end_and_launch(stream, stream, &mirror, 1, captures_done);
		captures_done++;
	} while (!loop_ended);
	mirror_verify(&mirror, captures_done);
	return NULL;
}

/*
 * Another thread captures in global mode while this one's loop is hot. The loop makes no call that
 * such a capture forbids to other threads: it only launches, and waits by looking at mapped memory.
 */
static void own_capture_elsewhere(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	pthread_t thread;
	uint32_t *mapped = mapped_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	launch(kernel_publish, 1, 1, (void *[]){&mapped, &(uint32_t){0}}, stream);
	mirror_body(&mirror, stream);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i <= ITERATIONS + 600; i++) {
		if (i == 300)
			EXPECT(!pthread_create(&thread, NULL, capture_again_and_again, NULL), "no thread");
		mirror_body(&mirror, stream);
		if (trap_at(i))
			mirror_mix(&mirror, i, stream);
		launch(kernel_publish, 1, 1, (void *[]){&mapped, &i}, stream);
		await_mapped(mapped, i);
	}
	loop_ended = true;
	pthread_join(thread, NULL);
	EXPECT(captures_done > 0, "nothing was captured meanwhile");
	mirror_verify(&mirror, ITERATIONS);
}

/* The program breaks its own capture, gets the documented errors, and goes on. */
static void own_capture_invalid(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaError_t at_sync = cudaSuccess, at_launch = cudaSuccess, at_end = cudaSuccess;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			cudaGraph_t graph = NULL;
			uint32_t argument = i;

			CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
			capture_body(&mirror, stream);
			at_sync = cudaStreamSynchronize(stream);
			at_launch = cudaLaunchKernel(kernel_mix, (dim3){1, 1, 1}, (dim3){WORDS, 1, 1},
			                             (void *[]){&mirror.device, &argument}, 0, stream);
			at_end = cudaStreamEndCapture(stream, &graph);
			EXPECT(at_sync == cudaErrorStreamCaptureUnsupported,
			       "iteration %u: a wait in a capture returned %s", i, cudaGetErrorName(at_sync));
			EXPECT(at_launch == cudaErrorStreamCaptureInvalidated,
			       "iteration %u: a launch in a broken capture returned %s", i,
			       cudaGetErrorName(at_launch));
			EXPECT(at_end == cudaErrorStreamCaptureInvalidated && !graph,
			       "iteration %u: the end of a broken capture returned %s", i,
			       cudaGetErrorName(at_end));
			(void)cudaGetLastError();
			expect_capture_status(stream, cudaStreamCaptureStatusNone, i);
			mirror_mix(&mirror, i, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void *make_traces_again_and_again(void *unused)
{
	struct mirror mirror;

	(void)unused;
	mirror_init(&mirror);
	while (!loop_ended) {
		cudaStream_t stream;

		CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		for (unsigned i = 0; i < 150; i++) {
			mirror_body(&mirror, stream);
			CHECK(cudaStreamSynchronize(stream));
		}
		CHECK(cudaStreamDestroy(stream));
	}
	mirror_verify(&mirror, 0);
	return NULL;
}

/* While another thread's sequences become hot, and Reprise captures them, the program's questions
 * are answered about the program's streams alone. */
static void capture_queries(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	pthread_t thread;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	EXPECT(!pthread_create(&thread, NULL, make_traces_again_and_again, NULL), "no thread");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		for (unsigned k = 0; k < 20; k++) {
			expect_capture_status(stream, cudaStreamCaptureStatusNone, i);
			expect_capture_status(cudaStreamLegacy, cudaStreamCaptureStatusNone, i);
			expect_capture_status(cudaStreamPerThread, cudaStreamCaptureStatusNone, i);
		}
		if (trap_at(i)) {
			CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
			size_t dependencies = 0;

			CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
			capture_body(&mirror, stream);
			CHECK_DRIVER(
				cuStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL, &dependencies));
			EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && dependencies == 1,
			       "iteration %u: status %d, %zu dependencies", i, (int)status, dependencies);
			end_and_launch(stream, stream, &mirror, 1, i);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	loop_ended = true;
	pthread_join(thread, NULL);
	mirror_verify(&mirror, ITERATIONS);
}

/* Sets an attribute of the stream on which a capture began, or destroys a context that has no part
 * in it. */
static void disturb(cudaStream_t stream, unsigned iteration)
{
	static unsigned contexts; /* each takes a good part of a second */
	cudaStreamAttrValue value = {.syncPolicy = cudaSyncPolicySpin};
	CUcontext context, current;

	if (iteration % 2 || ++contexts > 6) {
		CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
		return;
	}
	CHECK_DRIVER(cuCtxGetCurrent(&current));
	CHECK_DRIVER(cuCtxCreate(&context, NULL, 0, 0));
	CHECK_DRIVER(cuCtxDestroy(context));
	CHECK_DRIVER(cuCtxSetCurrent(current));
}

/* Another hot stream joins the capture through an event, and goes back: the graph has what both
 * launched. */
static void fork_with(void (*meanwhile)(cudaStream_t stream, unsigned iteration))
{
	struct mirror mirror, of_other;
	cudaStream_t stream, other;
	cudaEvent_t away, back;

	mirror_init(&mirror);
	mirror_init(&of_other);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&away, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&back, cudaEventDisableTiming));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		mirror_body(&of_other, other);
		CHECK(cudaStreamSynchronize(other));
		if (trap_at(i)) {
			CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
			CHECK(cudaEventRecord(away, stream));
			CHECK(cudaStreamWaitEvent(other, away, 0));
			if (meanwhile)
				meanwhile(stream, i);
			capture_body(&of_other, other);
			expect_capture_status(other, cudaStreamCaptureStatusActive, i);
			CHECK(cudaEventRecord(back, other));
			CHECK(cudaStreamWaitEvent(stream, back, 0));
			end_and_launch(stream, stream, &of_other, 2, i);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
	mirror_verify(&of_other, ITERATIONS);
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

static struct {
	cudaStream_t stream;
	struct mirror *mirror;
	unsigned iteration;
} handed_over;

static void *end_capture(void *unused)
{
	(void)unused;
	end_and_launch(handed_over.stream, handed_over.stream, handed_over.mirror, 1,
	               handed_over.iteration);
	return NULL;
}

/* A relaxed capture is ended by another thread than began it; another ends with its stream, which
 * is destroyed. */
static void capture_ends_otherwise(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			cudaStream_t doomed;
			pthread_t thread;

			CHECK(cudaStreamCreateWithFlags(&doomed, cudaStreamNonBlocking));
			CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
			capture_body(&mirror, stream);
			handed_over.stream = stream;
			handed_over.mirror = &mirror;
			handed_over.iteration = i;
			EXPECT(!pthread_create(&thread, NULL, end_capture, NULL), "no thread");
			pthread_join(thread, NULL);
			CHECK(cudaStreamBeginCapture(doomed, cudaStreamCaptureModeRelaxed));
			capture_body(&mirror, doomed);
			CHECK(cudaStreamDestroy(doomed));
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static pthread_barrier_t together;

static void begin_own(unsigned iteration)
{
	CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
	expect_capture_status(cudaStreamPerThread, cudaStreamCaptureStatusActive, iteration);
}

static void loop_on_own(struct mirror *mirror)
{
	mirror_body(mirror, cudaStreamPerThread);
	CHECK(cudaStreamSynchronize(cudaStreamPerThread));
}

/* The second thread's captures begin and end within the first one's, or begin in one and end behind
 * it, by turns. */
static void *capture_there(void *which)
{
	bool first = which == NULL;
	struct mirror mirror;

	mirror_init(&mirror);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		loop_on_own(&mirror);
		if (!trap_at(i))
			continue;
		if (first)
			begin_own(i);
		pthread_barrier_wait(&together);
		if (!first)
			begin_own(i);
		pthread_barrier_wait(&together);
		if (first == (i % 2 == 0)) {
			capture_body(&mirror, cudaStreamPerThread);
			end_and_launch(cudaStreamPerThread, cudaStreamPerThread, &mirror, 1, i);
		}
		pthread_barrier_wait(&together);
		if (first != (i % 2 == 0)) {
			capture_body(&mirror, cudaStreamPerThread);
			end_and_launch(cudaStreamPerThread, cudaStreamPerThread, &mirror, 1, i);
		}
		pthread_barrier_wait(&together);
	}
	mirror_verify(&mirror, ITERATIONS);
	return NULL;
}

/* Captures of two threads on their default streams overlap: one handle, two streams. */
static void captures_of_threads(void)
{
	pthread_t thread;

	CHECK(cudaFree(NULL));
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&thread, NULL, capture_there, (void *)1);
	capture_there(NULL);
	pthread_join(thread, NULL);
}

const struct hazard capture_hazards[] = {
	{"captures_of_threads", captures_of_threads},
	{"own_capture", own_capture},
	{"own_capture_elsewhere", own_capture_elsewhere},
	{"own_capture_invalid", own_capture_invalid},
	{"capture_queries", capture_queries},
	{"fork_into_capture", fork_into_capture},
	{"capture_goes_on", capture_goes_on},
	{"capture_ends_otherwise", capture_ends_otherwise},
	{NULL, NULL},
};
