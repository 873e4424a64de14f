/*
 * launchbound-driver: repeated stream work of many kinds, by the driver API, on a GPU or on the
 * simulated driver.
 *
 *   launchbound-driver --module FILE [--shape NAME] [--iterations N] [--seed N] [--turns]
 *   launchbound-driver --list
 *
 * Prints one line per shape: an order-sensitive checksum and how many calls failed. A failing call
 * is printed on a line of its own, and the program goes on: what it prints must not depend on who
 * sits between it and the driver. Times go to stderr.
 *
 * --turns: works as scripts/turns asks on standard input (turns.h), in batches of --iterations.
 */
#include "shapes.h"

#include "../turns.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void run_check(struct run *run, CUresult result, const char *call)
{
	if (result == CUDA_SUCCESS)
		return;
	if (run->failures++ < 20)
		printf("failure iteration=%u result=%d call=%.60s\n", run->iteration, (int)result, call);
}

uint32_t run_draw(struct run *run)
{
	uint64_t z = (run->random += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return (uint32_t)(z >> 32);
}

void run_note(struct run *run, uint32_t value)
{
	run->noted = (run->noted ^ value) * 0x100000001B3u + 1;
}

static void set_up(struct run *run, const char *module)
{
	CUdevice device;
	CUcontext context;

	CALL(run, cuInit(0));
	CALL(run, cuDeviceGet(&device, 0));
	CALL(run, cuDevicePrimaryCtxRetain(&context, device));
	CALL(run, cuCtxSetCurrent(context));
	CALL(run, cuModuleLoad(&run->module, module));
	CALL(run, cuModuleGetFunction(&run->mix, run->module, "mix"));
	CALL(run, cuModuleGetFunction(&run->turn, run->module, "turn"));
	CALL(run, cuModuleGetFunction(&run->stir, run->module, "stir"));
	CALL(run, cuModuleGetFunction(&run->fold, run->module, "fold"));
	CALL(run, cuStreamCreate(&run->stream, CU_STREAM_NON_BLOCKING));
	CALL(run, cuStreamCreate(&run->other, CU_STREAM_DEFAULT));
	CALL(run, cuEventCreate(&run->event, CU_EVENT_DISABLE_TIMING));
	CALL(run, cuEventCreate(&run->back, CU_EVENT_DISABLE_TIMING));
	for (unsigned i = 0; i < BUFFERS; i++)
		CALL(run, cuMemAlloc(&run->buffer[i], WORDS * 4));
	CALL(run, cuMemAlloc(&run->scratch, WORDS * 16));
	CALL(run, cuMemHostAlloc((void **)&run->to_device, WORDS * 4, 0));
	CALL(run, cuMemHostAlloc((void **)&run->from_device, WORDS * 4, 0));
}

/* Every shape begins with the same state. */
static void fill(struct run *run, uint64_t seed)
{
	unsigned words[WORDS * 4];

	run->random = seed;
	run->noted = 0;
	run->failures = 0;
	for (unsigned i = 0; i < BUFFERS; i++) {
		for (unsigned word = 0; word < WORDS; word++)
			words[word] = run_draw(run);
		CALL(run, cuMemcpyHtoD(run->buffer[i], words, WORDS * 4));
	}
	memset(words, 0, sizeof words);
	CALL(run, cuMemcpyHtoD(run->scratch, words, sizeof words));
	for (unsigned word = 0; word < WORDS; word++)
		run->to_device[word] = run->from_device[word] = word;
	CALL(run, cuCtxSynchronize());
}

static void report(struct run *run, const char *shape, unsigned iterations)
{
	unsigned words[WORDS] = {0};
	uint64_t checksum = run->noted;

	CALL(run, cuCtxSynchronize());
	for (unsigned i = 0; i < BUFFERS; i++) {
		CALL(run, cuMemcpyDtoH(words, run->buffer[i], sizeof words));
		for (unsigned word = 0; word < WORDS; word++)
			checksum = (checksum ^ words[word]) * 0x100000001B3u;
	}
	printf("shape=%s iterations=%u failures=%u checksum=%016" PRIx64 "\n", shape, iterations,
	       run->failures, checksum);
	fflush(stdout);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void measure(struct run *run, const struct shape *shape, unsigned iterations, uint64_t seed)
{
	double start;

	fill(run, seed);
	start = now_us();
	for (run->iteration = 0; run->iteration < iterations; run->iteration++)
		shape->iterate(run);
	CALL(run, cuCtxSynchronize());
	fprintf(stderr, "shape=%s us_per_iteration=%.2f\n", shape->name,
	        (now_us() - start) / iterations);
	report(run, shape->name, iterations);
	if (!shape->fails)
		run->unexpected += run->failures;
}

struct program {
	struct run *run;
	const struct shape *shape;
	unsigned iterations;
};

static void work(void *argument)
{
	const struct program *program = argument;

	for (unsigned i = 0; i < program->iterations; i++, program->run->iteration++)
		program->shape->iterate(program->run);
	CALL(program->run, cuCtxSynchronize());
}

static void measure_by_turns(struct run *run, const struct shape *shape, unsigned iterations,
                             uint64_t seed)
{
	struct program program = {run, shape, iterations};
	struct turns turns = {0};

	if (!turns_asked(&turns))
		return;
	fill(run, seed);
	run->iteration = 0;
	puts("us=0");
	fflush(stdout);
	while (turns_asked(&turns) && turns.word[0])
		turns_take(&turns, iterations, work, &program);
	report(run, shape->name, run->iteration);
	printf("steps=%llu\n", (unsigned long long)turns.steps);
}

static void tear_down(struct run *run)
{
	CALL(run, cuMemFreeHost(run->from_device));
	CALL(run, cuMemFreeHost(run->to_device));
	CALL(run, cuMemFree(run->scratch));
	for (unsigned i = 0; i < BUFFERS; i++)
		CALL(run, cuMemFree(run->buffer[i]));
	CALL(run, cuEventDestroy(run->back));
	CALL(run, cuEventDestroy(run->event));
	CALL(run, cuStreamDestroy(run->other));
	CALL(run, cuStreamDestroy(run->stream));
	CALL(run, cuModuleUnload(run->module));
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"module", required_argument, NULL, 'm'},
		{"shape", required_argument, NULL, 's'},
		{"iterations", required_argument, NULL, 'i'},
		{"seed", required_argument, NULL, 'r'},
		{"list", no_argument, NULL, 'l'},
		{"turns", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	const char *module = NULL, *wanted = NULL;
	unsigned iterations = 300, measured = 0;
	bool by_turns = false;
	uint64_t seed = 1;
	struct run run = {0};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'm')
			module = optarg;
		else if (option == 's')
			wanted = optarg;
		else if (option == 'i')
			iterations = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 't')
			by_turns = true;
		else if (option == 'l')
			for (const struct shape *shape = shapes; shape->name; shape++)
				puts(shape->name);
		else
			return 2;
		if (option == 'l')
			return 0;
	}
	if (!module || !iterations) {
		fprintf(stderr,
		        "launchbound-driver: --module FILE is needed, and at least one iteration\n");
		return 2;
	}

	set_up(&run, module);
	if (run.failures)
		return 1;
	for (const struct shape *shape = shapes; shape->name; shape++) {
		if (wanted && strcmp(wanted, shape->name))
			continue;
		if (by_turns)
			measure_by_turns(&run, shape, iterations, seed);
		else
			measure(&run, shape, iterations, seed);
		measured++;
	}
	if (!measured) {
		fprintf(stderr, "launchbound-driver: no shape %s; --list names them\n", wanted);
		return 2;
	}
	run.failures = 0;
	tear_down(&run);
	return run.failures || run.unexpected ? 1 : 0;
}
