/*
 * Memsets. The synchronous ones "are asynchronous except when the target is pinned host memory":
 * cuMemsetD8 and its like; or memory that CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set of.
 */
#include "api.h"
#include "capture.h"
#include "context.h"
#include "memory.h"
#include "schedule.h"
#include "stream.h"

static bool waits(uintptr_t target)
{
	const struct sim_memory *memory = sim_memory_of(target);

	return memory && (memory->kind == SIM_PINNED || memory->synchronous);
}

static CUresult set(CUdeviceptr target, size_t pitch, unsigned int value,
                    unsigned int element_bytes, size_t width, size_t height,
                    struct sim_stream *stream, bool synchronous)
{
	struct sim_set_work shape = {target, height > 1 ? pitch : 0, width, height,
	                             value,  element_bytes};
	struct sim_context *context;
	struct sim_work *work;
	struct sim_op *op;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (synchronous) {
		result = sim_capture_prohibit(stream);
		if (result == CUDA_SUCCESS)
			result = sim_capture_unsafe();
		if (result != CUDA_SUCCESS)
			return result;
	}
	if (width == 0 || height == 0)
		return CUDA_SUCCESS;
	/* Measured: a memset that is captured may reach beyond its memory. */
	result = sim_work_set(&work, &shape, !stream->capture);
	if (result != CUDA_SUCCESS)
		return result;
	context = stream->context;
	result = sim_stream_add(stream, work, &op);
	if (op && synchronous && waits((uintptr_t)target)) {
		sim_schedule_wait(op);
		result = context->error;
	}
	sim_op_drop(op);
	return result;
}

/* The entry points for one size of element: 8, 16 and 32 bits. */
#define SETS(bits, type) \
	API_PTDS(SIM_CONTEXT, cuMemsetD##bits##_v2, (CUdeviceptr target, type value, size_t count), \
	         (target, value, count)) \
	{ \
		return set(target, 0, value, bits / 8, count, 1, sim_stream_default(), true); \
	} \
	API_PTSZ(SIM_CONTEXT, cuMemsetD##bits##Async, \
	         (CUdeviceptr target, type value, size_t count, CUstream stream), \
	         (target, value, count, stream)) \
	{ \
		return set(target, 0, value, bits / 8, count, 1, sim_stream_of(stream), false); \
	} \
	API_PTDS(SIM_CONTEXT, cuMemsetD2D##bits##_v2, \
	         (CUdeviceptr target, size_t pitch, type value, size_t width, size_t height), \
	         (target, pitch, value, width, height)) \
	{ \
		return set(target, pitch, value, bits / 8, width, height, sim_stream_default(), true); \
	} \
	API_PTSZ(SIM_CONTEXT, cuMemsetD2D##bits##Async, \
	         (CUdeviceptr target, size_t pitch, type value, size_t width, size_t height, \
	          CUstream stream), \
	         (target, pitch, value, width, height, stream)) \
	{ \
		return set(target, pitch, value, bits / 8, width, height, sim_stream_of(stream), false); \
	}

SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned int)
