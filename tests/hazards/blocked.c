/*
 * The driver keeps a thread in a launch: as many are pending on the stream as there may be (SIM_PENDING), and the first waits for the host. What has nothing to
 * do with that launch goes on.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "hazard.h"

#define PARTLY 5u
#define PENDING 8u /* as SIM_PENDING says */

static CUcontext elsewhere;
static CUstream stream;
static CUfunction await, publish;
static CUdeviceptr flag, ignored, worked_on;
static volatile uint32_t *flag_word, *worked_on_word;
static sem_t may_launch, has_launched;
static unsigned partly, whole; /* so many launches, and then the others */
static bool halts;                    /* between these and those */
static uint32_t round_now;
static bool ended;

/* Ops of no lane's. The first ends when the host says so, and there is no room behind them. */
static void fill(uint32_t value)
{
	CHECK(cuLaunchCooperativeKernel(await, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag, &value}));
	for (unsigned i = 1; i < PENDING; i++)
		CHECK(cuLaunchCooperativeKernel(publish, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&ignored, &value}));
}

static void *launch_when_told(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (sem_wait(&may_launch); !ended; sem_wait(&may_launch)) {
		fill(round_now);
		hazard_part_of_chain(worked_on, partly, stream);
		if (halts) {
			sem_post(&has_launched);
			sem_wait(&may_launch);
		}
		for (unsigned i = partly; i < whole; i++)
			hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, worked_on, i * 7 + 1, stream);
		CHECK(cuStreamSynchronize(stream));
		sem_post(&has_launched);
	}
	return NULL;
}

static void tell(sem_t *may, sem_t *has)
{
	sem_post(may);
	sem_wait(has);
}

/* For others to get into the driver. If they do not, this round is an ordinary one. */
static void give_way(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static volatile uint32_t *mapped(CUdeviceptr *device)
{
	void *memory;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(device, memory, 0));
	memset(memory, 0, WORDS * 4);
	return memory;
}

static void begin(unsigned first, unsigned all, pthread_t *thread)
{
	partly = first;
	whole = all;
	await = hazard_function("await");
	publish = hazard_function("publish");
	flag_word = mapped(&flag);
	mapped(&ignored);
	worked_on_word = mapped(&worked_on);
	stream = hazard_stream(CU_STREAM_DEFAULT);
	pthread_create(thread, NULL, launch_when_told, NULL);
}

static void end(pthread_t thread)
{
	ended = true;
	sem_post(&may_launch);
	pthread_join(thread, NULL);
	printf("worked on %08x\n", (unsigned)*worked_on_word);
}

/* The other thread launches, in parts, behind a kernel that waits for the host. */
static void block(uint32_t value)
{
	round_now = value;
	halts = true;
	sem_post(&may_launch);
	give_way();
}

static void unblock(uint32_t value)
{
	*flag_word = value;
	sem_wait(&has_launched);
	tell(&may_launch, &has_launched);
}

/* It launches behind one that waits for nothing. */
static void go_on(uint32_t value, bool in_parts)
{
	halts = in_parts;
	*flag_word = round_now = value;
	tell(&may_launch, &has_launched);
}

static uint32_t chained(uint32_t word, unsigned first, unsigned last)
{
	for (unsigned i = first; i < last; i++) {
		uint32_t argument = i * 7 + 1;

		word = i % 2 == 0 ? hazard_mixed(word, 5, argument) : (word * 22695477u + argument) ^ (word << 5) ^ (5u << 1);
	}
	return word;
}

/* If the stream has finished, all of it is there. */
static void ask(uint32_t expected)
{
	if (cuStreamQuery(stream) == CUDA_SUCCESS && *worked_on_word != expected)
		printf("it is said to have finished, and has not\n");
}

/* The stream that it launches into is asked about, and the legacy stream, which is behind it. */
static void asked_while_blocked(void)
{
	uint32_t expected = 0;
	pthread_t thread;

	begin(PARTLY, 12, &thread);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		if (hazard_springs(iteration)) {
			block(iteration);
			cuStreamQuery(stream);
			cuStreamQuery(CU_STREAM_LEGACY);
			unblock(iteration);
		} else {
			go_on(iteration, true);
			ask(chained(expected, 0, PARTLY));
			tell(&may_launch, &has_launched);
		}
		expected = chained(expected, 0, 12);
	}
	end(thread);
}

/* Launches into another context; before the last `late` of them the host waits for the others to have written. */
static void launch_and_wait(CUfunction mix, CUdeviceptr x, CUdeviceptr y, volatile uint32_t *words, unsigned count, unsigned late, uint32_t *expected, CUstream other)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (unsigned i = 0; i < count; i++) {
		CHECK(cuLaunchKernel(mix, 1, 1, 1, WORDS, 1, 1, 0, other, (void *[]){&x, &y, &i}, NULL));
		*expected = hazard_mixed(*expected, 5, i);
		while (i + 1 == count - late && words[WORDS - 1] != *expected) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec > begun.tv_sec + 20) {
				fprintf(stderr, "what was launched beside is not executed\n");
				exit(1);
			}
		}
	}
}

/* What is deferred on a stream of another context is issued within the hold limit. */
static void hold_beside(unsigned first, unsigned all, unsigned count, unsigned late, unsigned iterations, unsigned pause_ms)
{
	CUfunction mix;
	CUmodule module;
	CUdeviceptr x, y;
	volatile uint32_t *words;
	uint32_t expected = 0;
	pthread_t thread;
	CUstream other;

	begin(first, all, &thread);
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	other = hazard_stream(CU_STREAM_NON_BLOCKING);
	words = mapped(&x);
	CHECK(cuMemAlloc(&y, WORDS * 4));
	CHECK(cuMemsetD32(y, 5, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < iterations; iteration++) {
		bool trap = hazard_springs(iteration);

		if (trap) {
			nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000L}, NULL);
			block(iteration);
		} else {
			go_on(iteration, false); /* without a pause in which it would be seen to be two */
		}
		launch_and_wait(mix, x, y, words, count, trap ? late : count, &expected, other);
		if (trap)
			unblock(iteration);
		CHECK(cuStreamSynchronize(other));
	}
	printf("words %08x, expected %08x\n", (unsigned)words[0], (unsigned)expected);
	CHECK(cuCtxSetCurrent(hazard_context));
	end(thread);
}

static void hold_beside_blocked(void)
{
	hold_beside(PARTLY, 12, 12, 6, ITERATIONS / 2, 0);
}

/* Of one op each time, so that nothing is deferred but what is left to the submission thread; and when the hold limit's thread sleeps, since nothing was for a while. */
static void queued_beside_blocked(void)
{
	hold_beside(1, 1, 1, 0, ITERATIONS / 4, 250);
}

const struct hazard blocked_hazards[] = {
	{"asked_while_blocked", asked_while_blocked},
	{"hold_beside_blocked", hold_beside_blocked},
	{"queued_beside_blocked", queued_beside_blocked},
	{NULL, NULL},
};
