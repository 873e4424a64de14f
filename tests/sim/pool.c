/*
 * Stream-ordered allocation, and the pools that it draws on. An address is taken at the call, and
 * may be taken again once the stream has reached its free. In a capture both calls become memory
 * nodes. What is freed a pool keeps no longer.
 */
#include "pool.h"

#include "api.h"
#include "capture.h"
#include "context.h"
#include "device.h"
#include "memory.h"
#include "memory_node.h"
#include "stream.h"

static struct sim_pool *defaults[SIM_MOST_DEVICES], *current[SIM_MOST_DEVICES];

static struct sim_pool *pool_new(CUdevice device)
{
	struct sim_pool *pool = sim_object_new(SIM_A_POOL, sizeof(*pool));
	size_t i;

	pool->device = device;
	for (i = 0; i < 3; i++)
		pool->reuse[i] = 1;
	return pool;
}

static struct sim_pool *default_pool(CUdevice device)
{
	if (!defaults[device]) {
		defaults[device] = pool_new(device);
		defaults[device]->is_default = true;
	}
	return defaults[device];
}

static struct sim_pool *current_pool(CUdevice device)
{
	return current[device] ? current[device] : default_pool(device);
}

static struct sim_pool *pool_of(CUmemoryPool handle)
{
	struct sim_pool *pool = sim_object_of(SIM_A_POOL, handle);

	return pool && !pool->destroyed ? pool : NULL;
}

static void forget_if_unused(struct sim_pool *pool)
{
	if (pool->destroyed && pool->used == 0)
		sim_object_free(pool);
}

void sim_pool_returned(struct sim_pool *pool, size_t bytes)
{
	pool->used -= bytes;
	forget_if_unused(pool);
}

API(SIM_INIT, cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device))
{
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)default_pool(device);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device))
{
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)current_pool(device);
	return CUDA_SUCCESS;
}

static CUresult pool_at(CUmemoryPool *pool, const CUmemLocation *location, CUmemAllocationType type,
                        struct sim_pool *(*which)(CUdevice device))
{
	if (!pool || !location || type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    location->type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device_exists(location->id))
		return CUDA_ERROR_INVALID_VALUE;
	*pool = (CUmemoryPool)which(location->id);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuMemGetDefaultMemPool,
    (CUmemoryPool * pool, CUmemLocation *location, CUmemAllocationType type),
    (pool, location, type))
{
	return pool_at(pool, location, type, default_pool);
}

API(SIM_INIT, cuMemGetMemPool,
    (CUmemoryPool * pool, CUmemLocation *location, CUmemAllocationType type),
    (pool, location, type))
{
	return pool_at(pool, location, type, current_pool);
}

/* "The memory pool must be local to the specified device." */
API(SIM_INIT, cuDeviceSetMemPool, (CUdevice device, CUmemoryPool handle), (device, handle))
{
	struct sim_pool *pool = pool_of(handle);

	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!pool || pool->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	current[device] = pool;
	return CUDA_SUCCESS;
}

/* Pools of host memory are not modelled. */
static bool is_clean(const CUmemPoolProps *props)
{
	static const CUmemPoolProps none;

	return memcmp(props->reserved, none.reserved, sizeof(none.reserved)) == 0;
}

