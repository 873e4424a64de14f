/* Threads' own default streams: what is deferred there is issued by others, while the thread sleeps
 * and when it has ended. */
#include "hazard.h"

#include <pthread.h>
#include <semaphore.h>

#define OWN cudaStreamPerThread

/* ---- another thread, which does what it is asked to, while the one that asks sleeps ---- */

static struct mirror here;
static sem_t asked, answered;
static void (*asked_for)(unsigned number);
static unsigned asked_number;

static void *serve(void *unused)
{
	(void)unused;
	for (;;) {
		while (sem_wait(&asked))
			;
		if (!asked_for)
			return NULL;
		asked_for(asked_number);
		sem_post(&answered);
	}
}

static pthread_t begin_serving(void)
{
	pthread_t thread;

	mirror_init(&here);
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	EXPECT(!pthread_create(&thread, NULL, serve, NULL), "no thread");
	return thread;
}

static void sleep_while(void (*does)(unsigned number), unsigned number)
{
	asked_for = does;
	asked_number = number;
	sem_post(&asked);
	while (does && sem_wait(&answered))
		;
}

static void end_serving(pthread_t thread)
{
	sleep_while(NULL, 0);
	pthread_join(thread, NULL);
	mirror_verify(&here, ITERATIONS);
}

/* Each time another part of the body, so that some end in the midst of a graph. */
static void launch_part(struct mirror *mirror, unsigned number)
{
	for (unsigned i = 0; i < 1 + number % (BODY - 1); i++)
		mirror_mix(mirror, i, OWN);
}

/* Of which that is the beginning. */
static void launch_body(struct mirror *mirror)
{
	for (unsigned i = 0; i < BODY; i++)
		mirror_mix(mirror, i, OWN);
}

/* ---- what the thread does next ---- */

static void ask(cudaStream_t stream)
{
	cudaError_t error;

	while ((error = cudaStreamQuery(stream)) == cudaErrorNotReady)
		;
	CHECK(error);
}

static cudaStream_t beside;

static void meet_at_events(unsigned number)
{
	cudaEvent_t out, back;

	CHECK(cudaEventCreateWithFlags(&out, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&back, cudaEventDisableTiming));
	CHECK(cudaEventRecord(out, OWN));
	CHECK(cudaStreamWaitEvent(beside, out, 0));
	mirror_mix(&here, number, beside);
	CHECK(cudaEventRecord(back, beside));
	CHECK(cudaStreamWaitEvent(OWN, back, 0));
	CHECK(cudaEventDestroy(out));
	CHECK(cudaEventDestroy(back));
}

static void capture(unsigned number)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(OWN, cudaStreamCaptureModeThreadLocal));
	mirror_mix(&here, number, OWN);
	CHECK(cudaStreamEndCapture(OWN, &graph));
	CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
	CHECK(cudaGraphLaunch(executable, OWN));
	CHECK(cudaGraphExecDestroy(executable));
	CHECK(cudaGraphDestroy(graph));
}

static void go_on(unsigned number)
{
	switch (number % 5) {
	case 0: /* with a launch that repeats */
		break;
	case 1:
		CHECK(cudaStreamSynchronize(OWN));
		break;
	case 2:
		ask(OWN);
		break;
	case 3:
		meet_at_events(number);
		break;
	default:
		capture(number);
		break;
	}
}

/* ---- others issue in the thread's place ---- */

static void look(unsigned number)
{
	void *memory;

	switch (number % 4) {
	case 0:
		mirror_verify(&here, number);
		break;
	case 1:
		mirror_mix(&here, number, cudaStreamLegacy);
		break;
	case 2:
		CHECK(cudaMalloc(&memory, 64));
		CHECK(cudaFree(memory));
		break;
	default:
		ask(cudaStreamLegacy);
		break;
	}
}

static void own_stream_elsewhere(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		if (trap_at(i)) {
			launch_part(&here, number);
			sleep_while(look, number);
			go_on(number++);
		}
		launch_body(&here);
		CHECK(cudaStreamSynchronize(OWN));
	}
	end_serving(thread);
}

static uint32_t *mapped;

static void see(unsigned value)
{
	await_mapped(mapped, value);
}

