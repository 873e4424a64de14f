#include "shapes.h"

#include "check.h"
#include "kernels.h"

#include <cstring>

static uint32_t constant(uint32_t k) { return k * 2654435761u + 12345u; }

// ---- bodies ----

template <int LENGTH>
static void chain(Run &run, uint64_t)
{
    for (uint32_t k = 0; k < LENGTH; k++)
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant(k));
}

static void one_changed(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 100; k++)
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], k == 37 ? (uint32_t)iteration : constant(k));
}

static void all_changed(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 100; k++)
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant((uint32_t)iteration * 100 + k));
}

template <int PERIOD>
static void swap(Run &run, uint64_t iteration)
{
    uint32_t *x = run.buffer[iteration % PERIOD], *y = run.buffer[(iteration + 1) % PERIOD];
    for (uint32_t k = 0; k < 100; k++)
        run.launch(mix_kernels[k % 2], 1, x, y, constant(k));
}

// The kernels of one iteration of conjugate gradients, and the residual that the host looks at.
static void conjugate_gradient(Run &run, uint64_t)
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

static void thinking(Run &run, uint64_t)
{
    for (uint32_t k = 0; k < 64; k++) {
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant(k));
        run.think(8);
    }
}

static void five_long(Run &run, uint64_t)
{
    for (uint32_t k = 0; k < 5; k++)
        run.launch(work_1ms, 1, run.buffer[0], run.buffer[1], constant(k));
}

static void hundred_of_5us(Run &run, uint64_t)
{
    for (uint32_t k = 0; k < 100; k++)
        run.launch(work_5us, 1, run.buffer[0], run.buffer[1], constant(k));
}

static void no_repeat(Run &run, uint64_t)
{
    for (uint32_t k = 0; k < 100; k++) {
        uint64_t r = run.random.next();
        run.launch(mix_kernels[r % MIX_KERNELS], 1 + (r >> 8) % 4, run.buffer[(r >> 16) % 2],
                   run.buffer[2 + (r >> 24) % 2], (uint32_t)(r >> 32));
    }
}

static void mixed(Run &run, uint64_t)
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

static void grow(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 20; k++)
        run.launch(mix_kernels[0], 1 + (uint32_t)(iteration % MOST_BLOCKS), run.buffer[0], run.buffer[1], constant(k));
}

static void of_family(Run &run, uint32_t family, uint32_t k)
{
    run.launch(mix_kernels[(k * 3 + family) % MIX_KERNELS], 1, run.buffer[0], run.buffer[1 + k % 3], constant(family * 1000 + k));
}

static void two_bodies(Run &run, uint64_t iteration)
{
    uint32_t body = run.choice[iteration];
    for (uint32_t k = 0; k < 40 + 4 * body; k++)
        of_family(run, body, k);
}

// Bodies of 20 to 160 kernels: four share the first 16, two of these the first 40.
static void eight_bodies(Run &run, uint64_t iteration)
{
    uint32_t body = run.choice[iteration];
    for (uint32_t k = 0; k < 20 + 20 * body; k++)
        of_family(run, k < 16 ? body / 4 : k < 40 ? 10 + body / 2 : 20 + body, k);
}

// A choice other than 0 says before which kernel of the chain five others come.
static void extra_ops(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 20; k++) {
        if (run.choice[iteration] == k + 1)
            for (uint32_t extra = 0; extra < 5; extra++)
                run.launch(mix_kernels[1 + extra], 1, run.buffer[0], run.buffer[2], (uint32_t)iteration + extra);
        run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant(k));
    }
}

static void changing_bodies(Run &run, uint64_t iteration)
{
    for (uint32_t k = 0; k < 40; k++)
        of_family(run, run.choice[iteration], k);
}

static void fork_join(Run &run, uint64_t)
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

static void async_alloc(Run &run, uint64_t)
{
    uint32_t *temporary;
    CHECK(cudaMallocAsync((void **)&temporary, BLOCK * sizeof(uint32_t), run.stream));
    run.set(temporary, 0, BLOCK * sizeof(uint32_t));
    for (uint32_t k = 0; k < 24; k++) {
        run.launch(mix_kernels[0], 1, temporary, run.buffer[0], constant(k));
        run.launch(mix_kernels[1], 1, run.buffer[0], temporary, constant(k));
    }
    CHECK(cudaFreeAsync(temporary, run.stream));
    run.ops += 2;
}

// ---- what the host does at the end of an iteration ----

static void nothing(Run &, uint64_t) {}

static void sync(Run &run, uint64_t)
{
    CHECK(cudaStreamSynchronize(run.own_stream));
}

static void sync_and_note(Run &run, uint64_t)
{
    CHECK(cudaStreamSynchronize(run.own_stream));
    run.note(run.from_device[1]);
}

// Sees what came back and prepares what the next iteration copies in.
static void sync_and_refill(Run &run, uint64_t iteration)
{
    CHECK(cudaStreamSynchronize(run.own_stream));
    run.note(run.from_device[iteration % BLOCK]);
    run.to_device[iteration % BLOCK] += run.from_device[0];
}

static void copy_back(Run &run, uint64_t)
{
    uint32_t word;
    CHECK(cudaMemcpy(&word, run.buffer[0], sizeof word, cudaMemcpyDeviceToHost));
    run.note(word);
}

// ---- choices ----

static uint32_t one_of_two(Random &random, uint64_t, uint32_t) { return random.below(2); }

