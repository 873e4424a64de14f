/*
 * Where managed memory is: prefetching and advice. Memory is ordinary memory here, so both move
 * nothing; advice is kept, of a whole allocation, for cuMemRangeGetAttribute to tell.
 */
#include "api.h"
#include "capture.h"
#include "context.h"
#include "device.h"
#include "memory.h"
#include "schedule.h"
#include "stream.h"

static struct sim_memory *managed(CUdeviceptr address, size_t bytes)
{
	struct sim_memory *memory = sim_memory_of((uintptr_t)address);

	if (!memory || memory->kind != SIM_MANAGED || bytes == 0 ||
	    bytes > memory->bytes - ((uintptr_t)address - memory->base))
		return NULL;
	return memory;
}

/* Host NUMA nodes are not modelled beyond being there. */
static CUresult check_location(CUmemLocation location)
{
	switch ((int)location.type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		return sim_device_exists(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
	case CU_MEM_LOCATION_TYPE_HOST:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* Older forms and answers name the host by CU_DEVICE_CPU. */
static CUmemLocation location_of(CUdevice device)
{
	return device == CU_DEVICE_CPU
	           ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
	           : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static CUdevice device_of(CUmemLocation location)
{
	if (location.type == CU_MEM_LOCATION_TYPE_INVALID)
		return CU_DEVICE_INVALID;
	return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

/* Measured: a capture prohibits it. */
static CUresult prefetch(CUdeviceptr address, size_t bytes, CUmemLocation location,
                         unsigned int flags, CUstream handle)
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_memory *memory = managed(address, bytes);
	CUresult result;
	struct sim_op *op;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return sim_capture_prohibit(stream);
	if (!memory || flags)
		return CUDA_ERROR_INVALID_VALUE;
	result = check_location(location);
	if (result == CUDA_SUCCESS)
		result = sim_capture_prohibit_legacy(stream);
	if (result != CUDA_SUCCESS)
		return result;
	memory->prefetched = location;
	sim_drain_pass(stream->context);
	op = sim_op_new(stream->context, stream->place, NULL);
	sim_stream_append(stream, op);
	sim_op_enqueue(op);
	sim_op_drop(op);
	sim_schedule_enqueued();
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuMemPrefetchAsync,
         (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
         (address, bytes, device, stream))
{
	return prefetch(address, bytes, location_of(device), 0, stream);
}

API_PTSZ(SIM_CONTEXT, cuMemPrefetchAsync_v2,
         (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
          CUstream stream),
         (address, bytes, location, flags, stream))
{
	return prefetch(address, bytes, location, flags, stream);
}

/* "location ... is ignored" for read-mostly, and for taking back the preferred location. */
static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                       CUmemLocation location)
{
	struct sim_memory *memory = managed(address, bytes);
	CUresult result = CUDA_SUCCESS;

	if (!memory || advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
		return CUDA_ERROR_INVALID_VALUE;
	if (advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
	    advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
		result = check_location(location);
	if (result != CUDA_SUCCESS)
		return result;
	if (advice == CU_MEM_ADVISE_SET_READ_MOSTLY || advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY)
		memory->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
	if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION)
		memory->preferred = location;
	if (advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
		memory->preferred = (CUmemLocation){0};
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemAdvise,
    (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device),
    (address, bytes, advice, device))
{
	return advise(address, bytes, advice, location_of(device));
}

API(SIM_CONTEXT, cuMemAdvise_v2,
    (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location),
    (address, bytes, advice, location))
{
	return advise(address, bytes, advice, location);
}

/* Who it is accessed by is not kept. */
API(SIM_CONTEXT, cuMemRangeGetAttribute,
    (void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address, size_t bytes),
    (data, size, attribute, address, bytes))
{
	const struct sim_memory *memory = managed(address, bytes);

	if (!data || !memory)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute != CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
	    attribute != CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION &&
	    attribute != CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (size != sizeof(int))
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY)
		*(int *)data = memory->read_mostly;
	else
		*(int *)data =
			device_of(attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION ? memory->preferred
		                                                                     : memory->prefetched);
	return CUDA_SUCCESS;
}
