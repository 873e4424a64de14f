#include "op/memory.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/hash.h"
#include "base/inside.h"
#include "base/placement.h"
#include "driver/driver.h"

#define REMEMBERED 32   /* per thread: 1 KiB, taken from its stack */
#define DEVICES_MOST 63 /* so that numbers of devices fit beside the kind */

/* The driver's answer about an address. */
struct told {
	CUdeviceptr address;
	/* The end of what is mapped from the address without a gap, as far as it was asked. */
	CUdeviceptr end;
	/* The end of the reserved addresses; the same, unless the program maps memory by hand. */
	CUdeviceptr reserved;
	uint32_t generation; /* 0: empty */
	uint8_t memory;
};

/* Per thread, so that a look-up takes no lock. */
static _Thread_local struct told remembered[REMEMBERED]
	__attribute__((tls_model(REPRISE_TLS_MODEL)));

int reprise_memory_devices(void)
{
	static _Atomic int known;
	int count = atomic_load_explicit(&known, memory_order_relaxed);

	if (count == 0) {
		int entered = reprise_enter();

		if (reprise_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS || count < 1)
			count = DEVICES_MOST;
		reprise_leave(entered);
		atomic_store_explicit(&known, count, memory_order_relaxed);
	}
	return count;
}

/* True once the driver was asked about memory of a pool. Set once. */
static _Atomic bool pools_known;

/* The end of what is mapped from `at` on; `at` if nothing is. */
static CUdeviceptr mapped_to(CUdeviceptr at)
{
	CUdeviceptr base = 0;
	size_t bytes = 0;

	return reprise_driver.cuMemGetAddressRange_v2(&base, &bytes, at) == CUDA_SUCCESS ? base + bytes
	                                                                                 : at;
}

static void ask(struct told *told, CUdeviceptr address)
{
	/* 64 bits each: the driver writes an attribute documented as a boolean as an int. */
	uint64_t type = 0, managed = 0, device = 0, start = 0, size = 0, pool = 0;
	CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                                    CU_POINTER_ATTRIBUTE_IS_MANAGED,
	                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	                                    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	                                    CU_POINTER_ATTRIBUTE_RANGE_SIZE,
	                                    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE};
	void *answers[] = {&type, &managed, &device, &start, &size, &pool};
	/* Unlike cuPointerGetAttribute, this succeeds for addresses that CUDA does not know, and
	 * answers 0. */
	CUresult asked = reprise_driver.cuPointerGetAttributes(6, attributes, answers, address);

	if (pool != 0 && !atomic_load_explicit(&pools_known, memory_order_relaxed))
		atomic_store(&pools_known, true);

	device &= UINT32_MAX; /* -2 if there is none */
	told->generation = 0; /* empty while written: a signal handler may jump out of here */
	told->address = address;
	told->reserved = told->end = start + size;
	told->memory = REPRISE_MEMORY_OTHER;
	if (asked != CUDA_SUCCESS || managed != 0 ||
	    (type == CU_MEMORYTYPE_DEVICE && device >= DEVICES_MOST))
		return;
	if (type == CU_MEMORYTYPE_HOST)
		told->memory = REPRISE_MEMORY_PINNED;
	if (type == CU_MEMORYTYPE_DEVICE) {
		CUdeviceptr mapped = mapped_to(address);

		told->memory = (uint8_t)(REPRISE_MEMORY_DEVICE | device << 2);
		/* The range is what was reserved (cuMemAddressReserve). Where the driver does not say what
		 * is mapped, nothing is known of it. */
		if (mapped < told->end)
			told->end = mapped;
	}
}

/* Several pieces of memory may be mapped side by side. Does not ask whether the device may write to
 * them. */
static void go_on(struct told *told, size_t bytes)
{
	CUdeviceptr before = told->address;

	while (before < told->end && told->end < told->reserved && told->end - told->address < bytes) {
		before = told->end;
		told->end = mapped_to(before);
	}
}

/* True if the whole range is known to be of the kind of its first address. */
static inline bool covers(const struct told *told, size_t bytes)
{
	return reprise_memory_kind(told->memory) == REPRISE_MEMORY_OTHER ||
	       (told->address <= told->end && bytes <= told->end - told->address);
}

/* An empty range counts as one byte. */
bool reprise_memory_spared(CUdeviceptr address, size_t bytes, uint32_t under)
{
	CUdeviceptr end = address + (bytes > 0 ? bytes : 1);

	return end > address && reprise_changes_spared(REPRISE_CHANGES_MEMORY, under, address, end);
}

/* True if the answer is valid: nothing has changed since, or only other memory. */
static bool holds(struct told *told)
{
	uint32_t now = reprise_memory_generation();

	if (told->generation == now)
		return true;
	if (told->end <= told->address ||
	    !reprise_memory_spared(told->address, told->end - told->address, told->generation))
		return false;
	told->generation = now; /* read before the check */
	return true;
}

uint8_t reprise_memory_of(CUdeviceptr address, size_t bytes)
{
	struct told *told = &remembered[reprise_hash_mix(address, 2) % REMEMBERED];

	if (told->address != address || !holds(told) || !covers(told, bytes)) {
		uint32_t under = reprise_memory_learn();
		int entered = reprise_enter();

		ask(told, address);
		go_on(told, bytes);
		told->generation = under;
		reprise_leave(entered);
	}
	return covers(told, bytes) ? told->memory : REPRISE_MEMORY_BEYOND;
}

bool reprise_memory_free_begin(CUdeviceptr address, bool may_ask)
{
	CUdeviceptr base = 0;
	size_t bytes = 0;
	int entered;

	if (!atomic_load(&pools_known))
		return false;
	entered = reprise_enter();
	if (!may_ask ||
	    reprise_driver.cuMemGetAddressRange_v2(&base, &bytes, address) != CUDA_SUCCESS) {
		base = 0;
		bytes = SIZE_MAX;
	}
	reprise_leave(entered);
	reprise_changes_begin_range(REPRISE_CHANGES_MEMORY, base, base + bytes);
	return true;
}

void reprise_memory_free_end(void)
{
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
}
