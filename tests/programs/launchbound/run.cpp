#include "run.h"

#include "check.h"
#include "clock.h"
#include "kernels.h"

static const size_t buffer_words = (size_t)MOST_BLOCKS * BLOCK;

uint64_t Random::next()
{
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

Run::Run(uint64_t seed, bool default_stream, uint64_t iterations) : choice(iterations), random{seed}
{
    CHECK(cudaStreamCreateWithFlags(&capture_stream, cudaStreamNonBlocking));
    own_stream = 0;
    if (!default_stream)
        CHECK(cudaStreamCreate(&own_stream));
    stream = own_stream;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    for (int i = 0; i < SIDE_STREAMS; i++) {
        CHECK(cudaStreamCreateWithFlags(&side[i], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&join[i], cudaEventDisableTiming));
    }

    // As programs do that allocate in stream order: without it, every synchronisation gives the pool's memory back.
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));

    Random initial{seed + 1};
    std::vector<uint32_t> words(buffer_words);
    for (int i = 0; i < BUFFERS; i++) {
        for (uint32_t &word : words)
            word = (uint32_t)initial.next();
        CHECK(cudaMalloc(&buffer[i], buffer_words * sizeof(uint32_t)));
        CHECK(cudaMemcpy(buffer[i], words.data(), buffer_words * sizeof(uint32_t), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&scratch, buffer_words * sizeof(uint32_t)));
    CHECK(cudaMemset(scratch, 0, buffer_words * sizeof(uint32_t)));
    CHECK(cudaMallocHost(&to_device, PINNED_WORDS * sizeof(uint32_t)));
    CHECK(cudaMallocHost(&from_device, PINNED_WORDS * sizeof(uint32_t)));
    for (int i = 0; i < PINNED_WORDS; i++)
        to_device[i] = from_device[i] = (uint32_t)i;
    CHECK(cudaDeviceSynchronize());
}

Run::~Run()
{
    for (auto &entry : variants)
        if (entry.second.exec)
            cudaGraphExecDestroy(entry.second.exec);
    if (exec)
        cudaGraphExecDestroy(exec);
    if (graph)
        cudaGraphDestroy(graph);
    cudaFreeHost(from_device);
    cudaFreeHost(to_device);
    cudaFree(scratch);
    for (uint32_t *words : buffer)
        cudaFree(words);
    for (int i = 0; i < SIDE_STREAMS; i++) {
        cudaEventDestroy(join[i]);
        cudaStreamDestroy(side[i]);
    }
    cudaEventDestroy(fork);
    if (own_stream)
        cudaStreamDestroy(own_stream);
    cudaStreamDestroy(capture_stream);
}

void Run::launch(const void *kernel, uint32_t blocks, uint32_t *x, const uint32_t *y, uint32_t argument)
{
    void *arguments[] = {&x, &y, &argument};
    ops++;
    if (target == TO_STREAM) {
        CHECK(cudaLaunchKernel(kernel, dim3(blocks), dim3(BLOCK), arguments, 0, stream));
        return;
    }

    cudaKernelNodeParams params = {};
    params.func = (void *)kernel;
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(BLOCK);
    params.kernelParams = arguments;
    if (target == TO_GRAPH) {
        cudaGraphNode_t node;
        CHECK(cudaGraphAddKernelNode(&node, graph, nodes.empty() ? nullptr : &nodes.back(), nodes.empty() ? 0 : 1, &params));
        nodes.push_back(node);
        launched.push_back({kernel, blocks, x, y, argument});
        return;
    }
    Launched &last = launched[position];
    if (last.kernel != kernel || last.blocks != blocks || last.x != x || last.y != y || last.argument != argument) {
        CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[position], &params));
        last = {kernel, blocks, x, y, argument};
    }
    position++;
}

void Run::copy(void *to, const void *from, size_t bytes)
{
    ops++;
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void Run::set(void *to, int value, size_t bytes)
{
    ops++;
    CHECK(cudaMemsetAsync(to, value, bytes, stream));
}

void Run::think(double us)
{
    thought_us += us;
    if (!capturing)
        spin_us(us);
}

uint64_t Run::checksum()
{
    CHECK(cudaDeviceSynchronize());
    std::vector<uint32_t> words(buffer_words);
    uint64_t sum = noted;
    for (uint32_t *device : buffer) {
        CHECK(cudaMemcpy(words.data(), device, buffer_words * sizeof(uint32_t), cudaMemcpyDeviceToHost));
        for (uint32_t word : words)
            sum = (sum ^ word) * 0x100000001B3ull;
    }
    return sum;
}
