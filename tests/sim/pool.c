/*
 * Stream-ordered allocation. An address is taken at the call, and may be taken again once the stream has reached its free.
 * Only the default pools exist; in a capture both calls are refused for now.
 */
#include "api.h"
#include "capture.h"
#include "context.h"
#include "device.h"
#include "memory.h"
#include "object.h"
#include "stream.h"

struct sim_pool {
	struct sim_object object;
	CUdevice device;
	cuuint64_t release_threshold;
};

static struct sim_pool *pools[SIM_MOST_DEVICES];

static struct sim_pool *default_pool(CUdevice device)
{
	if (!pools[device]) {
		pools[device] = sim_object_new(SIM_A_POOL, sizeof(struct sim_pool));
		pools[device]->device = device;
	}
	return pools[device];
}

static CUresult get_pool(CUmemoryPool *pool, CUdevice device)
{
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)default_pool(device);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device), (pool, device))
{
	return get_pool(pool, device);
}

API(SIM_INIT, cuDeviceGetMemPool, (CUmemoryPool *pool, CUdevice device), (pool, device))
{
	return get_pool(pool, device);
}

API(SIM_INIT, cuMemPoolSetAttribute, (CUmemoryPool handle, CUmemPool_attribute attribute, void *value), (handle, attribute, value))
{
	struct sim_pool *pool = sim_object_of(SIM_A_POOL, handle);

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		pool->release_threshold = *(const cuuint64_t *)value;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuMemPoolGetAttribute, (CUmemoryPool handle, CUmemPool_attribute attribute, void *value), (handle, attribute, value))
{
	const struct sim_pool *pool = sim_object_of(SIM_A_POOL, handle);

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = pool->release_threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)value = 1;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = sim_memory_used(pool->device);
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

API(SIM_INIT, cuMemPoolTrimTo, (CUmemoryPool handle, size_t keep), (handle, keep))
{
	return sim_object_of(SIM_A_POOL, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult refuse_capture(struct sim_stream *stream)
{
	if (!stream->capture)
		return sim_capture_prohibit_legacy(stream);
	if (stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	stream->capture->invalidated = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
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
	result = refuse_capture(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (bytes == 0) {
		*address = 0;
		return CUDA_SUCCESS;
	}
	memory = sim_memory_new(sim_current(), SIM_DEVICE, bytes, 0);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory->pool = pool;
	*address = memory->base;
	work = sim_work_new(SIM_ALLOC);
	work->memory = memory->base;
	return sim_stream_add(stream, work, NULL);
}

API_PTSZ(SIM_CONTEXT, cuMemAllocAsync, (CUdeviceptr *address, size_t bytes, CUstream stream), (address, bytes, stream))
{
	return allocate(address, bytes, default_pool(sim_current()->device), stream);
}

API_PTSZ(SIM_CONTEXT, cuMemAllocFromPoolAsync, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream),
	(address, bytes, pool, stream))
{
	if (!sim_object_of(SIM_A_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(address, bytes, (struct sim_pool *)pool, stream);
}

API_PTSZ(SIM_CONTEXT, cuMemFreeAsync, (CUdeviceptr address, CUstream handle), (address, handle))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_memory *memory = sim_memory_of((uintptr_t)address);
	struct sim_work *work;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = refuse_capture(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!memory || memory->base != address || memory->kind != SIM_DEVICE || memory->owned_by_module || memory->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	memory->freeing = true;
	work = sim_work_new(SIM_FREE);
	work->memory = address;
	return sim_stream_add(stream, work, NULL);
}
