#include "base/filters.h"

#include <stdatomic.h>
#include <sys/prctl.h>

#define NEVER \
	(-2) /* beside the answers of the kernel, of which -1 says that it knows no filters \
	      */

static _Atomic int noted = NEVER;

/* 0: none; 1 and 2: under filters */
static int state(void)
{
	return prctl(PR_GET_SECCOMP);
}

void reprise_filters_note(void)
{
	atomic_store(&noted, state());
}

bool reprise_filters_came(void)
{
	int before = atomic_load(&noted);

	return before != NEVER && state() > before;
}
