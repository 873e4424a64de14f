/* Which kernels launch kernels? A graph that the device may launch must have none, so the driver
 * knows. Each kernel is instantiated alone, as such a graph.
 * docs/decisions/0023-kernels-that-launch-kernels.md has the figures. It needs nothing of Reprise.
 *
 *     nvcc -O2 -arch=sm_90 -rdc=true tests/research/launches.cu -o launches -lcudadevrt -lcuda
 *         -L"$(dirname "$(command -v nvcc)")/../lib64/stubs" && ./launches
 *
 * With -gencode arch=compute_80,code=compute_80 in place of -arch, the driver compiles PTX. */
#include <cuda.h>
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

static __global__ void plain(unsigned *x)
{
    x[threadIdx.x]++;
}

/* ---- those that refer to the device runtime ---- */

static __global__ void launches(unsigned *x)
{
    plain<<<1, 32>>>(x);
}

static __global__ void launches_its_tail(unsigned *x)
{
    plain<<<1, 32, 0, cudaStreamTailLaunch>>>(x);
}

static __global__ void never_gets_there(unsigned *x)
{
    if (x[0] == 0x7fffffff)
        plain<<<1, 32>>>(x);
}

static __device__ __noinline__ void launching_function(unsigned *x)
{
    plain<<<1, 32>>>(x);
}

static __global__ void launches_in_a_function(unsigned *x)
{
    launching_function(x);
}

static __device__ __noinline__ void plain_function(unsigned *x)
{
    x[0] += 3;
}

static __device__ void (*functions[])(unsigned *) = {plain_function, launching_function};

static __global__ void launches_by_a_table(unsigned *x)
{
    functions[x[0] & 1](x);
}

static __global__ void copies(unsigned *x)
{
    cudaMemcpyAsync(x, x + 8, sizeof *x, cudaMemcpyDeviceToDevice, 0);
}

static __global__ void makes_a_stream(unsigned *x)
{
    cudaStream_t stream;

    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamDestroy(stream);
}

static __global__ void allocates_of_the_runtime(unsigned *x)
{
    void *memory = nullptr;

    cudaMalloc(&memory, 64);
    x[0] += memory != nullptr;
    cudaFree(memory);
}

static __global__ void asks_for_the_error(unsigned *x)
{
    x[0] += cudaGetLastError();
}

static __global__ void counts_devices(unsigned *x)
{
    int count = 0;

    cudaGetDeviceCount(&count);
    x[0] += count;
}

/* ---- those that do not ---- */

static __global__ void calls_a_function(unsigned *x)
{
    plain_function(x);
}

static __global__ void prints(unsigned *x)
{
    printf("%u\n", x[0]);
}

static __global__ void allocates(unsigned *x)
{
    void *memory = malloc(64);

    x[0] += memory != nullptr;
    free(memory);
}

static __global__ void launches_a_graph(unsigned *x)
{
    cudaGraphLaunch(*(cudaGraphExec_t *)x, cudaStreamGraphFireAndForget);
}

static double now_us()
{
    using namespace std::chrono;

    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

/* The third time: the first may load the kernel. */
static void look(const char *name, const void *symbol, unsigned *x)
{
    void *params[] = {&x};
    CUDA_KERNEL_NODE_PARAMS node_params = {};
    cudaFunction_t function = nullptr;
    CUresult result = CUDA_SUCCESS;
    const char *error = "?";
    double took = 0;

    cudaGetFuncBySymbol(&function, symbol);
    node_params.func = (CUfunction)function;
    node_params.gridDimX = node_params.gridDimY = node_params.gridDimZ = 1;
    node_params.blockDimX = 32;
    node_params.blockDimY = node_params.blockDimZ = 1;
    node_params.kernelParams = params;
    for (int i = 0; i < 3; i++) {
        CUgraphExec executable = nullptr;
        CUgraph graph;
        CUgraphNode node;
        double begin;

        cuGraphCreate(&graph, 0);
        cuGraphAddKernelNode(&node, graph, nullptr, 0, &node_params);
        begin = now_us();
        result = cuGraphInstantiateWithFlags(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
        took = now_us() - begin;
        if (executable != nullptr)
            cuGraphExecDestroy(executable);
        cuGraphDestroy(graph);
    }
    cuGetErrorName(result, &error);
    printf("%-26s %-26s %5.1f us\n", name, error, took);
}

#define LOOK(kernel) look(#kernel, (const void *)kernel, x)

int main()
{
    unsigned *x;

    cudaMalloc(&x, 4096);
    cudaMemset(x, 0, 4096);
    LOOK(plain);
    LOOK(launches);
    LOOK(launches_its_tail);
    LOOK(never_gets_there);
    LOOK(launches_in_a_function);
    LOOK(launches_by_a_table);
    LOOK(copies);
    LOOK(makes_a_stream);
    LOOK(allocates_of_the_runtime);
    LOOK(asks_for_the_error);
    LOOK(counts_devices);
    LOOK(calls_a_function);
    LOOK(prints);
    LOOK(allocates);
    LOOK(launches_a_graph);
    return cudaDeviceSynchronize() != cudaSuccess;
}
