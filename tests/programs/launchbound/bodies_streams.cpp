#include "bodies.h"

void fork_join(Run &run, uint64_t)
{
    cudaStream_t origin = run.stream;
    run.record(run.fork);
    for (int side = 0; side < SIDE_STREAMS; side++) {
        run.stream = run.side[side];
        run.await(run.fork);
        for (uint32_t k = 0; k < 10; k++)
            run.launch(mix_kernels[side], 1, run.buffer[side], run.scratch, constant(k));
        run.record(run.join[side]);
        run.stream = origin;
        run.await(run.join[side]);
    }
    run.launch(mix_kernels[7], 1, run.scratch, run.buffer[3], 41);
}

// As for three GPUs, a stream each: a part waits for its neighbours' last iteration, computes, and sends each a half of what it has. No stream
// waits for this iteration of another, so none is the origin of a fork. A graph by hand has the parts as branches, and its ends for the waits.
void jacobi(Run &run, uint64_t iteration)
{
    const size_t half = BLOCK / 2;
    cudaStream_t origin = run.stream;
    cudaEvent_t *before = run.met[(iteration + 1) % 2], *now = run.met[iteration % 2];
    uint32_t **halo = run.halo[iteration % 2];
    if (run.capturing)
        run.record(run.fork);
    else
        run.beside = true;
    for (int part = 0; part < PARTS; part++) {
        int left = (part + PARTS - 1) % PARTS, right = (part + 1) % PARTS;
        run.stream = run.side[part];
        if (run.capturing) {
            run.await(run.fork);
        } else {
            run.await(before[left]);
            run.await(before[right]);
        }
        run.launch(mix_kernels[part], 1, run.buffer[part], run.halo[(iteration + 1) % 2][part], constant((uint32_t)part));
        run.copy(halo[left] + half, run.buffer[part], half * sizeof(uint32_t));
        run.copy(halo[right], run.buffer[part] + half, half * sizeof(uint32_t));
        run.record(now[part]);
        run.stream = origin;
        if (run.capturing)
            run.await(now[part]);
    }
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
