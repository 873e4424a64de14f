/* The kind of memory at an address and its extent, as the driver tells. Answers are cached until
 * memory is freed or unregistered. */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/changes.h"

enum reprise_memory {
	REPRISE_MEMORY_DEVICE,
	REPRISE_MEMORY_PINNED,
	/* Pageable, managed or unknown: copies from and to it are never deferred. */
	REPRISE_MEMORY_OTHER,
	/* Device or pinned memory that ends before the range does: the driver refuses the call. */
	REPRISE_MEMORY_BEYOND,
};

/*
 * The kind of the `bytes` from the address on, and for device memory the device, in one byte. Any
 * thread. Calls the driver if the answer is not cached. Source: cuPointerGetAttributes;
 * cuMemGetAddressRange for the mapped part of a reservation (cuMemAddressReserve).
 */
uint8_t reprise_memory_of(CUdeviceptr address, size_t bytes);

/* True if no change since generation `under` touched the range. */
bool reprise_memory_spared(CUdeviceptr address, size_t bytes, uint32_t under);

/*
 * Around a call that frees memory of a pool in stream order. The pool may give the memory back to
 * the system, and the address may be reused for anything. False if there is nothing to invalidate,
 * since the driver was never asked about a pool's memory: then reprise_memory_free_end() must not
 * be called. `may_ask`: the driver may be asked for the extent; else all answers become invalid.
 */
bool reprise_memory_free_begin(CUdeviceptr address, bool may_ask);
void reprise_memory_free_end(void);

/* Stands for an array's memory: a device's, but which one is not known. No device has this
 * number. */
#define REPRISE_MEMORY_OF_ARRAY ((uint8_t)(REPRISE_MEMORY_DEVICE | 63 << 2))

/* The number of devices. */
int reprise_memory_devices(void);

static inline enum reprise_memory reprise_memory_kind(uint8_t memory)
{
	return (enum reprise_memory)(memory & 3);
}

/* Answers about memory are valid for the generation that they were learnt under
 * (base/changes.h). */
static inline uint32_t reprise_memory_generation(void)
{
	return reprise_changes_now(REPRISE_CHANGES_MEMORY);
}

static inline uint32_t reprise_memory_learn(void)
{
	return reprise_changes_learn(REPRISE_CHANGES_MEMORY);
}
