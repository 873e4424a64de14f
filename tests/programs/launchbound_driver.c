/*
 * launchbound-driver: repeated stream work of many kinds, by the driver API, on a GPU or on the simulated driver.
 *
 *   launchbound-driver --module FILE [--shape NAME] [--iterations N] [--seed N]
 *   launchbound-driver --list
 *
 * Prints one line per shape: an order-sensitive checksum and how many calls failed. A failing call is printed on
 * a line of its own, and the program goes on: what it prints must not depend on who sits between it and the driver.
 * Times go to stderr.
 */
#include <cuda.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 64, BUFFERS = 4, LENGTH = 24 };

struct stir {
	unsigned char rounds;
	unsigned short odd;
	unsigned long long addend;
};

struct run {
	CUmodule module;
	CUfunction mix, turn, stir, fold;
	CUstream stream, other;
	CUevent event, back;
	CUdeviceptr buffer[BUFFERS], scratch;
	unsigned *to_device, *from_device; /* pinned */
	uint64_t random;
	uint64_t noted;
	unsigned iteration;
	unsigned failures;   /* of this shape */
	unsigned unexpected; /* of all shapes that ought to have none */
};

static void check(struct run *run, CUresult result, const char *call)
{
	if (result == CUDA_SUCCESS)
		return;
	if (run->failures++ < 20)
		printf("failure iteration=%u result=%d call=%.60s\n", run->iteration, (int)result, call);
}

#define CALL(run, call) check(run, call, #call)

static uint32_t draw(struct run *run)
{
	uint64_t z = (run->random += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return (uint32_t)(z >> 32);
}

static void note(struct run *run, uint32_t value)
{
	run->noted = (run->noted ^ value) * 0x100000001B3u + 1;
}

static unsigned constant(unsigned k)
{
	return k * 2654435761u + 12345u;
}

static void launch(struct run *run, CUfunction function, CUstream stream, CUdeviceptr x, CUdeviceptr y, unsigned argument)
{
	void *parameters[] = {&x, &y, &argument};

	CALL(run, cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream, parameters, NULL));
}

static void sync(struct run *run, CUstream stream)
{
	CALL(run, cuStreamSynchronize(stream));
}

static void chain(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	sync(run, run->stream);
}

static void chain_without_sync(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
}

static void one_changed(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], k == 7 ? run->iteration : constant(k));
	sync(run, run->stream);
}

static void all_changed(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(run->iteration * LENGTH + k));
	sync(run, run->stream);
}

static void swap(struct run *run)
{
	CUdeviceptr x = run->buffer[run->iteration % 2], y = run->buffer[(run->iteration + 1) % 2];

	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, k % 2 ? run->turn : run->mix, run->stream, x, y, constant(k));
	sync(run, run->stream);
}

static void mixed(struct run *run)
{
	CUdeviceptr filled = run->scratch, copied = run->scratch + WORDS * 4, given = run->scratch + WORDS * 8;

	CALL(run, cuMemcpyHtoDAsync(given, run->to_device, WORDS * 4, run->stream));
	launch(run, run->turn, run->stream, run->buffer[0], given, 1);
	for (unsigned k = 0; k < 6; k++) {
		CALL(run, cuMemsetD32Async(filled, constant(k), WORDS, run->stream));
		launch(run, run->mix, run->stream, run->buffer[0], filled, k);
		CALL(run, cuMemcpyDtoDAsync(copied, run->buffer[0], WORDS * 4, run->stream));
		launch(run, run->turn, run->stream, run->buffer[1], copied, k);
		CALL(run, cuMemsetD8Async(filled + 1, (unsigned char)k, WORDS, run->stream));
		launch(run, run->mix, run->stream, run->buffer[1], filled, k);
	}
	CALL(run, cuMemcpyDtoHAsync(run->from_device, run->buffer[1], WORDS * 4, run->stream));
	sync(run, run->stream);
	note(run, run->from_device[run->iteration % WORDS]);
	run->to_device[run->iteration % WORDS] += run->from_device[0];
}

