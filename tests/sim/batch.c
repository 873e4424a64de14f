#include "batch.h"

#include "api.h"
#include "context.h"
#include "graph.h"
#include "stream.h"

/* cuStreamBatchMemOp: "count ... Must be less than 256." */
#define MOST_OPERATIONS 255

static const struct {
	enum sim_work_kind kind;
	unsigned int bytes; /* 0: nothing to do here, where writes are seen at once */
	unsigned int flags; /* known ones */
} operations[] = {
	[CU_STREAM_MEM_OP_WAIT_VALUE_32] = {SIM_WAIT_VALUE, 4, 3},
	[CU_STREAM_MEM_OP_WAIT_VALUE_64] = {SIM_WAIT_VALUE, 8, 3},
	[CU_STREAM_MEM_OP_WRITE_VALUE_32] = {SIM_WRITE_VALUE, 4,
                                         CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER},
	[CU_STREAM_MEM_OP_WRITE_VALUE_64] = {SIM_WRITE_VALUE, 8,
                                         CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER},
	[CU_STREAM_MEM_OP_BARRIER] = {SIM_EMPTY, 0, CU_STREAM_MEMORY_BARRIER_TYPE_GPU},
};

static bool is_known(CUstreamBatchMemOpType operation)
{
	return operation > 0 && operation < sizeof(operations) / sizeof(operations[0]) &&
	       operations[operation].kind != SIM_KERNEL;
}

/* "CU_STREAM_WAIT_VALUE_FLUSH ... support is restricted": a device of the simulation does not flush
 * remote writes. */
static CUresult work_of(struct sim_work **made, const CUstreamBatchMemOpParams *params)
{
	unsigned int bytes, flags;

	if (params->operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!is_known(params->operation))
		return CUDA_ERROR_INVALID_VALUE;
	bytes = operations[params->operation].bytes;
	flags = bytes ? params->waitValue.flags : params->memoryBarrier.flags;
	if (bytes && (!params->waitValue.address || params->waitValue.address % bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & ~operations[params->operation].flags)
		return operations[params->operation].kind == SIM_WAIT_VALUE &&
		               (flags & CU_STREAM_WAIT_VALUE_FLUSH)
		           ? CUDA_ERROR_NOT_SUPPORTED
		           : CUDA_ERROR_INVALID_VALUE;
	*made = sim_work_new(operations[params->operation].kind);
	if (!bytes)
		return CUDA_SUCCESS;
	(*made)->word.address = params->waitValue.address;
	(*made)->word.value = bytes == 4 ? params->waitValue.value : params->waitValue.value64;
	(*made)->word.bytes = bytes;
	(*made)->word.flags = flags;
	return CUDA_SUCCESS;
}

CUresult sim_work_batch(struct sim_work **made, struct sim_context *context, unsigned int count,
                        const CUstreamBatchMemOpParams *params, unsigned int flags)
{
	struct sim_work *work;
	CUresult result = CUDA_SUCCESS;
	unsigned int i;

	if (flags || count > MOST_OPERATIONS || (count && !params))
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new_with(SIM_BATCH, count * (sizeof(*params) + sizeof(struct sim_work *)));
	work->context = context;
	work->batch.params = (CUstreamBatchMemOpParams *)(work + 1);
	work->batch.works = (struct sim_work **)(work->batch.params + count);
	for (i = 0; i < count && result == CUDA_SUCCESS; i++) {
		work->batch.params[i] = params[i];
		result = work_of(&work->batch.works[i], &params[i]);
		if (result == CUDA_SUCCESS)
			work->batch.count++;
	}
	if (result != CUDA_SUCCESS)
		sim_work_drop(work);
	else
		*made = work;
	return result;
}

void sim_batch_work_clear(struct sim_work *work)
{
	unsigned int i;

	for (i = 0; i < work->batch.count; i++)
		sim_work_drop(work->batch.works[i]);
}

/* "Other fields, such as the context, count or type of operations, and other types of operations
 * such as membars, may not be modified." */
bool sim_batch_may_become(const struct sim_work *old, const struct sim_work *wanted)
{
	unsigned int i;

	if (old->context != wanted->context || old->batch.count != wanted->batch.count)
		return false;
	for (i = 0; i < old->batch.count; i++) {
		const CUstreamBatchMemOpParams *was = &old->batch.params[i], *is = &wanted->batch.params[i];

		if (was->operation != is->operation)
			return false;
		if (operations[was->operation].kind == SIM_WRITE_VALUE &&
		    was->writeValue.flags != is->writeValue.flags)
			return false;
	}
	return true;
}

static CUresult enqueue(CUstream handle, unsigned int count, const CUstreamBatchMemOpParams *params,
                        unsigned int flags)
{
	struct sim_stream *stream = sim_stream_of(handle);
	CUresult result = CUDA_SUCCESS;
	struct sim_work *work;
	unsigned int i;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_work_batch(&work, sim_current(), count, params, flags);
	if (result != CUDA_SUCCESS)
		return result;
	if (stream->capture)
		return sim_stream_add(stream, work, NULL);
	for (i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = sim_stream_add(stream, sim_work_keep(work->batch.works[i]), NULL);
	sim_work_drop(work);
	return result;
}

API_PTSZ(SIM_CONTEXT, cuStreamBatchMemOp_v2,
         (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params,
          unsigned int flags),
         (stream, count, params, flags))
{
	return enqueue(stream, count, params, flags);
}

static CUresult one(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address,
                    uint64_t value, unsigned int flags)
{
	CUstreamBatchMemOpParams params = {.waitValue = {.operation = operation,
	                                                 .address = address,
	                                                 .value64 = value,
	                                                 .flags = flags}};

	return enqueue(stream, 1, &params, 0);
}

API_PTSZ(SIM_CONTEXT, cuStreamWriteValue32_v2,
         (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
         (stream, address, value, flags))
{
	return one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

API_PTSZ(SIM_CONTEXT, cuStreamWriteValue64_v2,
         (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
         (stream, address, value, flags))
{
	return one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

API_PTSZ(SIM_CONTEXT, cuStreamWaitValue32_v2,
         (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
         (stream, address, value, flags))
{
	return one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

API_PTSZ(SIM_CONTEXT, cuStreamWaitValue64_v2,
         (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
         (stream, address, value, flags))
{
	return one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
