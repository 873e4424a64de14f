/*
 * Kernels and hosts that wait for each other by memory. What one waits for may be deferred, and no
 * call need come that would issue it: the hold limit has to.
 */
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Ends the program when the time is over. */
static void end_at(double limit, uint32_t value)
{
	if (now() < limit)
		return;
	printf("%u never came\n", (unsigned)value);
	fflush(stdout);
	_exit(1);
}

/* Both make no CUDA call. The second is for words that only rise. */
static void await(const volatile uint32_t *word, uint32_t value)
{
	double limit = now() + 10;

	while (*word != value)
		end_at(limit, value);
}

static void await_step(const volatile uint32_t *word, uint32_t step)
{
	double limit = now() + 10;

	while (*word < step)
		end_at(limit, step);
}

static volatile uint32_t *mapped_words(CUdeviceptr *device)
{
	void *memory;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(device, memory, 0));
	memset(memory, 0, WORDS * 4);
	return memory;
}

/* `publish` or `await`, on a word of mapped memory. */
static void launch_flag(CUfunction function, CUdeviceptr flag, uint32_t value, CUstream stream)
{
	CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag, &value}, NULL));
}

/* The host spins, with no CUDA call, on mapped memory that the middle of a hot chain writes. */
static void mapped_poll(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	volatile uint32_t *host = mapped_words(&mapped);
	uint32_t expected = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		for (unsigned i = 0; i < CHAIN; i++) {
			hazard_launch(hazard_mix, mapped, i, stream);
			expected = hazard_mixed(expected, 5, i);
			if (trap && i == CHAIN / 2)
				await(&host[WORDS - 1], expected);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("mapped %08x, expected %08x\n", (unsigned)host[0], (unsigned)expected);
}

static void think(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		continue;
}

/*
 * A loop is steady for so long that the hold thread looks seldom. Then the host spins, with no CUDA
 * call, on what an op in its midst writes; and so three times.
 */
static void steady_hold(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	volatile uint32_t *host = mapped_words(&mapped);
	uint32_t expected = 0;

	for (unsigned iteration = 1; iteration <= 15 * ITERATIONS; iteration++) {
		/* Each time elsewhere: where a graph ends nothing is held. */
		unsigned waits_at = 2 * (iteration / (5 * ITERATIONS));

		for (unsigned i = 0; i < CHAIN / 3; i++) {
			hazard_launch(hazard_mix, mapped, i, stream);
			expected = hazard_mixed(expected, 5, i);
			think(6e-6);
			if (iteration % (5 * ITERATIONS) == 0 && i == waits_at)
				await(&host[WORDS - 1], expected);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("mapped %08x, expected %08x\n", (unsigned)host[0], (unsigned)expected);
}

/*
 * The host is slow between its calls and seldom waits, so that what it launches is left to a thread
 * of ours. In each iteration an op has another value and one may be left out, and at times the host
 * spins, with no CUDA call, on what the last op writes, or something comes between.
 */
static void slow_host(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	volatile uint32_t *host = mapped_words(&mapped);
	uint32_t expected = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		for (unsigned i = 0; i < CHAIN; i++) {
			uint32_t argument = i == CHAIN / 3 ? iteration : i;

			think(5e-6);
			if (trap && iteration % 4 == 0 && i == CHAIN / 2)
				continue;
			hazard_launch(hazard_mix, mapped, argument, stream);
			expected = hazard_mixed(expected, 5, argument);
		}
		if (trap && iteration % 4 == 1)
			hazard_print("x", hazard_x);
		if (trap && iteration % 4 == 2) {
			hazard_launch(hazard_turn, hazard_x, iteration, stream);
			CHECK(cuStreamSynchronize(CU_STREAM_LEGACY));
		}
		if (trap && iteration % 4 == 3)
			await(&host[WORDS - 1], expected);
		if (iteration % 32 == 0)
			CHECK(cuStreamSynchronize(stream));
	}
	CHECK(cuStreamSynchronize(stream));
	printf("mapped %08x, expected %08x\n", (unsigned)host[0], (unsigned)expected);
	hazard_print("x", hazard_x);
}

/* The same where a thread of ours would only take the time that it saves. */
static void one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		printf("all processors\n");
	slow_host();
}

/* A kernel waits for a word that the host sets when that kernel runs already and the last call is
 * made. */
static void flag_from_host(void)
{
	CUfunction publish = hazard_function("publish"), wait = hazard_function("await");
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	volatile uint32_t *host = mapped_words(&mapped), *started = host, *flag = host + 1,
					  *done = host + 2;

	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		if (!trap)
			*flag = iteration;
		hazard_chain(hazard_x, stream);
		launch_flag(publish, mapped, iteration, stream);
		launch_flag(wait, mapped + 4, iteration, stream);
		hazard_chain(hazard_x, stream);
		launch_flag(publish, mapped + 8, iteration, stream);
		if (trap) {
			await(started, iteration);
			*flag = iteration;
			await(done, iteration);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* A kernel on one stream waits, in device memory, for a kernel that is enqueued later on another.
 * Nothing else orders the two. */
static void spin_across_streams(void)
{
	CUfunction publish = hazard_function("publish"), wait = hazard_function("await");
	CUstream a = hazard_stream(CU_STREAM_NON_BLOCKING), b = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped, flag, other;
	volatile uint32_t *host = mapped_words(&mapped);

	CHECK(cuMemAlloc(&flag, 4));
	CHECK(cuMemAlloc(&other, WORDS * 4));
	CHECK(cuMemsetD32(flag, 0, 1));
	CHECK(cuMemsetD32(other, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < 4; i++)
			hazard_launch(hazard_mix, hazard_x, i, a);
		launch_flag(wait, flag, iteration, a);
		for (unsigned i = 0; i < 4; i++)
			hazard_launch(hazard_turn, hazard_x, i, a);
		launch_flag(publish, mapped, iteration, a);
		for (unsigned i = 0; i < 8; i++)
			hazard_launch(i % 2 ? hazard_mix : hazard_turn, other, i, b);
		launch_flag(publish, flag, iteration, b);
		if (hazard_springs(iteration))
			await(host, iteration);
		for (unsigned i = 0; i < 4; i++)
			hazard_launch(hazard_mix, other, i, b);
		CHECK(cuStreamSynchronize(a));
		CHECK(cuStreamSynchronize(b));
	}
	hazard_print("x", hazard_x);
	hazard_print("other", other);
}

/* Until the building thread, if there is one and it has something to build, has worked once more.
 */
static void await_building(void)
{
	time_t end = time(NULL) + 2; /* the simulated driver takes five for a hang */
	struct reprise_counts counts;
	uint64_t before;

	reprise_read_counts(&counts, sizeof(counts));
	before = counts.build_ns;
	while (reprise_read_counts(&counts, sizeof(counts)) > 0 && counts.build_ns == before &&
	       time(NULL) < end)
		sched_yield();
}

/* A kernel runs all the while, until the host lets it go; loops on another stream become hot beside
 * it, and change. */
static void persistent_kernel(void)
{
	CUfunction wait = hazard_function("await");
	CUstream resident = hazard_stream(CU_STREAM_DEFAULT),
			 hot = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	volatile uint32_t *host = mapped_words(&mapped);

	launch_flag(wait, mapped, 1, resident);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, hot);
		for (unsigned k = 0; k < iteration * 4 / ITERATIONS; k++)
			hazard_launch(hazard_turn, hazard_x, 100 + k, hot);
		if (hazard_is_irregular(iteration))
			hazard_launch(hazard_mix, hazard_x, iteration, hot);
		CHECK(cuStreamSynchronize(hot));
	}
	/* Until the building thread has tried from beginning to end while this one was in no call. */
	for (unsigned i = 0; i < 2; i++)
		await_building();
	*host = 1;
	CHECK(cuStreamSynchronize(resident));
	hazard_print("x", hazard_x);
}

/* The streams themselves wait for words and write them, now and then right behind what is deferred.
 */
static void wait_value(void)
{
	CUstream a = hazard_stream(CU_STREAM_NON_BLOCKING), b = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr words, other;

	CHECK(cuMemAlloc(&words, 8));
	CHECK(cuMemAlloc(&other, WORDS * 4));
	CHECK(cuMemsetD32(words, 0, 2));
	CHECK(cuMemsetD32(other, 1, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		hazard_part_of_chain(hazard_x, trap ? iteration % CHAIN : CHAIN, a);
		CHECK(cuStreamWaitValue32(a, words, iteration, CU_STREAM_WAIT_VALUE_GEQ));
		hazard_chain(hazard_x, a);
		hazard_part_of_chain(other, trap ? iteration * 5 % CHAIN : CHAIN, b);
		CHECK(cuStreamWriteValue32(b, words, iteration, CU_STREAM_WRITE_VALUE_DEFAULT));
		hazard_chain(other, b);
		CHECK(cuStreamSynchronize(trap ? b : a));
	}
	CHECK(cuStreamSynchronize(a));
	hazard_print("x", hazard_x);
	hazard_print("other", other);
}

/* What the two ranks share: a word of each, a word that each publishes when it has got so far, and
 * what a rank's host tells the other's. */
struct shared {
	volatile uint32_t arrived[2], done[2], told[2];
};

/*
 * A step of a rank: its kernel says that it has come, and another waits for the other rank's. Now
 * and then a host stops there, in the middle of what is hot, and makes no call until the other
 * host, which waits for its own stream, tells it that all is over: this rank's kernels have to run
 * by themselves.
 */
static void take_step(struct shared *shared, CUdeviceptr device, unsigned rank, uint32_t step,
                      CUfunction publish, CUfunction wait, CUstream stream)
{
	bool trap = hazard_springs(step), stops = trap && step % 2 == rank;

	hazard_chain(hazard_x, stream);
	launch_flag(publish, device + offsetof(struct shared, arrived) + 4 * rank, step, stream);
	launch_flag(wait, device + offsetof(struct shared, arrived) + 4 * !rank, step, stream);
	if (stops)
		await_step(&shared->told[!rank], step);
	for (unsigned i = 0; i < 4; i++)
		hazard_launch(hazard_turn, hazard_x, i, stream);
	launch_flag(publish, device + offsetof(struct shared, done) + 4 * rank, step, stream);
	if (stops)
		await_step(&shared->done[rank], step);
	else
		CHECK(cuStreamSynchronize(stream));
	if (trap && !stops)
		shared->told[rank] = step;
}

/* Kernels of two processes wait for each other, as those of collective operations do. */
static void nccl_like(void)
{
	struct shared *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	unsigned rank = child == 0;
	CUfunction publish, wait;
	CUdeviceptr device;
	CUstream stream;
	int status = 0;

	hazard_set_up();
	publish = hazard_function("publish");
	wait = hazard_function("await");
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemHostRegister(shared, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&device, shared, 0));
	for (uint32_t step = 1; step < ITERATIONS; step++)
		take_step(shared, device, rank, step, publish, wait, stream);
	if (child != 0) {
		waitpid(child, &status, 0);
		printf("child ended with %d\n", status);
	}
	hazard_print(rank == 0 ? "first" : "second", hazard_x);
}

/* The array on which both work, the events by which they take turns, and how far each host is. */
struct turns {
	uint32_t x[WORDS];
	CUipcEventHandle events[2];
	volatile uint32_t step[2];
};

/* Each makes an event for its own records and opens the other's. */
static void exchange_events(struct turns *turns, unsigned rank, CUevent events[2])
{
	CHECK(cuEventCreate(&events[rank], CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	CHECK(cuIpcGetEventHandle(&turns->events[rank], events[rank]));
	turns->step[rank] = 1;
	await_step(&turns->step[!rank], 1);
	CHECK(cuIpcOpenEventHandle(&events[!rank], turns->events[!rank]));
	turns->step[rank] = 2;
	await_step(&turns->step[!rank], 2);
}

/* Two processes take turns on one array, ordered by events alone: a host says when it has recorded
 * its own, and the other has its stream wait. */
static void ipc_event(void)
{
	struct turns *turns =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	unsigned rank = child == 0;
	CUevent events[2];
	CUdeviceptr device;
	CUstream stream;
	int status = 0;

	hazard_set_up();
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemHostRegister(turns, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&device, turns, 0));
	exchange_events(turns, rank, events);
	for (uint32_t step = 3; step < ITERATIONS / 3; step++) {
		await_step(&turns->step[!rank], rank == 1 ? step : step - 1);
		CHECK(cuStreamWaitEvent(stream, events[!rank], 0));
		hazard_part_of_chain(device, hazard_springs(step) ? step % CHAIN : CHAIN, stream);
		CHECK(cuEventRecord(events[rank], stream));
		turns->step[rank] = step;
		if (step % 7 == 0)
			CHECK(cuStreamSynchronize(stream));
	}
	CHECK(cuStreamSynchronize(stream));
	if (child != 0) {
		waitpid(child, &status, 0);
		printf("child ended with %d\n", status);
		hazard_print("x", device);
	}
}

const struct hazard waiting_hazards[] = {
	{"mapped_poll", mapped_poll},
	{"steady_hold", steady_hold},
	{"slow_host", slow_host},
	{"one_processor", one_processor},
	{"flag_from_host", flag_from_host},
	{"spin_across_streams", spin_across_streams},
	{"persistent_kernel", persistent_kernel},
	{"wait_value", wait_value},
	{"nccl_like", nccl_like},
	{"ipc_event", ipc_event},
	{NULL, NULL},
};
