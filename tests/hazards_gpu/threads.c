/* Several threads: on one stream, on streams of their own, on what is one handle and many streams.
 */
#include "hazard.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static void *per_thread_loop(void *unused)
{
	struct mirror mirror;

	(void)unused;
	mirror_init(&mirror);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, cudaStreamPerThread);
		if (trap_at(i))
			mirror_mix(&mirror, i, cudaStreamPerThread);
		CHECK(cudaStreamSynchronize(cudaStreamPerThread));
	}
	mirror_verify(&mirror, ITERATIONS);
	return NULL;
}

/* Two threads on what is one handle and two streams, and the legacy stream in between. */
static void per_thread_default(void)
{
	struct mirror mirror;
	pthread_t thread;

	mirror_init(&mirror);
	EXPECT(!pthread_create(&thread, NULL, per_thread_loop, NULL), "no thread");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, cudaStreamPerThread);
		mirror_mix(&mirror, trap_at(i) ? i : 1, cudaStreamLegacy);
		mirror_mix(&mirror, 2, cudaStreamPerThread);
		CHECK(cudaStreamSynchronize(cudaStreamPerThread));
	}
	pthread_join(thread, NULL);
	mirror_verify(&mirror, ITERATIONS);
}

static struct {
	pthread_mutex_t lock;
	unsigned ran;
} wanted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void CUDART_CB take_wanted(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&wanted.lock);
	wanted.ran++;
	pthread_mutex_unlock(&wanted.lock);
}

static void CUDART_CB take_wanted_back(cudaStream_t stream, cudaError_t status, void *unused)
{
	(void)stream;
	(void)status;
	take_wanted(unused);
}

static void *launch_with_lock(void *unused)
{
	struct mirror mirror;
	cudaStream_t stream;

	(void)unused;
	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < 4 * ITERATIONS; i++) {
		pthread_mutex_lock(&wanted.lock);
		mirror_body(&mirror, stream);
		pthread_mutex_unlock(&wanted.lock);
		if (i % 4 == 3)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
	return NULL;
}

/*
 * A kernel's first launch loads it. The driver may wait for host functions meanwhile, and keep
 * other threads' launches waiting: with host functions that want a mutex whose holder launches, the
 * program would hang by itself.
 */
static void load_mix(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	mirror_mix(&mirror, 0, cudaStreamPerThread);
	CHECK(cudaDeviceSynchronize());
	mirror_deinit(&mirror);
}

/* Host functions want a mutex that another thread holds while it launches; as nodes of a graph that
 * is launched again while one of them waits, too. */
static void functions_want_mutex(bool by_callback)
{
	struct mirror mirror;
	cudaStream_t stream;
	pthread_t thread;

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	load_mix();
	EXPECT(!pthread_create(&thread, NULL, launch_with_lock, NULL), "no thread");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 3; k++) {
			if (by_callback)
				CHECK(cudaStreamAddCallback(stream, take_wanted_back, NULL, 0));
			else
				CHECK(cudaLaunchHostFunc(stream, take_wanted, NULL));
			mirror_mix(&mirror, trap_at(i) && k == 1 ? i : k, stream);
		}
		if (i % 4 == 3)
			CHECK(cudaStreamSynchronize(stream));
	}
	pthread_join(thread, NULL);
	CHECK(cudaStreamSynchronize(stream));
	EXPECT(wanted.ran == 3 * ITERATIONS, "%u of %u host functions ran", wanted.ran, 3 * ITERATIONS);
	mirror_verify(&mirror, ITERATIONS);
}

static void function_wants_mutex(void)
{
	functions_want_mutex(false);
}

static void callback_wants_mutex(void)
{
	functions_want_mutex(true);
}

/* Threads come and go, and with each its default stream: one handle, many streams. The legacy
 * stream is between them. */
static void *short_life(void *mirror)
{
	for (unsigned i = 0; i < 80; i++) {
		mirror_body(mirror, cudaStreamPerThread);
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(cudaStreamPerThread));
	}
	return NULL;
}

static void per_thread_ends(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	for (unsigned round = 0; round < 40; round++) {
		pthread_t thread;

		mirror_body(&mirror, cudaStreamLegacy);
		EXPECT(!pthread_create(&thread, NULL, short_life, &mirror), "no thread");
		pthread_join(thread, NULL);
	}
	mirror_verify(&mirror, 40);
}

