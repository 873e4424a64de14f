// Kernels that launch kernels. Apart from the others, since they are linked with the device runtime.
#include "kernels.h"

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
