/* What Reprise gains where streams are ordered in ways that no graph of its own takes: streams in a
 * pipeline, which meet by events and are never joined; a fork whose branches differ in priority;
 * values that a stream writes to memory, or waits for; several of these at once. Beside them the
 * same kernels on one stream. Paused and replaying by turns, in random order, within one process:
 * us a step, medians with the least and the greatest, and the share that was replayed. Figures are in
 * docs/results/2026-11-30-orders-h200.md.
 *
 *     nvcc -O2 -std=c++17 -arch=sm_90 -Iinclude tests/research/orders.cu -o orders -lcuda
 *     LD_PRELOAD=libreprise.so REPRISE_TURNS=0 ./orders */
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include <reprise/reprise.h>

enum { KERNELS = 20, BLOCK = 256, STEPS = 1000, WARM_UP = 4000, ROUNDS = 9, FAR = 50 };

static __global__ void add(uint32_t *words)
{
	words[threadIdx.x]++;
}

static void check(int result, const char *what)
{
	if (result != 0) {
		fprintf(stderr, "orders: %s: %d\n", what, result);
		exit(1);
	}
}
#define CHECK(call) check((int)(call), #call)

static double now_us()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static cudaStream_t first, second, urgent;
static cudaEvent_t forks, joins;
static uint32_t *words, *value;
static uint64_t added; /* kernels so far, of each buffer */

static uint32_t *buffer(int number)
{
	return words + number * BLOCK;
}

static void kernels(cudaStream_t stream, int number)
{
	for (int i = 0; i < KERNELS; i++)
		add<<<1, BLOCK, 0, stream>>>(buffer(number));
}

/* ---- a step of each; the buffers 0 and 1 get KERNELS additions ---- */

static void one_stream(int)
{
	kernels(first, 0);
	kernels(first, 1);
	CHECK(cudaStreamSynchronize(first));
}

static void pipeline(int step)
{
	kernels(first, 0);
	CHECK(cudaEventRecord(forks, first));
	CHECK(cudaStreamWaitEvent(second, forks));
	kernels(second, 1);
	if (step % FAR == FAR - 1)
		CHECK(cudaStreamSynchronize(second));
}

static void fork_to(cudaStream_t side)
{
	CHECK(cudaEventRecord(forks, first));
	CHECK(cudaStreamWaitEvent(side, forks));
	kernels(side, 1);
	CHECK(cudaEventRecord(joins, side));
	kernels(first, 0);
	CHECK(cudaStreamWaitEvent(first, joins));
	CHECK(cudaStreamSynchronize(first));
}

static void alike(int)
{
	fork_to(second);
}

static void priorities(int)
{
	fork_to(urgent);
}

static void values(int step)
{
	kernels(first, 0);
	CHECK(cuStreamWriteValue32(first, (CUdeviceptr)value, step, 0));
	kernels(first, 1);
	CHECK(cuStreamWaitValue32(first, (CUdeviceptr)value, step, CU_STREAM_WAIT_VALUE_EQ));
	CHECK(cudaStreamSynchronize(first));
}

static void batches(int step)
{
	CUstreamBatchMemOpParams both[2] = {};

	both[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	both[0].writeValue.address = (CUdeviceptr)value;
	both[0].writeValue.value = step;
	both[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	both[1].waitValue.address = (CUdeviceptr)value;
	both[1].waitValue.value = step;
	both[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	kernels(first, 0);
	CHECK(cuStreamBatchMemOp(first, 2, both, 0));
	kernels(first, 1);
	CHECK(cudaStreamSynchronize(first));
}

struct way {
	const char *name;
	void (*step)(int);
};

static const way ways[] = {
	{"one stream", one_stream},
	{"pipeline of two streams, a wait after 50 steps", pipeline},
	{"fork and join", alike},
	{"fork and join, the side of another priority", priorities},
	{"write and wait for a value", values},
	{"both at once", batches},
};

/* ---- by turns ---- */

/* Microseconds a step. */
static double run(const way &way, int steps)
{
	double begin = now_us();

	for (int step = 0; step < steps; step++)
		way.step(step);
	CHECK(cudaDeviceSynchronize());
	added += (uint64_t)steps * KERNELS;
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

static void measure(const way &way, std::mt19937 &random)
{
	std::vector<double> paused, replaying, ratios;
	uint64_t ops = 0, replayed = 0;

	run(way, WARM_UP);
	for (int round = 0; round < ROUNDS; round++) {
		double took[2];
		int begins = random() & 1;

		for (int turn = 0; turn < 2; turn++) {
			int pauses = turn ^ begins;
			reprise_counts before;

			if (pauses)
				reprise_pause();
			run(way, STEPS / 10);
			before = counts();
			took[pauses] = run(way, STEPS);
			ops += counts().ops - before.ops;
			replayed += counts().replayed - before.replayed;
			if (pauses)
				reprise_resume();
		}
		paused.push_back(took[1]);
		replaying.push_back(took[0]);
		ratios.push_back(took[1] / took[0]);
	}
	printf("| %s |", way.name);
	tell(paused);
	tell(replaying);
	std::sort(ratios.begin(), ratios.end());
	printf(" %.2f (%.2f to %.2f) | %.1f %% |\n", ratios[ROUNDS / 2], ratios.front(), ratios.back(),
	       ops ? 100.0 * replayed / ops : 0);
}

int main()
{
	std::mt19937 random(1);
	std::vector<uint32_t> read(2 * BLOCK);
	int least, greatest;

	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
	CHECK(cudaEventCreateWithFlags(&forks, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&joins, cudaEventDisableTiming));
	CHECK(cudaMalloc(&words, 2 * BLOCK * sizeof(*words)));
	CHECK(cudaMemset(words, 0, 2 * BLOCK * sizeof(*words)));
	CHECK(cudaMalloc(&value, sizeof(*value)));
	printf("| 40 kernels | paused, us a step | replaying, us a step | gain | replayed |\n");
	printf("|---|---|---|---|---|\n");
	for (const way &way : ways)
		measure(way, random);
	CHECK(cudaMemcpy(read.data(), words, read.size() * sizeof(read[0]), cudaMemcpyDeviceToHost));
	for (uint32_t word : read)
		if (word != (uint32_t)added) {
			printf("wrong: %u additions, %llu expected\n", word, (unsigned long long)added);
			return 1;
		}
	printf("\nAll %llu additions are there.\n", (unsigned long long)added);
	return 0;
}
