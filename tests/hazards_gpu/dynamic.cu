// Kernels that launch kernels. Apart from the others, since they are linked with the device runtime.
#include "kernels.h"

#include <cstdio>

static __device__ void mix(uint32_t *x, uint32_t argument)
{
    x[threadIdx.x] = x[threadIdx.x] * MIX_FACTOR + argument + threadIdx.x;
}

static __global__ void child(uint32_t *x, uint32_t argument)
{
    mix(x, argument);
}

static __global__ void parent(uint32_t *x, uint32_t argument)
{
    mix(x, argument);
    if (threadIdx.x == 0) {
        child<<<1, WORDS, 0, cudaStreamTailLaunch>>>(x, argument + 1);
        child<<<1, WORDS, 0, cudaStreamTailLaunch>>>(x, argument + 2);
    }
}

static __global__ void spawn(uint32_t *x, uint32_t argument)
{
    child<<<1, WORDS, 0, cudaStreamFireAndForget>>>(x, argument);
}

static __global__ void streams(uint32_t *x, uint32_t argument)
{
    cudaStream_t first, second;
    cudaEvent_t done;

    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    child<<<1, WORDS, 0, first>>>(x, argument);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    child<<<1, WORDS, 0, second>>>(x, argument + 1);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

static __global__ void nested(uint32_t *x, uint32_t depth, uint32_t argument)
{
    child<<<1, WORDS>>>(x, argument + depth);
    if (depth > 0)
        nested<<<1, 1>>>(x, depth - 1, argument);
}

static __global__ void by_copies(uint32_t *x, uint32_t *y, uint32_t argument)
{
    cudaMemcpyAsync(y, x, WORDS * sizeof *x, cudaMemcpyDeviceToDevice, 0);
    child<<<1, WORDS>>>(y, argument);
    cudaMemcpyAsync(x, y, WORDS * sizeof *x, cudaMemcpyDeviceToDevice, 0);
}

// To zero alone: on an H200 with CUDA 13.0 these calls write 0 where they are given 10, without
// Reprise, too.
static __global__ void by_memsets(uint32_t *x, uint32_t *y, uint32_t argument)
{
    cudaMemcpyAsync(y, x, WORDS * sizeof *x, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(y + 8, 0, 16 * sizeof *y, 0);
    child<<<1, WORDS>>>(y, argument);
    cudaMemsetAsync(y + 16, 0, 16 * sizeof *y, 0);
    cudaMemcpyAsync(x, y, WORDS * sizeof *x, cudaMemcpyDeviceToDevice, 0);
}

// In y a row takes twice the bytes. The copy back, and the second memset, are of two slices.
static __global__ void by_rows(uint32_t *x, uint32_t *y, uint32_t argument)
{
    const size_t row = WORDS / ROWS * sizeof *x, part = 2 * sizeof *x;
    cudaMemcpy3DParms back = {};

    cudaMemcpy2DAsync(y, 2 * row, x, row, row, ROWS, cudaMemcpyDeviceToDevice, 0);
    cudaMemset2DAsync(y + 1, 2 * row, 0, part, ROWS, 0);
    cudaMemset3DAsync(cudaPitchedPtr{y + 5, 2 * row, part, ROWS / 2}, 0, cudaExtent{part, ROWS / 2, 2}, 0);
    back.srcPtr = {y, 2 * row, row, ROWS / 2};
    back.dstPtr = {x, row, row, ROWS / 2};
    back.extent = {row, ROWS / 2, 2};
    back.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3DAsync(&back, 0);
    child<<<1, WORDS>>>(x, argument);
}

// Each of its threads uses a word at the end of its shared memory.
static __global__ void halves(uint32_t *x, uint32_t words, uint32_t more)
{
    extern __shared__ uint32_t shared[];

    shared[more + words - 1 - threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = shared[more + threadIdx.x] * MIX_FACTOR + more + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0 && words > HALVES_LEAST) {
        uint32_t half = words / 2, bytes = (more + half) * sizeof *shared;

        halves<<<1, half, bytes>>>(x, half, more);
        halves<<<1, half, bytes>>>(x + half, half, more);
    }
}

static __global__ void absorb(uint32_t *x, const uint32_t *y)
{
    x[threadIdx.x] = x[threadIdx.x] * ABSORB_FACTOR + 2 * y[threadIdx.x];
}

static __global__ void from_host(uint32_t *x, uint32_t *mapped, uint32_t argument)
{
    mapped[0] = argument;
    absorb<<<1, WORDS>>>(x, mapped);
}

static __constant__ uint32_t constants[WORDS];

static __global__ void absorb_constants(uint32_t *x, uint32_t depth)
{
    x[threadIdx.x] = x[threadIdx.x] * ABSORB_FACTOR + 2 * constants[threadIdx.x];
    if (threadIdx.x == 0 && depth > 0)
        absorb_constants<<<1, WORDS, 0, cudaStreamTailLaunch>>>(x, depth - 1);
}

static __global__ void write_for_texture(uint32_t *x, uint32_t *y, cudaTextureObject_t texture, uint32_t depth)
{
    x[threadIdx.x] = x[threadIdx.x] * ABSORB_FACTOR + 2 * tex1Dfetch<uint32_t>(texture, threadIdx.x);
    if (depth > 0) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0)
            write_for_texture<<<1, WORDS, 0, cudaStreamTailLaunch>>>(x, y, texture, depth - 1);
    }
}

