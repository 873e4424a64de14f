#include "memory.h"

#include <stdatomic.h>

#include "../base/hash.h"
#include "../base/inside.h"
#include "../base/tls.h"
#include "../driver/driver.h"

#define REMEMBERED 64

/* Each thread remembers for itself, so that asking takes no lock. */
static _Thread_local struct {
	CUdeviceptr address;
	uint32_t generation; /* 0: nothing here */
	enum reprise_memory kind;
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

static enum reprise_memory ask(CUdeviceptr address)
{
	/* Words, because the driver writes an attribute that is documented as a boolean as an int. */
	uint64_t type = 0, managed = 0;
	CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
	void *answers[] = {&type, &managed};
	int entered = reprise_enter();
	/* Unlike cuPointerGetAttribute, this succeeds for addresses that CUDA does not know, and answers 0. */
	CUresult asked = reprise_driver.cuPointerGetAttributes(2, attributes, answers, address);

	reprise_leave(entered);
	if (asked != CUDA_SUCCESS || managed != 0)
		return REPRISE_MEMORY_OTHER;
	return type == CU_MEMORYTYPE_DEVICE ? REPRISE_MEMORY_DEVICE :
	       type == CU_MEMORYTYPE_HOST   ? REPRISE_MEMORY_PINNED :
	                                      REPRISE_MEMORY_OTHER;
}

enum reprise_memory reprise_memory_of(CUdeviceptr address)
{
	uint32_t now = reprise_memory_generation();
	unsigned int slot = (unsigned int)(reprise_hash_mix(address, 2) % REMEMBERED);

	if (remembered[slot].address != address || remembered[slot].generation != now) {
		remembered[slot].kind = ask(address);
		remembered[slot].address = address;
		remembered[slot].generation = now;
	}
	return remembered[slot].kind;
}
