#include "timeline/inner.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/options.h"
#include "base/placement.h"

/* The least bytes of an event in the file. Bounds the number of events, and so the memory that
 * waits to be written. */
#define LINE_LEAST 87

_Atomic bool reprise_timeline_on REPRISE_HOT_DATA;
_Atomic(struct reprise_timeline_chunk *) reprise_timeline_chunks;

static _Atomic int64_t events_left; /* events that further chunks may be made for */
static pthread_key_t at_thread_end;
static _Thread_local struct reprise_timeline_chunk *mine
	__attribute__((tls_model(REPRISE_TLS_MODEL)));

struct reprise_worker reprise_timeline_writer;

bool reprise_timeline_writer_ready(void)
{
	return reprise_worker_ready(&reprise_timeline_writer);
}

void reprise_timeline_writer_wake(void)
{
	reprise_worker_wake(&reprise_timeline_writer);
}

static void thread_ended(void *chunk)
{
	struct reprise_timeline_chunk *last = chunk;

	atomic_fetch_add(&events_left,
	                 (int64_t)(REPRISE_TIMELINE_CHUNK_EVENTS - atomic_load(&last->count)));
	mine = NULL;
	atomic_store_explicit(&last->ended, true, memory_order_release);
}

static void push(struct reprise_timeline_chunk *chunk)
{
	chunk->next = atomic_load(&reprise_timeline_chunks);
	while (!atomic_compare_exchange_weak(&reprise_timeline_chunks, &chunk->next, chunk))
		continue;
}

struct reprise_timeline_chunk *reprise_timeline_chunk_make(void)
{
	struct reprise_timeline_chunk *chunk;

	if (atomic_fetch_sub(&events_left, (int64_t)REPRISE_TIMELINE_CHUNK_EVENTS) <= 0)
		return NULL;
	chunk = mmap(NULL, REPRISE_TIMELINE_CHUNK_BYTES, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		return NULL;
	push(chunk);
	return chunk;
}

static struct reprise_timeline_chunk *make_mine(void)
{
	struct reprise_timeline_chunk *chunk = reprise_timeline_chunk_make();

	if (chunk == NULL)
		return NULL;
	chunk->thread = (int)syscall(SYS_gettid);
	prctl(PR_GET_NAME, chunk->name);
	return chunk;
}

/* A further chunk for this thread. NULL if there is none, which ends the timeline. */
static struct reprise_timeline_chunk *next_chunk(void)
{
	struct reprise_timeline_chunk *full = mine;
	int entered = reprise_enter();

	mine = reprise_timeline_writer_ready() ? make_mine() : NULL;
	if (full != NULL)
		atomic_store_explicit(&full->ended, true, memory_order_release);
	if (mine == NULL)
		atomic_store(&reprise_timeline_on, false);
	pthread_setspecific(at_thread_end, mine);
	reprise_worker_call(&reprise_timeline_writer);
	reprise_leave(entered);
	return mine;
}

void reprise_timeline_add(unsigned int kind, uint64_t begin,
                          const struct reprise_timeline_about *about)
{
	uint64_t end = reprise_clock_ticks();
	struct reprise_timeline_chunk *chunk = mine;
	uint32_t count;

	if (!atomic_load_explicit(&reprise_timeline_on, memory_order_relaxed))
		return;
	if (chunk == NULL ||
	    atomic_load_explicit(&chunk->count, memory_order_relaxed) == REPRISE_TIMELINE_CHUNK_EVENTS)
		chunk = next_chunk();
	if (chunk == NULL)
		return;
	count = atomic_load_explicit(&chunk->count, memory_order_relaxed);
	chunk->events[count] = (struct reprise_timeline_event){
		.begin = begin,
		/* `begin` may be from another processor, whose counter is ahead. */
		.end = end > begin ? end : begin,
		.reason = about->reason,
		.ops = about->ops,
		.kind = kind & 0xff,
		.lane = about->lane,
		.graph = about->graph & 0xffff,
	};
	atomic_store_explicit(&chunk->count, count + 1, memory_order_release);
	reprise_timeline_writer_wake();
}

void reprise_timeline_start(void)
{
	if (reprise_option_text(REPRISE_OPTION_TIMELINE)[0] == '\0' ||
	    pthread_key_create(&at_thread_end, thread_ended) != 0)
		return;
	atomic_store(&events_left,
	             (int64_t)((reprise_option(REPRISE_OPTION_TIMELINE_MOST) << 20) / LINE_LEAST));
	atomic_store(&reprise_timeline_on, true);
}

void reprise_timeline_reset(void)
{
	struct reprise_timeline_chunk *chunk = atomic_exchange(&reprise_timeline_chunks, NULL);

	while (chunk != NULL) {
		struct reprise_timeline_chunk *next = chunk->next;

		munmap(chunk, REPRISE_TIMELINE_CHUNK_BYTES);
		chunk = next;
	}
	mine = NULL;
	reprise_worker_reset(&reprise_timeline_writer);
	if (reprise_option_text(REPRISE_OPTION_TIMELINE)[0] == '\0')
		return;
	pthread_key_delete(at_thread_end);
	reprise_timeline_start();
}
