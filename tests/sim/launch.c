/* Launching: kernels, host functions and callbacks. */
#include "api.h"
#include "attribute.h"
#include "capture.h"
#include "context.h"
#include "event.h"
#include "green.h"
#include "kernel_work.h"
#include "pace.h"
#include "stream.h"

#define MOST_ATTRIBUTES 64

/* What a stream may say of its kernels. Its priority is no part of the work: a graph launched into
 * another stream has that one's. */
static const CUlaunchAttributeID of_streams[] = {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                                 CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                                                 CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};

/* A launch's attributes, and those of its stream that it does not have itself. */
static unsigned int take_stream_attributes(CUlaunchAttribute *all, const struct sim_stream *stream,
                                           const CUlaunchAttribute *own, unsigned int count)
{
	unsigned int total = count, i, j;

	if (count)
		memcpy(all, own, count * sizeof(*all));
	for (i = 0; i < sizeof(of_streams) / sizeof(of_streams[0]); i++) {
		CUlaunchAttributeValue first = sim_attribute_default(of_streams[i]);

		for (j = 0; j < count && own[j].id != of_streams[i]; j++)
			;
		if (j == count && memcmp(&first, &stream->attributes[of_streams[i]], sizeof(first)) != 0)
			all[total++] = (CUlaunchAttribute){.id = of_streams[i],
			                                   .value = stream->attributes[of_streams[i]]};
	}
	return total;
}

/* Its attributes take no more of the stack than they must, and have left it when the kernel runs:
 * the stack may be a small one. */
__attribute__((noinline)) static CUresult work_of_launch(
	struct sim_work **work, const struct sim_stream *stream, CUfunction function,
	struct sim_dim grid, struct sim_dim block, unsigned int shared_bytes, void **params,
	void **extra, const CUlaunchAttribute *attributes, unsigned int attribute_count)
{
	CUlaunchAttribute all[attribute_count + sizeof(of_streams) / sizeof(of_streams[0])];

	attribute_count = take_stream_attributes(all, stream, attributes, attribute_count);
	return sim_work_kernel(work, function, grid, block, shared_bytes, params, extra, all,
	                       attribute_count);
}

