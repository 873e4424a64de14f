#include "copy_work.h"

#include <stdio.h>

#include "array.h"
#include "context.h"
#include "memory.h"
#include "worker.h"

/* One end of a copy: where its first byte is, and how far apart rows and slices are. */
struct end {
	uintptr_t address;
	size_t pitch;
	size_t slice;
};

static uintptr_t address(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
}

static struct end end_of(uintptr_t base, size_t pitch, size_t height, size_t x, size_t y, size_t z,
                         const CUDA_MEMCPY3D *shape)
{
	struct end end = {.pitch = pitch ? pitch : shape->WidthInBytes};

	end.slice = end.pitch * (height ? height : shape->Height);
	end.address = base + x + y * end.pitch + z * end.slice;
	return end;
}

static struct end source_of(const CUDA_MEMCPY3D *s)
{
	return end_of(address(s->srcMemoryType, s->srcHost, s->srcDevice), s->srcPitch, s->srcHeight,
	              s->srcXInBytes, s->srcY, s->srcZ, s);
}

static struct end target_of(const CUDA_MEMCPY3D *s)
{
	return end_of(address(s->dstMemoryType, s->dstHost, s->dstDevice), s->dstPitch, s->dstHeight,
	              s->dstXInBytes, s->dstY, s->dstZ, s);
}

uintptr_t sim_copy_source(const CUDA_MEMCPY3D *shape)
{
	return source_of(shape).address;
}

uintptr_t sim_copy_target(const CUDA_MEMCPY3D *shape)
{
	return target_of(shape).address;
}

static size_t span(const struct end *end, const CUDA_MEMCPY3D *shape)
{
	return (shape->Depth - 1) * end->slice + (shape->Height - 1) * end->pitch + shape->WidthInBytes;
}

static void copy_rows(const struct end *target, const struct end *source,
                      const CUDA_MEMCPY3D *shape)
{
	size_t y, z;

	for (z = 0; z < shape->Depth; z++)
		for (y = 0; y < shape->Height; y++)
			memmove((void *)(target->address + z * target->slice + y * target->pitch),
			        (const void *)(source->address + z * source->slice + y * source->pitch),
			        shape->WidthInBytes);
}

CUresult sim_copy_work_run(struct sim_work *work)
{
	const CUDA_MEMCPY3D *shape = &work->copy.shape;
	struct end source = source_of(shape), target = target_of(shape);

	if (work->copy.staged)
		source = (struct end){(uintptr_t)work->copy.staged, shape->WidthInBytes,
		                      shape->WidthInBytes * shape->Height};
	else if (!sim_memory_may_touch(source.address, span(&source, shape)))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (!sim_memory_may_touch(target.address, span(&target, shape)))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	copy_rows(&target, &source, shape);
	return CUDA_SUCCESS;
}

/* Unified addresses become host or device addresses, by what they are. */
static CUmemorytype resolve(CUmemorytype type, CUdeviceptr *device, const void **host)
{
	enum sim_memory_kind kind;

	if (type != CU_MEMORYTYPE_UNIFIED)
		return type;
	kind = sim_memory_kind_of(*device);
	if (kind == SIM_DEVICE || kind == SIM_MANAGED)
		return CU_MEMORYTYPE_DEVICE;
	*host = (const void *)(uintptr_t)*device;
	*device = 0;
	return CU_MEMORYTYPE_HOST;
}

