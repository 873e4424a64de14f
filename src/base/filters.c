#include "base/filters.h"

#include <stdatomic.h>
#include <sys/prctl.h>

/* Not noted yet. Not an answer of the kernel: -1 means that it knows no filters. */
#define NEVER (-2)

static _Atomic int noted = NEVER;

/* 0: none; 1: strict mode; 2: filters */
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