static uint32_t zipf_of_eight(Random &random, uint64_t, uint32_t)
{
    static const uint32_t up_to[] = {3679, 5519, 6745, 7665, 8401, 9014, 9540};    // of 10000
    uint32_t drawn = random.below(10000), choice = 0;
    while (choice < 7 && drawn >= up_to[choice])
        choice++;
    return choice;
}

static uint32_t one_in_ten(Random &random, uint64_t, uint32_t)
{
    return random.below(10) ? 0 : 1 + random.below(20);
}

static uint32_t another_every_500(Random &random, uint64_t iteration, uint32_t previous)
{
    return iteration % 500 ? previous : (previous + 1 + random.below(5)) % 6;
}

// ---- the table ----

const Shape shapes[] = {
    // name, about, body, finish, choose, method, warmup, iterations, batches, threads, default stream
    {"chain20", "20 tiny kernels, then a sync", chain<20>, sync, nullptr, BY_CHOICE, 1000, 500, 10, 1, false},
    {"chain100", "100 tiny kernels, then a sync", chain<100>, sync, nullptr, BY_CHOICE, 300, 100, 10, 1, false},
    {"chain1000", "1000 tiny kernels, then a sync", chain<1000>, sync, nullptr, BY_CHOICE, 40, 10, 10, 1, false},
    {"chain20-nosync", "20 tiny kernels, no sync", chain<20>, nothing, nullptr, BY_CHOICE, 1000, 500, 10, 1, false},
    {"chain100-nosync", "100 tiny kernels, no sync", chain<100>, nothing, nullptr, BY_CHOICE, 300, 100, 10, 1, false},
    {"chain1000-nosync", "1000 tiny kernels, no sync", chain<1000>, nothing, nullptr, BY_CHOICE, 40, 10, 10, 1, false},
    {"chain100-legacy", "chain100 on the default stream", chain<100>, sync, nullptr, BY_CHOICE, 300, 100, 10, 1, true},
    {"one-changed", "chain100 with one argument changed each iteration", one_changed, sync, nullptr, SET_NODES, 300, 100, 10, 1, false},
    {"all-changed", "chain100 with all arguments changed each iteration", all_changed, sync, nullptr, SET_NODES, 300, 100, 10, 1, false},
    {"swap", "100 kernels on two buffers that change roles", swap<2>, sync,
     [](Random &, uint64_t iteration, uint32_t) { return (uint32_t)(iteration % 2); }, BY_CHOICE, 300, 100, 10, 1, false},
    {"swap3", "100 kernels on three buffers that change roles", swap<3>, sync,
     [](Random &, uint64_t iteration, uint32_t) { return (uint32_t)(iteration % 3); }, BY_CHOICE, 300, 100, 10, 1, false},
    {"cg", "like conjugate gradients: 9 kernels, a small copy to the host, a sync", conjugate_gradient, sync_and_note, nullptr, BY_CHOICE, 2000, 1000, 10, 1, false},
    {"think8", "64 kernels with 8 us of host work after each", thinking, sync, nullptr, BY_CHOICE, 150, 50, 10, 1, false},
    {"kernels1ms", "5 kernels of about 1 ms", five_long, sync, nullptr, BY_CHOICE, 30, 5, 10, 1, false},
    {"kernels5us", "100 kernels of about 5 us", hundred_of_5us, sync, nullptr, BY_CHOICE, 200, 50, 10, 1, false},
    {"norepeat", "100 kernels of random kind, size, order and arguments", no_repeat, sync, nullptr, NO_GRAPH, 300, 100, 10, 1, false},
    {"one", "one kernel, then a sync", chain<1>, sync, nullptr, BY_CHOICE, 5000, 2000, 10, 1, false},
    {"mixed", "41 kernels, 20 memsets, 22 copies", mixed, sync_and_refill, nullptr, BY_CHOICE, 300, 100, 10, 1, false},
    {"grow", "20 kernels whose grid grows each iteration", grow, sync, nullptr, SET_NODES, 1000, 500, 10, 1, false},
    {"two-bodies", "one of two bodies at random", two_bodies, sync, one_of_two, BY_CHOICE, 500, 200, 10, 1, false},
    {"eight-bodies", "one of eight bodies with shared beginnings, by Zipf's law", eight_bodies, sync, zipf_of_eight, BY_CHOICE, 1000, 200, 10, 1, false},
    {"extra-ops", "20 kernels, and 5 others among them in a tenth of the iterations", extra_ops, sync, one_in_ten, BY_CHOICE_0, 1000, 500, 10, 1, false},
    {"changing-bodies", "40 kernels, other ones every 500 iterations", changing_bodies, sync, another_every_500, BY_CHOICE, 500, 500, 12, 1, false},
    {"forkjoin4", "41 kernels, 40 of them on four streams between events", fork_join, sync, nullptr, BY_CHOICE, 500, 200, 10, 1, false},
    {"threads4", "four threads, each with a stream and a chain of 50", chain<50>, sync, nullptr, BY_CHOICE, 500, 200, 10, 4, false},
    {"async-alloc", "48 kernels on memory allocated and freed in stream order", async_alloc, sync, nullptr, BY_CHOICE, 500, 200, 10, 1, false},
    {"legacy-synccopy", "20 kernels on the default stream, then a synchronous copy to the host", chain<20>, copy_back, nullptr, BY_CHOICE, 1000, 500, 10, 1, true},
};
const int shape_count = sizeof shapes / sizeof shapes[0];

const Shape *find_shape(const char *name)
{
    for (const Shape &shape : shapes)
        if (!strcmp(shape.name, name))
            return &shape;
    return nullptr;
}
