/* Launching: kernels, host functions and callbacks. */
#include "api.h"
#include "capture.h"
#include "context.h"
#include "event.h"
#include "stream.h"

static CUresult launch(CUfunction function, struct sim_dim grid, struct sim_dim block, unsigned int shared_bytes, CUstream handle,
	void **params, void **extra, const CUlaunchAttribute *attributes, unsigned int attribute_count)
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_work *work;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_work_kernel(&work, function, grid, block, shared_bytes, params, extra, attributes, attribute_count);
	if (result != CUDA_SUCCESS)
		return result;
	if (work->context != stream->context) {
		sim_work_drop(work);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	return sim_stream_add(stream, work, NULL);
}

API_PTSZ(SIM_CONTEXT, cuLaunchKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params, void **extra),
	(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params, extra))
{
	return launch(function, (struct sim_dim){grid_x, grid_y, grid_z}, (struct sim_dim){block_x, block_y, block_z}, shared_bytes, stream,
		params, extra, NULL, 0);
}

/* An event that the launch itself records: it is taken to be recorded when the kernel has finished, which is allowed. */
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

API_PTSZ(SIM_CONTEXT, cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **params, void **extra),
	(config, function, params, extra))
{
	CUresult result;
	unsigned int i;

	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id >= CU_LAUNCH_ATTRIBUTE_MAX)
			return CUDA_ERROR_INVALID_VALUE;
	result = launch(function, (struct sim_dim){config->gridDimX, config->gridDimY, config->gridDimZ},
		(struct sim_dim){config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream,
		params, extra, config->attrs, config->numAttrs);
	if (result == CUDA_SUCCESS)
		record_launch_events(config);
	return result;
}

API_PTSZ(SIM_CONTEXT, cuLaunchCooperativeKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params),
	(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params))
{
	CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};

	return launch(function, (struct sim_dim){grid_x, grid_y, grid_z}, (struct sim_dim){block_x, block_y, block_z}, shared_bytes, stream,
		params, NULL, &cooperative, 1);
}

API_PTSZ(SIM_CONTEXT, cuLaunchHostFunc, (CUstream handle, CUhostFn function, void *data), (handle, function, data))
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

/* "cuStreamAddCallback is not supported in stream capture": it fails and invalidates the capture. */
API_PTSZ(SIM_CONTEXT, cuStreamAddCallback, (CUstream handle, CUstreamCallback function, void *data, unsigned int flags),
	(handle, function, data, flags))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_work *work;

	if (!function || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture) {
		if (stream->capture->invalidated)
			return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
		stream->capture->invalidated = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	work = sim_work_new(SIM_CALLBACK);
	work->callback.function = function;
	work->callback.stream = handle;
	work->callback.data = data;
	return sim_stream_add(stream, work, NULL);
}
