/*
 * Two processes whose work waits for each other's. The second is forked before either uses CUDA;
 * what they tell each other stands in memory that both map.
 */
#include "hazard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_S 30 /* to start CUDA, plain or under Reprise, beside other tests */

struct shared {
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t events[2];
	volatile uint32_t ready[2];   /* a process has set itself up */
	volatile uint32_t refused;    /* the system does not share handles */
	volatile uint32_t step[2];    /* how far a process's host is */
	volatile uint32_t arrived[2]; /* how far its kernels are; written by the device */
	volatile uint32_t done[2];
};

static struct shared *fork_pair(unsigned *rank, pid_t *child)
{
	struct shared *shared =
		mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	EXPECT(shared != MAP_FAILED, "no memory to share");
	*child = fork();
	EXPECT(*child >= 0, "no second process");
	*rank = *child == 0;
	hazard_deadline(START_S + 25);
	return shared;
}

/* The first process returns when the second has ended well; the second ends here. */
static void join_pair(unsigned rank, pid_t child)
{
	int status = 0;

	if (rank == 1)
		exit(0);
	waitpid(child, &status, 0);
	EXPECT(status == 0, "the second process ended with status %d", status);
}

/* Without a CUDA call. */
static void await_at_least(const volatile uint32_t *word, uint32_t value, double seconds)
{
	double end = seconds_now() + seconds;

	while ((int32_t)(*word - value) < 0)
		EXPECT(seconds_now() < end, "the other process came to %u, not %u, within %g s", *word,
		       value, seconds);
}

static void meet(struct shared *shared, unsigned rank)
{
	shared->ready[rank] = 1;
	await_at_least(&shared->ready[!rank], 1, START_S);
}

/* Whether handles can be had and opened is a matter of the system; the first answer other than
 * success ends both. */
static bool shares(struct shared *shared, cudaError_t error)
{
	if (error != cudaSuccess)
		shared->refused = 1;
	return error == cudaSuccess;
}

/* A mirror in memory that the second process opens: of its own size class, so that the handle is of
 * this and nothing else. */
static void set_up_ipc(struct shared *shared, unsigned rank, struct mirror *mirror,
                       cudaEvent_t events[2])
{
	if (rank == 0) {
		mirror_init(mirror);
		mirror_deinit(mirror);
		CHECK(cudaMalloc((void **)&mirror->device, 4 << 20));
		CHECK(
			cudaMemcpy(mirror->device, mirror->host, sizeof mirror->host, cudaMemcpyHostToDevice));
		CHECK(cudaDeviceSynchronize());
		for (unsigned i = 0; i < 2; i++) {
			CHECK(cudaEventCreateWithFlags(&events[i],
			                               cudaEventInterprocess | cudaEventDisableTiming));
			shares(shared, cudaIpcGetEventHandle(&shared->events[i], events[i]));
		}
		shares(shared, cudaIpcGetMemHandle(&shared->memory, mirror->device));
		shared->step[0] = 1;
	} else {
		await_at_least(&shared->step[0], 1, START_S);
		for (unsigned i = 0; i < 2 && !shared->refused; i++)
			shares(shared, cudaIpcOpenEventHandle(&events[i], shared->events[i]));
		if (!shared->refused)
			shares(shared, cudaIpcOpenMemHandle((void **)&mirror->device, shared->memory,
			                                    cudaIpcMemLazyEnablePeerAccess));
	}
	meet(shared, rank);
	if (!shared->refused)
		return;
	if (rank == 1)
		_exit(0);
	hazard_skip("handles are not shared between processes here");
}

/*
 * The processes take turns on one array, ordered by two events: each host says when it has recorded
 * its own, so that the last record counts, and the other has its stream wait. Nothing else is
 * waited for, but now and then.
 */
static void ipc_event(void)
{
	struct mirror mirror = {0};
	cudaEvent_t events[2];
	cudaStream_t stream;
	struct shared *shared;
	unsigned rank;
	pid_t child;

	shared = fork_pair(&rank, &child);
	set_up_ipc(shared, rank, &mirror, events);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (uint32_t i = 2; i < ITERATIONS; i++) {
		if (rank == 1)
			await_at_least(&shared->step[0], i, 10);
		else if (i > 2)
			await_at_least(&shared->step[1], i - 1, 10);
		if (rank == 1 || i > 2)
			CHECK(cudaStreamWaitEvent(stream, events[!rank], 0));
		mirror_body(&mirror, stream);
		if (trap_at(i))
			mirror_mix(&mirror, scramble(0), stream); /* what is hot is left in its middle */
		CHECK(cudaEventRecord(events[rank], stream));
		shared->step[rank] = i;
		if (i % 7 == 0)
			CHECK(cudaStreamSynchronize(stream));
		/* What the other one does meanwhile. */
		for (unsigned k = 0; rank == 0 && k < BODY; k++)
			mirror_mixed(&mirror, scramble(k));
		if (rank == 0 && trap_at(i))
			mirror_mixed(&mirror, scramble(0));
	}
	CHECK(cudaStreamSynchronize(stream));
	if (rank == 1)
		CHECK(cudaIpcCloseMemHandle(mirror.device));
	join_pair(rank, child);
	mirror_verify(&mirror, ITERATIONS);
}

/*
 * Kernels of two processes wait for each other, as those of collective operations do: on two GPUs
 * where there are two, by memory of the host that both map, as NCCL does between processes without
 * peer access. Now and then a host stops in the middle of what is hot and makes no call until the
 * other host, which waits for its own stream, is done: its kernels have to run by themselves.
 */
static void nccl_like(void)
{
	volatile uint32_t *arrived, *others, *done;
	struct mirror mirror;
	struct shared *shared;
	cudaStream_t stream;
	unsigned rank;
	uint32_t *late;
	int devices;
	pid_t child;

	shared = fork_pair(&rank, &child);
	CHECK(cudaGetDeviceCount(&devices));
	CHECK(cudaSetDevice((int)rank % devices));
	CHECK(cudaHostRegister(shared, sizeof *shared, cudaHostRegisterMapped));
	arrived = &shared->arrived[rank];
	others = &shared->arrived[!rank];
	done = &shared->done[rank];
	late = mapped_words();
	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	/* Loads the kernels before one waits for another: loading may wait for the device. */
	launch(kernel_publish, 1, 1, (void *[]){&arrived, &(uint32_t){0}}, stream);
	launch(kernel_wait, 1, 1, (void *[]){&others, &(uint32_t){0}, &late}, stream);
	mirror_mix(&mirror, 0, stream);
	CHECK(cudaStreamSynchronize(stream));
	meet(shared, rank);
	for (uint32_t i = 1; i < ITERATIONS; i++) {
		bool stops = trap_at(i) && i % 2 == rank;

		mirror_body(&mirror, stream);
		launch(kernel_publish, 1, 1, (void *[]){&arrived, &i}, stream);
		launch(kernel_wait, 1, 1, (void *[]){&others, &i, &late}, stream);
		if (stops)
			await_at_least(&shared->step[!rank], i, 10);
		mirror_body(&mirror, stream);
		launch(kernel_publish, 1, 1, (void *[]){&done, &i}, stream);
		if (stops)
			await_at_least(done, i, 10);
		else
			CHECK(cudaStreamSynchronize(stream));
		shared->step[rank] = i;
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the other rank", i);
	}
	mirror_verify(&mirror, ITERATIONS);
	join_pair(rank, child);
}

const struct hazard process_hazards[] = {
	{"ipc_event", ipc_event},
	{"nccl_like", nccl_like},
	{NULL, NULL},
};
