/* No lock: every thread that comes before the unwinder is found looks for it, and finds the
 * same. */
#include "stats/stack.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unwind.h>

#include "base/inside.h"
#include "base/thread.h"
#include "driver/loader.h"

#define LIBRARY "libgcc_s.so.1"
#define OURS_MOST 16 /* most frames of Reprise's before the program's */

bool reprise_stack_wanted;

static _Atomic(__typeof__(&_Unwind_GetIP)) address_of;
static _Atomic(__typeof__(&_Unwind_Backtrace)) unwind; /* written last */

struct walk {
	const void **frames;
	unsigned int count, ours;
};

static _Unwind_Reason_Code no_unwinder(_Unwind_Trace_Fn visit, void *walk)
{
	return _URC_END_OF_STACK;
}

static void find_unwinder(void)
{
	int entered = reprise_enter();
	void *library = reprise_filters_came() ? NULL : dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	__typeof__(&_Unwind_GetIP) get =
		library != NULL ? (__typeof__(get))reprise_real_dlsym(library, "_Unwind_GetIP") : NULL;
	__typeof__(&_Unwind_Backtrace) found =
		get != NULL ? (__typeof__(found))reprise_real_dlsym(library, "_Unwind_Backtrace") : NULL;

	if (found == NULL)
		(void)dlerror(); /* the program must find no error */
	reprise_leave(entered);
	atomic_store_explicit(&address_of, get, memory_order_relaxed);
	atomic_store_explicit(&unwind, found != NULL ? found : no_unwinder, memory_order_release);
}

/* Frames of Reprise's come first. The program's begin with frames[0]. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	const void *address =
		(const void *)atomic_load_explicit(&address_of, memory_order_relaxed)(context);

	if (walk->count == 0 && address != walk->frames[0])
		return ++walk->ours < OURS_MOST ? _URC_NO_REASON : _URC_END_OF_STACK;
	if (address == NULL)
		return _URC_END_OF_STACK;
	walk->frames[walk->count++] = address;
	return walk->count < REPRISE_STACK_MOST ? _URC_NO_REASON : _URC_END_OF_STACK;
}

unsigned int reprise_stack_walk(const void *from, const void *frames[REPRISE_STACK_MOST])
{
	struct walk walk = {.frames = frames};

	frames[0] = from;
	if (!reprise_stack_wanted || from == NULL)
		return 1;
	if (atomic_load_explicit(&unwind, memory_order_acquire) == NULL)
		find_unwinder();
	atomic_load_explicit(&unwind, memory_order_acquire)(visit, &walk);
	return walk.count > 0 ? walk.count : 1;
}
