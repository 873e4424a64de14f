/* What stream capture prohibits: "Prohibited and unhandled operations" and
 * cuThreadExchangeStreamCaptureMode. */
#include "api.h"
#include "capture.h"
#include "context.h"

/*
 * "It is invalid to synchronize or query the execution status of a stream which is being captured".
 * Measured: of one whose capture is invalidated already the result is the same.
 */
CUresult sim_capture_prohibit(struct sim_stream *stream)
{
	if (!stream->capture)
		return sim_capture_prohibit_legacy(stream);
	stream->capture->invalidated = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult sim_capture_prohibit_question(struct sim_stream *stream)
{
	CUresult result = sim_capture_prohibit(stream);

	return result == CUDA_SUCCESS ? sim_capture_unsafe() : result;
}

CUresult sim_capture_prohibit_legacy(struct sim_stream *stream)
{
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (stream->kind != SIM_LEGACY_STREAM || sim_capture_count() == 0)
		return CUDA_SUCCESS;
	for (i = 0; i < stream->context->streams.count; i++) {
		struct sim_stream *other = stream->context->streams.at[i];

		if (!other->capture || !sim_stream_blocks(other))
			continue;
		other->capture->invalidated = true;
		result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	return result;
}

CUresult sim_capture_prohibit_context(struct sim_context *context)
{
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (sim_capture_count() == 0)
		return CUDA_SUCCESS;
	for (i = 0; i < context->streams.count; i++) {
		if (!context->streams.at[i]->capture)
			continue;
		context->streams.at[i]->capture->invalidated = true;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result;
}

/*
 * "CU_STREAM_CAPTURE_MODE_GLOBAL: If the local thread has an ongoing capture sequence that was not
 * initiated with RELAXED, or if any other thread has a concurrent capture sequence initiated with
 * GLOBAL, this thread is prohibited from potentially unsafe API calls. THREAD_LOCAL: if the local
 * thread has an ongoing capture sequence not initiated with RELAXED. RELAXED: not prohibited."
 */
CUresult sim_capture_unsafe(void)
{
	const struct sim_self *self = sim_self();
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (self->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	for (i = 0; i < sim_capture_count(); i++) {
		struct sim_capture *capture = sim_capture_at(i);
		bool own = capture->thread == self->id && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
		bool others = capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
		              self->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;

		if (!own && !others)
			continue;
		capture->invalidated = true;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result;
}

/* Measured: a mode that does not exist is taken. */
API(SIM_INIT, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode), (mode))
{
	struct sim_self *self = sim_self();
	CUstreamCaptureMode old = self->mode;

	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	self->mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}