API(SIM_INIT, cuMemPoolCreate, (CUmemoryPool * made, const CUmemPoolProps *props), (made, props))
{
	struct sim_pool *pool;

	if (!made || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !is_clean(props))
		return CUDA_ERROR_INVALID_VALUE;
	if (props->location.type == CU_MEM_LOCATION_TYPE_INVALID ||
	    props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
		return CUDA_ERROR_INVALID_VALUE;
	if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    (props->handleTypes & ~(unsigned int)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!sim_device_exists(props->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	pool = pool_new(props->location.id);
	pool->most = props->maxSize;
	*made = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

/* "Destroying the current mempool of a device sets the default mempool of that device as the
 * current mempool". "A device's default memory pool cannot be destroyed." */
API(SIM_INIT, cuMemPoolDestroy, (CUmemoryPool handle), (handle))
{
	struct sim_pool *pool = pool_of(handle);

	if (!pool || pool->is_default)
		return CUDA_ERROR_INVALID_VALUE;
	if (current[pool->device] == pool)
		current[pool->device] = NULL;
	pool->destroyed = true;
	forget_if_unused(pool);
	return CUDA_SUCCESS;
}

/* A pool grows by so much at a time. */
static cuuint64_t reserved_for(cuuint64_t used)
{
	const cuuint64_t grain = 32 << 20;

	return (used + grain - 1) / grain * grain;
}

API(SIM_INIT, cuMemPoolSetAttribute,
    (CUmemoryPool handle, CUmemPool_attribute attribute, void *value), (handle, attribute, value))
{
	struct sim_pool *pool = pool_of(handle);

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		pool->release_threshold = *(const cuuint64_t *)value;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] =
			*(const int *)value != 0;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH: /* one watermark stands for both */
		if (*(const cuuint64_t *)value != 0)
			return CUDA_ERROR_INVALID_VALUE;
		pool->used_high = pool->used;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

API(SIM_INIT, cuMemPoolGetAttribute,
    (CUmemoryPool handle, CUmemPool_attribute attribute, void *value), (handle, attribute, value))
{
	const struct sim_pool *pool = pool_of(handle);

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = pool->release_threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)value = pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = pool->used;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = pool->used_high;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = reserved_for(pool->used);
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = reserved_for(pool->used_high);
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

API(SIM_INIT, cuMemPoolTrimTo, (CUmemoryPool handle, size_t keep), (handle, keep))
{
	return pool_of(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* "By default, the pool's memory will be accessible from the device it is allocated on", which
 * cannot be taken from it. */
API(SIM_INIT, cuMemPoolGetAccess,
    (CUmemAccess_flags * flags, CUmemoryPool handle, CUmemLocation *location),
    (flags, handle, location))
{
	const struct sim_pool *pool = pool_of(handle);

	if (!flags || !pool || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    !sim_device_exists(location->id))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = location->id == pool->device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	                                      : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuMemPoolSetAccess,
    (CUmemoryPool handle, const CUmemAccessDesc *access, size_t count), (handle, access, count))
{
	const struct sim_pool *pool = pool_of(handle);
	size_t i;

	if (!pool || (count && !access))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		    !sim_device_exists(access[i].location.id))
			return CUDA_ERROR_INVALID_VALUE;
		if (access[i].location.id == pool->device &&
		    access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			return CUDA_ERROR_INVALID_DEVICE;
	}
	return CUDA_SUCCESS;
}

/* In a capture: a memory node, whose address is the answer. */
static CUresult capture_allocation(CUdeviceptr *address, size_t bytes, const struct sim_pool *pool,
                                   struct sim_stream *stream)
{
	CUDA_MEM_ALLOC_NODE_PARAMS_v2 params = {
		.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = pool->device}},
		.bytesize = bytes,
	};
	struct sim_work *work;
	CUresult result;

	if (stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	result = sim_memory_node_alloc(&work, stream->capture->graph, &params);
	if (result != CUDA_SUCCESS)
		return result;
	*address = params.dptr;
	return sim_stream_add(stream, work, NULL);
}

static CUresult allocate(CUdeviceptr *address, size_t bytes, struct sim_pool *pool, CUstream handle)
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_memory *memory;
	struct sim_work *work;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!address)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes == 0) {
		*address = 0;
		return CUDA_SUCCESS;
	}
	if (stream->capture)
		return capture_allocation(address, bytes, pool, stream);
	result = sim_capture_prohibit_legacy(stream);
	if (result != CUDA_SUCCESS)
		return result;
	memory = pool->most && pool->used + bytes > pool->most
	             ? NULL
	             : sim_memory_new(sim_current(), SIM_DEVICE, bytes, 0);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory->pool = pool;
	pool->used += bytes;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	*address = memory->base;
	work = sim_work_new(SIM_ALLOC);
	work->memory = memory->base;
	return sim_stream_add(stream, work, NULL);
}

API_PTSZ(SIM_CONTEXT, cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream),
         (address, bytes, stream))
{
	return allocate(address, bytes, current_pool(sim_current()->device), stream);
}

API_PTSZ(SIM_CONTEXT, cuMemAllocFromPoolAsync,
         (CUdeviceptr * address, size_t bytes, CUmemoryPool handle, CUstream stream),
         (address, bytes, handle, stream))
{
	struct sim_pool *pool = pool_of(handle);

	return pool ? allocate(address, bytes, pool, stream) : CUDA_ERROR_INVALID_VALUE;
}

API_PTSZ(SIM_CONTEXT, cuMemFreeAsync, (CUdeviceptr address, CUstream handle), (address, handle))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_memory *memory = sim_memory_of((uintptr_t)address);
	struct sim_work *work;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture) {
		if (stream->capture->invalidated)
			return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
		if (!address)
			return CUDA_SUCCESS;
		result = sim_memory_node_free(&work, stream->capture->graph, address);
		return result == CUDA_SUCCESS ? sim_stream_add(stream, work, NULL) : result;
	}
	result = sim_capture_prohibit_legacy(stream);
	if (result != CUDA_SUCCESS || !address)
		return result;
	if (!memory || memory->base != address || memory->kind != SIM_DEVICE ||
	    memory->owned_by_module || memory->reserved || memory->freeing ||
	    !sim_memory_node_take(memory))
		return CUDA_ERROR_INVALID_VALUE;
	memory->freeing = !memory->graph;
	work = sim_work_new(SIM_FREE);
	work->memory = address;
	return sim_stream_add(stream, work, NULL);
}
