#include "kernels.h"

#include <cooperative_groups.h>
#include <cstdio>

static __device__ unsigned long long now_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void mix(uint32_t *x, uint32_t argument)
{
    x[threadIdx.x] = x[threadIdx.x] * MIX_FACTOR + argument + threadIdx.x;
}

static __global__ void absorb(uint32_t *x, const uint32_t *y)
{
    x[threadIdx.x] = x[threadIdx.x] * ABSORB_FACTOR + 2 * y[threadIdx.x];
}

static __global__ void large_parameters(uint32_t *x, const __grid_constant__ large parameters)
{
    uint32_t sum = 0;
    for (uint32_t word : parameters.words)
        sum += word;
    x[threadIdx.x] = x[threadIdx.x] * MIX_FACTOR + sum;
}

static __global__ void padded_parameters(uint32_t *x, padded by)
{
    x[threadIdx.x] = x[threadIdx.x] * (2u * by.factor + 1u) + (by.addend >> by.shift);
}

static __global__ void publish(volatile uint32_t *mapped, uint32_t value)
{
    __threadfence_system();
    *mapped = value;
    __threadfence_system();
}

// So long that a host which shares the GPU with a dozen other processes comes in time: what it does meanwhile was seen to take more than 5 s.
#define WAITS_NS 30000000000ull

static __global__ void wait(const volatile uint32_t *flag, uint32_t value, volatile uint32_t *late)
{
    unsigned long long end = now_ns() + WAITS_NS;
    while ((int)(*flag - value) < 0)
        if (now_ns() > end) {
            *late = 1;
            return;
        }
    __threadfence_system();
}

// The body of a loop in a graph runs again until it has run `times` times.
static __global__ void count_down(uint32_t *count, uint32_t times, cudaGraphConditionalHandle again)
{
    uint32_t ran = ++*count;
    cudaGraphSetConditional(again, ran % times != 0);
}

static __device__ cudaStream_t stream_for(uint32_t how)
{
    return how == GRAPH_BEHIND   ? cudaStreamGraphTailLaunch
           : how == GRAPH_BESIDE ? cudaStreamGraphFireAndForgetAsSibling
                                 : cudaStreamGraphFireAndForget;
}

static __global__ void launch_graph(cudaGraphExec_t graph, uint32_t how, uint32_t *refused)
{
    if (cudaGraphLaunch(graph, stream_for(how)) != cudaSuccess)
        ++*refused;
}

static __global__ void launch_graphs(const cudaGraphExec_t *graphs, uint32_t count, uint32_t how, uint32_t *refused)
{
    for (uint32_t i = 0; i < count; i++)
        if (cudaGraphLaunch(graphs[i], stream_for(how)) != cudaSuccess)
            ++*refused;
}

// A device graph that runs `times` times for each launch of the host's.
static __global__ void relaunch(uint32_t *count, uint32_t times)
{
    if (++*count % times != 0)
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

static __global__ void in_device_graph(uint32_t *x)
{
    x[threadIdx.x] += cudaGetCurrentGraphExec() != nullptr;
}

static __global__ void choose(uint32_t *count, uint32_t choices, cudaGraphConditionalHandle choice)
{
    cudaGraphSetConditional(choice, (*count)++ % choices);
}

static __global__ void set_node(cudaGraphDeviceNode_t node, uint64_t offset, uint32_t *count)
{
    uint32_t value = (*count)++;
    cudaGraphKernelNodeSetParam(node, offset, &value, sizeof value);
    cudaGraphKernelNodeSetEnabled(node, value % 3 != 0);
}

static __global__ void raise_flag(volatile uint32_t *flag, uint32_t value)
{
    __threadfence();
    *flag = value;
    __threadfence();
}

static __global__ void delay(uint32_t us)
{
    unsigned long long end = now_ns() + us * 1000ull;
    while (now_ns() < end)
        ;
}

// Only the first block works: it says what was launched.
static __global__ void shaped(uint32_t *x)
{
    uint32_t shared;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared));
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0)
        x[threadIdx.x] = x[threadIdx.x] * MIX_FACTOR + gridDim.x + 31 * gridDim.y + 977 * gridDim.z + 7 * shared;
}

static __global__ void by_shared_memory(uint32_t *x, uint32_t words)
{
    extern __shared__ uint32_t shared[];
    for (uint32_t i = threadIdx.x; i < words; i += WORDS)
        shared[i] = x[threadIdx.x] + i;
    __syncthreads();
    x[threadIdx.x] = shared[words - WORDS + threadIdx.x] * MIX_FACTOR;
}

static __global__ void in_clusters(uint32_t *x)
{
    uint32_t blocks = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
#endif
    x[blockIdx.x] = x[blockIdx.x] * MIX_FACTOR + blocks;
}

// In the second phase every thread reads what another block wrote in the first.
static __global__ void over_the_grid(uint32_t *x, uint32_t argument)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] * MIX_FACTOR + argument + i;
    cooperative_groups::this_grid().sync();
    uint32_t other = x[(i + 11) % WORDS];
    cooperative_groups::this_grid().sync();
    x[i] = x[i] * ABSORB_FACTOR + 2 * other;
}

// Any number of blocks, which all run at once: each is counted before any of them sees the sum.
static __global__ void crowd(uint32_t *x, uint32_t *count, uint32_t argument)
{
    if (threadIdx.x == 0)
        atomicAdd(count, 1);
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        x[0] = x[0] * MIX_FACTOR + *count + argument;
        *count = 0;
    }
}

static __global__ void dependent(uint32_t *x, uint32_t argument)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    x[threadIdx.x] = x[threadIdx.x] * MIX_FACTOR + argument + threadIdx.x;
}

static __global__ void trap(uint32_t *x, uint32_t argument)
{
    if (argument == TRAP)
        __trap();
    x[threadIdx.x] = x[threadIdx.x] * MIX_FACTOR + argument + threadIdx.x;
}

static __global__ void print(uint32_t value)
{
    if (value % 64 == 0)
        printf("device %u\n", value);
}

const void *const kernel_mix = (const void *)mix;
const void *const kernel_absorb = (const void *)absorb;
const void *const kernel_large = (const void *)large_parameters;
const void *const kernel_padded = (const void *)padded_parameters;
const void *const kernel_publish = (const void *)publish;
const void *const kernel_wait = (const void *)wait;
const void *const kernel_raise = (const void *)raise_flag;
const void *const kernel_count_down = (const void *)count_down;
const void *const kernel_launch_graph = (const void *)launch_graph;
const void *const kernel_launch_graphs = (const void *)launch_graphs;
const void *const kernel_relaunch = (const void *)relaunch;
const void *const kernel_in_device_graph = (const void *)in_device_graph;
const void *const kernel_choose = (const void *)choose;
const void *const kernel_set_node = (const void *)set_node;
const void *const kernel_delay = (const void *)delay;
const void *const kernel_shared = (const void *)by_shared_memory;
const void *const kernel_cluster = (const void *)in_clusters;
const void *const kernel_cooperative = (const void *)over_the_grid;
const void *const kernel_crowd = (const void *)crowd;
const void *const kernel_dependent = (const void *)dependent;
const void *const kernel_trap = (const void *)trap;
const void *const kernel_print = (const void *)print;
const void *const kernel_shaped = (const void *)shaped;
