#include "lane/known.h"

#include <stddef.h>

#include "base/hash.h"
#include "base/store.h"

/* A handle is in one of so many places, beginning with its hash's. So who looks for one that is not
 * there looks no farther, and a place that becomes free is free. */
#define NEAR 16

/* The places of a table. */
struct view {
	_Atomic(uintptr_t) *handles;
	uint32_t count; /* a power of two */
};

/* Of the table in use. Who only reads may have it of a `known` that is const. */
static struct view view_of(const struct reprise_known *known)
{
	struct reprise_known_table *table = atomic_load_explicit(&known->table, memory_order_acquire);

	return table == NULL ? (struct view){(_Atomic(uintptr_t) *)known->first, REPRISE_KNOWN_FIRST}
	                     : (struct view){table->handles, table->places};
}

/* The index of `what`, which is the handle or 0, among the places of the handle; -1 if it is not
 * there. */
static int find(struct view view, uintptr_t handle, uintptr_t what)
{
	uint64_t hash = reprise_hash_mix(handle, 5) * 0x9e3779b97f4a7c15u >> 32;

	for (unsigned int i = 0; i < NEAR; i++) {
		uint32_t at = (uint32_t)(hash + i) & (view.count - 1);

		if (atomic_load_explicit(&view.handles[at], memory_order_acquire) == what)
			return (int)at;
	}
	return -1;
}

bool reprise_knows(const struct reprise_known *known, const void *handle)
{
	return atomic_load(&known->all) ||
	       find(view_of(known), (uintptr_t)handle, (uintptr_t)handle) >= 0;
}

static void clear(struct view view)
{
	for (uint32_t i = 0; i < view.count; i++)
		atomic_store(&view.handles[i], 0);
}

/* The next table, empty; NULL if there can be none. */
static struct reprise_known_table *larger(struct reprise_known *known,
                                          struct reprise_known_table *than, uint32_t places)
{
	struct reprise_known_table **at = than == NULL ? &known->larger : &than->larger;

	if (*at != NULL) {
		clear((struct view){(*at)->handles, (*at)->places});
	} else if (places <= REPRISE_KNOWN_MOST) {
		*at = reprise_store_take(REPRISE_STORE_WATCHED,
		                         sizeof(**at) + places * sizeof((*at)->handles[0]));
		if (*at != NULL)
			(*at)->places = places;
	}
	return *at;
}

/* False if one of them has no place there. */
static bool put_all(struct view to, struct view from)
{
	for (uint32_t i = 0; i < from.count; i++) {
		uintptr_t handle = atomic_load_explicit(&from.handles[i], memory_order_relaxed);
		int at = handle == 0 ? 0 : find(to, handle, 0);

		if (at < 0)
			return false;
		if (handle != 0)
			atomic_store(&to.handles[at], handle);
	}
	return true;
}

/* To a larger table, which has all that the one before has; false if there can be none. */
static bool grow(struct reprise_known *known)
{
	struct view from = view_of(known);
	struct reprise_known_table *table = atomic_load(&known->table);

	do {
		table = larger(known, table, 2 * (table == NULL ? REPRISE_KNOWN_FIRST : table->places));
	} while (table != NULL && !put_all((struct view){table->handles, table->places}, from));
	if (table != NULL)
		atomic_store(&known->table, table);
	return table != NULL;
}

void reprise_known_learn(struct reprise_known *known, const void *handle)
{
	int at;

	if (reprise_knows(known, handle))
		return;
	at = find(view_of(known), (uintptr_t)handle, 0);
	while (at < 0 && grow(known))
		at = find(view_of(known), (uintptr_t)handle, 0);
	if (at < 0)
		atomic_store(&known->all, true);
	else
		atomic_store(&view_of(known).handles[at], (uintptr_t)handle);
}

void reprise_known_unlearn(struct reprise_known *known, const void *handle)
{
	struct view view = view_of(known);
	int at = find(view, (uintptr_t)handle, (uintptr_t)handle);

	if (at >= 0)
		atomic_store(&view.handles[at], 0);
}

void reprise_known_unlearn_all(struct reprise_known *known)
{
	clear((struct view){known->first, REPRISE_KNOWN_FIRST});
	atomic_store(&known->table, NULL);
	atomic_store(&known->all, false);
}
