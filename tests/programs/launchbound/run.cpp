#include "run.h"

#include "../check.h"
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

Run::Run(uint64_t seed, Stream kind, uint64_t iterations) : choice(iterations), random{seed}
{
    CHECK(cudaStreamCreateWithFlags(&capture_stream, cudaStreamNonBlocking));
    own_stream = kind == PER_THREAD ? cudaStreamPerThread : 0;
    if (kind == OWN)
        CHECK(cudaStreamCreate(&own_stream));
    stream = own_stream;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    for (int i = 0; i < SIDE_STREAMS; i++) {
        CHECK(cudaStreamCreateWithFlags(&side[i], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&join[i], cudaEventDisableTiming));
    }
    for (auto &events : met)
        for (cudaEvent_t &event : events)
            CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

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
    for (auto &parts : halo) {
        for (uint32_t *&words : parts) {
            CHECK(cudaMalloc(&words, BLOCK * sizeof(uint32_t)));
            CHECK(cudaMemset(words, 0, BLOCK * sizeof(uint32_t)));
        }
    }
    CHECK(cudaMallocHost(&to_device, PINNED_WORDS * sizeof(uint32_t)));
    CHECK(cudaMallocHost(&from_device, PINNED_WORDS * sizeof(uint32_t)));
    for (int i = 0; i < PINNED_WORDS; i++)
        to_device[i] = from_device[i] = (uint32_t)i;
    CHECK(cudaDeviceSynchronize());
}

Run::~Run()
{
    if (hoisted)
        cudaFree(hoisted);
    cudaFreeHost(from_device);
    cudaFreeHost(to_device);
    cudaFree(scratch);
    for (auto &parts : halo)
        for (uint32_t *words : parts)
            cudaFree(words);
    for (uint32_t *words : buffer)
        cudaFree(words);
    for (int i = 0; i < SIDE_STREAMS; i++) {
        cudaEventDestroy(join[i]);
        cudaStreamDestroy(side[i]);
    }
    cudaEventDestroy(fork);
    for (auto &events : met)
        for (cudaEvent_t event : events)
            cudaEventDestroy(event);
    if (own_stream && own_stream != cudaStreamPerThread)
        cudaStreamDestroy(own_stream);
    cudaStreamDestroy(capture_stream);
}

void Run::launch(const void *kernel, uint32_t blocks, uint32_t *x, const uint32_t *y, uint32_t argument)
{
    void *arguments[] = {&x, &y, &argument};
    ops++;
    if (sink)
        sink->take({kernel, blocks, x, y, argument});
    else if (!answered)
        CHECK(cudaLaunchKernel(kernel, dim3(blocks), dim3(BLOCK), arguments, 0, stream));
}

void Run::copy(void *to, const void *from, size_t bytes)
{
    ops++;
    if (!answered)
        CHECK(sink ? cudaErrorNotSupported : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void Run::set(void *to, int value, size_t bytes)
{
    ops++;
    if (!answered)
        CHECK(sink ? cudaErrorNotSupported : cudaMemsetAsync(to, value, bytes, stream));
}

uint32_t *Run::allocate()
{
    uint32_t *words = hoisted;
    if (!hoisted) {
        ops++;
        if (answered)
            return scratch;
        CHECK(sink ? cudaErrorNotSupported : cudaMallocAsync((void **)&words, BLOCK * sizeof(uint32_t), stream));
    }
    return words;
}

void Run::release(uint32_t *words)
{
    if (words == hoisted)
        return;
    ops++;
    if (!answered)
        CHECK(sink ? cudaErrorNotSupported : cudaFreeAsync(words, stream));
}

void Run::record(cudaEvent_t event)
{
    if (!answered)
        CHECK(cudaEventRecord(event, stream));
}

void Run::await(cudaEvent_t event)
{
    if (!answered)
        CHECK(cudaStreamWaitEvent(stream, event, 0));
}

void Run::think(double us)
{
    thought_us += us;
    if (!capturing)
        spin_us(us);
}

void Run::wait()
{
    CHECK(cudaStreamSynchronize(own_stream));
    for (int i = 0; beside && i < SIDE_STREAMS; i++)
        CHECK(cudaStreamSynchronize(side[i]));
    beside = false;
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