CUresult sim_work_copy(struct sim_work **made, const CUDA_MEMCPY3D *shape, bool stage)
{
	const void *target_host = shape->dstHost;
	CUDA_MEMCPY3D *own;
	struct sim_work *work;
	struct end source, target;
	size_t row = shape->WidthInBytes;

	if ((shape->srcPitch && shape->Height > 1 && shape->srcPitch < row) ||
	    (shape->dstPitch && shape->Height > 1 && shape->dstPitch < row))
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(SIM_COPY);
	own = &work->copy.shape;
	*own = *shape;
	if (!sim_array_resolve(&own->srcMemoryType, shape->srcArray, &own->srcDevice, &own->srcPitch,
	                       &own->srcHeight) ||
	    !sim_array_resolve(&own->dstMemoryType, shape->dstArray, &own->dstDevice, &own->dstPitch,
	                       &own->dstHeight)) {
		sim_work_drop(work);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	own->srcMemoryType = resolve(own->srcMemoryType, &own->srcDevice, &own->srcHost);
	own->dstMemoryType = resolve(own->dstMemoryType, &own->dstDevice, &target_host);
	own->dstHost = (void *)(uintptr_t)target_host;
	source = source_of(own);
	target = target_of(own);
	if (!sim_memory_may_touch(source.address, span(&source, own)) ||
	    !sim_memory_may_touch(target.address, span(&target, own))) {
		sim_work_drop(work);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (stage && sim_memory_kind_of(source.address) == SIM_PAGEABLE) {
		struct end staged = {0, row, row * shape->Height};

		work->copy.staged = malloc(staged.slice * shape->Depth);
		staged.address = (uintptr_t)work->copy.staged;
		copy_rows(&staged, &source, own);
	}
	*made = work;
	return CUDA_SUCCESS;
}

CUresult sim_work_set(struct sim_work **made, const struct sim_set_work *set, bool bounded)
{
	uintptr_t target = (uintptr_t)set->target;
	size_t row = set->width * set->element_bytes;
	struct sim_work *work;

	if (set->element_bytes != 1 && set->element_bytes != 2 && set->element_bytes != 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (target % set->element_bytes ||
	    (set->height > 1 && (set->pitch < row || set->pitch % set->element_bytes)))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_memory_kind_of(target) == SIM_PAGEABLE)
		return CUDA_ERROR_INVALID_VALUE;
	if (bounded &&
	    !sim_memory_may_touch(target, set->height ? (set->height - 1) * set->pitch + row : 0))
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(SIM_SET);
	work->set = *set;
	*made = work;
	return CUDA_SUCCESS;
}

CUresult sim_set_work_run(struct sim_work *work)
{
	const struct sim_set_work *set = &work->set;
	size_t x, y;

	if (!sim_memory_may_touch((uintptr_t)set->target,
	                          (set->height - 1) * set->pitch + set->width * set->element_bytes))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (y = 0; y < set->height; y++) {
		char *row = (char *)(uintptr_t)(set->target + y * set->pitch);

		if (set->element_bytes == 1)
			memset(row, (int)set->value, set->width);
		else if (set->element_bytes == 2)
			for (x = 0; x < set->width; x++)
				((uint16_t *)(void *)row)[x] = (uint16_t)set->value;
		else
			for (x = 0; x < set->width; x++)
				((uint32_t *)(void *)row)[x] = set->value;
	}
	return CUDA_SUCCESS;
}

static bool is_met(uint64_t now, uint64_t value, unsigned int bytes, unsigned int flags)
{
	switch (flags & 7) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return bytes == 4 ? (int32_t)(uint32_t)(now - value) >= 0 : (int64_t)(now - value) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (now & value) != 0;
	default:
		return (~(now | value) & (bytes == 4 ? 0xffffffffu : ~(uint64_t)0)) != 0;
	}
}

CUresult sim_word_work_run(struct sim_work *work)
{
	uintptr_t address = (uintptr_t)work->word.address;
	unsigned int bytes = work->word.bytes;

	if (!sim_memory_may_touch(address, bytes))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (work->kind == SIM_WRITE_VALUE) {
		memcpy((void *)address, &work->word.value, bytes);
		return CUDA_SUCCESS;
	}
	for (;;) {
		uint64_t now = bytes == 4 ? *(volatile uint32_t *)address : *(volatile uint64_t *)address;

		if (is_met(now, work->word.value, bytes, work->word.flags) ||
		    work->context->error != CUDA_SUCCESS)
			return CUDA_SUCCESS;
		sim_worker_pause();
	}
}
