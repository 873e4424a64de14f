/*
 * The part of the exported dlopen that is not a plain jump. A library that is opened with
 * RTLD_DEEPBIND finds the C library's dlsym before ours, and so the driver itself: its calls would
 * overtake what is deferred. So nothing is deferred any more. As the stand-in for libcuda.so.1
 * Reprise is what such a library finds.
 */
#include "entry/entry.h"

void reprise_dlopen_deep(void);

void reprise_dlopen_deep(void)
{
	reprise_stop(
		"a library was opened with RTLD_DEEPBIND, which looks past what is preloaded: reprise run --stand-in");
}
