/* Several threads: on one stream, on streams of their own, on what is one handle and many streams.
 */
#include <pthread.h>

#include "hazard.h"

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static unsigned turns;
static CUstream shared_stream;
static CUdeviceptr shared_x;

/* Two threads take turns: what they call, and in which order, is the same in every run. */
static void take_turn(unsigned me)
{
	pthread_mutex_lock(&turn_mutex);
	while (turns % 2 != me)
		pthread_cond_wait(&turn_changed, &turn_mutex);
	CHECK(cuCtxSetCurrent(
		hazard_context)); /* within the turn: threads are numbered in order of their first call */
}

static void end_turn(void)
{
	turns++;
	pthread_cond_broadcast(&turn_changed);
	pthread_mutex_unlock(&turn_mutex);
}

static void run_two_threads(void *(*function)(void *which))
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, function, (void *)i);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* On one stream, as autograd engines do. */
static void *on_one_stream(void *which)
{
	unsigned me = (unsigned)(uintptr_t)which;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		take_turn(me);
		hazard_chain(hazard_x, shared_stream);
		hazard_launch(hazard_mix, hazard_x, me, shared_stream);
		if (iteration == 60)
			hazard_settle(shared_stream);
		if (iteration == 80 || iteration == 120) /* where the settling began another trace */
			hazard_await_graphs();
		end_turn();
	}
	return NULL;
}

static void two_threads_one_stream(void)
{
	shared_stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	run_two_threads(on_one_stream);
	hazard_print("x", hazard_x);
}

static __typeof__(&cuLaunchKernel)
	launch_per_thread; /* cuLaunchKernel_ptsz, whose stream 0 is the thread's own */

/* A thread's own default stream, by its handle and as stream 0, and the legacy stream on the same
 * memory in between. */
static void *on_default_streams(void *which)
{
	unsigned me = (unsigned)(uintptr_t)which;
	CUdeviceptr x = me == 0 ? hazard_x : shared_x;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		take_turn(me);
		for (unsigned i = 0; i < CHAIN; i++)
			CHECK(launch_per_thread(i % 2 ? hazard_mix : hazard_turn, 1, 1, 1, WORDS, 1, 1, 0,
			                        i % 3 ? NULL : CU_STREAM_PER_THREAD,
			                        (void *[]){&x, &hazard_y, &i}, NULL));
		for (unsigned i = 0; i < CHAIN; i++)
			hazard_launch(hazard_mix, x, i + iteration % 5, CU_STREAM_LEGACY);
		if (hazard_springs(iteration))
			CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
		end_turn();
	}
	return NULL;
}

