/*
 * Sharing with other processes. Events are; memory and pools would be: the arguments are checked,
 * and the rest is refused. Since no memory is ever shared, a handle of it that is to be opened is
 * none, and is answered as a GPU answers that.
 */
#include "api.h"
#include "context.h"
#include "event.h"
#include "memory.h"
#include "pool.h"

/* "CUDA_ERROR_INVALID_HANDLE": an event created without CU_EVENT_INTERPROCESS cannot be exported.
 */
API(SIM_CONTEXT, cuIpcGetEventHandle, (CUipcEventHandle * shared, CUevent handle), (shared, handle))
{
	const struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);

	if (!shared || !handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event || !(event->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->file < 0)
		return CUDA_ERROR_NOT_SUPPORTED;
	sim_shared_event_export(shared, event->file);
	return CUDA_SUCCESS;
}

/* "The imported event ... behaves like a locally created event with the CU_EVENT_DISABLE_TIMING
 * flag specified." */
API(SIM_CONTEXT, cuIpcOpenEventHandle, (CUevent * handle, CUipcEventHandle exported),
    (handle, exported))
{
	struct sim_shared_event *shared;
	struct sim_event *event;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	shared = sim_shared_event_import(&exported);
	if (!shared)
		return CUDA_ERROR_MAP_FAILED;
	event = sim_event_new(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	event->shared = shared;
	*handle = (CUevent)event;
	return CUDA_SUCCESS;
}

/* Only memory of cuMemAlloc has such a handle. */
API(SIM_CONTEXT, cuIpcGetMemHandle, (CUipcMemHandle * shared, CUdeviceptr address),
    (shared, address))
{
	const struct sim_memory *memory = sim_memory_of((uintptr_t)address);

	if (!shared || !memory || memory->kind != SIM_DEVICE || memory->pool || memory->graph)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_ERROR_NOT_SUPPORTED;
}

API(SIM_CONTEXT, cuIpcOpenMemHandle_v2,
    (CUdeviceptr * address, CUipcMemHandle shared, unsigned int flags), (address, shared, flags))
{
	return CUDA_ERROR_INVALID_VALUE;
}

/* Nothing was ever opened. */
API(SIM_CONTEXT, cuIpcCloseMemHandle, (CUdeviceptr address), (address))
{
	return CUDA_ERROR_INVALID_VALUE;
}

/* No pool is made for export. */
API(SIM_INIT, cuMemPoolExportToShareableHandle,
    (void *shared, CUmemoryPool handle, CUmemAllocationHandleType type, unsigned long long flags),
    (shared, handle, type, flags))
{
	return CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuMemPoolImportFromShareableHandle,
    (CUmemoryPool * pool, void *shared, CUmemAllocationHandleType type, unsigned long long flags),
    (pool, shared, type, flags))
{
	return pool ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuMemPoolExportPointer, (CUmemPoolPtrExportData * shared, CUdeviceptr address),
    (shared, address))
{
	return CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuMemPoolImportPointer,
    (CUdeviceptr * address, CUmemoryPool pool, CUmemPoolPtrExportData *shared),
    (address, pool, shared))
{
	return CUDA_ERROR_INVALID_VALUE;
}
