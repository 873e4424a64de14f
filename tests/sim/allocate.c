/* Allocating and freeing memory, and asking what an address is. Freeing waits for the device, as
 * drivers do. */
#include "api.h"
#include "capture.h"
#include "context.h"
#include "drain.h"
#include "memory.h"
#include "memory_node.h"
#include "schedule.h"
#include "stream.h"

#define REGISTER_FLAGS \
	(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY | \
	 CU_MEMHOSTREGISTER_READ_ONLY)

static CUresult allocate(CUdeviceptr *address, enum sim_memory_kind kind, size_t bytes,
                         unsigned int flags)
{
	struct sim_memory *memory;
	CUresult result;

	if (!address || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	memory = sim_memory_new(sim_current(), kind, bytes, flags);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address = memory->base;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes))
{
	return allocate(address, SIM_DEVICE, bytes, 0);
}

API(SIM_CONTEXT, cuMemAllocPitch_v2,
    (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned int element_bytes),
    (address, pitch, width, height, element_bytes))
{
	if (!pitch || !width || !height ||
	    (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
		return CUDA_ERROR_INVALID_VALUE;
	*pitch = (width + 511) / 512 * 512;
	return allocate(address, SIM_DEVICE, *pitch * height, 0);
}

API(SIM_CONTEXT, cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned int flags),
    (address, bytes, flags))
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(address, SIM_MANAGED, bytes, flags);
}

/* Measured: no bytes are allocated successfully, unlike those of the device. */
static CUresult allocate_host(void **address, size_t bytes, unsigned int flags)
{
	CUdeviceptr device;
	CUresult result;

	if (!address)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes == 0) {
		*address = NULL;
		return CUDA_SUCCESS;
	}
	result = allocate(&device, SIM_PINNED, bytes, flags);
	if (result == CUDA_SUCCESS)
		*address = (void *)(uintptr_t)device;
	return result;
}

API(SIM_CONTEXT, cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes))
{
	return allocate_host(address, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
}

API(SIM_CONTEXT, cuMemHostAlloc, (void **address, size_t bytes, unsigned int flags),
    (address, bytes, flags))
{
	if (flags & ~(unsigned int)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
	                            CU_MEMHOSTALLOC_WRITECOMBINED))
		return CUDA_ERROR_INVALID_VALUE;
	return allocate_host(address, bytes, flags);
}

/* The block that begins at an address and may be freed by this entry point. */
static struct sim_memory *begins_at(uintptr_t address, bool host)
{
	struct sim_memory *memory = sim_memory_of(address);

	if (!memory || memory->base != address || memory->owned_by_module || memory->reserved)
		return NULL;
	if (host)
		return memory->kind == SIM_PINNED ? memory : NULL;
	return memory->kind == SIM_DEVICE || memory->kind == SIM_MANAGED ? memory : NULL;
}

static CUresult release(uintptr_t address, bool host)
{
	struct sim_memory *memory;
	CUresult result = sim_capture_unsafe();

	if (result != CUDA_SUCCESS)
		return result;
	memory = begins_at(address, host);
	if (!memory)
		return CUDA_ERROR_INVALID_VALUE;
	sim_drain_synchronize(memory->context);
	/* Another thread may have been let in meanwhile. */
	memory = begins_at(address, host);
	if (!memory || !sim_memory_node_take(memory))
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_node_freed(address);
	return sim_current()->error;
}

API(SIM_CONTEXT, cuMemFree_v2, (CUdeviceptr address), (address))
{
	return address ? release((uintptr_t)address, false) : CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemFreeHost, (void *address), (address))
{
	return release((uintptr_t)address, true);
}

API(SIM_CONTEXT, cuMemHostRegister_v2, (void *address, size_t bytes, unsigned int flags),
    (address, bytes, flags))
{
	CUresult result = sim_capture_unsafe();

	if (!address || !bytes || (flags & ~(unsigned int)REGISTER_FLAGS))
		return CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	if (sim_memory_of((uintptr_t)address) || sim_memory_of((uintptr_t)address + bytes - 1))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	sim_memory_know(sim_current(), SIM_REGISTERED, (uintptr_t)address, bytes, flags);
	return CUDA_SUCCESS;
}

static struct sim_memory *registered_at(uintptr_t address)
{
	struct sim_memory *memory = sim_memory_of(address);

	return memory && memory->kind == SIM_REGISTERED && memory->base == address ? memory : NULL;
}

/* Measured: it waits, as freeing does. */
API(SIM_CONTEXT, cuMemHostUnregister, (void *address), (address))
{
	struct sim_memory *memory = registered_at((uintptr_t)address);
	CUresult result = sim_capture_unsafe();

	if (result != CUDA_SUCCESS)
		return result;
	if (!memory)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	sim_drain_synchronize(memory->context);
	/* Another thread may have been let in meanwhile. */
	memory = registered_at((uintptr_t)address);
	if (!memory)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	sim_memory_free(memory);
	return CUDA_SUCCESS;
}

/* The memory that holds an address as programs are told of it. Measured: an allocation node's is
 * none until a launch has reached it. */
static const struct sim_memory *told_of(CUdeviceptr address)
{
	const struct sim_memory *memory = sim_memory_of((uintptr_t)address);

	return memory && (!memory->graph || memory->graph->live) ? memory : NULL;
}

static bool is_host(const struct sim_memory *memory)
{
	return memory && (memory->kind == SIM_PINNED || memory->kind == SIM_REGISTERED);
}

