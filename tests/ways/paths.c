/*
 * Ops and other calls on one path through Reprise, for callgrind (test_instructions.py), which
 * counts in measured() alone.
 *
 *   ways-paths MODULE PATH
 *
 * Prints how many ops were measured, how many of them were replayed, and by how many launches.
 */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../include/reprise/reprise.h"

#define CHAIN 24
#define UNLIKE 40
#define ALIKE 3
#define MANY 24
#define PATIENCE_S 60

static CUfunction kernel;
static CUstream stream, side, second, bare; /* the last has no ops */
static CUevent event, joined, joined_second;
static CUdeviceptr memory;
static uint64_t state = 1;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static void check(CUresult result)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "ways-paths: %d\n", (int)result);
	exit(1);
}

/* A launch; its block is shape, its multiplier is value. */
static void launch(unsigned int block, unsigned int value)
{
	void *params[] = {&memory, &memory, &value};

	check(cuLaunchKernel(kernel, 1, 1, 1, block, 1, 1, 0, stream, params, NULL));
}

/* ---- what one period of a path does ---- */

/* Four launches in a row hardly ever come again. */
static void unlike(void)
{
	for (unsigned int i = 0; i < CHAIN; i++)
		launch(1 + draw() % UNLIKE, draw());
}

/* They come again and again, by chance, with other values. */
static void alike(void)
{
	for (unsigned int i = 0; i < CHAIN; i++)
		launch(1 + draw() % ALIKE, draw());
}

static void chain_waits(void)
{
	for (unsigned int i = 0; i < CHAIN; i++)
		launch(1 + i, i);
	check(cuStreamSynchronize(stream));
}

static void pairs(void)
{
	for (unsigned int i = 0; i < CHAIN; i += 2) {
		launch(1 + i, i);
		launch(2 + i, i);
		check(cuStreamSynchronize(stream));
	}
}

/* Work on another stream, behind `event`: three calls. */
static void branch(CUstream into, CUevent end)
{
	CUstream origin = stream;

	check(cuStreamWaitEvent(into, event, CU_EVENT_WAIT_DEFAULT));
	stream = into;
	launch(2, 2);
	check(cuEventRecord(end, stream));
	stream = origin;
}

/* A fork to another stream, which joins again: six calls. */
static void fork_and_join(void)
{
	launch(1, 1);
	check(cuEventRecord(event, stream));
	branch(side, joined);
	check(cuStreamWaitEvent(stream, joined, CU_EVENT_WAIT_DEFAULT));
}

/* A step joins what the step before has forked, behind a wait of the host: twelve calls. */
static void step(void)
{
	launch(1, 1);
	check(cuStreamWaitEvent(stream, joined, CU_EVENT_WAIT_DEFAULT));
	check(cuStreamWaitEvent(stream, joined_second, CU_EVENT_WAIT_DEFAULT));
	launch(2, 2);
	check(cuEventRecord(event, stream));
	launch(3, 3);
	branch(side, joined);
	branch(second, joined_second);
	check(cuStreamSynchronize(stream));
}

static void steps(void)
{
	step();
	step();
}

static void forks(void)
{
	for (unsigned int i = 0; i < CHAIN; i += 6)
		fork_and_join();
	check(cuStreamSynchronize(stream));
}

/* Streams that have ops. */
static void many_streams(void)
{
	CUstream first = stream;

	for (unsigned int i = 0; i < MANY; i++) {
		check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		launch(1, i);
	}
	stream = first;
}

/* The first launch after each wait has a value that never came. */
static void first_changes(void)
{
	static unsigned int value = 1000;

	for (unsigned int i = 0; i < CHAIN; i += CHAIN / 4) {
		launch(1 + i, value++);
		for (unsigned int k = 1; k < CHAIN / 4; k++)
			launch(1 + i + k, i + k);
		check(cuStreamSynchronize(stream));
	}
}