static __global__ void copy_mixed(uint32_t *x, const uint32_t *y, uint32_t argument)
{
    x[threadIdx.x] = y[threadIdx.x] * MIX_FACTOR + argument + threadIdx.x;
}

static __global__ void give_back(void *memory)
{
    cudaFree(memory);
}

// What the device allocates, only the device can give back.
static __global__ void by_heap(uint32_t *x, uint32_t argument)
{
    uint32_t *y = nullptr;

    if (cudaMalloc((void **)&y, WORDS * sizeof *y) != cudaSuccess)
        return;
    copy_mixed<<<1, WORDS>>>(y, x, argument);
    copy_mixed<<<1, WORDS>>>(x, y, argument + 1);
    give_back<<<1, 1, 0, cudaStreamTailLaunch>>>(y);
}

static __global__ void mix_twice(uint32_t *x, uint32_t argument)
{
    child<<<1, WORDS / 2, 0, cudaStreamFireAndForget>>>(x, argument);
    child<<<1, WORDS / 2, 0, cudaStreamFireAndForget>>>(x + WORDS / 2, argument);
}

// The examples of "Tail Launch Stream" in CUDA's guide: the tail begins when all else has ended, and ends with what it launches itself.
static __global__ void in_order(uint32_t *x, uint32_t argument)
{
    mix_twice<<<1, 1, 0, cudaStreamTailLaunch>>>(x, argument + 1);
    child<<<1, WORDS, 0, cudaStreamTailLaunch>>>(x, argument + 2);
    child<<<1, WORDS / 2, 0, cudaStreamPerThread>>>(x, argument);
    child<<<1, WORDS / 2, 0, cudaStreamFireAndForget>>>(x + WORDS / 2, argument);
}

// A stream is its grid's, so a block may use another one's. Whichever block comes last does, and nobody waits.
static __global__ void of_other_blocks(uint32_t *x, cudaStream_t volatile *of_blocks, uint32_t *arrived, uint32_t argument)
{
    cudaStream_t stream;

    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<1, WORDS / 2, 0, stream>>>(x + blockIdx.x * WORDS / 2, argument);
    of_blocks[blockIdx.x] = stream;
    __threadfence();
    if (atomicAdd(arrived, 1) + 1 < gridDim.x)
        return;
    __threadfence();
    *arrived = 0;
    for (uint32_t block = 0; block < gridDim.x; block++) {
        stream = of_blocks[block];
        child<<<1, WORDS / 2, 0, stream>>>(x + block * WORDS / 2, argument + 1);
        cudaStreamDestroy(stream);
    }
}

static __global__ void print(uint32_t value, uint32_t generation)
{
    printf("device %u, generation %u\n", value, generation);
}

// As the example "Hello World" of CUDA's guide, but the parent prints before its child may begin.
static __global__ void prints(uint32_t value)
{
    if (value % 64 == 0) {
        printf("device %u\n", value);
        print<<<1, 1>>>(value, 1);
        print<<<1, 1, 0, cudaStreamTailLaunch>>>(value, 2);
    }
}

static __global__ void trap(uint32_t *x, uint32_t argument)
{
    if (argument == TRAP)
        __trap();
    mix(x, argument);
}

static __global__ void child_traps(uint32_t *x, uint32_t argument)
{
    trap<<<1, WORDS>>>(x, argument);
}

static __device__ void note(exhausted *found, cudaError_t error)
{
    if (error == cudaSuccess)
        found->accepted++;
    else if (found->refused++ == 0)
        found->error = error;
}

static __global__ void count(uint32_t *ran)
{
    ++*ran;
}

// What is in the tail begins when its parent has ended, so all of it is pending until then.
static __global__ void exhaust_launches(uint32_t *ran, uint32_t attempts, exhausted *seen)
{
    exhausted found = {};

    for (uint32_t i = 0; i < attempts && found.refused < REFUSALS; i++) {
        count<<<1, 1, 0, cudaStreamTailLaunch>>>(ran);
        note(&found, cudaGetLastError());
    }
    *seen = found;
}

