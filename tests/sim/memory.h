/*
 * Memory that the driver knows: device, pinned host, registered host, managed. Anything else is
 * pageable host memory.
 *
 * All of it is ordinary memory of the process, at addresses that are the same in each run, so that
 * a program's mistakes are too. Host and device addresses are equal, as unified addressing allows.
 */
#pragma once

#include "sim.h"

enum sim_memory_kind {
	SIM_PAGEABLE,
	SIM_DEVICE,
	SIM_PINNED,
	SIM_MANAGED,
	SIM_REGISTERED, /* the program's own memory, pinned by cuMemHostRegister */
	SIM_MEMORY_KINDS
};

/* Addresses that cuMemAddressReserve gave out. */
struct sim_reservation {
	uintptr_t base;
	size_t bytes;
};

struct sim_memory {
	uintptr_t base;
	size_t bytes;
	enum sim_memory_kind kind;
	unsigned int flags;   /* of cuMemHostAlloc or cuMemHostRegister */
	uint32_t ordinal;     /* of its kind, in order of allocation, from 1 */
	uint64_t id;          /* CU_POINTER_ATTRIBUTE_BUFFER_ID */
	bool freeing;         /* cuMemFreeAsync is on its way */
	bool synchronous;     /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
	bool owned_by_module; /* a global variable: not to be freed by the program */
	bool read_mostly;     /* advice for managed memory, and where that was prefetched to last
	                         (managed.c) */
	CUmemLocation preferred, prefetched;
	struct sim_context *context;
	struct sim_pool *pool; /* of cuMemAllocAsync, else NULL */
	const struct sim_reservation
		*reserved;                  /* of memory that is mapped by hand (virtual.c), else NULL */
	struct piece *piece;            /* likewise: what is mapped there */
	struct sim_graph_memory *graph; /* of an allocation node, else NULL; owned */
};

/* The addresses of all that follows; for cuInit. */
void sim_memory_reserve(void);

/* NULL when there is no room. */
struct sim_memory *sim_memory_new(struct sim_context *context, enum sim_memory_kind kind,
                                  size_t bytes, unsigned int flags);

/* Makes memory that exists known. */
struct sim_memory *sim_memory_know(struct sim_context *context, enum sim_memory_kind kind,
                                   uintptr_t base, size_t bytes, unsigned int flags);

void sim_memory_free(struct sim_memory *memory);

/* The memory that holds an address, or NULL: then it is pageable, or nothing at all. */
struct sim_memory *sim_memory_of(uintptr_t address);
enum sim_memory_kind sim_memory_kind_of(uintptr_t address);

/* Whether a copy or memset may touch it: inside one block, or what is mapped by hand without a gap,
 * or pageable and not null. */
bool sim_memory_may_touch(uintptr_t address, size_t bytes);

/* How many allocations and registrations the context has. */
size_t sim_memory_count(const struct sim_context *context);
/* Everything of a context that is going away. */
void sim_memory_forget_context(struct sim_context *context);

/* Device memory in use that has no address of the program's: executable graphs. False when there is
 * no room. */
bool sim_memory_charge(CUdevice device, size_t bytes);
void sim_memory_discharge(CUdevice device, size_t bytes);

size_t sim_memory_used(CUdevice device); /* by allocations */
size_t sim_memory_unused(CUdevice device);
