/*
 * Streams that fork and join again and again, which may become one graph. Each stream works on an
 * array of its own, so that what the events order, and nothing else, shows in the end.
 */
#include "hazard.h"

#include <pthread.h>
#include <semaphore.h>

enum { SIDES = 3 };

static struct mirror trunk, branches[SIDES];
static cudaStream_t origin, sides[SIDES];
static cudaEvent_t fork_event, join_events[SIDES];

static void set_up_with(unsigned stream_flags, unsigned flags)
{
	mirror_init(&trunk);
	CHECK(cudaStreamCreateWithFlags(&origin, stream_flags));
	CHECK(cudaEventCreateWithFlags(&fork_event, flags));
	for (unsigned i = 0; i < SIDES; i++) {
		mirror_init(&branches[i]);
		CHECK(cudaStreamCreateWithFlags(&sides[i], stream_flags));
		CHECK(cudaEventCreateWithFlags(&join_events[i], flags));
	}
}

static void set_up(unsigned flags)
{
	set_up_with(cudaStreamNonBlocking, flags);
}

static void fork_all(unsigned argument)
{
	mirror_mix(&trunk, 1, origin);
	mirror_mix(&trunk, 2, origin);
	CHECK(cudaEventRecord(fork_event, origin));
	for (unsigned i = 0; i < SIDES; i++) {
		CHECK(cudaStreamWaitEvent(sides[i], fork_event, 0));
		mirror_absorb(&branches[i], trunk.device, trunk.host, sides[i]);
		for (unsigned k = 0; k < 6; k++)
			mirror_mix(&branches[i], k == 3 ? argument : k, sides[i]);
		CHECK(cudaEventRecord(join_events[i], sides[i]));
	}
}

static void join_all(void)
{
	for (unsigned i = 0; i < SIDES; i++)
		CHECK(cudaStreamWaitEvent(origin, join_events[i], 0));
	for (unsigned i = 0; i < SIDES; i++)
		mirror_absorb(&trunk, branches[i].device, branches[i].host, origin);
}

static void verify_all(unsigned iteration)
{
	mirror_verify(&trunk, iteration);
	for (unsigned i = 0; i < SIDES; i++)
		mirror_verify(&branches[i], iteration);
}

static void fork_join(void)
{
	set_up(cudaEventDisableTiming);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		fork_all(7);
		join_all();
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(origin));
	}
	verify_all(ITERATIONS);
}

/* Other values in the branches. */
static void fork_values(void)
{
	set_up(cudaEventDisableTiming);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		fork_all(i % 2 == 0 || trap_at(i) ? i : 7);
		join_all();
		CHECK(cudaStreamSynchronize(origin));
	}
	verify_all(ITERATIONS);
}

/* A side stream goes on after its branch, and the host looks at what it made. */
static void fork_member_goes_on(void)
{
	set_up(cudaEventDisableTiming);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		fork_all(7);
		join_all();
		if (!trap_at(i))
			continue;
		CHECK(cudaEventRecord(fork_event, origin));
		CHECK(cudaStreamWaitEvent(sides[0], fork_event, 0));
		mirror_mix(&branches[0], i, sides[0]);
		CHECK(cudaStreamSynchronize(sides[0]));
		verify_all(i);
	}
	verify_all(ITERATIONS);
}

/* The host asks for an event of a branch, waits for it, and takes the time between two. */
static void fork_events_looked_at(void)
{
	set_up(cudaEventDefault);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		float ms = -1;

		fork_all(7);
		join_all();
		if (!trap_at(i))
			continue;
		if (i % 2 == 0)
			CHECK(cudaEventSynchronize(join_events[1]));
		else
			while (cudaEventQuery(join_events[1]) == cudaErrorNotReady)
				;
		CHECK(cudaEventElapsedTime(&ms, fork_event, join_events[1]));
		EXPECT(ms >= 0 && ms < 10000, "iteration %u: %f ms between fork and join", i, (double)ms);
	}
	verify_all(ITERATIONS);
}