static void pageable(struct run *run)
{
	unsigned here[WORDS];

	for (unsigned i = 0; i < WORDS; i++)
		here[i] = run->iteration * WORDS + i;
	CALL(run, cuMemcpyHtoDAsync(run->scratch, here, sizeof here, run->stream));
	memset(here, 0xA5, sizeof here);
	for (unsigned k = 0; k < 8; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->scratch, constant(k));
	CALL(run, cuMemcpyDtoHAsync(here, run->buffer[0], sizeof here, run->stream));
	sync(run, run->stream);
	note(run, here[run->iteration % WORDS]);
}

static void conjugate_gradient(struct run *run)
{
	for (unsigned k = 0; k < 8; k++)
		launch(run, k % 2 ? run->turn : run->mix, run->stream, run->buffer[k % 3], run->buffer[(k + 1) % 3], k);
	CUdeviceptr x = run->buffer[0], result = run->scratch;
	unsigned count = WORDS;

	CALL(run, cuLaunchKernel(run->fold, 1, 1, 1, 1, 1, 1, 0, run->stream, (void *[]){&x, &count, &result}, NULL));
	CALL(run, cuMemcpyDtoHAsync(run->from_device, result, sizeof(unsigned), run->stream));
	sync(run, run->stream);
	note(run, run->from_device[0]);
}

/* Parameters packed in a buffer that is overwritten after each launch; the structure's padding never holds the same twice. */
static void extra(struct run *run)
{
	struct {
		CUdeviceptr x;
		struct stir by;
	} packed;
	size_t bytes = sizeof packed;
	void *extra_of[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};

	for (unsigned k = 0; k < LENGTH; k++) {
		memset(&packed, (int)draw(run), sizeof packed);
		packed.x = run->buffer[k % 2];
		packed.by.rounds = (unsigned char)(1 + k % 3);
		packed.by.odd = (unsigned short)(k + 1);
		packed.by.addend = k == 5 ? run->iteration : constant(k);
		CALL(run, cuLaunchKernel(run->stir, 1, 1, 1, WORDS, 1, 1, 0, run->stream, NULL, extra_of));
	}
	sync(run, run->stream);
}

static void legacy(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, CU_STREAM_LEGACY, run->buffer[0], run->buffer[1], constant(k));
	sync(run, NULL);
}

/* The legacy stream and a blocking one by turns: the order between them is implied. */
static void legacy_between(struct run *run)
{
	for (unsigned k = 0; k < 8; k++) {
		launch(run, run->mix, run->other, run->buffer[0], run->buffer[1], constant(k));
		launch(run, run->turn, NULL, run->buffer[0], run->buffer[1], constant(k + 100));
	}
	CALL(run, cuCtxSynchronize());
}

static void two_streams(struct run *run)
{
	for (unsigned k = 0; k < 8; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	CALL(run, cuEventRecord(run->event, run->stream));
	CALL(run, cuStreamWaitEvent(run->other, run->event, 0));
	for (unsigned k = 0; k < 8; k++)
		launch(run, run->turn, run->other, run->buffer[2], run->buffer[0], constant(k));
	CALL(run, cuEventRecord(run->back, run->other));
	for (unsigned k = 0; k < 4; k++)
		launch(run, run->mix, run->stream, run->buffer[3], run->buffer[1], constant(k));
	CALL(run, cuStreamWaitEvent(run->stream, run->back, 0));
	for (unsigned k = 0; k < 4; k++)
		launch(run, run->turn, run->stream, run->buffer[0], run->buffer[2], constant(k));
	sync(run, run->stream);
}

static void random_bodies(struct run *run)
{
	unsigned body = draw(run) % 4;

	for (unsigned k = 0; k < 8 + 6 * body; k++)
		launch(run, k % (body + 2) ? run->mix : run->turn, run->stream, run->buffer[0], run->buffer[1],
			constant(k < 6 ? k : 100 * body + k));
	sync(run, run->stream);
}

static void no_repeat(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++) {
		uint32_t drawn = draw(run);

		launch(run, drawn & 1 ? run->mix : run->turn, run->stream, run->buffer[drawn >> 1 & 1],
			run->buffer[2 + (drawn >> 2 & 1)], drawn);
	}
	sync(run, run->stream);
}

