#include "bodies.h"

#include "../check.h"

void fork_join(Run &run, uint64_t)
{
    cudaStream_t origin = run.stream;
    CHECK(cudaEventRecord(run.fork, origin));
    for (int side = 0; side < SIDE_STREAMS; side++) {
        run.stream = run.side[side];
        CHECK(cudaStreamWaitEvent(run.stream, run.fork, 0));
        for (uint32_t k = 0; k < 10; k++)
            run.launch(mix_kernels[side], 1, run.buffer[side], run.scratch, constant(k));
        CHECK(cudaEventRecord(run.join[side], run.stream));
        CHECK(cudaStreamWaitEvent(origin, run.join[side], 0));
    }
    run.stream = origin;
    run.launch(mix_kernels[7], 1, run.scratch, run.buffer[3], 41);
}

void async_alloc(Run &run, uint64_t)
{
    uint32_t *temporary = run.allocate();
    run.set(temporary, 0, BLOCK * sizeof(uint32_t));
    for (uint32_t k = 0; k < 25; k++) {
        run.launch(mix_kernels[0], 1, temporary, run.buffer[0], constant(k));
        run.launch(mix_kernels[1], 1, run.buffer[0], temporary, constant(k));
    }
    run.release(temporary);
}
