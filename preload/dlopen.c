/*
 * The part of the exported dlopen that is not a plain jump. A library opened with RTLD_DEEPBIND
 * finds the C library's dlsym before the exported one, and so the driver itself. Its calls would
 * overtake deferred ops, so nothing is deferred from then on. The stand-in for libcuda.so.1 has no
 * such problem: the library finds the stand-in.
 */
#include "entry/entry.h"

void reprise_dlopen_deep(void);

void reprise_dlopen_deep(void)
{
	reprise_stop(
		"a library was opened with RTLD_DEEPBIND, which looks past what is preloaded: reprise run --stand-in");
}