/* Events are destroyed, some while their record is under way, and made anew. */
static void fork_event_destroyed(void)
{
	set_up(cudaEventDisableTiming);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		fork_all(7);
		join_all();
		if (!trap_at(i))
			continue;
		CHECK(cudaEventDestroy(join_events[i % SIDES]));
		CHECK(cudaEventDestroy(fork_event));
		CHECK(cudaEventCreateWithFlags(&join_events[i % SIDES], cudaEventDisableTiming));
		CHECK(cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming));
	}
	verify_all(ITERATIONS);
}

/*
 * An event ends that was recorded behind work on a side stream, and the next one, which may have
 * its handle, is waited for before it is recorded: that orders nothing, so the next branch is
 * behind that work by its stream alone.
 */
static void fork_event_reborn(void)
{
	uint32_t microseconds = 300;
	cudaEvent_t event;

	set_up(cudaEventDisableTiming);
	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		if (trap_at(i)) {
			CHECK(cudaEventRecord(fork_event,
			                      origin)); /* which reads the branch of the iteration before */
			CHECK(cudaStreamWaitEvent(sides[0], fork_event, 0));
			launch(kernel_delay, 1, 1, (void *[]){&microseconds}, sides[0]);
			mirror_mix(&branches[0], i, sides[0]);
			CHECK(cudaEventRecord(event, sides[0]));
			CHECK(cudaEventDestroy(event));
			CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
			CHECK(cudaStreamWaitEvent(origin, event, 0));
		}
		fork_all(7);
		join_all();
	}
	verify_all(ITERATIONS);
}

static void fork_stream_destroyed(void)
{
	set_up(cudaEventDisableTiming);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		fork_all(7);
		join_all();
		if (!trap_at(i) || i % 4 != 0)
			continue;
		CHECK(cudaStreamDestroy(
			sides[i % SIDES])); /* with its branch pending; the origin has joined it */
		CHECK(cudaStreamCreateWithFlags(&sides[i % SIDES], cudaStreamNonBlocking));
		CHECK(cudaEventRecord(fork_event, origin));
		CHECK(cudaStreamWaitEvent(sides[i % SIDES], fork_event, 0));
	}
	verify_all(ITERATIONS);
}

/* A kernel of the origin, behind the fork, waits for what a side stream is given only after its
 * branch was joined. */
static void fork_spin_late(void)
{
	uint32_t *flag = device_words(), *late = mapped_words();

	set_up(cudaEventDisableTiming);
	/* Loads the kernels before one waits for the other: loading may wait for the device. */
	launch(kernel_raise, 1, 1, (void *[]){&flag, &(uint32_t){0}}, origin);
	fork_all(7);
	join_all();
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i < ITERATIONS; i++) {
		fork_all(7);
		launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, origin);
		for (unsigned k = 0; k < SIDES; k++)
			CHECK(cudaStreamWaitEvent(origin, join_events[k], 0));
		launch(kernel_raise, 1, 1, (void *[]){&flag, &i}, sides[1]);
		CHECK(cudaEventRecord(join_events[1], sides[1]));
		CHECK(cudaStreamWaitEvent(origin, join_events[1], 0));
		for (unsigned k = 0; k < SIDES; k++)
			mirror_absorb(&trunk, branches[k].device, branches[k].host, origin);
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(origin));
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the other stream", i);
	}
	verify_all(ITERATIONS);
}

/* All kernels behind the fork's event, and those behind an event in the midst of each branch, wait
 * for what the host writes when it has waited for these events. */
