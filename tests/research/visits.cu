/* What the first visits cost: graphs of one kernel behind eager calls, and eager calls behind
 * graphs, by their place in the row, in microseconds. A period waits for its kernel, or not;
 * between two, the program touches so much memory that caches forget the driver's, as Python does.
 * docs/results/2026-11-29-visits-h200.md has the figures. It needs nothing of Reprise.
 *
 *     nvcc -O2 -arch=sm_90 tests/research/visits.cu -o visits && ./visits */
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

enum {
	VISITS = 64,
	CALLS = 256,
	ROUNDS = 60,
	WARM_UP = 2,
	GRAPHS = 3,
	BLOCKS = 256,
	THREADS = 256
};

__global__ void add(float *values, int number)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	values[i] = values[i] * 0.5f + number;
}

static void check(cudaError_t result)
{
	if (result != cudaSuccess) {
		fprintf(stderr, "visits: %s\n", cudaGetErrorString(result));
		exit(1);
	}
}

static double now_us()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static char *memory;
static volatile long sink;

static void touch(size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		sink += memory[i]++;
}

static double quantile(const double *values, int part)
{
	double sorted[ROUNDS];

	memcpy(sorted, values, sizeof(sorted));
	std::sort(sorted, sorted + ROUNDS);
	return sorted[ROUNDS / part];
}

struct readings {
	double set[ROUNDS], launch[ROUNDS], period[ROUNDS];
};

static readings graphs[VISITS], eager[CALLS];

static void tell(const char *what, int place, const readings &of)
{
	printf("  %-11s %3d: set %.2f launch %.2f period %.2f | %.2f %.2f %.2f\n", what, place,
	       quantile(of.set, 4), quantile(of.launch, 4), quantile(of.period, 4), quantile(of.set, 2),
	       quantile(of.launch, 2), quantile(of.period, 2));
}

int main()
{
	float *values;
	int number = 0;
	void *parameters[] = {&values, &number};
	cudaStream_t stream;
	cudaGraphNode_t node[GRAPHS];
	cudaGraphExec_t executable[GRAPHS];
	cudaKernelNodeParams kernel = {};

	check(cudaMalloc(&values, BLOCKS * THREADS * sizeof(*values)));
	check(cudaStreamCreate(&stream));
	memory = static_cast<char *>(calloc(1, 8 << 20));
	kernel.func = reinterpret_cast<void *>(add);
	kernel.gridDim = dim3(BLOCKS);
	kernel.blockDim = dim3(THREADS);
	kernel.kernelParams = parameters;
	for (int i = 0; i < GRAPHS; i++) {
		cudaGraph_t graph;

		check(cudaGraphCreate(&graph, 0));
		check(cudaGraphAddKernelNode(&node[i], graph, nullptr, 0, &kernel));
		check(cudaGraphInstantiate(&executable[i], graph, 0));
		check(cudaGraphUpload(executable[i], stream));
	}
	check(cudaStreamSynchronize(stream));
	for (bool waits : {true, false})
		for (size_t bytes : {0, 256 << 10, 4 << 20}) {
			for (int round = -WARM_UP; round < ROUNDS; round++) {
				int to = std::max(round, 0);

				for (int i = 0; i < CALLS; i++) {
					double begin = now_us(), launched;

					number++;
					add<<<BLOCKS, THREADS, 0, stream>>>(values, number);
					launched = now_us();
					if (waits || i % 64 == 63)
						check(cudaStreamSynchronize(stream));
					touch(bytes);
					eager[i].set[to] = 0;
					eager[i].launch[to] = launched - begin;
					eager[i].period[to] = now_us() - begin;
				}
				for (int i = 0; i < VISITS; i++) {
					double begin = now_us(), set, launched;

					number++;
					check(cudaGraphExecKernelNodeSetParams(executable[i % GRAPHS], node[i % GRAPHS],
					                                       &kernel));
					set = now_us();
					check(cudaGraphLaunch(executable[i % GRAPHS], stream));
					launched = now_us();
					if (waits || i % 64 == 63)
						check(cudaStreamSynchronize(stream));
					touch(bytes);
					graphs[i].set[to] = set - begin;
					graphs[i].launch[to] = launched - set;
					graphs[i].period[to] = now_us() - begin;
				}
			}
			printf("%s, %zu KiB touched: lower quartiles | medians of %d rounds, us\n",
			       waits ? "each waits" : "none waits", bytes >> 10, ROUNDS);
			for (int i : {0, 1, 2, 3, 8, 16, 62})
				tell("graph", i, graphs[i]);
			for (int i : {0, 1, 2, 3, 8, 16, 128, 254})
				tell("eager call", i, eager[i]);
		}
	return 0;
}
