#include "captures.h"

#include <stddef.h>

#include "../base/hot.h"
#include "../base/lock.h"

#define MOST 64

static struct reprise_lock captures_lock;
/* The streams on which they began, and their contexts. Few, and rarely any. */
static struct {
	CUstream stream;
	CUcontext context;
} captures[MOST];
_Atomic uint32_t reprise_captures REPRISE_HOT_DATA;

bool reprise_captures_begin(CUstream stream, CUcontext context)
{
	uint32_t count;

	reprise_lock_take(&captures_lock);
	count = atomic_load(&reprise_captures);
	if (count < MOST) {
		captures[count].stream = stream;
		captures[count].context = context;
		atomic_store(&reprise_captures, count + 1);
	}
	reprise_lock_give(&captures_lock);
	return count < MOST;
}

void reprise_captures_end(CUstream stream, CUcontext context)
{
	uint32_t kept = 0, count;

	reprise_lock_take(&captures_lock);
	count = atomic_load(&reprise_captures);
	for (uint32_t i = 0; i < count; i++)
		if (context != NULL ? captures[i].context != context : captures[i].stream != stream)
			captures[kept++] = captures[i];
	atomic_store(&reprise_captures, kept);
	reprise_lock_give(&captures_lock);
}

void reprise_captures_reset(void)
{
	atomic_store(&captures_lock.word, 0);
	atomic_store(&reprise_captures, 0);
}
