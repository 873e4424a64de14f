/*
 * What kind of memory an address is, and how far its allocation reaches, as the driver says,
 * remembered until memory is freed or unregistered anywhere.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/changes.h"

enum reprise_memory {
	REPRISE_MEMORY_DEVICE,
	REPRISE_MEMORY_PINNED,
	REPRISE_MEMORY_OTHER,  /* pageable, managed, or unknown: copies from and to it are the program's
	                          own business */
	REPRISE_MEMORY_BEYOND, /* device or pinned memory that ends before the range does: the driver
	                          refuses the call */
};

/*
 * The kind of memory and, of a device's, which device's, in one byte, of `bytes` from the address
 * on. Any thread; driver calls when the address is not remembered. Source: cuPointerGetAttributes,
 * and cuMemGetAddressRange for what is mapped of a reservation (cuMemAddressReserve).
 */
uint8_t reprise_memory_of(CUdeviceptr address, size_t bytes);

/* True if nothing ended or changed since the generation `under` that has a part in the range. */
bool reprise_memory_spared(CUdeviceptr address, size_t bytes, uint32_t under);

/*
 * Around a call that gives the memory of a pool back, in a stream's order: it is the pool's again,
 * which may give it back to the system, and the address may be anything's then. False if nothing is
 * to be forgotten, and the second is not called: nobody has asked about memory of a pool.
 * `may_ask`: the driver may be asked how far it reaches; else all memory is forgotten.
 */
bool reprise_memory_free_begin(CUdeviceptr address, bool may_ask);
void reprise_memory_free_end(void);

/* What stands for an array's memory: a device's, and nobody tells which. No device has this number.
 */
#define REPRISE_MEMORY_OF_ARRAY ((uint8_t)(REPRISE_MEMORY_DEVICE | 63 << 2))

/* How many devices the driver has. */
int reprise_memory_devices(void);

static inline enum reprise_memory reprise_memory_kind(uint8_t memory)
{
	return (enum reprise_memory)(memory & 3);
}

/* What is known of memory is good for the generation that it was learnt under (base/changes.h). */
static inline uint32_t reprise_memory_generation(void)
{
	return reprise_changes_now(REPRISE_CHANGES_MEMORY);
}

static inline uint32_t reprise_memory_learn(void)
{
	return reprise_changes_learn(REPRISE_CHANGES_MEMORY);
}
