// relay: two threads that launch chains on one stream by turns, or on two, by the CUDA runtime.
//
//   relay [--iterations N] [--own-streams]
#include "check.h"
#include "relay.h"
#include "driver_kernels.cu"

static cudaStream_t streams[2];
static unsigned *x[2], *y;

static void relay_begin(struct relay *, unsigned)
{
    CHECK(cudaSetDevice(0));
}

static void relay_launch(struct relay *relay, unsigned me, unsigned k)
{
    unsigned stream = relay->own_streams ? me : 0;
    if (k % 2)
        turn<<<1, RELAY_WORDS, 0, streams[stream]>>>(x[stream], y, k);
    else
        mix<<<1, RELAY_WORDS, 0, streams[stream]>>>(x[stream], y, k);
    CHECK(cudaGetLastError());
}

static void relay_wait(struct relay *relay, unsigned me)
{
    CHECK(cudaStreamSynchronize(streams[relay->own_streams ? me : 0]));
}

static unsigned *filled(unsigned value)
{
    unsigned words[RELAY_WORDS], *memory;
    for (unsigned &word : words)
        word = value;
    CHECK(cudaMalloc(&memory, sizeof words));
    CHECK(cudaMemcpy(memory, words, sizeof words, cudaMemcpyHostToDevice));
    return memory;
}

int main(int argc, char **argv)
{
    unsigned words[2 * RELAY_WORDS];
    struct relay relay;
    relay_parse(&relay, argc, argv);
    y = filled(5);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        x[i] = filled(i + 1);
    }
    CHECK(cudaDeviceSynchronize());

    relay_run_both(&relay);

    for (unsigned i = 0; i < 2; i++)
        CHECK(cudaMemcpy(words + i * RELAY_WORDS, x[i], sizeof words / 2, cudaMemcpyDeviceToHost));
    relay_print(&relay, words);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(cudaFree(x[i]));
        CHECK(cudaStreamDestroy(streams[i]));
    }
    CHECK(cudaFree(y));
    return 0;
}