static CUresult launch(CUfunction function, struct sim_dim grid, struct sim_dim block,
                       unsigned int shared_bytes, CUstream handle, void **params, void **extra,
                       const CUlaunchAttribute *attributes, unsigned int attribute_count)
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_work *work;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (attribute_count > MOST_ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture && stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	result = work_of_launch(&work, stream, function, grid, block, shared_bytes, params, extra,
	                        attributes, attribute_count);
	/* Measured: a launch of impossible dimensions invalidates the capture, one without its
	 * parameters does not. */
	if (stream->capture && (result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ||
	                        (result == CUDA_ERROR_INVALID_VALUE &&
	                         !sim_kernel_may_have_shape(function, grid, block, shared_bytes))))
		stream->capture->invalidated = true;
	if (result != CUDA_SUCCESS)
		return result;
	if (work->context != stream->context) {
		sim_work_drop(work);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	work->kernel.multiprocessors = stream->green ? stream->green->multiprocessors : 0;
	result = sim_stream_add(stream, work, NULL);
	if (!stream->capture)
		sim_pace_launch();
	return result;
}

API_PTSZ(SIM_CONTEXT, cuLaunchKernel,
         (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
          unsigned int block_x, unsigned int block_y, unsigned int block_z,
          unsigned int shared_bytes, CUstream stream, void **params, void **extra),
         (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params,
          extra))
{
	return launch(function, (struct sim_dim){grid_x, grid_y, grid_z},
	              (struct sim_dim){block_x, block_y, block_z}, shared_bytes, stream, params, extra,
	              NULL, 0);
}

/* An event that the launch itself records: it is taken to be recorded when the kernel has finished,
 * which is allowed. */
static void record_launch_events(const CUlaunchConfig *config)
{
	struct sim_stream *stream = sim_stream_of(config->hStream);
	unsigned int i;

	for (i = 0; i < config->numAttrs; i++) {
		struct sim_event *event = NULL;

		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
			event = sim_object_of(SIM_AN_EVENT, config->attrs[i].value.programmaticEvent.event);
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
			event = sim_object_of(SIM_AN_EVENT, config->attrs[i].value.launchCompletionEvent.event);
		if (event && stream->last)
			sim_event_recorded(event, stream->last);
	}
}

/* The driver writes the node's handle there, though the configuration is const. Measured: the place
 * has to be empty. */
static CUresult check_device_updatable(const CUlaunchAttribute *attribute,
                                       const struct sim_stream *stream)
{
	CUgraphDeviceNode *place =
		(CUgraphDeviceNode *)(uintptr_t)&attribute->value.deviceUpdatableKernelNode.devNode;

	if (!stream || !stream->capture)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (*place)
		return CUDA_ERROR_INVALID_VALUE;
	*place = (CUgraphDeviceNode)(uintptr_t)attribute; /* any but NULL: nothing here takes one */
	return CUDA_SUCCESS;
}

/* "Valid for launches": the documentation of CUlaunchAttributeID. Measured: events have to be
 * there, and only captured launches are device-updatable. */
static CUresult check_attribute(const CUlaunchAttribute *attribute, const struct sim_stream *stream)
{
	CUevent event = NULL;

	switch ((int)attribute->id) {
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
	case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		event = attribute->value.programmaticEvent.event;
		break;
	case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		event = attribute->value.launchCompletionEvent.event;
		break;
	case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return check_device_updatable(attribute, stream);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return sim_object_of(SIM_AN_EVENT, event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API_PTSZ(SIM_CONTEXT, cuLaunchKernelEx,
         (const CUlaunchConfig *config, CUfunction function, void **params, void **extra),
         (config, function, params, extra))
{
	CUresult result;
	unsigned int i;

	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < config->numAttrs; i++) {
		result = check_attribute(&config->attrs[i], sim_stream_of(config->hStream));
		if (result != CUDA_SUCCESS)
			return result;
	}
	result =
		launch(function, (struct sim_dim){config->gridDimX, config->gridDimY, config->gridDimZ},
	           (struct sim_dim){config->blockDimX, config->blockDimY, config->blockDimZ},
	           config->sharedMemBytes, config->hStream, params, extra, config->attrs,
	           config->numAttrs);
	if (result == CUDA_SUCCESS)
		record_launch_events(config);
	return result;
}

API_PTSZ(SIM_CONTEXT, cuLaunchCooperativeKernel,
         (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
          unsigned int block_x, unsigned int block_y, unsigned int block_z,
          unsigned int shared_bytes, CUstream stream, void **params),
         (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
          params))
{
	CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};

	return launch(function, (struct sim_dim){grid_x, grid_y, grid_z},
	              (struct sim_dim){block_x, block_y, block_z}, shared_bytes, stream, params, NULL,
	              &cooperative, 1);
}

API_PTSZ(SIM_CONTEXT, cuLaunchHostFunc, (CUstream handle, CUhostFn function, void *data),
         (handle, function, data))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_work *work;

	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	work = sim_work_new(SIM_HOST);
	work->host.function = function;
	work->host.data = data;
	return sim_stream_add(stream, work, NULL);
}

/* "cuStreamAddCallback is not supported in stream capture": it fails and invalidates the capture.
 */
API_PTSZ(SIM_CONTEXT, cuStreamAddCallback,
         (CUstream handle, CUstreamCallback function, void *data, unsigned int flags),
         (handle, function, data, flags))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_work *work;

	if (!function || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return sim_capture_prohibit(stream);
	work = sim_work_new(SIM_CALLBACK);
	work->callback.function = function;
	work->callback.stream = handle;
	work->callback.data = data;
	return sim_stream_add(stream, work, NULL);
}
