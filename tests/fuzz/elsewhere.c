/* A second thread: on the same streams while the first waits for it, at the same time on others,
 * and on a default stream of its own. */
#include "elsewhere.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>

#include "ops.h"

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
	fuzz_thread.number = 1;
	sem_post(&other.done);
	for (;;) {
		await(&other.asked);
		if (other.act == NULL)
			return unused;
		if (fuzz_thread.context != world.context)
			fuzz_set_context(world.context);
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

void fuzz_begin_elsewhere(void (*act)(int stream, int how), int stream, int how)
{
	if (!other.there)
		start_thread();
	other.act = act;
	other.stream = stream;
	other.how = how;
	sem_post(&other.asked);
}

void fuzz_end_elsewhere(void)
{
	await(&other.done);
}

void fuzz_do_elsewhere(void (*act)(int stream, int how), int stream, int how)
{
	fuzz_begin_elsewhere(act, stream, how);
	fuzz_end_elsewhere();
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

static void writes_word(int stream, int how)
{
	/* Never from another stream to the thread's own: only those that are told so wait for it. */
	bool next = how % 2 && fuzz_in(stream, STREAMS) + 1 < PER_THREAD;

	fuzz_write_value(stream, next ? stream + 1 : stream);
}

static void orders_context(int stream, int how)
{
	fuzz_context_event(stream, how);
}

static void makes(int stream, int how)
{
	(void)stream;
	fuzz_make(how);
}

static void is_refused(int stream, int how)
{
	fuzz_launch_refused(stream, how, how);
	fuzz_memory_refused(stream, how, how);
}

static void gives_back(int stream, int how)
{
	fuzz_free_anew(stream, how);
}

static void sets_attribute(int stream, int how)
{
	fuzz_stream_attribute(stream, how);
	launches(stream, 0);
}

/* Launches, and leaves it to the first thread, which may wait for something else, to see what comes
 * of them. */
static void (*const acts[])(int stream, int how) = {launches,      copies,      looks,
                                                    copies_now,    waits,       waits_for_event,
                                                    waits_for_all, writes_word, orders_context,
                                                    makes,         is_refused,  gives_back,
                                                    sets_attribute};

void fuzz_elsewhere(int s, int what, int how)
{
	bool own = s % STREAMS == PER_THREAD; /* one name, two streams: each thread waits for its own
	                                         before the other goes on */

	if (own)
		fuzz_sync_stream(s);
	fuzz_do_elsewhere(acts[(unsigned)what % (sizeof(acts) / sizeof(acts[0]))], s, how);
	if (own)
		fuzz_do_elsewhere(waits, s, 0);
}