/* Nobody makes a call of CUDA's until the word is seen. */
static void own_stream_sleeps(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
	mapped = mapped_words();
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 5; k++) {
			uint32_t value = 1 + i * 5 + k;

			mirror_mix(&here, k, OWN);
			launch(kernel_publish, 1, 1, (void *[]){&mapped, &value}, OWN);
			if (trap_at(i) && k == number % 5) {
				sleep_while(see, value);
				go_on(number);
			}
		}
		number += trap_at(i);
		CHECK(cudaStreamSynchronize(OWN));
	}
	end_serving(thread);
}

static void block_legacy(unsigned value)
{
	uint32_t *flag = mapped + 1, *late = mapped + 2;

	launch(kernel_wait, 1, 1, (void *[]){&flag, &value, &late}, cudaStreamLegacy);
}

/* A kernel on the legacy stream waits for the thread, which waits for its own stream before. */
static void own_stream_waits(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	mapped = mapped_words();
	for (unsigned i = 0; i < ITERATIONS; i++) {
		if (trap_at(i)) {
			launch_part(&here, number);
			sleep_while(block_legacy, i);
			if (number++ % 2)
				CHECK(cudaStreamSynchronize(OWN));
			else
				ask(OWN);
			((volatile uint32_t *)mapped)[1] = i;
		}
		launch_body(&here);
		CHECK(cudaStreamSynchronize(OWN));
	}
	EXPECT(mapped[2] == 0, "a wait came behind the legacy stream");
	end_serving(thread);
}

/* ---- threads end ---- */

static unsigned lives;

static void *live(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 80; i++) {
		launch_body(&here);
		CHECK(cudaStreamSynchronize(OWN));
	}
	launch_part(&here, lives);
	if (lives % 2)
		sleep_while(look, 1);
	return NULL;
}

/* With a part deferred, or with one that others have issued. */
static void own_stream_ends(void)
{
	pthread_t server = begin_serving(), thread;

	for (lives = 0; lives < 40; lives++) {
		EXPECT(!pthread_create(&thread, NULL, live, NULL), "no thread");
		pthread_join(thread, NULL);
		if (lives % 4 < 2)
			mirror_mix(&here, lives, cudaStreamLegacy);
		mirror_verify(&here, lives);
	}
	end_serving(server);
}

/* ---- several threads at once ---- */

enum { IN_STEP = 4 };

static pthread_barrier_t all_are_done;
static bool one_waits_for_all;

static void *step_by_step(void *which)
{
	unsigned me = (unsigned)(uintptr_t)which;
	struct mirror mirror;

	mirror_init(&mirror);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		pthread_barrier_wait(&all_are_done);
		if (trap_at(i)) { /* one waits while the others are in their midst */
			launch_part(&mirror, i + me);
			pthread_barrier_wait(&all_are_done);
			if (i % IN_STEP == me)
				CHECK(one_waits_for_all ? cudaDeviceSynchronize() : cudaStreamSynchronize(OWN));
			pthread_barrier_wait(&all_are_done);
		}
		launch_body(&mirror);
		CHECK(cudaStreamSynchronize(OWN));
	}
	mirror_verify(&mirror, ITERATIONS);
	return NULL;
}

static void work_in_step(void)
{
	pthread_t threads[IN_STEP];

	pthread_barrier_init(&all_are_done, NULL, IN_STEP);
	for (uintptr_t i = 0; i < IN_STEP; i++)
		EXPECT(!pthread_create(&threads[i], NULL, step_by_step, (void *)i), "no thread");
	for (unsigned i = 0; i < IN_STEP; i++)
		pthread_join(threads[i], NULL);
}

static void own_streams_in_step(void)
{
	one_waits_for_all = true;
	work_in_step();
}

static void own_streams_apart(void)
{
	work_in_step();
}

const struct hazard own_hazards[] = {
	{"own_stream_elsewhere", own_stream_elsewhere},
	{"own_stream_sleeps", own_stream_sleeps},
	{"own_stream_waits", own_stream_waits},
	{"own_stream_ends", own_stream_ends},
	{"own_streams_in_step", own_streams_in_step},
	{"own_streams_apart", own_streams_apart},
	{NULL, NULL},
};