static struct {
	pthread_mutex_t lock;
	struct mirror mirror;
	cudaStream_t stream;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *take_turns(void *number)
{
	for (unsigned i = 0; i < ITERATIONS; i++) {
		pthread_mutex_lock(&shared.lock);
		for (unsigned k = 0; k < 5; k++)
			mirror_mix(&shared.mirror, trap_at(i) && k == 2 ? i : k + 100 * *(unsigned *)number,
			           shared.stream);
		pthread_mutex_unlock(&shared.lock);
		if (i % 4 == 0)
			CHECK(cudaStreamSynchronize(shared.stream));
	}
	return NULL;
}

/* Two threads under a mutex on one stream, as autograd engines do it. */
static void two_threads_one_stream(void)
{
	unsigned numbers[2] = {0, 1};
	pthread_t thread;

	mirror_init(&shared.mirror);
	CHECK(cudaStreamCreate(&shared.stream));
	EXPECT(!pthread_create(&thread, NULL, take_turns, &numbers[1]), "no thread");
	take_turns(&numbers[0]);
	pthread_join(thread, NULL);
	mirror_verify(&shared.mirror, ITERATIONS);
}

/* A second thread, which acts when it is told to. The first waits for it without a CUDA call. */
static struct {
	sem_t asked, answered;
	void (*act)(unsigned time);
	unsigned time;
	bool over;
	cudaStream_t here, there;
	struct mirror first, second;
	uint32_t *pinned;
} beside;

static void *answer(void *unused)
{
	(void)unused;
	for (;;) {
		while (sem_wait(&beside.asked))
			;
		if (beside.over)
			return NULL;
		beside.act(beside.time++);
		sem_post(&beside.answered);
	}
}

static void run_beside(void (*act)(unsigned time), unsigned flags)
{
	pthread_t thread;

	beside.act = act;
	sem_init(&beside.asked, 0, 0);
	sem_init(&beside.answered, 0, 0);
	mirror_init(&beside.first);
	mirror_init(&beside.second);
	beside.pinned = mapped_words();
	CHECK(cudaStreamCreateWithFlags(&beside.here, flags));
	CHECK(cudaStreamCreateWithFlags(&beside.there, cudaStreamNonBlocking));
	EXPECT(!pthread_create(&thread, NULL, answer, NULL), "no thread");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&beside.first, beside.here);
		CHECK(cudaMemcpyAsync(beside.pinned, beside.first.device, sizeof(beside.first.host),
		                      cudaMemcpyDeviceToHost, beside.here));
		if (trap_at(i)) {
			sem_post(&beside.asked);
			while (sem_wait(&beside.answered))
				;
		}
		mirror_body(&beside.first, beside.here);
		CHECK(cudaStreamSynchronize(beside.here));
	}
	beside.over = true;
	sem_post(&beside.asked);
	pthread_join(thread, NULL);
	mirror_verify(&beside.first, ITERATIONS);
	mirror_verify(&beside.second, ITERATIONS);
}

/* Every way to wait for a blocking stream, in a thread that has launched nothing there. */
static void look(unsigned time)
{
	switch (time % 4) {
	case 0:
		CHECK(cudaStreamSynchronize(beside.here));
		break;
	case 1:
		while (cudaStreamQuery(beside.here) == cudaErrorNotReady)
			;
		break;
	case 2:
		CHECK(cudaDeviceSynchronize());
		break;
	default:
		mirror_mix(&beside.second, time, cudaStreamLegacy);
		CHECK(cudaStreamSynchronize(cudaStreamLegacy));
		break;
	}
	EXPECT(!memcmp(beside.pinned, beside.first.host, sizeof(beside.first.host)),
	       "the copy was not there");
}

static void sync_elsewhere(void)
{
	run_beside(look, cudaStreamDefault);
}

/* Every way to wait for something else. */
static void look_away(unsigned time)
{
	cudaEvent_t before, after;
	float milliseconds;

	CHECK(cudaEventCreate(&before));
	CHECK(cudaEventCreate(&after));
	CHECK(cudaEventRecord(before, beside.there));
	mirror_body(&beside.second, beside.there);
	mirror_mix(&beside.second, time, beside.there);
	CHECK(cudaEventRecord(after, beside.there));
	CHECK(cudaEventSynchronize(after));
	CHECK(cudaEventElapsedTime(&milliseconds, before, after));
	CHECK(cudaStreamSynchronize(beside.there));
	CHECK(cudaStreamQuery(beside.there));
	CHECK(cudaStreamSynchronize(cudaStreamLegacy));
	CHECK(cudaEventDestroy(before));
	CHECK(cudaEventDestroy(after));
}

static void sync_apart(void)
{
	run_beside(look_away, cudaStreamNonBlocking);
}

static void *make_and_destroy_streams(void *number)
{
	struct mirror mirror;

	mirror_init(&mirror);
	for (unsigned round = 0; round < 10; round++) {
		cudaStream_t stream;

		CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		for (unsigned i = 0; i < 60; i++) {
			mirror_body(&mirror, stream);
			if (scramble(i + *(unsigned *)number) % 9 == 0)
				mirror_mix(&mirror, i, stream);
			if (i % 2)
				CHECK(cudaStreamSynchronize(stream));
		}
		/* Another stream may not overtake what is still under way here. */
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaStreamDestroy(stream));
	}
	mirror_verify(&mirror, 600);
	mirror_deinit(&mirror);
	return NULL;
}

static void threads_many_streams(void)
{
	pthread_t threads[16];
	unsigned numbers[16];

	for (unsigned i = 0; i < 16; i++) {
		numbers[i] = i;
		EXPECT(!pthread_create(&threads[i], NULL, make_and_destroy_streams, &numbers[i]),
		       "no thread");
	}
	for (unsigned i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

const struct hazard thread_hazards[] = {
	{"per_thread_default", per_thread_default},
	{"per_thread_ends", per_thread_ends},
	{"two_threads_one_stream", two_threads_one_stream},
	{"function_wants_mutex", function_wants_mutex},
	{"callback_wants_mutex", callback_wants_mutex},
	{"sync_elsewhere", sync_elsewhere},
	{"sync_apart", sync_apart},
	{"threads_many_streams", threads_many_streams},
	{NULL, NULL},
};