static __global__ void exhaust_events(cudaEvent_t *events, uint32_t attempts, exhausted *seen)
{
    exhausted found = {};
    cudaEvent_t event;

    for (uint32_t i = 0; i < attempts && found.refused < REFUSALS; i++) {
        cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

        if (error == cudaSuccess)
            events[found.accepted] = event;
        note(&found, error);
    }
    for (uint32_t i = 0; i < found.accepted; i++)
        cudaEventDestroy(events[i]);
    *seen = found;
}

static __global__ void mistakes(uint32_t *x, uint32_t argument, uint32_t *seen)
{
    cudaStream_t stream;
    cudaEvent_t event;

    seen[0] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    child<<<1, 4096>>>(x, argument); // more threads than a block may have
    seen[1] = cudaPeekAtLastError();
    seen[2] = cudaGetLastError();
    seen[3] = cudaGetLastError(); // it has been asked for
    seen[4] = cudaEventRecord(event, cudaStreamTailLaunch);
    seen[5] = cudaEventRecord(event, cudaStreamFireAndForget);
    seen[6] = cudaStreamWaitEvent(cudaStreamTailLaunch, event, 0);
    seen[7] = cudaStreamWaitEvent(cudaStreamFireAndForget, event, 0);
    seen[8] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault); // the device has non-blocking ones alone
    seen[9] = cudaEventDestroy(event);
    seen[10] = cudaGetLastError();
    child<<<1, WORDS>>>(x, argument);
    seen[11] = cudaGetLastError();
}

// Each answer behind what the call returned.
static __global__ void ask(uint32_t *x, uint32_t argument, uint32_t *seen)
{
    int device = -1, devices = -1, threads = -1, version = -1, blocks = -1;
    size_t stack = 0, heap = 0, pending = 0;
    cudaFuncAttributes attributes = {};
    cudaFuncCache cache = {};

    seen[0] = cudaGetDevice(&device);
    seen[1] = device;
    seen[2] = cudaGetDeviceCount(&devices);
    seen[3] = devices;
    seen[4] = cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0);
    seen[5] = threads;
    seen[6] = cudaDeviceGetLimit(&stack, cudaLimitStackSize);
    seen[7] = stack;
    seen[8] = cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    seen[9] = heap;
    seen[10] = cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount);
    seen[11] = pending;
    seen[12] = cudaDeviceGetCacheConfig(&cache);
    seen[13] = cache;
    seen[14] = cudaRuntimeGetVersion(&version);
    seen[15] = version;
    seen[16] = cudaFuncGetAttributes(&attributes, (const void *)child);
    seen[17] = attributes.maxThreadsPerBlock;
    seen[18] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)child, WORDS, 0);
    seen[19] = blocks;
    child<<<1, WORDS>>>(x, argument);
}

static __global__ void linked(uint32_t *x, uint32_t argument)
{
    mix(x, argument);
}

extern "C" const void *const kernel_parent = (const void *)parent;
extern "C" const void *const kernel_spawn = (const void *)spawn;
extern "C" const void *const kernel_streams = (const void *)streams;
extern "C" const void *const kernel_nested = (const void *)nested;
extern "C" const void *const kernel_by_copies = (const void *)by_copies;
extern "C" const void *const kernel_linked = (const void *)linked;
extern "C" const void *const kernel_by_memsets = (const void *)by_memsets;
extern "C" const void *const kernel_by_rows = (const void *)by_rows;
extern "C" const void *const kernel_halves = (const void *)halves;
extern "C" const void *const kernel_from_host = (const void *)from_host;
extern "C" const void *const kernel_absorb_constants = (const void *)absorb_constants;
extern "C" const void *const kernel_write_for_texture = (const void *)write_for_texture;
extern "C" const void *const kernel_by_heap = (const void *)by_heap;
extern "C" const void *const kernel_in_order = (const void *)in_order;
extern "C" const void *const kernel_exhaust_launches = (const void *)exhaust_launches;
extern "C" const void *const kernel_exhaust_events = (const void *)exhaust_events;
extern "C" const void *const kernel_mistakes = (const void *)mistakes;
extern "C" const void *const kernel_ask = (const void *)ask;
extern "C" const void *const kernel_of_other_blocks = (const void *)of_other_blocks;
extern "C" const void *const kernel_prints = (const void *)prints;
extern "C" const void *const kernel_child_traps = (const void *)child_traps;
extern "C" const void *const symbol_constants = (const void *)constants;
