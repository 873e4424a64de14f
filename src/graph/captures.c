#include "captures.h"

#include <stddef.h>

#include "../base/hot.h"
#include "../base/lock.h"

#define MOST 64

static struct reprise_lock captures_lock;
/*
 * The handles and contexts of the streams on which they began; few, and rarely any. Several may have begun under one handle: that of the per-thread
 * default stream names another stream in each thread, and one may go on while another is about to be refused. So they are counted.
 */
static struct capture {
	CUstream stream;
	CUcontext context;
	uint32_t count;
} captures[MOST];
static uint32_t used;
_Atomic uint32_t reprise_captures REPRISE_HOT_DATA;

/* Under the lock. */
static struct capture *find(CUstream stream, CUcontext context)
{
	struct capture *capture = captures;

	while (capture < captures + used && (capture->stream != stream || (stream <= CU_STREAM_PER_THREAD && capture->context != context)))
		capture++;
	if (capture == captures + used && used < MOST)
		*capture = (struct capture){stream, context, 0};
	return capture;
}

static void drop(struct capture *capture)
{
	atomic_fetch_sub(&reprise_captures, capture->count);
	*capture = captures[--used];
}

bool reprise_captures_begin(CUstream stream, CUcontext context)
{
	struct capture *capture;
	bool noted;

	reprise_lock_take(&captures_lock);
	capture = find(stream, context);
	noted = capture < captures + MOST;
	if (noted) {
		used += capture == captures + used;
		capture->count++;
		atomic_fetch_add(&reprise_captures, 1);
	}
	reprise_lock_give(&captures_lock);
	return noted;
}

void reprise_captures_end(CUstream stream, CUcontext context)
{
	struct capture *capture;

	reprise_lock_take(&captures_lock);
	capture = find(stream, context);
	if (capture < captures + used && capture->count > 1) {
		capture->count--;
		atomic_fetch_sub(&reprise_captures, 1);
	} else if (capture < captures + used) {
		drop(capture);
	}
	reprise_lock_give(&captures_lock);
}

void reprise_captures_end_all(CUstream stream, CUcontext context)
{
	reprise_lock_take(&captures_lock);
	for (uint32_t i = used; i-- > 0;)
		if (stream != NULL ? captures[i].stream == stream : captures[i].context == context)
			drop(&captures[i]);
	reprise_lock_give(&captures_lock);
}

void reprise_captures_reset(void)
{
	atomic_store(&captures_lock.word, 0);
	atomic_store(&reprise_captures, 0);
	used = 0;
}
