/*
 * Green contexts: a part of the device's multiprocessors, as a name for it that streams carry. "A
 * normal primary context but with the resources of the specified green context": everything else
 * about such a stream is the primary context's.
 */
#include "green.h"

#include "api.h"
#include "capture.h"
#include "context.h"
#include "device.h"
#include "stream.h"

/* "On Compute Architecture 9.0+: The minimum count is 8 SMs and must be a multiple of 8." */
#define STEP 8u

struct description {
	struct sim_object object;
	unsigned int multiprocessors;
};

static CUdevResource resource_of(unsigned int multiprocessors)
{
	CUdevResource resource = {.type = CU_DEV_RESOURCE_TYPE_SM};

	resource.sm = (CUdevSmResource){multiprocessors, STEP, STEP};
	return resource;
}

API(SIM_INIT, cuDeviceGetDevResource,
    (CUdevice device, CUdevResource *resource, CUdevResourceType type), (device, resource, type))
{
	if (!resource)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	*resource =
		resource_of((unsigned int)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
	return CUDA_SUCCESS;
}

/* Each group gets the least count that satisfies `least`; `flags` change nothing here. */
API(SIM_INIT, cuDevSmResourceSplitByCount,
    (CUdevResource * groups, unsigned int *count, const CUdevResource *whole,
     CUdevResource *remaining, unsigned int flags, unsigned int least),
    (groups, count, whole, remaining, flags, least))
{
	unsigned int each = (least + STEP - 1) / STEP * STEP, possible, i;

	if (!count || !whole || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (whole->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	if (least > whole->sm.smCount)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	each = each ? each : STEP;
	possible = whole->sm.smCount / each;
	if (groups && *count < possible)
		possible = *count;
	for (i = 0; groups && i < possible; i++)
		groups[i] = resource_of(each);
	if (groups && remaining)
		*remaining = resource_of(whole->sm.smCount - possible * each);
	*count = possible;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDevResourceGenerateDesc,
    (CUdevResourceDesc * made, CUdevResource *resources, unsigned int count),
    (made, resources, count))
{
	struct description *description;

	if (!made || !resources || count != 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (resources->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	description = sim_object_new(SIM_A_RESOURCE, sizeof(*description));
	description->multiprocessors = resources->sm.smCount;
	*made = (CUdevResourceDesc)description;
	return CUDA_SUCCESS;
}

/* "CU_GREEN_CTX_DEFAULT_STREAM is required." */
API(SIM_INIT, cuGreenCtxCreate,
    (CUgreenCtx * made, CUdevResourceDesc handle, CUdevice device, unsigned int flags),
    (made, handle, device, flags))
{
	const struct description *description = sim_object_of(SIM_A_RESOURCE, handle);
	struct sim_green *green;

	if (!made || !description || flags != CU_GREEN_CTX_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	green = sim_object_new(SIM_A_GREEN_CONTEXT, sizeof(*green));
	green->device = device;
	green->multiprocessors = description->multiprocessors;
	sim_context_retain_primary(device);
	*made = (CUgreenCtx)green;
	return CUDA_SUCCESS;
}

/* Streams have to be destroyed before: those that are left do as their primary context's others
 * from then on. */
API(SIM_INIT, cuGreenCtxDestroy, (CUgreenCtx handle), (handle))
{
	struct sim_green *green = sim_object_of(SIM_A_GREEN_CONTEXT, handle);
	struct sim_context *context;
	size_t i;

	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	context = sim_context_primary(green->device);
	for (i = 0; i < context->streams.count; i++)
		if (context->streams.at[i]->green == green)
			context->streams.at[i]->green = NULL;
	sim_object_free(green);
	sim_context_release_primary(context->device);
	return CUDA_SUCCESS;
}

/* "CU_STREAM_NON_BLOCKING must be specified." The current context does not matter. */
API(SIM_INIT, cuGreenCtxStreamCreate,
    (CUstream * made, CUgreenCtx handle, unsigned int flags, int priority),
    (made, handle, flags, priority))
{
	struct sim_green *green = sim_object_of(SIM_A_GREEN_CONTEXT, handle);
	struct sim_stream *stream;

	if (!made || flags != CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	stream = sim_stream_new(sim_context_primary(green->device), flags,
	                        sim_stream_priority(priority), SIM_CREATED_STREAM);
	stream->green = green;
	*made = (CUstream)stream;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuStreamGetGreenCtx, (CUstream handle, CUgreenCtx *green), (handle, green))
{
	if (!green)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_stream_of(handle))
		return CUDA_ERROR_INVALID_HANDLE;
	*green = (CUgreenCtx)sim_stream_of(handle)->green;
	return CUDA_SUCCESS;
}
