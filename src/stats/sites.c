/* Open addressing by a hash of the call and its stack. The thread that puts the hash into a slot,
 * by one exchange, also fills in the rest. */
#include "stats/sites.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unwind.h>

#include "base/hash.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/thread.h"
#include "base/tuning.h"
#include "driver/loader.h"

/* ---- the stack of a call ---- */

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

/* No lock: every thread that comes before the unwinder is found looks for it, and finds the
 * same. */
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

/* Fills in `frames`, beginning with `from`, the call's return address. Returns their number, at
 * least one. */
static unsigned int walk_stack(const void *from, const void *frames[REPRISE_STACK_MOST])
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

/* ---- call sites ---- */

#define TRIES_MOST 16

static struct slot {
	_Atomic uint64_t key; /* 0: free */
	_Atomic(const char *) what;
	_Atomic(const void *) frames[REPRISE_STACK_MOST];
	_Atomic unsigned int depth;
	_Atomic int kind;
	_Atomic uint64_t count;
} slots[REPRISE_CALL_SITES_MOST];

static _Atomic uint64_t left_out;
static atomic_bool begun;

void reprise_call_sites_begin(void)
{
	atomic_store(&begun, true);
}

/* True if the slot has this call site, or was free and now has it. */
static bool is_of(struct slot *slot, uint64_t key, const struct reprise_call_site *site)
{
	uint64_t found = 0;

	if (!atomic_compare_exchange_strong(&slot->key, &found, key))
		return found == key;
	atomic_store(&slot->kind, (int)site->kind);
	for (unsigned int i = 0; i < site->depth; i++)
		atomic_store(&slot->frames[i], site->frames[i]);
	atomic_store(&slot->depth, site->depth);
	atomic_store(&slot->what, site->what);
	return true;
}

static void count(enum reprise_call_site_kind kind, const char *what, const void *address,
                  uint64_t times)
{
	REPRISE_KEEP_ERRNO;
	struct reprise_call_site site = {.kind = kind, .what = what};
	uint64_t key;

	/* Allocations by the driver itself, or before the program's first op, keep no op from being
	 * replayed. */
	if (kind == REPRISE_CALL_SITE_allocates &&
	    (reprise_inside != 0 || !atomic_load_explicit(&begun, memory_order_relaxed)))
		return;
	site.depth = walk_stack(address, site.frames);
	key = reprise_hash_mix(reprise_hash_bytes(0, site.frames, site.depth * sizeof(site.frames[0])),
	                       (uintptr_t)what) |
	      1;
	for (unsigned int i = 0; i < TRIES_MOST; i++) {
		struct slot *slot = &slots[(key / 2 + i) % REPRISE_CALL_SITES_MOST];

		if (is_of(slot, key, &site)) {
			atomic_fetch_add_explicit(&slot->count, times, memory_order_relaxed);
			return;
		}
	}
	atomic_fetch_add_explicit(&left_out, times, memory_order_relaxed);
}

void reprise_call_site_count(enum reprise_call_site_kind kind, const char *what,
                             const void *address)
{
	count(kind, what, address, 1);
}

void reprise_call_site_count_some(enum reprise_call_site_kind kind, const char *what,
                                  const void *address)
{
	static _Thread_local uint64_t came __attribute__((tls_model(REPRISE_TLS_MODEL)));

	if (came++ < REPRISE_TUNE_SITES_EACH)
		count(kind, what, address, 1);
	else if (came % REPRISE_TUNE_SITES_LOOKED_AT == 0)
		count(kind, what, address, REPRISE_TUNE_SITES_LOOKED_AT);
}

struct reprise_call_site reprise_call_site_at(unsigned int i)
{
	struct slot *slot = &slots[i];
	struct reprise_call_site site = {.what = atomic_load(&slot->what)};

	if (site.what == NULL)
		return site;
	site.kind = (enum reprise_call_site_kind)atomic_load(&slot->kind);
	site.depth = atomic_load(&slot->depth);
	for (unsigned int f = 0; f < site.depth; f++)
		site.frames[f] = atomic_load(&slot->frames[f]);
	site.count = atomic_load(&slot->count);
	return site;
}

uint64_t reprise_call_sites_left_out(void)
{
	return atomic_load(&left_out);
}

void reprise_call_sites_forget(void)
{
	for (unsigned int i = 0; i < REPRISE_CALL_SITES_MOST; i++) {
		atomic_store(&slots[i].what, NULL);
		atomic_store(&slots[i].count, 0);
		atomic_store(&slots[i].key, 0);
	}
	atomic_store(&left_out, 0);
}
