/*
 * Memory that is mapped by hand: addresses are reserved, memory is created, and mapped there piece
 * by piece. The memory is the reservation's own, so that what is mapped in two places, or in part,
 * is refused; and access is granted to all devices or not asked about.
 */
#include <sys/mman.h>

#include "api.h"
#include "context.h"
#include "memory.h"
#include "object.h"

#define GRAIN ((size_t)64 << 10)
#define WANTED ((uintptr_t)0x7ec000000000)

static VECTOR(struct sim_reservation *) reservations;
static uintptr_t next = WANTED;

/* What cuMemCreate made. */
struct piece {
	size_t bytes;
	bool mapped, released;
};

static bool is_whole(size_t bytes)
{
	return bytes != 0 && bytes % GRAIN == 0;
}

static struct sim_reservation *reservation_of(CUdeviceptr address, size_t bytes)
{
	size_t i;

	for (i = 0; i < reservations.count; i++) {
		struct sim_reservation *reserved = reservations.at[i];

		if (address >= reserved->base && bytes <= reserved->bytes &&
		    address - reserved->base <= reserved->bytes - bytes)
			return reserved;
	}
	return NULL;
}

API(SIM_INIT, cuMemGetAllocationGranularity,
    (size_t * grain, const CUmemAllocationProp *properties,
     CUmemAllocationGranularity_flags option),
    (grain, properties, option))
{
	if (!grain || !properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*grain = GRAIN;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuMemAddressReserve,
    (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wanted,
     unsigned long long flags),
    (address, bytes, alignment, wanted, flags))
{
	struct sim_reservation *reserved;
	void *at;

	if (!address || !is_whole(bytes) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	at = mmap((void *)next, bytes, PROT_READ | PROT_WRITE,
	          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	next += bytes;
	reserved = calloc(1, sizeof(*reserved));
	*reserved = (struct sim_reservation){(uintptr_t)at, bytes};
	sim_push(&reservations, reserved);
	*address = (CUdeviceptr)(uintptr_t)at;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuMemAddressFree, (CUdeviceptr address, size_t bytes), (address, bytes))
{
	size_t i;

	for (i = 0; i < reservations.count; i++)
		if (reservations.at[i]->base == address && reservations.at[i]->bytes == bytes) {
			munmap((void *)(uintptr_t)address, bytes);
			free(reservations.at[i]);
			sim_remove(&reservations, i);
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

API(SIM_CONTEXT, cuMemCreate,
    (CUmemGenericAllocationHandle * made, size_t bytes, const CUmemAllocationProp *properties,
     unsigned long long flags),
    (made, bytes, properties, flags))
{
	struct piece *piece;

	if (!made || !properties || !is_whole(bytes) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > sim_memory_unused(sim_current()->device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	piece = calloc(1, sizeof(*piece));
	piece->bytes = bytes;
	*made = (CUmemGenericAllocationHandle)(uintptr_t)piece;
	return CUDA_SUCCESS;
}

static void give_back(struct piece *piece)
{
	if (piece->released && !piece->mapped)
		free(piece);
}

API(SIM_INIT, cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
{
	struct piece *piece = (struct piece *)(uintptr_t)handle;

	if (!piece || piece->released)
		return CUDA_ERROR_INVALID_VALUE;
	piece->released = true;
	give_back(piece);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemMap,
    (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
     unsigned long long flags),
    (address, bytes, offset, handle, flags))
{
	struct sim_reservation *reserved = reservation_of(address, bytes);
	struct piece *piece = (struct piece *)(uintptr_t)handle;
	struct sim_memory *memory;

	if (!piece || !reserved || flags || address % GRAIN || sim_memory_of((uintptr_t)address))
		return CUDA_ERROR_INVALID_VALUE;
	if (offset || bytes != piece->bytes || piece->mapped)
		return CUDA_ERROR_NOT_SUPPORTED;
	memory = sim_memory_know(sim_current(), SIM_DEVICE, (uintptr_t)address, bytes, 0);
	memory->reserved = reserved;
	memory->piece = piece;
	piece->mapped = true;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemSetAccess,
    (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count),
    (address, bytes, access, count))
{
	if (!access || count != 1 || !reservation_of(address, bytes) ||
	    !sim_memory_of((uintptr_t)address))
		return CUDA_ERROR_INVALID_VALUE;
	return access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? CUDA_SUCCESS
	                                                           : CUDA_ERROR_NOT_SUPPORTED;
}

/* Whole pieces, however many. */
API(SIM_CONTEXT, cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes))
{
	CUdeviceptr at = address, end = address + bytes;
	struct sim_memory *memory;

	if (!reservation_of(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	sim_context_synchronize(sim_current());
	for (; at < end; at += GRAIN) {
		struct piece *piece;

		memory = sim_memory_of((uintptr_t)at);
		if (!memory || memory->base != at)
			continue;
		piece = memory->piece;
		sim_memory_free(memory);
		piece->mapped = false;
		give_back(piece);
	}
	return CUDA_SUCCESS;
}
