/* Open addressing by a hash of the call and its stack. The thread that puts the hash into a slot,
 * by one exchange, also fills in the rest. */
#include "stats/sites.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/inside.h"
#include "base/keep.h"

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

void reprise_call_site_count(enum reprise_call_site_kind kind, const char *what,
                             const void *address)
{
	REPRISE_KEEP_ERRNO;
	struct reprise_call_site site = {.kind = kind, .what = what};
	uint64_t key;

	/* Allocations by the driver itself, or before the program's first op, keep no op from being
	 * replayed. */
	if (kind == REPRISE_CALL_SITE_allocates &&
	    (reprise_inside != 0 || !atomic_load_explicit(&begun, memory_order_relaxed)))
		return;
	site.depth = reprise_stack_walk(address, site.frames);
	key = reprise_hash_mix(reprise_hash_bytes(0, site.frames, site.depth * sizeof(site.frames[0])),
	                       (uintptr_t)what) |
	      1;
	for (unsigned int i = 0; i < TRIES_MOST; i++) {
		struct slot *slot = &slots[(key / 2 + i) % REPRISE_CALL_SITES_MOST];

		if (is_of(slot, key, &site)) {
			atomic_fetch_add_explicit(&slot->count, 1, memory_order_relaxed);
			return;
		}
	}
	atomic_fetch_add_explicit(&left_out, 1, memory_order_relaxed);
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
