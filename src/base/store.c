#include "base/store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/tuning.h"

struct header {
	_Alignas(16) size_t bytes;
	enum reprise_store store;
};

static _Atomic uint64_t used[REPRISE_STORE_COUNT], most;

uint64_t reprise_store_limit(void)
{
	return REPRISE_TUNE_STORE_LEAST +
	       (reprise_option(REPRISE_OPTION_MEMORY) << 20) / REPRISE_TUNE_STORE_SHARE;
}

uint64_t reprise_store_used(void)
{
	return atomic_load(&used[REPRISE_STORE_WATCHED]) + atomic_load(&used[REPRISE_STORE_TRACES]);
}

uint64_t reprise_store_most(void)
{
	return atomic_load(&most);
}

bool reprise_store_wants_traces(void)
{
	return reprise_store_used() > reprise_store_limit() / 8 * REPRISE_TUNE_STORE_SHORT;
}

bool reprise_store_is_short(void)
{
	return reprise_store_wants_traces() ||
	       atomic_load(&used[REPRISE_STORE_WATCHED]) >
	           reprise_store_limit() / 16 * REPRISE_TUNE_STORE_SHORT;
}

/* Called after the bytes were added to what is used. */
static bool within(enum reprise_store store, uint64_t whole)
{
	return whole <= reprise_store_limit() &&
	       (store != REPRISE_STORE_WATCHED ||
	        atomic_load(&used[store]) <= reprise_store_limit() / 2);
}

void *reprise_store_take(enum reprise_store store, size_t bytes)
{
	size_t room = bytes + sizeof(struct header);
	struct header *header = NULL;
	uint64_t whole;

	atomic_fetch_add(&used[store], room);
	whole = reprise_store_used();
	if (within(store, whole))
		header = calloc(1, room);
	if (header == NULL) {
		atomic_fetch_sub(&used[store], room);
		return NULL;
	}
	if (whole > atomic_load_explicit(&most, memory_order_relaxed))
		atomic_store_explicit(&most, whole, memory_order_relaxed);
	header->bytes = room;
	header->store = store;
	return header + 1;
}

void reprise_store_reset(void)
{
	for (int i = 0; i < REPRISE_STORE_COUNT; i++)
		atomic_store(&used[i], 0);
	atomic_store(&most, 0);
}

void reprise_store_give(void *memory)
{
	struct header *header = memory;

	if (header == NULL)
		return;
	header--;
	atomic_fetch_sub(&used[header->store], header->bytes);
	free(header);
}
