#include "base/changes.h"

#include <stdbool.h>

#include "base/ending.h"

struct reprise_change reprise_changed[REPRISE_CHANGES_COUNT] = {{.generation = 1},
                                                                {.generation = 1}};

/* Changes under way on this thread. */
static _Thread_local uint32_t own[REPRISE_CHANGES_COUNT]
	__attribute__((tls_model(REPRISE_TLS_MODEL)));

static void thread_ends(void *unused)
{
	for (unsigned int what = 0; what < REPRISE_CHANGES_COUNT; what++)
		while (own[what] > 0)
			reprise_changes_end(what);
}

static struct reprise_thread_end thread_end = {
	.ends = thread_ends}; /* for threads that have begun a change */

static struct reprise_changed_range *range_of(struct reprise_change *change, uint32_t generation)
{
	return &change->ranges[generation / 2 % REPRISE_CHANGES_KEPT];
}

/* Writes the range first: a thread that reads the new generation must find its range. */
static void next_generation(struct reprise_change *change, uintptr_t first, uintptr_t last)
{
	uint32_t next;

	reprise_lock_take(&change->lock);
	next = atomic_load(&change->generation) + 2;
	atomic_store(&range_of(change, next)->first, first);
	atomic_store(&range_of(change, next)->last, last);
	atomic_store(&change->generation, next);
	reprise_lock_give(&change->lock);
}

/* The last check ensures that no slot read here was reused for a later generation, or is about to
 * be. */
bool reprise_changes_spared(enum reprise_changes what, uint32_t under, uintptr_t first,
                            uintptr_t last)
{
	struct reprise_change *change = &reprise_changed[what];
	uint32_t now = atomic_load(&change->generation);

	if (under == 0 || (now - under) / 2 >= REPRISE_CHANGES_KEPT - 1)
		return false;
	for (uint32_t at = under + 2; at != now + 2; at += 2) {
		struct reprise_changed_range *range = range_of(change, at);

		if (atomic_load(&range->first) < last && first < atomic_load(&range->last))
			return false;
	}
	return (atomic_load(&change->generation) - under) / 2 < REPRISE_CHANGES_KEPT - 1;
}

void reprise_changes_begin_range(enum reprise_changes what, uintptr_t first, uintptr_t last)
{
	reprise_thread_end_hear(&thread_end);
	own[what]++;
	/* Before the new generation: a thread that reads that generation must see this count. */
	atomic_fetch_add(&reprise_changed[what].under_way, 1);
	next_generation(&reprise_changed[what], first, last);
}

void reprise_changes_begin(enum reprise_changes what)
{
	reprise_changes_begin_range(what, 0, UINTPTR_MAX);
}

/* Nothing learnt during the change was cached, so nothing is dropped here. */
void reprise_changes_end(enum reprise_changes what)
{
	if (own[what] == 0) /* the change began before a fork, and this is the child */
		return;
	own[what]--;
	atomic_fetch_sub(&reprise_changed[what].under_way, 1);
}

void reprise_changes_reset(void)
{
	for (unsigned int what = 0; what < REPRISE_CHANGES_COUNT; what++) {
		own[what] = 0;
		atomic_store(&reprise_changed[what].lock.word, 0);
		atomic_store(&reprise_changed[what].under_way, 0);
		next_generation(&reprise_changed[what], 0, UINTPTR_MAX);
	}
}
