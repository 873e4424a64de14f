#include "bodies.h"

void one_changed(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 100; k++)
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], k == 37 ? (uint32_t)iteration : constant(k));
}

void all_changed(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 100; k++)
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant((uint32_t)iteration * 100 + k));
}

// A cache that gets longer, and begins anew when it is full.
void grow(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 20; k++)
        run.launch(mix_kernels[0], 1 + (uint32_t)(iteration % MOST_BLOCKS), run.buffer[0], run.buffer[1], constant(k));
}

void two_bodies(Run &run, uint64_t iteration)
{
    uint32_t body = run.choice[iteration];
    for (uint32_t k = 0; k < 40 + 4 * body; k++)
        of_family(run, body, k);
}

// Bodies of 20 to 160 kernels: four share the first 16, two of these the first 40.
void eight_bodies(Run &run, uint64_t iteration)
{
    uint32_t body = run.choice[iteration];
    for (uint32_t k = 0; k < 20 + 20 * body; k++)
        of_family(run, k < 16 ? body / 4 : k < 40 ? 10 + body / 2 : 20 + body, k);
}

// A choice other than 0 says before which kernel of the chain five others come.
void extra_ops(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 20; k++) {
        if (run.choice[iteration] == k + 1)
            for (uint32_t extra = 0; extra < 5; extra++)
                run.launch(mix_kernels[1 + extra], 1, run.buffer[0], run.buffer[2], (uint32_t)iteration + extra);
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant(k));
    }
}

void changing_bodies(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 40; k++)
        of_family(run, run.choice[iteration], k);
}

// Inputs of eight sizes: the same kernels, each time with another grid.
void buckets(Run &run, uint64_t iteration)
{
    uint32_t bucket = run.choice[iteration];
    for (uint32_t k = 0; k < 40; k++)
        run.launch(mix_kernels[k % MIX_KERNELS], 1 + bucket, run.buffer[0], run.buffer[1 + k % 3], constant(k));
}

// Five sweeps of a solver, and what tells the host whether there have to be more. Choice 1: a new problem comes before them.
void converge(Run &run, uint64_t iteration)
{
    uint32_t *x = run.buffer[0], *y = run.buffer[1], *residual = run.buffer[2];
    if (run.choice[iteration]) {
        run.set(run.scratch, 17, 4 * BLOCK * sizeof(uint32_t));
        run.launch(mix_kernels[6], 4, x, run.scratch, 1);
        run.launch(mix_kernels[7], 4, y, run.scratch, 2);
    }
    for (uint32_t sweep = 0; sweep < 5; sweep++) {
        run.launch(mix_kernels[0], 4, x, y, 3);
        run.launch(mix_kernels[1], 4, y, x, 4);
        run.launch(mix_kernels[2], 1, residual, x, 5);
    }
    run.launch(mix_kernels[3], 1, residual, residual + BLOCK, 6);
    run.copy(run.from_device, residual, 2 * sizeof(uint32_t));
}

// Each loop goes round 16 times and never comes again.
void many_loops(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 6; k++)
        of_family(run, (uint32_t)(iteration / 16), k);
}

void no_repeat(Run &run, uint64_t)
{
    for (uint32_t k = 0; k < 100; k++) {
        uint64_t r = run.random.next();
        run.launch(mix_kernels[r % MIX_KERNELS], 1 + (r >> 8) % 4, run.buffer[(r >> 16) % 2],
                   run.buffer[2 + (r >> 24) % 2], (uint32_t)(r >> 32));
    }
}
