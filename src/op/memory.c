#include "memory.h"

#include <stdatomic.h>

#include "../base/hash.h"
#include "../base/inside.h"
#include "../base/tls.h"
#include "../driver/driver.h"

#define REMEMBERED 64
#define DEVICES_MOST 63 /* whose numbers fit beside the kind */

/* Each thread remembers for itself, so that asking takes no lock. */
static _Thread_local struct {
	CUdeviceptr address;
	uint32_t generation; /* 0: nothing here */
	uint8_t memory;
} remembered[REMEMBERED] __attribute__((tls_model(REPRISE_TLS_MODEL)));

static _Atomic uint32_t generation = 1;

uint32_t reprise_memory_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_acquire);
}

void reprise_memory_forget(void)
{
	atomic_fetch_add(&generation, 1);
}

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

static uint8_t ask(CUdeviceptr address)
{
	/* Words, because the driver writes an attribute that is documented as a boolean as an int. */
	uint64_t type = 0, managed = 0, device = 0;
	CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	void *answers[] = {&type, &managed, &device};
	int entered = reprise_enter();
	/* Unlike cuPointerGetAttribute, this succeeds for addresses that CUDA does not know, and answers 0. */
	CUresult asked = reprise_driver.cuPointerGetAttributes(3, attributes, answers, address);

	reprise_leave(entered);
	device &= UINT32_MAX; /* -2 where there is none */
	if (asked != CUDA_SUCCESS || managed != 0 || (type == CU_MEMORYTYPE_DEVICE && device >= DEVICES_MOST))
		return REPRISE_MEMORY_OTHER;
	return type == CU_MEMORYTYPE_DEVICE ? (uint8_t)(REPRISE_MEMORY_DEVICE | device << 2) :
	       type == CU_MEMORYTYPE_HOST   ? REPRISE_MEMORY_PINNED :
	                                      REPRISE_MEMORY_OTHER;
}

uint8_t reprise_memory_of(CUdeviceptr address)
{
	uint32_t now = reprise_memory_generation();
	unsigned int slot = (unsigned int)(reprise_hash_mix(address, 2) % REMEMBERED);

	if (remembered[slot].address != address || remembered[slot].generation != now) {
		remembered[slot].memory = ask(address);
		remembered[slot].address = address;
		remembered[slot].generation = now;
	}
	return remembered[slot].memory;
}