static void fork_event_before_spin(void)
{
	uint32_t *flags[] = {mapped_words(), mapped_words()}, *late = mapped_words();
	cudaEvent_t midst[SIDES];

	set_up(cudaEventDisableTiming);
	for (unsigned k = 0; k < SIDES; k++)
		CHECK(cudaEventCreateWithFlags(&midst[k], cudaEventDisableTiming));
	launch(kernel_wait, 1, 1, (void *[]){&flags[0], &(uint32_t){0}, &late}, origin);
	fork_all(7);
	join_all();
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i < ITERATIONS; i++) {
		mirror_mix(&trunk, 1, origin);
		CHECK(cudaEventRecord(fork_event, origin));
		launch(kernel_wait, 1, 1, (void *[]){&flags[0], &i, &late}, origin);
		for (unsigned k = 0; k < SIDES; k++) {
			CHECK(cudaStreamWaitEvent(sides[k], fork_event, 0));
			launch(kernel_wait, 1, 1, (void *[]){&flags[0], &i, &late}, sides[k]);
			mirror_absorb(&branches[k], trunk.device, trunk.host, sides[k]);
			CHECK(cudaEventRecord(midst[k], sides[k]));
			launch(kernel_wait, 1, 1, (void *[]){&flags[1], &i, &late}, sides[k]);
			mirror_mix(&branches[k], 7, sides[k]);
			CHECK(cudaEventRecord(join_events[k], sides[k]));
		}
		join_all();
		CHECK(cudaEventSynchronize(fork_event));
		*(volatile uint32_t *)flags[0] = i;
		for (unsigned k = 0; k < SIDES; k++)
			CHECK(cudaEventSynchronize(midst[k]));
		*(volatile uint32_t *)flags[1] = i;
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(origin));
		EXPECT(!*late, "iteration %u: an event came late", i);
	}
	verify_all(ITERATIONS);
}

/* A kernel on the legacy stream, behind blocking streams that forked and joined, waits for what
 * comes after the host has waited for a side stream. */
static void fork_side_before_legacy(void)
{
	uint32_t *flag = device_words(), *late = mapped_words();
	cudaStream_t outside;

	set_up_with(cudaStreamDefault, cudaEventDisableTiming);
	CHECK(cudaStreamCreateWithFlags(&outside, cudaStreamNonBlocking));
	launch(kernel_raise, 1, 1, (void *[]){&flag, &(uint32_t){0}}, outside);
	launch(kernel_wait, 1, 1, (void *[]){&flag, &(uint32_t){0}, &late}, cudaStreamLegacy);
	fork_all(7);
	join_all();
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i < ITERATIONS; i++) {
		fork_all(7);
		join_all();
		launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, cudaStreamLegacy);
		CHECK(cudaStreamSynchronize(sides[i % SIDES]));
		launch(kernel_raise, 1, 1, (void *[]){&flag, &i}, outside);
		EXPECT(!*late, "iteration %u: the host waited for the legacy stream", i);
	}
	verify_all(ITERATIONS);
}

/* ---- beside other threads ---- */

static sem_t wanted, given;
static bool over;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		continue;
}

/* Retains the primary context once more, which the runtime holds, and releases that. */
static void *release_again(void *unused)
{
	CUcontext context;
	CUdevice device;

	CHECK_DRIVER(cuDeviceGet(&device, 0));
	for (wait_for(&wanted); !over; wait_for(&wanted)) {
		CHECK_DRIVER(cuDevicePrimaryCtxRetain(&context, device));
		CHECK_DRIVER(cuDevicePrimaryCtxRelease(device));
		sem_post(&given);
	}
	return unused;
}

static void fork_primary_released(void)
{
	pthread_t thread;

	set_up(cudaEventDisableTiming);
	sem_init(&wanted, 0, 0);
	sem_init(&given, 0, 0);
	EXPECT(pthread_create(&thread, NULL, release_again, NULL) == 0, "no thread");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		fork_all(7);
		if (trap_at(i)) {
			sem_post(&wanted);
			wait_for(&given);
		}
		join_all();
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(origin));
		if (i % 20 == 4) /* all of it has ended */
			mirror_mix(&branches[i % SIDES], i, sides[i % SIDES]);
	}
	over = true;
	sem_post(&wanted);
	pthread_join(thread, NULL);
	CHECK(cudaDeviceSynchronize());
	verify_all(ITERATIONS);
}

/* A second thread has all of another context wait for the end of a branch, as soon as it was told
 * that its event is recorded. */
static struct {
	CUcontext context;
	cudaStream_t stream;
	struct mirror mirror;
	uint32_t *made; /* what the branch has done, for all contexts */
} beyond;

static void set_up_beyond(void)
{
	CUcontext before;
	CUdevice device;

	CHECK(cudaHostAlloc((void **)&beyond.made, sizeof(*beyond.made),
	                    cudaHostAllocMapped | cudaHostAllocPortable));
	*beyond.made = 0;
	CHECK_DRIVER(cuCtxGetCurrent(&before));
	CHECK_DRIVER(cuDeviceGet(&device, 0));
	CHECK_DRIVER(cuCtxCreate(&beyond.context, NULL, 0, device));
	CHECK(cudaStreamCreateWithFlags(&beyond.stream, cudaStreamNonBlocking));
	mirror_init(&beyond.mirror);
	CHECK_DRIVER(cuCtxSetCurrent(before));
}

