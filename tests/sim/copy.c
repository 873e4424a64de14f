/*
 * Copies. When each returns is stated under "API synchronization behavior": copies that touch
 * pageable memory return when it has been read or written; synchronous copies between device
 * addresses do not wait.
 */
#include "api.h"
#include "capture.h"
#include "context.h"
#include "copy_work.h"
#include "memory.h"
#include "pace.h"
#include "schedule.h"
#include "stream.h"

enum timing {
	ASYNCHRONOUS,
	SYNCHRONOUS,
};

static bool is_host(uintptr_t address)
{
	enum sim_memory_kind kind = sim_memory_kind_of(address);

	return kind != SIM_DEVICE && kind != SIM_MANAGED;
}

static bool is_synchronous(uintptr_t address)
{
	const struct sim_memory *memory = sim_memory_of(address);

	return memory && memory->synchronous;
}

/* Whether the call returns only when the copy is done. */
static bool waits(const CUDA_MEMCPY3D *shape, enum timing timing)
{
	uintptr_t source = sim_copy_source(shape), target = sim_copy_target(shape);

	if (timing == SYNCHRONOUS)
		return is_host(source) || is_host(target) || is_synchronous(source) ||
		       is_synchronous(target);
	if (is_host(source) && is_host(target))
		return true;
	return sim_memory_kind_of(target) == SIM_PAGEABLE;
}

/* Whose memory it is, of a device's; else NULL. */
static struct sim_context *whose(uintptr_t address)
{
	const struct sim_memory *memory = sim_memory_of(address);

	return memory && memory->kind == SIM_DEVICE ? memory->context : NULL;
}

/*
 * "A copy (in the implicit NULL stream) between the memories of two different devices does not
 * start until all commands previously issued to either device have completed and runs to completion
 * before any commands issued after the copy to either device can start": Peer-to-Peer Memory Copy.
 */
static CUresult copy(const CUDA_MEMCPY3D *shape, struct sim_stream *stream, enum timing timing)
{
	struct sim_context *context;
	struct sim_work *work;
	struct sim_op *op;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (timing == SYNCHRONOUS) {
		result = sim_capture_prohibit(stream);
		if (result == CUDA_SUCCESS)
			result = sim_capture_unsafe();
		if (result != CUDA_SUCCESS)
			return result;
	}
	if (!shape->WidthInBytes || !shape->Height || !shape->Depth)
		return CUDA_SUCCESS;
	result = sim_work_copy(&work, shape, !stream->capture);
	if (result != CUDA_SUCCESS)
		return result;
	context = stream->context;
	result = sim_stream_add_between(stream, whose(sim_copy_target(&work->copy.shape)),
	                                whose(sim_copy_source(&work->copy.shape)), work, &op);
	if (op && waits(&op->work->copy.shape, timing)) {
		sim_pace_wait(sim_pace_end());
		sim_schedule_wait(op);
		result = context->error;
	}
	sim_op_drop(op);
	return result;
}

static CUresult copy_line(CUmemorytype to, CUmemorytype from, uintptr_t target, uintptr_t source,
                          size_t bytes, struct sim_stream *stream, enum timing timing)
{
	CUDA_MEMCPY3D shape = {
		.srcMemoryType = from, .dstMemoryType = to, .WidthInBytes = bytes, .Height = 1, .Depth = 1};

	if (bytes && (!target || !source))
		return CUDA_ERROR_INVALID_VALUE;
	if (from == CU_MEMORYTYPE_HOST)
		shape.srcHost = (const void *)source;
	else
		shape.srcDevice = source;
	if (to == CU_MEMORYTYPE_HOST)
		shape.dstHost = (void *)target;
	else
		shape.dstDevice = target;
	return copy(&shape, stream, timing);
}

#define UNIFIED CU_MEMORYTYPE_UNIFIED
#define ON_HOST CU_MEMORYTYPE_HOST
#define ON_DEVICE CU_MEMORYTYPE_DEVICE

