/* Streams that begin side by side behind the host's wait, and are joined by events: what it gains if
 * they are one graph. For comparison: the same kernels with a fork by an event, and the graph written
 * by hand. Paused and replaying by turns, in random order, within one process:
 * us a step, medians with the least and the greatest.
 *
 *     nvcc -O2 -std=c++17 -arch=sm_90 -Iinclude tests/research/beside.cu -o beside
 *     LD_PRELOAD=libreprise.so REPRISE_TURNS=0 ./beside */
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include <reprise/reprise.h>

enum { BLOCK = 256, STREAMS = 4, STEPS = 1000, WARM_UP = 4000, ROUNDS = 5 };

static __global__ void add(uint32_t *words)
{
	words[threadIdx.x]++;
}

static void check(cudaError_t result, const char *what)
{
	if (result != cudaSuccess) {
		fprintf(stderr, "beside: %s: %s\n", what, cudaGetErrorString(result));
		exit(1);
	}
}
#define CHECK(call) check(call, #call)

static double now_us()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static cudaStream_t streams[STREAMS];
static cudaEvent_t forks, joins[STREAMS];
static uint32_t *words;
static uint64_t added[STREAMS]; /* kernels so far, of each stream's buffer */
static int used, length;        /* streams, and kernels of each */
static cudaGraphExec_t by_hand;

static void branch(int stream)
{
	for (int i = 0; i < length; i++)
		add<<<1, BLOCK, 0, streams[stream]>>>(words + stream * BLOCK);
}

/* Behind the join the first stream has one more kernel. */
static void step(bool forked)
{
	if (forked)
		CHECK(cudaEventRecord(forks, streams[0]));
	branch(0);
	for (int stream = 1; stream < used; stream++) {
		if (forked)
			CHECK(cudaStreamWaitEvent(streams[stream], forks));
		branch(stream);
		CHECK(cudaEventRecord(joins[stream], streams[stream]));
	}
	for (int stream = 1; stream < used; stream++)
		CHECK(cudaStreamWaitEvent(streams[0], joins[stream]));
	add<<<1, BLOCK, 0, streams[0]>>>(words);
}

static void forked()
{
	step(true);
	CHECK(cudaStreamSynchronize(streams[0]));
}

static void beside()
{
	step(false);
	CHECK(cudaStreamSynchronize(streams[0]));
}

static void hand()
{
	CHECK(cudaGraphLaunch(by_hand, streams[0]));
	CHECK(cudaStreamSynchronize(streams[0]));
}

/* Microseconds a step. */
static double run(void (*way)(), int steps)
{
	double begin = now_us();

	for (int i = 0; i < steps; i++)
		way();
	for (int stream = 0; stream < used; stream++)
		added[stream] += (uint64_t)steps * (length + (stream == 0));
	return (now_us() - begin) / steps;
}

static reprise_counts counts()
{
	reprise_counts now = {};

	reprise_read_counts(&now, sizeof(now));
	return now;
}

static void tell(std::vector<double> times)
{
	std::sort(times.begin(), times.end());
	printf(" %.1f (%.1f to %.1f) |", times[times.size() / 2], times.front(), times.back());
}

static void measure(void (*way)(), std::mt19937 &random)
{
	std::vector<double> times[2];
	uint64_t launches = 0, steps = 0;

	run(way, WARM_UP);
	for (int round = 0; round < ROUNDS; round++) {
		int begins = random() & 1;

		for (int turn = 0; turn < 2; turn++) {
			int pauses = turn ^ begins;
			reprise_counts before;

			if (pauses)
				reprise_pause();
			run(way, STEPS / 10);
			before = counts();
			times[pauses].push_back(run(way, STEPS));
			if (pauses) {
				reprise_resume();
			} else {
				launches += counts().launches - before.launches;
				steps += STEPS;
			}
		}
	}
	tell(times[1]);
	tell(times[0]);
	printf(" %.1f |", (double)launches / steps);
}

static void capture()
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed));
	step(true);
	CHECK(cudaStreamEndCapture(streams[0], &graph));
	CHECK(cudaGraphInstantiate(&by_hand, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

int main()
{
	std::mt19937 random(1);
	std::vector<uint32_t> read(STREAMS * BLOCK);

	for (int stream = 0; stream < STREAMS; stream++) {
		CHECK(cudaStreamCreateWithFlags(&streams[stream], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&joins[stream], cudaEventDisableTiming));
	}
	CHECK(cudaEventCreateWithFlags(&forks, cudaEventDisableTiming));
	CHECK(cudaMalloc(&words, STREAMS * BLOCK * sizeof(*words)));
	CHECK(cudaMemset(words, 0, STREAMS * BLOCK * sizeof(*words)));
	printf("| streams | kernels of each | fork: paused | replaying | graphs a step | side by side: paused | replaying | graphs a step | by hand |\n");
	printf("|---|---|---|---|---|---|---|---|---|\n");
	for (int many : {2, (int)STREAMS})
		for (int kernels : {1, 2, 4, 10, 20}) {
			std::vector<double> times;

			used = many;
			length = kernels;
			printf("| %d | %d |", used, length);
			measure(forked, random);
			measure(beside, random);
			capture();
			for (int round = 0; round < ROUNDS; round++)
				times.push_back(run(hand, STEPS));
			tell(times);
			printf("\n");
			fflush(stdout);
			CHECK(cudaGraphExecDestroy(by_hand));
		}
	CHECK(cudaMemcpy(read.data(), words, read.size() * sizeof(read[0]), cudaMemcpyDeviceToHost));
	for (int i = 0; i < STREAMS * BLOCK; i++)
		if (read[i] != (uint32_t)added[i / BLOCK]) {
			printf("wrong: %u additions, %llu expected\n", read[i],
			       (unsigned long long)added[i / BLOCK]);
			return 1;
		}
	printf("\nAll additions are there.\n");
	return 0;
}
