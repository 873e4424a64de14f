/*
 * Threads that synchronise separately: what one waits for, or only may see, is issued, whoever
 * deferred it; what concerns it not is left alone. A second thread acts when it is told to, so that
 * what is called, and in which order, is the same in every run. The hold limit is set so high that
 * it issues nothing in time.
 */
#include <semaphore.h>
#include <pthread.h>
#include <string.h>

#include "hazard.h"

static CUstream stream_here, stream_there;
static CUcontext other_context;
static CUdeviceptr x_there;
static uint32_t *pinned;
static uint32_t seen;

static sem_t asked, answered;
static unsigned asked_for;

static void see(const uint32_t *words)
{
	for (unsigned i = 0; i < WORDS; i++)
		seen = seen * 69069u + words[i];
}

/* The other thread does so much, and this one waits for it without a CUDA call. */
static void ask(unsigned what)
{
	asked_for = what;
	sem_post(&asked);
	while (sem_wait(&answered) != 0)
		;
}

/* Runs `act` in a thread for each number that is asked for, up to UINT_MAX. */
static void *answer(void *act)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		while (sem_wait(&asked) != 0)
			;
		if (asked_for == UINT32_MAX)
			return NULL;
		((void (*)(unsigned))act)(asked_for);
		sem_post(&answered);
	}
}

static void set_up(unsigned flags)
{
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	stream_here = hazard_stream(flags);
	stream_there = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc(&x_there, WORDS * 4));
	CHECK(cuMemsetD32(x_there, 3, WORDS));
	CHECK(cuMemAllocHost((void **)&pinned, WORDS * 4));
	memset(pinned, 0, WORDS * 4);
	CHECK(cuCtxCreate(&other_context, NULL, 0, hazard_device));
	CHECK(cuCtxPopCurrent(NULL));
	CHECK(cuCtxSynchronize());
}

/* Each op has another size of shared memory, so no two are alike: a lane cannot take one place in
 * the loop for another, and every side exit is due to a synchronising call. */
static void launch_distinct(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		CHECK(cuLaunchKernel(i % 2 == 0 ? hazard_mix : hazard_turn, 1, 1, 1, WORDS, 1, 1, i * 16,
		                     stream_here, (void *[]){&hazard_x, &hazard_y, &i}, NULL));
}

/* A hot chain and a copy of what it made, half of them before the other thread acts and half after.
 */
static void run_beside(void (*act)(unsigned))
{
	unsigned asked_times = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, answer, (void *)act);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		launch_distinct(0, CHAIN / 2);
		CHECK(cuMemcpyDtoHAsync(pinned, hazard_x, WORDS * 4, stream_here));
		if (hazard_springs(iteration))
			ask(asked_times++);
		launch_distinct(CHAIN / 2, CHAIN);
		CHECK(cuStreamSynchronize(stream_here));
	}
	asked_for = UINT32_MAX;
	sem_post(&asked);
	pthread_join(thread, NULL);
	printf("seen %08x\n", (unsigned)seen);
	hazard_print("x", hazard_x);
	hazard_print("there", x_there);
}

/* Every way to wait for a blocking stream, in a thread that has launched nothing there. */
static void look(unsigned time)
{
	uint32_t words[WORDS];

	switch (time % 6) {
	case 0:
		CHECK(cuStreamSynchronize(stream_here));
		break;
	case 1:
		while (cuStreamQuery(stream_here) == CUDA_ERROR_NOT_READY)
			;
		break;
	case 2:
		CHECK(cuCtxSynchronize());
		break;
	case 3: /* a stream may be waited for from any context */
		CHECK(cuCtxSetCurrent(other_context));
		CHECK(cuStreamSynchronize(stream_here));
		CHECK(cuCtxSetCurrent(hazard_context));
		break;
	case 4: /* work of the legacy stream */
		CHECK(cuMemcpyDtoH(words, hazard_x, sizeof(words)));
		see(words);
		break;
	default:
		CHECK(cuMemsetD32(
			x_there, 8,
			WORDS)); /* by which the legacy stream has work behind the blocking stream's */
		CHECK(cuStreamSynchronize(CU_STREAM_LEGACY));
		break;
	}
	see(pinned);
}

static void sync_elsewhere(void)
{
	set_up(CU_STREAM_DEFAULT);
	run_beside(look);
}

/* Every way to wait for something else. */
static void look_away(unsigned time)
{
	static CUevent before, after;
	uint32_t words[WORDS];
	float milliseconds;

	if (time == 0) {
		CHECK(cuEventCreate(&before, CU_EVENT_DEFAULT));
		CHECK(cuEventCreate(&after, CU_EVENT_DEFAULT));
	}
	CHECK(cuEventRecord(before, stream_there));
	hazard_chain(x_there, stream_there);
	CHECK(cuEventRecord(after, stream_there));
	CHECK(cuEventSynchronize(after));
	CHECK(cuEventQuery(before));
	CHECK(cuEventElapsedTime(&milliseconds, before, after));
	CHECK(cuStreamSynchronize(stream_there));
	CHECK(cuStreamQuery(stream_there));
	CHECK(cuMemcpyDtoH(words, x_there, sizeof(words)));
	CHECK(cuMemsetD32(x_there, words[0], WORDS / 2));
	CHECK(cuStreamSynchronize(CU_STREAM_LEGACY));
	CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	CHECK(cuCtxSetCurrent(other_context));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(hazard_context));
	see(words);
}

static void sync_apart(void)
{
	set_up(CU_STREAM_NON_BLOCKING);
	run_beside(look_away);
}

/* A thread that goes to wait for one stream has work on another, for whose effect it then waits
 * without a CUDA call. */
static void sync_own(void)
{
	CUfunction publish = hazard_function("publish");
	volatile uint32_t *flag;
	CUdeviceptr mapped;
	uint32_t value = 1;

	set_up(CU_STREAM_NON_BLOCKING);
	flag = pinned;
	CHECK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
	hazard_launch(hazard_mix, x_there, 1, stream_there);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream_here);
		CHECK(cuLaunchKernel(publish, 1, 1, 1, 1, 1, 1, 0, stream_here, (void *[]){&mapped, &value},
		                     NULL));
		if (hazard_springs(iteration)) {
			CHECK(cuStreamSynchronize(stream_there));
			while (*flag != value)
				;
		}
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream_here);
		CHECK(cuStreamSynchronize(stream_here));
		*flag = 0;
	}
	hazard_print("x", hazard_x);
}

const struct hazard apart_hazards[] = {
	{"sync_elsewhere", sync_elsewhere},
	{"sync_apart", sync_apart},
	{"sync_own", sync_own},
	{NULL, NULL},
};