static void bare_records(void)
{
	for (unsigned int i = 0; i < CHAIN; i++)
		check(cuEventRecord(event, bare));
}

static const struct {
	const char *name;
	void (*period)(void);
	unsigned int before, measured; /* periods */
	bool pauses;
	bool turns; /* only eager turns are measured */
	void (*first)(void);
} paths[] = {
	{"new", unlike, 0, 84, false, false, NULL},
	{"scanned", unlike, 1, 41, false, false, NULL},
	{"unlike", unlike, 150, 400, false, false, NULL},
	{"watched", alike, 30, 400, false, false, NULL},
	{"backed-off", alike, 720, 200, false, false, NULL},
	{"pairs", pairs, 25, 16, false, false, NULL},
	{"paused", chain_waits, 20, 200, true, false, NULL},
	{"turn-waits", chain_waits, 400, 200, false, true, NULL},
	{"paused-forks", forks, 20, 200, true, false, NULL},
	{"turn-forks", forks, 400, 200, false, true, NULL},
	{"pipeline", steps, 100, 400, false, false, NULL},
	{"first-changes", first_changes, 1000, 400, false, false, NULL},
	{"bare-records", bare_records, 2, 200, false, false, many_streams},
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

__attribute__((noinline)) void measured(void (*period)(void));
__attribute__((noinline)) void measured(void (*period)(void))
{
	period();
	__asm__ volatile("");
}

static struct reprise_counts counted(void)
{
	struct reprise_counts counts;

	reprise_read_counts(&counts, sizeof(counts));
	return counts;
}

static unsigned int calls;
static uint64_t replayed, launches; /* of these calls, and for them */

static void measure(void (*period)(void))
{
	struct reprise_counts before = counted(), after;

	measured(period);
	after = counted();
	calls += CHAIN;
	replayed += after.replayed - before.replayed;
	launches += after.launches - before.launches;
}

static void set_up(const char *path)
{
	CUcontext context;
	CUmodule module;

	check(cuInit(0));
	check(cuDevicePrimaryCtxRetain(&context, 0));
	check(cuCtxSetCurrent(context));
	check(cuModuleLoad(&module, path));
	check(cuModuleGetFunction(&kernel, module, "mix"));
	check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	check(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	check(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	check(cuStreamCreate(&bare, CU_STREAM_NON_BLOCKING));
	check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	check(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
	check(cuEventCreate(&joined_second, CU_EVENT_DISABLE_TIMING));
	check(cuMemAlloc(&memory, 4096));
}

/* In an eager turn nothing is replayed: a period is measured where that was so in two before it.
 * The turn may end in it. */
static void measure_turns(void (*period)(void), unsigned int most)
{
	uint64_t first = counted().replayed, before;
	unsigned int eager = 0;
	time_t begin = time(NULL);

	while (calls < most * CHAIN && time(NULL) - begin < PATIENCE_S) {
		before = counted().replayed;
		period();
		eager = counted().replayed == before && before - first > 1000 ? eager + 1 : 0;
		if (eager >= 2)
			measure(period);
	}
}

int main(int argc, char **argv)
{
	unsigned int path = 0;

	if (argc != 3)
		return 2;
	while (path < PATHS && strcmp(paths[path].name, argv[2]) != 0)
		path++;
	if (path == PATHS)
		return 2;
	set_up(argv[1]);
	if (paths[path].first != NULL)
		paths[path].first();
	for (unsigned int i = 0; i < paths[path].before; i++)
		paths[path].period();
	if (paths[path].pauses)
		reprise_pause();
	if (paths[path].turns)
		measure_turns(paths[path].period, paths[path].measured);
	for (unsigned int i = 0; !paths[path].turns && i < paths[path].measured; i++)
		measure(paths[path].period);
	printf("calls=%u\nreplayed=%u\nlaunches=%u\n", calls, (unsigned int)replayed,
	       (unsigned int)launches);
	return 0;
}