static void per_thread_default(void)
{
	CHECK(cuMemAlloc(&shared_x, WORDS * 4));
	CHECK(cuMemsetD32(shared_x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuGetProcAddress("cuLaunchKernel", (void **)&launch_per_thread, CUDA_VERSION,
	                       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	run_two_threads(on_default_streams);
	hazard_print("x", hazard_x);
	hazard_print("other", shared_x);
}

/* In a second context the thread's own stream is another one, and has attributes of its own. It
 * ends, since beside it graphs of one op are not built. */
static void set_in_second_context(unsigned number)
{
	CUcontext second;

	CHECK(cuCtxCreate(&second, NULL, 0, hazard_device));
	CHECK(hazard_set_attribute(CU_STREAM_PER_THREAD, number));
	CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	CHECK(cuCtxDestroy(second));
	CHECK(cuCtxSetCurrent(hazard_context));
}

static void *on_own_with_attributes(void *which)
{
	unsigned me = (unsigned)(uintptr_t)which, number = 3 * me;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		take_turn(me);
		hazard_chain(me == 0 ? hazard_x : shared_x, CU_STREAM_PER_THREAD);
		if (iteration > 200 + 300 * me && iteration % 61 == 7)
			hazard_set_attribute(CU_STREAM_PER_THREAD, number++);
		if (iteration % 400 == 150)
			set_in_second_context(6 * (iteration / 400) + me);
		CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
		if (iteration % 61 == 14)
			hazard_await_graphs();
		end_turn();
	}
	return NULL;
}

/* What one thread sets of its own stream is no other's. */
static void stream_attributes_of_threads(void)
{
	CHECK(cuMemAlloc(&shared_x, WORDS * 4));
	CHECK(cuMemsetD32(shared_x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	run_two_threads(on_own_with_attributes);
	hazard_print("x", hazard_x);
	hazard_print("other", shared_x);
}

static CUdeviceptr short_lived_x;

/* A loop on a thread's own default stream, the last ops of which run while the thread ends. */
static void *short_life(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < 80; iteration++) {
		hazard_chain(short_lived_x, CU_STREAM_PER_THREAD);
		if (iteration % 4 == 0)
			CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
		if (iteration == 8 || iteration == 16)
			hazard_settle(CU_STREAM_PER_THREAD);
	}
	return unused;
}

/* Threads come and go, and with each its default stream: one handle, many streams. The legacy
 * stream is between them. */
static void per_thread_ends(void)
{
	CHECK(cuMemAlloc(&short_lived_x, WORDS * 4));
	CHECK(cuMemsetD32(short_lived_x, 1, WORDS));
	for (unsigned round = 0; round < 24; round++) {
		pthread_t thread;

		hazard_chain(short_lived_x, CU_STREAM_LEGACY);
		pthread_create(&thread, NULL, short_life, NULL);
		pthread_join(thread, NULL);
	}
	hazard_print("x", short_lived_x);
}

/* Threads with streams of their own, made and destroyed all the time. */
static void *own_streams(void *memory)
{
	CUdeviceptr x = *(CUdeviceptr *)memory;

	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned round = 0; round < 6; round++) {
		CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

		for (unsigned iteration = 0; iteration < 120; iteration++) {
			hazard_chain(x, stream);
			if (iteration % 3 == 0)
				CHECK(cuStreamSynchronize(stream));
			if (iteration == 60)
				hazard_settle(stream);
		}
		CHECK(cuStreamSynchronize(stream)); /* the next stream would not wait for this one */
		CHECK(cuStreamDestroy(stream));
	}
	return NULL;
}

static void threads_many_streams(void)
{
	pthread_t threads[16];
	CUdeviceptr x[16];

	for (unsigned i = 0; i < 16; i++) {
		CHECK(cuMemAlloc(&x[i], WORDS * 4));
		CHECK(cuMemsetD32(x[i], i, WORDS));
	}
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, own_streams, &x[i]);
	for (unsigned i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 16; i++)
		hazard_print("x", x[i]);
}

/* Threads that work at the same time, each on a stream of its own, and wait for each other after
 * each iteration. */
enum { IN_STEP = 4 };

static struct {
	CUdeviceptr x;
	CUstream stream;
} in_step[IN_STEP];

static pthread_barrier_t all_are_done;

static void *step_by_step(void *which)
{
	unsigned me = (unsigned)(uintptr_t)which;

	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		pthread_barrier_wait(&all_are_done);
		if (!hazard_springs(iteration + me)) /* more than a first trace has */
			hazard_part_of_chain(in_step[me].x, CHAIN / 4, in_step[me].stream);
		hazard_chain(in_step[me].x, in_step[me].stream);
		CHECK(cuStreamSynchronize(in_step[me].stream));
	}
	return NULL;
}

static void threads_in_step(void)
{
	pthread_t threads[IN_STEP];

	pthread_barrier_init(&all_are_done, NULL, IN_STEP);
	for (unsigned i = 0; i < IN_STEP; i++) {
		in_step[i].stream = hazard_stream(CU_STREAM_NON_BLOCKING);
		CHECK(cuMemAlloc(&in_step[i].x, WORDS * 4));
		CHECK(cuMemsetD32(in_step[i].x, i, WORDS));
	}
	CHECK(cuCtxSynchronize());
	for (uintptr_t i = 0; i < IN_STEP; i++)
		pthread_create(&threads[i], NULL, step_by_step, (void *)i);
	for (unsigned i = 0; i < IN_STEP; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < IN_STEP; i++)
		hazard_print("x", in_step[i].x);
}

const struct hazard thread_hazards[] = {
	{"per_thread_default", per_thread_default},
	{"per_thread_ends", per_thread_ends},
	{"stream_attributes_of_threads", stream_attributes_of_threads},
	{"two_threads_one_stream", two_threads_one_stream},
	{"threads_many_streams", threads_many_streams},
	{"threads_in_step", threads_in_step},
	{NULL, NULL},
};
