#include "graph/program_captures.h"

#include <stddef.h>

#include "base/ending.h"
#include "base/lock.h"
#include "base/placement.h"

#define MOST 64

static struct reprise_lock captures_lock;
/* The streams on which captures began; few, and rarely any. The default streams of all threads have
 * one handle, so a capture there also has its thread. Captures of one handle are counted: a second
 * one may be about to be refused while the first goes on. */
static struct capture {
	CUstream stream;
	CUcontext context;
	uint32_t owner; /* 0: not a thread's own stream */
	uint32_t count;
} captures[MOST];
static uint32_t used;
_Atomic uint32_t reprise_program_captures REPRISE_HOT_DATA;

static bool is_of(const struct capture *capture, CUstream stream, CUcontext context, uint32_t owner)
{
	return capture->stream == stream && capture->owner == owner &&
	       (stream > CU_STREAM_PER_THREAD || capture->context == context);
}

/* Under captures_lock. */
static struct capture *find(CUstream stream, CUcontext context)
{
	uint32_t owner = stream == CU_STREAM_PER_THREAD ? reprise_thread_self() : 0;
	struct capture *capture = captures;

	while (capture < captures + used && !is_of(capture, stream, context, owner))
		capture++;
	if (capture == captures + used && used < MOST)
		*capture = (struct capture){stream, context, owner, 0};
	return capture;
}

static void drop(struct capture *capture)
{
	atomic_fetch_sub(&reprise_program_captures, capture->count);
	*capture = captures[--used];
}

bool reprise_program_captures_begin(CUstream stream, CUcontext context)
{
	struct capture *capture;
	bool noted;

	reprise_lock_take(&captures_lock);
	capture = find(stream, context);
	noted = capture < captures + MOST;
	if (noted) {
		used += capture == captures + used;
		capture->count++;
		atomic_fetch_add(&reprise_program_captures, 1);
	}
	reprise_lock_give(&captures_lock);
	return noted;
}

void reprise_program_captures_end(CUstream stream, CUcontext context)
{
	struct capture *capture;

	reprise_lock_take(&captures_lock);
	capture = find(stream, context);
	if (capture < captures + used && capture->count > 1) {
		capture->count--;
		atomic_fetch_sub(&reprise_program_captures, 1);
	} else if (capture < captures + used) {
		drop(capture);
	}
	reprise_lock_give(&captures_lock);
}

void reprise_program_captures_end_all(CUstream stream, CUcontext context)
{
	reprise_lock_take(&captures_lock);
	for (uint32_t i = used; i-- > 0;)
		if (stream != NULL ? captures[i].stream == stream : captures[i].context == context)
			drop(&captures[i]);
	reprise_lock_give(&captures_lock);
}

void reprise_program_captures_thread_ended(uint32_t thread)
{
	reprise_lock_take(&captures_lock);
	for (uint32_t i = used; i-- > 0;)
		if (captures[i].owner == thread)
			drop(&captures[i]);
	reprise_lock_give(&captures_lock);
}

void reprise_program_captures_reset(void)
{
	atomic_store(&captures_lock.word, 0);
	atomic_store(&reprise_program_captures, 0);
	used = 0;
}