API(SIM_CONTEXT, cuMemHostGetDevicePointer_v2,
    (CUdeviceptr * device, void *host, unsigned int flags), (device, host, flags))
{
	if (!device || flags || !is_host(sim_memory_of((uintptr_t)host)))
		return CUDA_ERROR_INVALID_VALUE;
	*device = (CUdeviceptr)(uintptr_t)host;
	return CUDA_SUCCESS;
}

/* Measured: CU_MEMHOSTALLOC_DEVICEMAP is told of all, CU_MEMHOSTALLOC_PORTABLE only of memory that
 * was registered so. */
API(SIM_CONTEXT, cuMemHostGetFlags, (unsigned int *flags, void *host), (flags, host))
{
	const struct sim_memory *memory = sim_memory_of((uintptr_t)host);

	if (!flags || !is_host(memory))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = memory->flags | CU_MEMHOSTALLOC_DEVICEMAP;
	if (memory->kind == SIM_PINNED)
		*flags &= ~(unsigned int)CU_MEMHOSTALLOC_PORTABLE;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr address),
    (base, bytes, address))
{
	const struct sim_memory *memory = told_of(address);

	if (!memory)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = memory->base;
	if (bytes)
		*bytes = memory->bytes;
	return CUDA_SUCCESS;
}

/*
 * Managed memory may be attached to a stream, "a stream-ordered operation" that only restricts who
 * may touch it when: in its place in the order there is nothing to do. Measured: captures prohibit
 * it.
 */
API_PTSZ(SIM_CONTEXT, cuStreamAttachMemAsync,
         (CUstream stream, CUdeviceptr address, size_t bytes, unsigned int flags),
         (stream, address, bytes, flags))
{
	const struct sim_memory *memory = sim_memory_of((uintptr_t)address);
	struct sim_work *work;

	if (!sim_stream_of(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (sim_stream_of(stream)->capture)
		return sim_capture_prohibit(sim_stream_of(stream));
	if (!memory || memory->kind != SIM_MANAGED ||
	    (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
	     flags != CU_MEM_ATTACH_SINGLE))
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(SIM_ATTACH);
	work->attach.address = address;
	work->attach.flags = flags;
	return sim_stream_add(sim_stream_of(stream), work, NULL);
}

static CUresult get_attribute(void *value, CUpointer_attribute attribute,
                              const struct sim_memory *memory, CUdeviceptr address)
{
	bool on_host = is_host(memory);

	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)value = (CUcontext)memory->context;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)value = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)value = address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (memory->kind == SIM_DEVICE)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)value = (void *)(uintptr_t)address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(unsigned int *)value = memory->synchronous;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)value = memory->id;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)value = memory->kind == SIM_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)value = memory->context->device;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)value = memory->reserved ? memory->reserved->base : memory->base;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)value = memory->reserved ? memory->reserved->bytes : memory->bytes;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned char *)value = 1;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)value = (CUmemoryPool)memory->pool;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

/* "If ptr was not allocated by, mapped by, or registered with a CUcontext which uses unified
 * virtual addressing CUDA_ERROR_INVALID_VALUE is returned." */
API(SIM_INIT, cuPointerGetAttribute,
    (void *value, CUpointer_attribute attribute, CUdeviceptr address), (value, attribute, address))
{
	const struct sim_memory *memory = told_of(address);

	return value && memory ? get_attribute(value, attribute, memory, address)
	                       : CUDA_ERROR_INVALID_VALUE;
}

/*
 * "If there are some previously initiated synchronous memory operations that are pending when this
 * attribute is set, the function does not return until those ... are complete."
 */
API(SIM_INIT, cuPointerSetAttribute,
    (const void *value, CUpointer_attribute attribute, CUdeviceptr address),
    (value, attribute, address))
{
	struct sim_memory *memory = sim_memory_of((uintptr_t)address);
	bool synchronous;

	if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !told_of(address))
		return CUDA_ERROR_INVALID_VALUE;
	synchronous = *(const unsigned int *)value != 0;
	memory->synchronous = synchronous;
	if (synchronous)
		sim_schedule_wait(memory->context->legacy->last);
	return CUDA_SUCCESS;
}

/* Unlike cuPointerGetAttribute it succeeds for pageable memory, with zeros, and -2 for the device.
 * Where its range begins is not written, as on an H200. */
API(SIM_INIT, cuPointerGetAttributes,
    (unsigned int count, CUpointer_attribute *attributes, void **values, CUdeviceptr address),
    (count, attributes, values, address))
{
	static const size_t sizes[] = {
		[CU_POINTER_ATTRIBUTE_CONTEXT] = 8,          [CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = 4,
		[CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = 8,   [CU_POINTER_ATTRIBUTE_HOST_POINTER] = 8,
		[CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = 4,      [CU_POINTER_ATTRIBUTE_BUFFER_ID] = 8,
		[CU_POINTER_ATTRIBUTE_IS_MANAGED] = 4,       [CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = 4,
		[CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = 8, [CU_POINTER_ATTRIBUTE_RANGE_SIZE] = 8,
		[CU_POINTER_ATTRIBUTE_MAPPED] = 1,           [CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE] = 8,
	};
	const struct sim_memory *memory = told_of(address);
	unsigned int i;

	if (!attributes || !values)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if ((size_t)attributes[i] < sizeof(sizes) / sizeof(sizes[0]) &&
		    (memory || attributes[i] != CU_POINTER_ATTRIBUTE_RANGE_START_ADDR))
			memset(values[i], 0, sizes[attributes[i]]);
		if (memory)
			get_attribute(values[i], attributes[i], memory, address);
		else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
			*(int *)values[i] = -2;
	}
	return CUDA_SUCCESS;
}
