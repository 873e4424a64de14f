#include "lane/known.h"

#include "base/hash.h"

/* Takes the place of a handle that has ended: the search goes on behind it. */
#define ENDED UINTPTR_MAX

/* The handle's index, or else the first free index; -1 if there is none. */
static int known_at(const struct reprise_known *known, uintptr_t handle)
{
	uint64_t hash = reprise_hash_mix(handle, 5);
	int free = -1;

	for (unsigned int i = 0; i < REPRISE_KNOWN_MOST; i++) {
		int at = (int)((hash + i) % REPRISE_KNOWN_MOST);
		uintptr_t there = atomic_load_explicit(&known->handles[at], memory_order_acquire);

		if (there == handle)
			return at;
		if (free < 0 && (there == 0 || there == ENDED))
			free = at;
		if (there == 0)
			break;
	}
	return free;
}

bool reprise_knows(const struct reprise_known *known, const void *handle)
{
	int at = known_at(known, (uintptr_t)handle);

	return atomic_load(&known->all) ||
	       (at >= 0 && atomic_load(&known->handles[at]) == (uintptr_t)handle);
}

void reprise_known_learn(struct reprise_known *known, const void *handle)
{
	int at = known_at(known, (uintptr_t)handle);

	if (at < 0)
		atomic_store(&known->all, true);
	else if (atomic_load_explicit(&known->handles[at], memory_order_relaxed) != (uintptr_t)handle)
		atomic_store(&known->handles[at], (uintptr_t)handle);
}

void reprise_known_unlearn(struct reprise_known *known, const void *handle)
{
	int at = known_at(known, (uintptr_t)handle);

	if (at >= 0 && atomic_load(&known->handles[at]) == (uintptr_t)handle)
		atomic_store(&known->handles[at], ENDED);
}

void reprise_known_unlearn_all(struct reprise_known *known)
{
	for (unsigned int i = 0; i < REPRISE_KNOWN_MOST; i++)
		atomic_store(&known->handles[i], 0);
	atomic_store(&known->all, false);
}
