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

extern "C" const void *const kernel_parent = (const void *)parent;
extern "C" const void *const kernel_spawn = (const void *)spawn;
