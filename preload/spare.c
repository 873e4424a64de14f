/*
 * Spare doors. An unknown function is harmless if everything deferred is issued before it, and if
 * Reprise is not in the driver at the same time in a way that disturbs it. This is enough for newer
 * forms of most known functions: launches, waits, questions. But a newer cuModuleUnload ends code,
 * and a newer cuStreamBeginCapture begins a capture. These get a strict door, which does what the
 * family's doors do. Where those doors read an argument, a strict door assumes the worst.
 */
#include "doors.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/gate.h"
#include "entry/entry.h"
#include "lane/loading.h"

enum spare_kind {
	SPARE_SYNC,   /* as a SYNC entry point */
	SPARE_EVENTS, /* ends events, or shares them with another process */
	SPARE_MEMORY, /* frees memory */
	SPARE_FORGET, /* may end or change anything */
	SPARE_STOP,   /* begins something that cannot be followed */
};

/* Names that begin so do more than a barrier, and no LIFETIME entry point is called so. */
static const struct {
	const char *begin;
	enum spare_kind kind;
} families[] = {
	{"cuEventDestroy", SPARE_EVENTS},
	{"cuIpcGetEventHandle", SPARE_EVENTS},
	{"cuIpcOpenEventHandle", SPARE_EVENTS},
	{"cuMemFreeAsync", SPARE_MEMORY},
	{"cuFuncSet", SPARE_FORGET},
	{"cuKernelSet", SPARE_FORGET},
	{"cuStreamBegin", SPARE_STOP},
	{"cuStreamEndCapture", SPARE_STOP},
	{"cuGetProcAddress", SPARE_STOP},
};

static _Atomic unsigned int taken;
static _Atomic unsigned int strict_taken;
static uint8_t strict_kinds[REPRISE_SPARE_STRICT_DOORS];

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The length of the name without _v2, _v3, _ptsz, _ptds. */
static size_t family_length(const char *name)
{
	size_t length = strlen(name);

	if (length > 5 &&
	    (memcmp(name + length - 5, "_ptsz", 5) == 0 || memcmp(name + length - 5, "_ptds", 5) == 0))
		length -= 5;

	size_t digits = length;

	while (digits > 2 && is_digit(name[digits - 1]))
		digits--;
	if (digits < length && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
		length = digits - 2;
	return length;
}

static enum spare_kind kind_by_begin(const char *name)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(name, families[i].begin, strlen(families[i].begin)) == 0)
			return families[i].kind;
	return SPARE_SYNC;
}

static bool is_lifetime(const char *name)
{
	size_t length = family_length(name);

	for (unsigned int entry = 0; entry < REPRISE_ENTRY_COUNT; entry++) {
		const char *known = reprise_entry_name(entry);

		if (reprise_entry_points[entry].class == REPRISE_CLASS_LIFETIME &&
		    strncmp(known, name, length) == 0 && family_length(known) == length)
			return true;
	}
	return false;
}

/* The next number below `limit`; `limit` when there are no more. */
static unsigned int take_number(_Atomic unsigned int *counter, unsigned int limit)
{
	unsigned int number = atomic_load(counter);

	while (number < limit && !atomic_compare_exchange_weak(counter, &number, number + 1))
		continue;
	return number;
}

unsigned int reprise_spare_take(const char *name, void *address)
{
	enum spare_kind kind = is_lifetime(name) ? SPARE_FORGET : kind_by_begin(name);
	bool strict = kind != SPARE_SYNC;
	unsigned int limit = strict ? REPRISE_SPARE_STRICT_DOORS : REPRISE_SPARE_DOORS;
	unsigned int number = take_number(strict ? &strict_taken : &taken, limit);

	if (number == limit) {
		reprise_stop("the driver has more unknown entry points than there are spare doors");
		return REPRISE_DOOR_COUNT;
	}
	if (strict)
		strict_kinds[number] = kind;

	unsigned int entry = (strict ? REPRISE_ENTRY_STRICT : REPRISE_ENTRY_COUNT) + number;

	/* Relaxed: insert() in route.c publishes it. */
	__atomic_store_n(&reprise_real[entry], address, __ATOMIC_RELAXED);
	return entry;
}

/* The door only jumps: the arguments are unknown and its return is not seen. So both halves run
 * before the call. */
static void forget(enum reprise_lifetime what)
{
	reprise_lifetime(what, 0);
	reprise_lifetime_ended(what, 0, CUDA_SUCCESS);
}

static void tell_strict(enum spare_kind kind)
{
	switch (kind) {
	case SPARE_EVENTS:
		reprise_events_shared();
		break;
	case SPARE_MEMORY:
		forget(REPRISE_LIFETIME_MEMORY);
		break;
	case SPARE_STOP:
		reprise_stop(
			"the program called an entry point that is newer than this version and changes how others work");
		break;
	default:
		reprise_attributes_forget();
		forget(REPRISE_LIFETIME_CONTEXT);
		break;
	}
}

/* The function may give work, or wait, also for a whole context, which fails during a capture
 * (src/graph/capture_lock.h). So no capture of Reprise's is open when the doubt begins, and none
 * begins while it lasts. */
static void doubt(void)
{
	reprise_context_sync_begin(NULL);
	reprise_gate_doubt();
	reprise_context_sync_end(NULL);
}

void reprise_spare_tell(unsigned int entry)
{
	if (entry >= REPRISE_ENTRY_STRICT)
		tell_strict(strict_kinds[entry - REPRISE_ENTRY_STRICT]);
	if (atomic_load_explicit(&reprise_attention, memory_order_relaxed) != 0)
		reprise_sync(REPRISE_SYNC_UNKNOWN, 0, false);
	reprise_loading_note_module(); /* it may have returned a function that a kernel has, too */
	doubt();
}