/* Five other launches in a tenth of the iterations. */
static void extra_ops(struct run *run)
{
	unsigned at = draw(run) % 10 ? LENGTH : draw(run) % LENGTH;

	for (unsigned k = 0; k < LENGTH; k++) {
		for (unsigned more = 0; k == at && more < 5; more++)
			launch(run, run->turn, run->stream, run->buffer[0], run->buffer[2], run->iteration + more);
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	}
	sync(run, run->stream);
}

/* A launch that can never be, now and then: its error must come at that very call. */
static void bad_launch(struct run *run)
{
	CUdeviceptr x = run->buffer[0], y = run->buffer[1];
	unsigned argument = 5;

	for (unsigned k = 0; k < LENGTH; k++) {
		launch(run, run->mix, run->stream, x, y, constant(k));
		if (k == 11 && run->iteration % 37 == 36)
			CALL(run, cuLaunchKernel(run->mix, 1, 1, 1, 4096, 1, 1, 0, run->stream,
				(void *[]){&x, &y, &argument}, NULL));
	}
	sync(run, run->stream);
}

/* Ends by looking again and again whether the work is done. */
static void poll(struct run *run)
{
	CUresult result;

	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	if (run->iteration % 2) {
		CALL(run, cuEventRecord(run->event, run->stream));
		while ((result = cuEventQuery(run->event)) == CUDA_ERROR_NOT_READY)
			;
	} else {
		while ((result = cuStreamQuery(run->stream)) == CUDA_ERROR_NOT_READY)
			;
	}
	CALL(run, result);
}

static const struct shape {
	const char *name;
	void (*iterate)(struct run *run);
} shapes[] = {
	{"chain", chain},
	{"chain-nosync", chain_without_sync},
	{"one-changed", one_changed},
	{"all-changed", all_changed},
	{"swap", swap},
	{"mixed", mixed},
	{"pageable", pageable},
	{"cg", conjugate_gradient},
	{"extra", extra},
	{"legacy", legacy},
	{"legacy-between", legacy_between},
	{"two-streams", two_streams},
	{"random-bodies", random_bodies},
	{"norepeat", no_repeat},
	{"extra-ops", extra_ops},
	{"bad-launch", bad_launch},
	{"poll", poll},
};

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
			words[word] = draw(run);
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
	printf("shape=%s iterations=%u failures=%u checksum=%016" PRIx64 "\n", shape, iterations, run->failures, checksum);
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
	fprintf(stderr, "shape=%s us_per_iteration=%.2f\n", shape->name, (now_us() - start) / iterations);
	report(run, shape->name, iterations);
	if (shape->iterate != bad_launch)
		run->unexpected += run->failures;
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
		{"module", required_argument, NULL, 'm'}, {"shape", required_argument, NULL, 's'},
		{"iterations", required_argument, NULL, 'i'}, {"seed", required_argument, NULL, 'r'},
		{"list", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0},
	};
	const char *module = NULL, *wanted = NULL;
	unsigned iterations = 300, measured = 0;
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
		else if (option == 'l')
			for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
				puts(shapes[i].name);
		else
			return 2;
		if (option == 'l')
			return 0;
	}
	if (!module || !iterations) {
		fprintf(stderr, "launchbound-driver: --module FILE is needed, and at least one iteration\n");
		return 2;
	}

	set_up(&run, module);
	if (run.failures)
		return 1;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		if (wanted && strcmp(wanted, shapes[i].name))
			continue;
		measure(&run, &shapes[i], iterations, seed);
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