static void *has_context_wait(void *unused)
{
	CHECK_DRIVER(cuCtxSetCurrent(beyond.context));
	CHECK_DRIVER(cuCtxWaitEvent(beyond.context, join_events[1]));
	mirror_mix(&beyond.mirror, 7, beyond.stream);
	CHECK(cudaStreamSynchronize(beyond.stream));
	return unused;
}

static void fork_waited_for_by_context(void)
{
	set_up(cudaEventDisableTiming);
	set_up_beyond();
	for (uint32_t i = 1; i < ITERATIONS; i++) {
		pthread_t thread;

		fork_all(7);
		launch(kernel_raise, 1, 1, (void *[]){&beyond.made, &i}, sides[1]);
		CHECK(cudaEventRecord(join_events[1], sides[1]));
		if (trap_at(i)) {
			EXPECT(pthread_create(&thread, NULL, has_context_wait, NULL) == 0, "no thread");
			pthread_join(thread, NULL);
			EXPECT(*(volatile uint32_t *)beyond.made == i,
			       "iteration %u: the other context did not wait", i);
		}
		join_all();
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(origin));
	}
	verify_all(ITERATIONS);
	CHECK_DRIVER(cuCtxSetCurrent(beyond.context));
	mirror_verify(&beyond.mirror, ITERATIONS);
}

enum { CROWD_THREADS = 256 };

/* Cooperative launches in the branches, each of as many blocks as run at once on the whole device:
 * no two of them can. */
static void cooperative_fork(void)
{
	struct cudaDeviceProp device;
	uint32_t *counts;
	int blocks;

	CHECK(cudaGetDeviceProperties(&device, 0));
	if (!device_attribute(cudaDevAttrCooperativeLaunch))
		hazard_skip("no cooperative launches");
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_crowd, CROWD_THREADS, 0));
	blocks *= device.multiProcessorCount;
	set_up(cudaEventDisableTiming);
	CHECK(cudaMalloc((void **)&counts, SIDES * sizeof(*counts)));
	CHECK(cudaMemset(counts, 0, SIDES * sizeof(*counts)));
	CHECK(cudaDeviceSynchronize());
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_mix(&trunk, 1, origin);
		CHECK(cudaEventRecord(fork_event, origin));
		for (unsigned k = 0; k < SIDES; k++) {
			uint32_t *count = counts + k, argument = trap_at(i) ? i : k;

			CHECK(cudaStreamWaitEvent(sides[k], fork_event, 0));
			mirror_mix(&branches[k], 3, sides[k]);
			CHECK(cudaLaunchCooperativeKernel(kernel_crowd, (dim3){(unsigned)blocks, 1, 1},
			                                  (dim3){CROWD_THREADS, 1, 1},
			                                  (void *[]){&branches[k].device, &count, &argument}, 0,
			                                  sides[k]));
			branches[k].host[0] = branches[k].host[0] * MIX_FACTOR + (unsigned)blocks + argument;
			CHECK(cudaEventRecord(join_events[k], sides[k]));
		}
		join_all();
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(origin));
	}
	verify_all(ITERATIONS);
}

const struct hazard fork_hazards[] = {
	{"cooperative_fork", cooperative_fork},
	{"fork_primary_released", fork_primary_released},
	{"fork_waited_for_by_context", fork_waited_for_by_context},
	{"fork_join", fork_join},
	{"fork_values", fork_values},
	{"fork_member_goes_on", fork_member_goes_on},
	{"fork_events_looked_at", fork_events_looked_at},
	{"fork_event_destroyed", fork_event_destroyed},
	{"fork_event_reborn", fork_event_reborn},
	{"fork_stream_destroyed", fork_stream_destroyed},
	{"fork_spin_late", fork_spin_late},
	{"fork_event_before_spin", fork_event_before_spin},
	{"fork_side_before_legacy", fork_side_before_legacy},
	{NULL, NULL},
};
