#include "memory.h"

#include <sys/mman.h>

#include "context.h"
#include "object.h"
#include "options.h"
#include "pool.h"

#define GRAIN ((size_t)512)
#define SMALL_RANGE \
	((size_t)16 << 30) /* twice the memory that a device has unless told otherwise */
#define LARGE_RANGE ((size_t)64 << 30) /* as far as the ranges are apart */

/* Kinds that come from a range of addresses of their own; free blocks are kept by size and reused
 * last in, first out. */
struct range {
	uintptr_t wanted;
	uintptr_t base;
	size_t used;
	VECTOR(struct block {
		uintptr_t base;
		size_t bytes;
	})
	unused;
};

static struct range ranges[SIM_MEMORY_KINDS] = {
	[SIM_DEVICE] = {.wanted = 0x7e9000000000},
	[SIM_PINNED] = {.wanted = 0x7ea000000000},
	[SIM_MANAGED] = {.wanted = 0x7eb000000000},
};

static size_t range_bytes;
static VECTOR(struct sim_memory *) known; /* by rising address */
static uint32_t ordinals[SIM_MEMORY_KINDS];
static uint64_t ids;
static size_t used[64];    /* bytes of each device */
static size_t charged[64]; /* likewise, without an address */

/*
 * All ranges at once, before the first call that anybody waits for: qemu's user mode takes 0.2 to
 * 0.4 s for each, which a test would take for a call that waits for the device.
 */
void sim_memory_reserve(void)
{
	enum sim_memory_kind kind;

	if (!range_bytes)
		range_bytes = sim_options()->memory > SMALL_RANGE / 2 ? LARGE_RANGE : SMALL_RANGE;
	for (kind = SIM_DEVICE; kind <= SIM_MANAGED; kind++) {
		struct range *range = &ranges[kind];
		void *at;

		if (range->base)
			continue;
		at = mmap((void *)range->wanted, range_bytes, PROT_READ | PROT_WRITE,
		          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			sim_misuse("no address space");
		range->base = (uintptr_t)at;
	}
}

static bool is_on_device(enum sim_memory_kind kind)
{
	return kind == SIM_DEVICE || kind == SIM_MANAGED;
}

static uintptr_t take(struct range *range, size_t bytes)
{
	size_t i;

	for (i = range->unused.count; i-- > 0;) {
		uintptr_t base = range->unused.at[i].base;

		if (range->unused.at[i].bytes != bytes)
			continue;
		sim_remove(&range->unused, i);
		return base;
	}
	if (range->used + bytes > range_bytes)
		return 0;
	range->used += bytes;
	return range->base + range->used - bytes;
}

/* The position of the first block that begins after an address. */
static size_t position_after(uintptr_t address)
{
	size_t low = 0, high = known.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (known.at[middle]->base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sim_memory *sim_memory_of(uintptr_t address)
{
	size_t position = position_after(address);
	struct sim_memory *memory;

	if (position == 0)
		return NULL;
	memory = known.at[position - 1];
	return address - memory->base < memory->bytes ? memory : NULL;
}

enum sim_memory_kind sim_memory_kind_of(uintptr_t address)
{
	const struct sim_memory *memory = sim_memory_of(address);

	return memory ? memory->kind : SIM_PAGEABLE;
}

bool sim_memory_may_touch(uintptr_t address, size_t bytes)
{
	const struct sim_memory *memory = sim_memory_of(address);
	enum sim_memory_kind kind;

	if (bytes == 0)
		return true;
	while (memory && memory->reserved && bytes > memory->bytes - (address - memory->base)) {
		const struct sim_memory *following = sim_memory_of(memory->base + memory->bytes);

		if (!following || following->reserved != memory->reserved)
			return false;
		bytes -= memory->bytes - (address - memory->base);
		address = following->base;
		memory = following;
	}
	if (memory)
		return bytes <= memory->bytes - (address - memory->base) || memory->kind == SIM_REGISTERED;
	for (kind = SIM_DEVICE; kind < SIM_MEMORY_KINDS; kind++)
		if (ranges[kind].base && address - ranges[kind].base < range_bytes)
			return false;
	return address >= 4096;
}

struct sim_memory *sim_memory_know(struct sim_context *context, enum sim_memory_kind kind,
                                   uintptr_t base, size_t bytes, unsigned int flags)
{
	struct sim_memory *memory = calloc(1, sizeof(*memory));
	size_t position = position_after(base);

	*memory = (struct sim_memory){.base = base,
	                              .bytes = bytes,
	                              .kind = kind,
	                              .flags = flags,
	                              .ordinal = ++ordinals[kind],
	                              .id = ++ids,
	                              .context = context};
	sim_push(&known, memory);
	memmove(&known.at[position + 1], &known.at[position],
	        (known.count - 1 - position) * sizeof(*known.at));
	known.at[position] = memory;
	if (is_on_device(kind))
		used[context->device] += bytes;
	return memory;
}

struct sim_memory *sim_memory_new(struct sim_context *context, enum sim_memory_kind kind,
                                  size_t bytes, unsigned int flags)
{
	size_t rounded = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	uintptr_t base;

	if (rounded < bytes || (is_on_device(kind) && rounded > sim_memory_unused(context->device)))
		return NULL;
	base = take(&ranges[kind], rounded);
	return base ? sim_memory_know(context, kind, base, bytes, flags) : NULL;
}

void sim_memory_free(struct sim_memory *memory)
{
	struct range *range = &ranges[memory->kind];

	sim_remove(&known, position_after(memory->base) - 1);
	if (is_on_device(memory->kind))
		used[memory->context->device] -= memory->bytes;
	if (range->wanted && !memory->owned_by_module && !memory->reserved)
		sim_push(&range->unused,
		         ((struct block){memory->base, (memory->bytes + GRAIN - 1) / GRAIN * GRAIN}));
	if (memory->pool)
		sim_pool_returned(memory->pool, memory->bytes);
	free(memory->graph);
	free(memory);
}

size_t sim_memory_count(const struct sim_context *context)
{
	size_t count = 0;

	for (size_t i = 0; i < known.count; i++)
		count += known.at[i]->context == context;
	return count;
}

void sim_memory_forget_context(struct sim_context *context)
{
	size_t i;

	for (i = known.count; i-- > 0;)
		if (known.at[i]->context == context)
			sim_memory_free(known.at[i]);
}

bool sim_memory_charge(CUdevice device, size_t bytes)
{
	if (bytes > sim_memory_unused(device))
		return false;
	charged[device] += bytes;
	return true;
}

void sim_memory_discharge(CUdevice device, size_t bytes)
{
	charged[device] -= bytes;
}

size_t sim_memory_used(CUdevice device)
{
	return used[device];
}

size_t sim_memory_unused(CUdevice device)
{
	size_t all = sim_options()->memory, taken = used[device] + charged[device];

	return taken < all ? all - taken : 0;
}