API_PTDS(SIM_CONTEXT, cuMemcpy, (CUdeviceptr target, CUdeviceptr source, size_t bytes),
         (target, source, bytes))
{
	return copy_line(UNIFIED, UNIFIED, target, source, bytes, sim_stream_default(), SYNCHRONOUS);
}

API_PTDS(SIM_CONTEXT, cuMemcpyHtoD_v2, (CUdeviceptr target, const void *source, size_t bytes),
         (target, source, bytes))
{
	return copy_line(ON_DEVICE, ON_HOST, target, (uintptr_t)source, bytes, sim_stream_default(),
	                 SYNCHRONOUS);
}

API_PTDS(SIM_CONTEXT, cuMemcpyDtoH_v2, (void *target, CUdeviceptr source, size_t bytes),
         (target, source, bytes))
{
	return copy_line(ON_HOST, ON_DEVICE, (uintptr_t)target, source, bytes, sim_stream_default(),
	                 SYNCHRONOUS);
}

API_PTDS(SIM_CONTEXT, cuMemcpyDtoD_v2, (CUdeviceptr target, CUdeviceptr source, size_t bytes),
         (target, source, bytes))
{
	return copy_line(ON_DEVICE, ON_DEVICE, target, source, bytes, sim_stream_default(),
	                 SYNCHRONOUS);
}

API_PTDS(SIM_CONTEXT, cuMemcpyPeer,
         (CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from, size_t bytes),
         (target, to, source, from, bytes))
{
	if (!sim_context_of(to) || !sim_context_of(from))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_line(ON_DEVICE, ON_DEVICE, target, source, bytes, sim_stream_default(),
	                 SYNCHRONOUS);
}

API_PTSZ(SIM_CONTEXT, cuMemcpyAsync,
         (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
         (target, source, bytes, stream))
{
	return copy_line(UNIFIED, UNIFIED, target, source, bytes, sim_stream_of(stream), ASYNCHRONOUS);
}

API_PTSZ(SIM_CONTEXT, cuMemcpyHtoDAsync_v2,
         (CUdeviceptr target, const void *source, size_t bytes, CUstream stream),
         (target, source, bytes, stream))
{
	return copy_line(ON_DEVICE, ON_HOST, target, (uintptr_t)source, bytes, sim_stream_of(stream),
	                 ASYNCHRONOUS);
}

API_PTSZ(SIM_CONTEXT, cuMemcpyDtoHAsync_v2,
         (void *target, CUdeviceptr source, size_t bytes, CUstream stream),
         (target, source, bytes, stream))
{
	return copy_line(ON_HOST, ON_DEVICE, (uintptr_t)target, source, bytes, sim_stream_of(stream),
	                 ASYNCHRONOUS);
}

API_PTSZ(SIM_CONTEXT, cuMemcpyDtoDAsync_v2,
         (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
         (target, source, bytes, stream))
{
	return copy_line(ON_DEVICE, ON_DEVICE, target, source, bytes, sim_stream_of(stream),
	                 ASYNCHRONOUS);
}

API_PTSZ(SIM_CONTEXT, cuMemcpyPeerAsync,
         (CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from, size_t bytes,
          CUstream stream),
         (target, to, source, from, bytes, stream))
{
	struct sim_stream *on = sim_stream_of(stream);
	CUresult result = on ? sim_capture_prohibit(on) : CUDA_ERROR_INVALID_HANDLE; /* measured */

	if (result != CUDA_SUCCESS)
		return result;
	if (!sim_context_of(to) || !sim_context_of(from))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_line(ON_DEVICE, ON_DEVICE, target, source, bytes, sim_stream_of(stream),
	                 ASYNCHRONOUS);
}

static CUresult copy_plane(const CUDA_MEMCPY2D *plane, struct sim_stream *stream,
                           enum timing timing)
{
	CUDA_MEMCPY3D shape;

	if (!plane)
		return CUDA_ERROR_INVALID_VALUE;
	shape = (CUDA_MEMCPY3D){
		.srcXInBytes = plane->srcXInBytes,
		.srcY = plane->srcY,
		.srcMemoryType = plane->srcMemoryType,
		.srcHost = plane->srcHost,
		.srcDevice = plane->srcDevice,
		.srcArray = plane->srcArray,
		.srcPitch = plane->srcPitch,
		.dstXInBytes = plane->dstXInBytes,
		.dstY = plane->dstY,
		.dstMemoryType = plane->dstMemoryType,
		.dstHost = plane->dstHost,
		.dstDevice = plane->dstDevice,
		.dstArray = plane->dstArray,
		.dstPitch = plane->dstPitch,
		.WidthInBytes = plane->WidthInBytes,
		.Height = plane->Height,
		.Depth = 1,
	};
	return copy(&shape, stream, timing);
}

API_PTDS(SIM_CONTEXT, cuMemcpy2D_v2, (const CUDA_MEMCPY2D *plane), (plane))
{
	return copy_plane(plane, sim_stream_default(), SYNCHRONOUS);
}

API_PTDS(SIM_CONTEXT, cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *plane), (plane))
{
	return copy_plane(plane, sim_stream_default(), SYNCHRONOUS);
}

API_PTSZ(SIM_CONTEXT, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *plane, CUstream stream),
         (plane, stream))
{
	return copy_plane(plane, sim_stream_of(stream), ASYNCHRONOUS);
}

