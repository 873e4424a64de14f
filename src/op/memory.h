/*
 * What kind of memory an address is, and how far its allocation reaches, as the driver says, remembered until memory is freed or unregistered anywhere.
 */
#pragma once

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

enum reprise_memory {
	REPRISE_MEMORY_DEVICE,
	REPRISE_MEMORY_PINNED,
	REPRISE_MEMORY_OTHER, /* pageable, managed, or unknown: copies from and to it are the program's own business */
	REPRISE_MEMORY_BEYOND, /* device or pinned memory that ends before the range does: the driver refuses the call */
};

/*
 * The kind of memory and, of a device's, which device's, in one byte, of `bytes` from the address on. Any thread; driver calls when the address is not
 * remembered. Source: cuPointerGetAttributes, and cuMemGetAddressRange for what is mapped of a reservation (cuMemAddressReserve).
 */
uint8_t reprise_memory_of(CUdeviceptr address, size_t bytes);

/* What stands for an array's memory: a device's, and nobody tells which. No device has this number. */
#define REPRISE_MEMORY_OF_ARRAY ((uint8_t)(REPRISE_MEMORY_DEVICE | 63 << 2))

/* How many devices the driver has. */
int reprise_memory_devices(void);

static inline enum reprise_memory reprise_memory_kind(uint8_t memory)
{
	return (enum reprise_memory)(memory & 3);
}

/* Counts the calls after which an address may be of another kind. What was learnt at another count is not to be trusted. */
uint32_t reprise_memory_generation(void);
void reprise_memory_forget(void);
