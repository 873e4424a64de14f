/* Programs that capture and launch graphs of their own. */
#include "hazard.h"

#include <pthread.h>
#include <stdio.h>

static void expect_capture_status(cudaStream_t stream, enum cudaStreamCaptureStatus wanted, unsigned iteration)
{
	enum cudaStreamCaptureStatus status;

	CHECK(cudaStreamIsCapturing(stream, &status));
	EXPECT(status == wanted, "iteration %u: capture status %d, not %d", iteration, (int)status, (int)wanted);
}

/* Ends a capture of BODY mixes, launches its graph times over, and lets the mirror follow. */
static void end_and_launch(cudaStream_t stream, cudaStream_t launch_stream, struct mirror *mirror, unsigned times, unsigned iteration)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec;
	size_t nodes = 0;

	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
	EXPECT(nodes == BODY, "iteration %u: the program's graph has %zu nodes, not %d", iteration, nodes, BODY);
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
		cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed,
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
 * Another thread captures in global mode while this one's loop is hot. The loop makes no call that such a capture
 * forbids to other threads: it only launches, and waits by looking at mapped memory.
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
			EXPECT(at_sync == cudaErrorStreamCaptureUnsupported, "iteration %u: a wait in a capture returned %s", i,
				cudaGetErrorName(at_sync));
			EXPECT(at_launch == cudaErrorStreamCaptureInvalidated, "iteration %u: a launch in a broken capture returned %s", i,
				cudaGetErrorName(at_launch));
			EXPECT(at_end == cudaErrorStreamCaptureInvalidated && !graph, "iteration %u: the end of a broken capture returned %s",
				i, cudaGetErrorName(at_end));
			(void)cudaGetLastError();
			expect_capture_status(stream, cudaStreamCaptureStatusNone, i);
			mirror_mix(&mirror, i, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* The program's own graph among its launches, with parameters set anew now and then. */
static void own_graph_launch(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t nodes[3];
	uint32_t arguments[3] = {11, 12, 13};

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphCreate(&graph, 0));
	for (unsigned node = 0; node < 3; node++) {
		struct cudaKernelNodeParams params = {
			.func = (void *)kernel_mix,
			.gridDim = {1, 1, 1},
			.blockDim = {WORDS, 1, 1},
			.kernelParams = (void *[]){&mirror.device, &arguments[node]},
		};

		CHECK(cudaGraphAddKernelNode(&nodes[node], graph, node ? &nodes[node - 1] : NULL, node ? 1 : 0, &params));
	}
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			struct cudaKernelNodeParams params = {
				.func = (void *)kernel_mix,
				.gridDim = {1, 1, 1},
				.blockDim = {WORDS, 1, 1},
				.kernelParams = (void *[]){&mirror.device, &arguments[1]},
			};

			arguments[1] = i;
			CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[1], &params));
		}
		CHECK(cudaGraphLaunch(exec, stream));
		for (unsigned node = 0; node < 3; node++)
			mirror_mixed(&mirror, arguments[node]);
		mirror_body(&mirror, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

const struct hazard capture_hazards[] = {
	{"own_capture", own_capture},
	{"own_capture_elsewhere", own_capture_elsewhere},
	{"own_capture_invalid", own_capture_invalid},
	{"own_graph_launch", own_graph_launch},
	{NULL, NULL},
};
