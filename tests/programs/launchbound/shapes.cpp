#include "shapes.h"

#include "bodies.h"
#include "../check.h"

#include <cstring>

// ---- what the host does at the end of an iteration ----

static void nothing(Run &, uint64_t) {}

static void sync(Run &run, uint64_t)
{
    run.wait();
}

static void sync_every_50(Run &run, uint64_t iteration)
{
    if (iteration % 50 == 49)
        run.wait();
}

static void sync_and_note(Run &run, uint64_t)
{
    run.wait();
    run.note(run.from_device[1]);
}

// Sees what came back and prepares what the next iteration copies in.
static void sync_and_refill(Run &run, uint64_t iteration)
{
    run.wait();
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

template <int PERIOD>
static uint32_t in_turn(Random &, const uint32_t *, uint64_t iteration) { return (uint32_t)(iteration % PERIOD); }

static uint32_t one_of_two(Random &random, const uint32_t *, uint64_t) { return random.below(2); }

static uint32_t zipf_of_eight(Random &random, const uint32_t *, uint64_t)
{
    static const uint32_t up_to[] = {3679, 5519, 6745, 7665, 8401, 9014, 9540};    // of 10000
    uint32_t drawn = random.below(10000), choice = 0;
    while (choice < 7 && drawn >= up_to[choice])
        choice++;
    return choice;
}

static uint32_t one_of_eight(Random &random, const uint32_t *, uint64_t) { return random.below(8); }

// A solver is done after eight looks on average.
static uint32_t new_problem(Random &random, const uint32_t *, uint64_t iteration) { return !iteration || !random.below(8); }

static uint32_t one_in_ten(Random &random, const uint32_t *, uint64_t)
{
    return random.below(10) ? 0 : 1 + random.below(20);
}

// Every 500 iterations a new body, or, one time in three, one that was there before.
static uint32_t another_every_500(Random &random, const uint32_t *earlier, uint64_t iteration)
{
    uint32_t stretch = (uint32_t)(iteration / 500);
    if (iteration % 500)
        return earlier[iteration - 1];
    return stretch && !random.below(3) ? earlier[500 * random.below(stretch)] : stretch;
}

// ---- the table ----

// By hand, no form makes the next iteration's graph ready before the host has seen this one's end: the program could not, either.
#define ALL_SETS "set-by-8,set-by-16,set-by-32,set,update"

const Shape shapes[] = {
    // name, about, body, finish, choose, forms, warmup, iterations, batches, threads, stream
    {"chain5", "5 tiny kernels, then a sync", chain<5>, sync, nullptr, "eager,launch", 3000, 1000, 10, 1, OWN},
    {"chain20", "20 tiny kernels, then a sync", chain<20>, sync, nullptr, "eager,launch", 1000, 500, 10, 1, OWN},
    {"chain50", "50 tiny kernels, then a sync", chain<50>, sync, nullptr, "eager,launch", 500, 200, 10, 1, OWN},
    {"chain100", "100 tiny kernels, then a sync", chain<100>, sync, nullptr, "eager,launch", 300, 100, 10, 1, OWN},
    {"chain300", "300 tiny kernels, then a sync", chain<300>, sync, nullptr, "eager,launch", 100, 30, 10, 1, OWN},
    {"chain1000", "1000 tiny kernels, then a sync", chain<1000>, sync, nullptr, "eager,launch", 40, 10, 10, 1, OWN},
    {"chain100-sync50", "100 tiny kernels, a sync after 50 times", chain<100>, sync_every_50, nullptr, "eager,launch", 300, 100, 10, 1, OWN},
    {"chain2-nosync", "2 tiny kernels, no sync", chain<2>, nothing, nullptr, "eager,launch", 8000, 8000, 10, 1, OWN},
    {"chain20-nosync", "20 tiny kernels, no sync", chain<20>, nothing, nullptr, "eager,launch", 1000, 500, 10, 1, OWN},
    {"chain100-nosync", "100 tiny kernels, no sync", chain<100>, nothing, nullptr, "eager,launch", 300, 100, 10, 1, OWN},
    {"chain1000-nosync", "1000 tiny kernels, no sync", chain<1000>, nothing, nullptr, "eager,launch", 40, 10, 10, 1, OWN},
    {"chain100-legacy", "chain100 on the default stream", chain<100>, sync, nullptr, "eager,launch", 300, 100, 10, 1, LEGACY},
    {"chain100-ptds", "chain100 on the thread's default stream", chain<100>, sync, nullptr, "eager,launch", 300, 100, 10, 1, PER_THREAD},
    {"one", "one kernel, then a sync", chain<1>, sync, nullptr, "eager,launch", 5000, 2000, 10, 1, OWN},
    {"cg", "like conjugate gradients: 9 kernels, a small copy to the host, a sync", conjugate_gradient, sync_and_note, nullptr, "eager,launch", 2000, 1000, 10, 1, OWN},
    {"mixed", "41 kernels, 20 memsets, 22 copies", mixed, sync_and_refill, nullptr, "eager,launch", 300, 100, 10, 1, OWN},
    {"think8", "64 kernels with 8 us of host work after each", thinking_long, sync, nullptr, "eager,launch", 150, 50, 10, 1, OWN},
    {"think1", "20 kernels with 1 us of host work after each", thinking_briefly, sync, nullptr, "eager,launch", 1000, 500, 10, 1, OWN},
    {"kernels2us", "100 kernels of about 2 us", chain_of<&work_2us, 100>, sync, nullptr, "eager,launch", 300, 100, 10, 1, OWN},
    {"kernels5us", "100 kernels of about 5 us", chain_of<&work_5us, 100>, sync, nullptr, "eager,launch", 200, 50, 10, 1, OWN},
    {"kernels10us", "100 kernels of about 10 us", chain_of<&work_10us, 100>, sync, nullptr, "eager,launch", 100, 30, 10, 1, OWN},
    {"kernels30us", "100 kernels of about 30 us", chain_of<&work_30us, 100>, sync, nullptr, "eager,launch", 50, 10, 10, 1, OWN},
    {"kernels1ms", "5 kernels of about 1 ms", chain_of<&work_1ms, 5>, sync, nullptr, "eager,launch", 40, 10, 10, 1, OWN},

    {"one-changed", "chain100 with one argument changed each iteration", one_changed, sync, nullptr, "eager,set,update", 300, 100, 10, 1, OWN},
    {"all-changed", "chain100 with all arguments changed each iteration", all_changed, sync, nullptr, "eager," ALL_SETS, 300, 100, 10, 1, OWN},
    {"swap", "100 kernels on two buffers that change roles", swap<2>, sync, in_turn<2>, "eager,launch", 300, 100, 10, 1, OWN},
    {"swap3", "100 kernels on three buffers that change roles", swap<3>, sync, in_turn<3>, "eager,launch", 300, 100, 10, 1, OWN},
    {"grow", "20 kernels whose grid grows each iteration", grow, sync, nullptr, "eager," ALL_SETS, 1000, 500, 10, 1, OWN},
    {"two-bodies", "one of two bodies at random", two_bodies, sync, one_of_two, "eager,launch", 500, 200, 10, 1, OWN},
    {"alternate", "two bodies by turns", two_bodies, sync, in_turn<2>, "eager,launch", 500, 200, 10, 1, OWN},
    {"buckets8", "40 kernels with grids of eight sizes, drawn anew each time", buckets, sync, one_of_eight, "eager,launch", 1000, 200, 10, 1, OWN},
    {"converge", "five sweeps of 3 kernels and a copy to the host, until it has converged", converge, sync_and_note, new_problem, "eager,launch", 1500, 500, 10, 1, OWN},
    {"eight-bodies", "one of eight bodies with shared beginnings, by Zipf's law", eight_bodies, sync, zipf_of_eight, "eager,launch", 1000, 200, 10, 1, OWN},
    {"extra-ops", "20 kernels, and 5 others among them in a tenth of the iterations", extra_ops, sync, one_in_ten, "eager,launch-or-eager,set", 1000, 500, 10, 1, OWN},
    {"changing-bodies", "40 kernels, new ones every 500 iterations, sometimes earlier ones again", changing_bodies, sync, another_every_500, "eager,launch", 1500, 1500, 8, 1, OWN},
    {"loops10000", "10,000 loops of 6 kernels, each 16 times round, one after another", many_loops, sync, nullptr, "eager", 0, 16000, 10, 1, OWN},
    {"norepeat", "100 kernels of random kind, size, order and arguments", no_repeat, sync, nullptr, "eager", 300, 100, 10, 1, OWN},

    {"forkjoin4", "41 kernels, 40 of them on four streams between events", fork_join, sync, nullptr, "eager,launch", 500, 200, 10, 1, OWN},
    {"jacobi3", "three parts, a stream each, that meet their neighbours by events; a sync after 50 times", jacobi, sync_every_50, in_turn<2>, "eager,launch", 500, 200, 10, 1, OWN},
    {"threads4", "four threads, each with a stream and a chain of 50", chain<50>, sync, nullptr, "eager,launch", 500, 200, 10, 4, OWN},
    {"threads16", "sixteen threads, each with a stream and a chain of 50", chain<50>, sync, nullptr, "eager,launch", 300, 100, 10, 16, OWN},
    {"async-alloc", "50 kernels on memory allocated and freed in stream order", async_alloc, sync, nullptr, "eager,launch-hoisted,launch", 500, 200, 10, 1, OWN},
    {"legacy-synccopy", "100 kernels on the default stream, then a synchronous copy to the host", chain<100>, copy_back, nullptr, "eager,launch", 300, 100, 10, 1, LEGACY},
};
const int shape_count = sizeof shapes / sizeof shapes[0];

const Shape *find_shape(const char *name)
{
    for (const Shape &shape : shapes)
        if (!strcmp(shape.name, name))
            return &shape;
    return nullptr;
}
