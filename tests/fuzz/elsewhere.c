/* A second thread, which acts while the first waits for it: on the same streams, and on a default stream of its own. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>

#include "world.h"

static struct {
	pthread_t thread;
	sem_t asked, done;
	void (*act)(int stream, int how); /* NULL: the thread is to end */
	int stream, how;
	bool there;
} other;

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		;
}

static void *run(void *unused)
{
	CALL(cuCtxSetCurrent(world.context));
	sem_post(&other.done);
	for (;;) {
		await(&other.asked);
		if (other.act == NULL)
			return unused;
		other.act(other.stream, other.how);
		sem_post(&other.done);
	}
}

static void start_thread(void)
{
	sem_init(&other.asked, 0, 0);
	sem_init(&other.done, 0, 0);
	if (pthread_create(&other.thread, NULL, run, NULL) != 0)
		exit(3);
	await(&other.done);
	other.there = true;
}

void fuzz_thread_anew(void)
{
	if (other.there) {
		other.act = NULL;
		sem_post(&other.asked);
		pthread_join(other.thread, NULL);
	}
	start_thread();
}

static void launches(int stream, int how)
{
	for (int i = 0; i < 6; i++)
		fuzz_launch(stream, i, i, how);
}

static void copies(int stream, int how)
{
	fuzz_copy_in(stream, how, 0);
	fuzz_set(stream, how, how, 0);
}

static void looks(int stream, int how)
{
	fuzz_copy_out_pinned(stream, how);
}

static void copies_now(int stream, int how)
{
	fuzz_copy_sync(stream, how);
}

static void waits(int stream, int how)
{
	if (how % 2 == 0)
		fuzz_sync_stream(stream);
	else
		fuzz_poll_stream(stream);
}

static void waits_for_event(int stream, int how)
{
	fuzz_record(stream, how);
	fuzz_launch(stream, 0, 0, 0);
	fuzz_sync_event(how);
}

static void waits_for_all(int stream, int how)
{
	(void)stream;
	(void)how;
	fuzz_sync_context();
}

/* Launches, and leaves it to the first thread, which may wait for something else, to see what comes of them. */
static void (*const acts[])(int stream, int how) = {launches, copies, looks, copies_now, waits, waits_for_event, waits_for_all};

void fuzz_elsewhere(int s, int what, int how)
{
	bool own = s % STREAMS == PER_THREAD; /* one name, two streams: each thread waits for its own before the other goes on */

	if (!other.there)
		start_thread();
	if (own)
		fuzz_sync_stream(s);
	other.act = acts[(unsigned)what % (sizeof(acts) / sizeof(acts[0]))];
	other.stream = s;
	other.how = how;
	sem_post(&other.asked);
	await(&other.done);
	if (own) {
		other.act = waits;
		sem_post(&other.asked);
		await(&other.done);
	}
}