API_PTDS(SIM_CONTEXT, cuMemcpy3D_v2, (const CUDA_MEMCPY3D *shape), (shape))
{
	return shape ? copy(shape, sim_stream_default(), SYNCHRONOUS) : CUDA_ERROR_INVALID_VALUE;
}

API_PTSZ(SIM_CONTEXT, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *shape, CUstream stream),
         (shape, stream))
{
	return shape ? copy(shape, sim_stream_of(stream), ASYNCHRONOUS) : CUDA_ERROR_INVALID_VALUE;
}

/* "The first entry in attrsIdxs must always be 0. Also, each entry must be greater than the
 * previous entry and the last entry should be less than count." */
static bool are_known(const CUmemcpyAttributes *attributes, const size_t *first,
                      size_t attribute_count, size_t count)
{
	size_t i;

	if (!attributes || !first || attribute_count == 0 || attribute_count > count || first[0] != 0)
		return false;
	for (i = 0; i < attribute_count; i++) {
		if (attributes[i].srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
		    attributes[i].srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
			return false;
		if (first[i] >= count || (i && first[i] <= first[i - 1]))
			return false;
	}
	return true;
}

/*
 * "Copies within a batch are not guaranteed to execute in any specific order": here in theirs.
 * "Must not be legacy NULL stream." What a capture does is not known: it is refused.
 */
API_PTSZ(SIM_CONTEXT, cuMemcpyBatchAsync_v2,
         (CUdeviceptr * targets, CUdeviceptr *sources, size_t *sizes, size_t count,
          CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, CUstream handle),
         (targets, sources, sizes, count, attributes, first, attribute_count, handle))
{
	struct sim_stream *stream = sim_stream_of(handle);
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->kind == SIM_LEGACY_STREAM || !targets || !sources || !sizes ||
	    !are_known(attributes, first, attribute_count, count))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_NOT_SUPPORTED;
	for (i = 0; i < count; i++)
		if (!sim_memory_may_touch((uintptr_t)targets[i], sizes[i]) ||
		    !sim_memory_may_touch((uintptr_t)sources[i], sizes[i]))
			return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count && result == CUDA_SUCCESS; i++)
		result =
			copy_line(UNIFIED, UNIFIED, targets[i], sources[i], sizes[i], stream, ASYNCHRONOUS);
	return result;
}
