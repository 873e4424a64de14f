/*
 * An unknown function is harmless at worst if everything deferred is issued before it, unless it belongs to a family whose
 * known members do more than that: a newer cuModuleUnload ends code, a newer way to begin a capture begins a capture.
 * Such a one gets a strict door, which speaks up at every call and expects the worst.
 */
#include "spare.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../src/base/gate.h"
#include "../src/lane/doors.h"
#include "attributes.h"
#include "door.h"

enum spare_kind {
	SPARE_SYNC,   /* as a SYNC entry point */
	SPARE_FORGET, /* may end or change anything */
	SPARE_STOP,   /* what it begins cannot be followed */
};

static _Atomic unsigned int taken;
static _Atomic unsigned int strict_taken;
static uint8_t strict_kinds[REPRISE_SPARE_STRICT_DOORS];

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The length of a name without _v2, _v3, _ptsz, _ptds. */
static size_t family_length(const char *name)
{
	size_t length = strlen(name);

	if (length > 5 && (memcmp(name + length - 5, "_ptsz", 5) == 0 || memcmp(name + length - 5, "_ptds", 5) == 0))
		length -= 5;

	size_t digits = length;

	while (digits > 2 && is_digit(name[digits - 1]))
		digits--;
	if (digits < length && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
		length = digits - 2;
	return length;
}

static enum spare_kind kind_in_class(enum reprise_class class, const char *name)
{
	if (class == REPRISE_CLASS_LIFETIME)
		return SPARE_FORGET;
	if (class != REPRISE_CLASS_OWN)
		return SPARE_SYNC;
	/* Captures and cuGetProcAddress, or attributes of functions. */
	return strncmp(name, "cuStream", 8) == 0 || strncmp(name, "cuGet", 5) == 0 ? SPARE_STOP : SPARE_FORGET;
}

static enum spare_kind kind_of(const char *name)
{
	size_t length = family_length(name);
	enum spare_kind kind = strncmp(name, "cuStreamBegin", 13) == 0 ? SPARE_STOP : SPARE_SYNC;

	for (unsigned int entry = 0; entry < REPRISE_ENTRY_COUNT; entry++) {
		const char *known = reprise_entry_name(entry);

		if (strncmp(known, name, length) != 0 || family_length(known) != length)
			continue;

		enum spare_kind of_known = kind_in_class(reprise_entry_points[entry].class, name);

		if (of_known > kind)
			kind = of_known;
	}
	return kind;
}

/* The next number below `limit`, or `limit` for ever. */
static unsigned int take_number(_Atomic unsigned int *counter, unsigned int limit)
{
	unsigned int number = atomic_load(counter);

	while (number < limit && !atomic_compare_exchange_weak(counter, &number, number + 1))
		continue;
	return number;
}

unsigned int reprise_spare_take(const char *name, void *address)
{
	enum spare_kind kind = kind_of(name);
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

	__atomic_store_n(&reprise_real[entry], address, __ATOMIC_RELAXED); /* published with the address, in route.c */
	return entry;
}

void reprise_spare_tell(unsigned int entry)
{
	if (entry < REPRISE_ENTRY_STRICT) {
		if (atomic_load_explicit(&reprise_attention, memory_order_relaxed) != 0)
			reprise_sync(REPRISE_SYNC_UNKNOWN, 0, false);
	} else if (strict_kinds[entry - REPRISE_ENTRY_STRICT] == SPARE_STOP) {
		reprise_stop("the program called an entry point that is newer than this version and changes how others work");
	} else {
		reprise_attributes_forget();
		reprise_lifetime(REPRISE_LIFETIME_CONTEXT, 0);
		reprise_lifetime_ended(REPRISE_LIFETIME_CONTEXT, 0, CUDA_SUCCESS); /* nobody knows its arguments, so it is jumped to, and nobody sees it return */
	}
	reprise_gate_doubt(); /* it may give work, or wait, and nothing tells when it has returned */
}
