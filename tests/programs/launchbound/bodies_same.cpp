#include "bodies.h"

// The kernels of one iteration of conjugate gradients, and the residual that the host looks at.
void conjugate_gradient(Run &run, uint64_t)
{
    uint32_t *p = run.buffer[0], *q = run.buffer[1], *r = run.buffer[2], *x = run.buffer[3];
    run.launch(mix_kernels[0], 4, q, p, 1);
    run.launch(mix_kernels[1], 4, run.scratch, q, 2);
    run.launch(mix_kernels[2], 1, run.scratch, run.scratch + BLOCK, 3);
    run.launch(mix_kernels[3], 4, x, p, 4);
    run.launch(mix_kernels[4], 4, r, q, 5);
    run.launch(mix_kernels[5], 4, run.scratch, r, 6);
    run.launch(mix_kernels[6], 1, run.scratch, run.scratch + BLOCK, 7);
    run.launch(mix_kernels[7], 4, p, r, 8);
    run.launch(mix_kernels[0], 1, r, run.scratch, 9);
    run.copy(run.from_device, r, 2 * sizeof(uint32_t));
}

static void thinking(Run &run, uint32_t kernels, double us)
{
    for (uint32_t k = 0; k < kernels; k++) {
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant(k));
        run.think(us);
    }
}

void thinking_long(Run &run, uint64_t)
{
    thinking(run, 64, 8);
}

void thinking_briefly(Run &run, uint64_t)
{
    thinking(run, 20, 1);
}

void mixed(Run &run, uint64_t)
{
    uint32_t *filled = run.scratch, *copied = run.scratch + BLOCK, *given = run.scratch + 2 * BLOCK;
    const size_t bytes = BLOCK * sizeof(uint32_t);
    run.copy(given, run.to_device, bytes);
    run.launch(mix_kernels[7], 1, run.buffer[0], given, 1);
    for (uint32_t k = 0; k < 20; k++) {
        run.set(filled, (int)k + 1, bytes);
        run.launch(mix_kernels[k % 4], 1, run.buffer[0], filled, constant(k));
        run.copy(copied, run.buffer[0], bytes);
        run.launch(mix_kernels[4 + k % 4], 1, run.buffer[1], copied, constant(k));
    }
    run.copy(run.from_device, run.buffer[1], bytes);
}
