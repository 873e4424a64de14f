/*
 * Ops of every kind: dispatch for kernels (kernel.c), and the short code of the others.
 *
 * Shape of a 1-D copy: form, size, kinds and devices of memory, contexts. Of a 2-D or 3-D copy: the
 * whole descriptor. Of a memset: form, element size, width, height, pitch. Of a host function: only
 * its kind. Of an event record or wait: everything. The member of the lane that an op belongs to is
 * shape, too. The rest are values.
 */
#include "op/op.h"

#include <string.h>

#include "base/hash.h"
#include "base/placement.h"
#include "driver/driver.h"
#include "op/kernel.h"

const char *const reprise_unfit_names[REPRISE_UNFIT_COUNT] = {
#define X(reason, name, text) #name,
	REPRISE_UNFIT_REASONS(X)
#undef X
};

/* ---- copies of all dimensions ---- */

static bool is_between(uint8_t target, uint8_t source)
{
	return target != source && reprise_memory_kind(target) == REPRISE_MEMORY_DEVICE &&
	       reprise_memory_kind(source) == REPRISE_MEMORY_DEVICE;
}

bool reprise_op_is_between_devices(const struct reprise_op *op)
{
	return is_between(op->target_memory, op->source_memory) ||
	       (op->kind == REPRISE_OP_COPY && op->copy.form == REPRISE_COPY_PEER);
}

static bool either(const struct reprise_op *op, enum reprise_memory kind)
{
	return reprise_memory_kind(op->target_memory) == kind ||
	       reprise_memory_kind(op->source_memory) == kind;
}

/*
 * Why a copy or memset of such memory cannot be an op. A copy "from any host memory to any host
 * memory" is synchronous with the host, pinned or not (CUDA driver API, "API synchronization
 * behavior"). A copy between devices on the legacy default stream begins after all earlier work of
 * both devices, and ends before any later work (CUDA C++ Programming Guide, "Peer-to-Peer Memory
 * Copy"). In a graph it would not.
 */
static enum reprise_unfit judge_memory(const struct reprise_op *op, const struct reprise_call *call)
{
	if (either(op, REPRISE_MEMORY_OTHER))
		return REPRISE_UNFIT_PAGEABLE;
	if (either(op, REPRISE_MEMORY_BEYOND))
		return REPRISE_UNFIT_REFUSED;
	if (!either(op, REPRISE_MEMORY_DEVICE))
		return REPRISE_UNFIT_HOST_TO_HOST;
	if (reprise_op_is_between_devices(op) && reprise_call_is_legacy(call))
		return REPRISE_UNFIT_BETWEEN_DEVICES;
	return reprise_call_is_empty(call) ? REPRISE_UNFIT_EMPTY : REPRISE_UNFIT_NONE;
}

/* ---- one-dimensional copies ---- */

static uint64_t copy_value(const struct reprise_op *op)
{
	return reprise_hash_mix(reprise_hash_mix(op->shape, op->copy.target), op->copy.source);
}

static enum reprise_unfit examine_copy(struct reprise_op *op, const struct reprise_call *call)
{
	const struct reprise_call_copy *copy = &call->copy;

	op->copy = *copy;
	op->memory_generation = reprise_memory_learn();
	op->target_memory = reprise_memory_of(copy->target, copy->bytes);
	op->source_memory = reprise_memory_of(copy->source, copy->bytes);
	op->shape =
		reprise_hash_mix(copy->bytes, (uint64_t)op->kind << 24 | (uint64_t)copy->form << 16 |
	                                      (uint64_t)op->target_memory << 8 | op->source_memory);
	if (copy->form == REPRISE_COPY_PEER)
		op->shape = reprise_hash_mix(reprise_hash_mix(op->shape, (uintptr_t)copy->target_context),
		                             (uintptr_t)copy->source_context);
	op->value = copy_value(op);
	return judge_memory(op, call);
}

static enum reprise_match match_copy(const struct reprise_op *op,
                                     const struct reprise_call_copy *call)
{
	bool same = call->target == op->copy.target && call->source == op->copy.source;

	if (call->form != op->copy.form || call->bytes != op->copy.bytes ||
	    call->target_context != op->copy.target_context ||
	    call->source_context != op->copy.source_context)
		return REPRISE_MATCH_NOT;
	if (same && (op->memory_generation == reprise_memory_generation() ||
	             (reprise_memory_spared(call->target, call->bytes, op->memory_generation) &&
	              reprise_memory_spared(call->source, call->bytes, op->memory_generation))))
		return REPRISE_MATCH_SAME;
	return reprise_memory_of(call->target, call->bytes) == op->target_memory &&
	               reprise_memory_of(call->source, call->bytes) == op->source_memory
	           ? (same ? REPRISE_MATCH_AGAIN : REPRISE_MATCH_VALUES)
	           : REPRISE_MATCH_NOT;
}

static CUresult issue_copy(const struct reprise_call_copy *copy, CUstream stream)
{
	switch (copy->form) {
	case REPRISE_COPY_HOST_TO_DEVICE:
		return reprise_driver.cuMemcpyHtoDAsync_v2(copy->target,
		                                           (const void *)(uintptr_t)copy->source,
		                                           copy->bytes, stream);
	case REPRISE_COPY_DEVICE_TO_HOST:
		return reprise_driver.cuMemcpyDtoHAsync_v2((void *)(uintptr_t)copy->target, copy->source,
		                                           copy->bytes, stream);
	case REPRISE_COPY_DEVICE_TO_DEVICE:
		return reprise_driver.cuMemcpyDtoDAsync_v2(copy->target, copy->source, copy->bytes, stream);
	case REPRISE_COPY_PEER:
		return reprise_driver.cuMemcpyPeerAsync(copy->target, copy->target_context, copy->source,
		                                        copy->source_context, copy->bytes, stream);
	default:
		return reprise_driver.cuMemcpyAsync(copy->target, copy->source, copy->bytes, stream);
	}
}

/* ---- 2-D and 3-D copies: the descriptors differ only in their types ---- */

/* A side of a copy: its begin, and the bytes from its first to its last. */
struct side {
	CUdeviceptr begin;
	size_t bytes;
	bool is_array;
};

/* The base address of a side. The copy begins at an offset from it; other memory may lie
 * between. */
#define BASE(descriptor, end) \
	((descriptor)->end##MemoryType == CU_MEMORYTYPE_HOST \
	     ? (CUdeviceptr)(uintptr_t)(descriptor)->end##Host \
	     : (descriptor)->end##Device)

/* `at` and `extent` are bytes, rows and slices. A pitch or height of 0 means that of the copy. */
static struct side side_at(CUdeviceptr base, size_t pitch, size_t height, const size_t *at,
                           const size_t *extent)
{
	size_t row = pitch != 0 ? pitch : extent[0], slice = row * (height != 0 ? height : extent[1]);
	struct side side = {.begin = base + at[0] + at[1] * row + at[2] * slice};

	if (extent[0] != 0 && extent[1] != 0 && extent[2] != 0)
		side.bytes = (extent[2] - 1) * slice + (extent[1] - 1) * row + extent[0];
	return side;
}

#define SIDE(descriptor, end, height, z, depth) \
	((descriptor)->end##MemoryType == CU_MEMORYTYPE_ARRAY \
	     ? (struct side){.is_array = true} \
	     : side_at(BASE(descriptor, end), (descriptor)->end##Pitch, height, \
	               (size_t[]){(descriptor)->end##XInBytes, (descriptor)->end##Y, z}, \
	               (size_t[]){(descriptor)->WidthInBytes, (descriptor)->Height, depth}))

static void sides(enum reprise_op_kind kind, const void *descriptor, struct side *target,
                  struct side *source)
{
	const CUDA_MEMCPY2D *flat = descriptor;
	const CUDA_MEMCPY3D *deep = descriptor;

	if (kind == REPRISE_OP_COPY_2D) {
		*target = SIDE(flat, dst, 0, 0, 1);
		*source = SIDE(flat, src, 0, 0, 1);
	} else {
		*target = SIDE(deep, dst, deep->dstHeight, deep->dstZ, deep->Depth);
		*source = SIDE(deep, src, deep->srcHeight, deep->srcZ, deep->Depth);
	}
}

/* Arrays of two devices are copied by other calls. Otherwise an array may be on any device. With
 * several devices it counts as on another device than the other side. */
static void side_memories(enum reprise_op_kind kind, const void *descriptor, uint8_t *target_memory,
                          uint8_t *source_memory)
{
	struct side target, source;

	sides(kind, descriptor, &target, &source);
	*target_memory =
		target.is_array ? REPRISE_MEMORY_OF_ARRAY : reprise_memory_of(target.begin, target.bytes);
	*source_memory =
		source.is_array ? REPRISE_MEMORY_OF_ARRAY : reprise_memory_of(source.begin, source.bytes);
	if (reprise_memory_devices() > 1)
		return;
	if (target.is_array && reprise_memory_kind(*source_memory) == REPRISE_MEMORY_DEVICE)
		*target_memory = *source_memory;
	if (source.is_array && reprise_memory_kind(*target_memory) == REPRISE_MEMORY_DEVICE)
		*source_memory = *target_memory;
}

static const void *descriptor_of(const struct reprise_call *call)
{
	return call->kind == REPRISE_OP_COPY_2D ? (const void *)call->copy_2d
	                                        : (const void *)call->copy_3d;
}

static enum reprise_unfit examine_descriptor(struct reprise_op *op, const struct reprise_call *call)
{
	if (descriptor_of(call) == NULL)
		return REPRISE_UNFIT_BAD_PARAMETERS;
	op->payload_bytes =
		call->kind == REPRISE_OP_COPY_2D ? sizeof(CUDA_MEMCPY2D) : sizeof(CUDA_MEMCPY3D);
	op->memory_generation = reprise_memory_learn();
	side_memories(call->kind, descriptor_of(call), &op->target_memory, &op->source_memory);
	return judge_memory(op, call);
}

/* The whole descriptor is shape: other addresses make another trace, which is always right. */
static void complete_descriptor(struct reprise_op *op, const struct reprise_call *call)
{
	memcpy(op->payload, descriptor_of(call), op->payload_bytes);
	op->shape = reprise_hash_bytes(reprise_hash_mix(op->kind, (uint64_t)op->target_memory << 8 |
	                                                              op->source_memory),
	                               op->payload, op->payload_bytes);
	op->value = reprise_hash_mix(op->shape, 3);
}

static enum reprise_match match_descriptor(const struct reprise_op *op,
                                           const struct reprise_call *call)
{
	uint8_t target_memory, source_memory;

	if (descriptor_of(call) == NULL ||
	    memcmp(op->payload, descriptor_of(call), op->payload_bytes) != 0)
		return REPRISE_MATCH_NOT;
	if (op->memory_generation == reprise_memory_generation())
		return REPRISE_MATCH_SAME;
	side_memories(call->kind, op->payload, &target_memory, &source_memory);
	return target_memory == op->target_memory && source_memory == op->source_memory
	           ? REPRISE_MATCH_AGAIN
	           : REPRISE_MATCH_NOT;
}

bool reprise_op_names_elsewhere(const struct reprise_op *op)
{
	struct side target, source;

	if (op->kind == REPRISE_OP_COPY)
		return op->copy.form == REPRISE_COPY_PEER;
	if (op->kind != REPRISE_OP_COPY_2D && op->kind != REPRISE_OP_COPY_3D)
		return false;
	sides(op->kind, op->payload, &target, &source);
	return target.is_array || source.is_array;
}

/* ---- memsets ---- */

/* The bytes from the first to the last. */
static size_t set_bytes(const struct reprise_call_set *set)
{
	size_t row = set->width * set->element_bytes;

	return row == 0 || set->height == 0 ? 0 : (set->height - 1) * set->pitch + row;
}

static bool is_aligned(const struct reprise_call_set *set)
{
	return (set->target & (set->element_bytes - 1)) == 0;
}

static uint64_t set_value(const struct reprise_op *op)
{
	return reprise_hash_mix(reprise_hash_mix(op->shape, op->set.target), op->set.value);
}

static enum reprise_unfit examine_set(struct reprise_op *op, const struct reprise_call *call)
{
	const struct reprise_call_set *set = &call->set;
	enum reprise_unfit unfit;

	op->set = *set;
	op->memory_generation = reprise_memory_learn();
	op->target_memory = op->source_memory = reprise_memory_of(set->target, set_bytes(set));
	op->shape = reprise_hash_mix(set->width, (uint64_t)set->plane << 24 |
	                                             (uint64_t)op->target_memory << 16 |
	                                             (uint64_t)set->element_bytes << 8 | op->kind);
	op->shape = reprise_hash_mix(reprise_hash_mix(op->shape, set->height), set->pitch);
	op->value = set_value(op);
	unfit = judge_memory(op, call);
	/* A memset of pinned memory: it is not known which calls wait for it. */
	if (unfit == REPRISE_UNFIT_HOST_TO_HOST)
		return REPRISE_UNFIT_PAGEABLE;
	return unfit == REPRISE_UNFIT_NONE && !is_aligned(set) ? REPRISE_UNFIT_REFUSED : unfit;
}

static enum reprise_match match_set(const struct reprise_op *op,
                                    const struct reprise_call_set *call)
{
	const struct reprise_call_set *set = &op->set;
	bool same = call->target == set->target && call->value == set->value;

	if (call->width != set->width || call->height != set->height ||
	    call->element_bytes != set->element_bytes || call->pitch != set->pitch ||
	    call->plane != set->plane)
		return REPRISE_MATCH_NOT;
	if (same && (op->memory_generation == reprise_memory_generation() ||
	             reprise_memory_spared(call->target, set_bytes(call), op->memory_generation)))
		return REPRISE_MATCH_SAME;
	if (!is_aligned(call) || reprise_memory_of(call->target, set_bytes(call)) != op->target_memory)
		return REPRISE_MATCH_NOT;
	return same ? REPRISE_MATCH_AGAIN : REPRISE_MATCH_VALUES;
}

static CUresult issue_set(const struct reprise_call_set *set, CUstream stream)
{
	bool flat = !set->plane;

	switch (set->element_bytes) {
	case 1:
		return flat ? reprise_driver.cuMemsetD8Async(set->target, (unsigned char)set->value,
		                                             set->width, stream)
		            : reprise_driver.cuMemsetD2D8Async(set->target, set->pitch,
		                                               (unsigned char)set->value, set->width,
		                                               set->height, stream);
	case 2:
		return flat ? reprise_driver.cuMemsetD16Async(set->target, (unsigned short)set->value,
		                                              set->width, stream)
		            : reprise_driver.cuMemsetD2D16Async(set->target, set->pitch,
		                                                (unsigned short)set->value, set->width,
		                                                set->height, stream);
	default:
		return flat ? reprise_driver.cuMemsetD32Async(set->target, set->value, set->width, stream)
		            : reprise_driver.cuMemsetD2D32Async(set->target, set->pitch, set->value,
		                                                set->width, set->height, stream);
	}
}

/* ---- host functions ---- */

static uint64_t host_value(const struct reprise_op *op)
{
	return reprise_hash_mix(reprise_hash_mix(op->shape, (uintptr_t)op->host.function),
	                        (uintptr_t)op->host.data);
}

static enum reprise_unfit examine_host(struct reprise_op *op, const struct reprise_call_host *call)
{
	op->host = *call;
	op->shape = reprise_hash_mix(op->kind, 5);
	op->value = host_value(op);
	return call->function == NULL ? REPRISE_UNFIT_BAD_PARAMETERS : REPRISE_UNFIT_NONE;
}

/* The driver accepts any function but NULL. */
static enum reprise_match match_host(const struct reprise_op *op,
                                     const struct reprise_call_host *call)
{
	if (call->function == NULL)
		return REPRISE_MATCH_NOT;
	return call->function == op->host.function && call->data == op->host.data
	           ? REPRISE_MATCH_SAME
	           : REPRISE_MATCH_VALUES;
}

/* ---- events ---- */

static enum reprise_unfit examine_event(struct reprise_op *op, CUevent event)
{
	op->event = event;
	op->shape = reprise_hash_mix((uintptr_t)event, op->kind);
	op->value = reprise_hash_mix(op->shape, 5);
	return REPRISE_UNFIT_NONE;
}

/* ---- all kinds ---- */

enum reprise_unfit reprise_op_examine(struct reprise_op *op, const struct reprise_call *call,
                                      CUcontext context)
{
	op->kind = call->kind;
	op->member = call->member;
	op->payload_bytes = 0;
	op->memory_generation = 0;
	/* For all kinds, since reprise_op_is_between_devices() reads them. */
	op->target_memory = op->source_memory = op->waits_for = 0;
	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		return reprise_kernel_examine(op, &call->kernel, context);
	case REPRISE_OP_COPY:
		return examine_copy(op, call);
	case REPRISE_OP_SET:
		return examine_set(op, call);
	case REPRISE_OP_HOST:
		return examine_host(op, &call->host);
	case REPRISE_OP_RECORD:
	case REPRISE_OP_WAIT:
		return examine_event(op, call->event);
	default:
		return examine_descriptor(op, call);
	}
}

bool reprise_op_is_nothing(const struct reprise_call *call)
{
	struct reprise_op op;

	return reprise_call_is_empty(call) && !reprise_call_is_legacy(call) &&
	       reprise_op_examine(&op, call, NULL) == REPRISE_UNFIT_EMPTY;
}

void reprise_op_complete(struct reprise_op *op, const struct reprise_call *call)
{
	if (call->kind == REPRISE_OP_KERNEL)
		reprise_kernel_complete(op, &call->kernel);
	else if (op->payload_bytes > 0)
		complete_descriptor(op, call);
	if (op->member != 0) {
		op->shape = reprise_hash_mix(op->shape, op->member);
		op->value = reprise_hash_mix(op->value, op->member);
	}
}

REPRISE_HOT enum reprise_match reprise_op_match(const struct reprise_op *op,
                                                const struct reprise_call *call)
{
	if (call->kind != op->kind || call->member != op->member)
		return REPRISE_MATCH_NOT;
	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		return reprise_kernel_match(op, &call->kernel);
	case REPRISE_OP_COPY:
		return match_copy(op, &call->copy);
	case REPRISE_OP_SET:
		return match_set(op, &call->set);
	case REPRISE_OP_HOST:
		return match_host(op, &call->host);
	case REPRISE_OP_RECORD:
	case REPRISE_OP_WAIT:
		return call->event == op->event ? REPRISE_MATCH_SAME : REPRISE_MATCH_NOT;
	default:
		return match_descriptor(op, call);
	}
}

void reprise_op_copy(struct reprise_op *into, const struct reprise_op *from)
{
	unsigned char *payload = into->payload;

	*into = *from;
	into->payload = payload;
	if (from->payload_bytes > 0)
		memcpy(payload, from->payload, from->payload_bytes);
}

/* The kinds of memory that the op names. */
static void memories(const struct reprise_op *op, uint8_t *target, uint8_t *source)
{
	switch (op->kind) {
	case REPRISE_OP_COPY:
		*target = reprise_memory_of(op->copy.target, op->copy.bytes);
		*source = reprise_memory_of(op->copy.source, op->copy.bytes);
		break;
	case REPRISE_OP_SET:
		*target = *source = reprise_memory_of(op->set.target, set_bytes(&op->set));
		break;
	default:
		side_memories(op->kind, op->payload, target, source);
		break;
	}
}

/* The op has new values. Its memory matched the model's kinds, but may have changed since: then it
 * has to be asked again. */
static void take_memory(struct reprise_op *op, const struct reprise_op *model)
{
	uint32_t under = reprise_memory_learn();
	uint8_t target, source;

	memories(op, &target, &source);
	op->memory_generation =
		target == model->target_memory && source == model->source_memory ? under : 0;
}

void reprise_op_take_values(struct reprise_op *into, const struct reprise_op *model,
                            const struct reprise_call *call)
{
	reprise_op_copy(into, model);
	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		reprise_kernel_take_values(into, &call->kernel);
		break;
	case REPRISE_OP_COPY:
		into->copy = call->copy;
		take_memory(into, model);
		break;
	case REPRISE_OP_SET:
		into->set = call->set;
		take_memory(into, model);
		break;
	case REPRISE_OP_HOST:
		into->host = call->host;
		break;
	case REPRISE_OP_COPY_2D:
	case REPRISE_OP_COPY_3D:
		take_memory(into, model); /* the descriptor is the same to the last byte */
		break;
	default:
		break; /* the event is the same */
	}
}

uint64_t reprise_op_value(const struct reprise_op *op)
{
	switch (op->kind) {
	case REPRISE_OP_KERNEL:
		return reprise_kernel_value(op);
	case REPRISE_OP_COPY:
		return copy_value(op);
	case REPRISE_OP_SET:
		return set_value(op);
	case REPRISE_OP_HOST:
		return host_value(op);
	default:
		return op->value; /* all of it is shape */
	}
}

bool reprise_op_same_values(const struct reprise_op *a, const struct reprise_op *b)
{
	if (a->payload_bytes != b->payload_bytes ||
	    (a->payload_bytes > 0 && memcmp(a->payload, b->payload, a->payload_bytes) != 0))
		return false;
	switch (a->kind) {
	case REPRISE_OP_KERNEL:
		return a->kernel.shared_bytes == b->kernel.shared_bytes &&
		       memcmp(a->kernel.grid, b->kernel.grid, sizeof(a->kernel.grid)) == 0;
	case REPRISE_OP_COPY:
		return a->copy.target == b->copy.target && a->copy.source == b->copy.source;
	case REPRISE_OP_SET:
		return a->set.target == b->set.target && a->set.value == b->set.value;
	case REPRISE_OP_HOST:
		return a->host.function == b->host.function && a->host.data == b->host.data;
	case REPRISE_OP_RECORD:
	case REPRISE_OP_WAIT:
		return a->event == b->event;
	default:
		return true;
	}
}

bool reprise_op_same_memory(const struct reprise_op *a, const struct reprise_op *b)
{
	switch (a->kind) {
	case REPRISE_OP_COPY:
	case REPRISE_OP_COPY_2D:
	case REPRISE_OP_COPY_3D:
	case REPRISE_OP_SET:
		return a->memory_generation == b->memory_generation;
	default:
		return true;
	}
}

CUresult reprise_op_issue(const struct reprise_op *op, CUstream stream)
{
	switch (op->kind) {
	case REPRISE_OP_KERNEL:
		return reprise_kernel_issue(op, stream);
	case REPRISE_OP_COPY:
		return issue_copy(&op->copy, stream);
	case REPRISE_OP_SET:
		return issue_set(&op->set, stream);
	case REPRISE_OP_HOST:
		return reprise_driver.cuLaunchHostFunc(stream, op->host.function, op->host.data);
	case REPRISE_OP_COPY_2D:
		return reprise_driver.cuMemcpy2DAsync_v2((const CUDA_MEMCPY2D *)op->payload, stream);
	case REPRISE_OP_RECORD:
		return reprise_driver.cuEventRecord(op->event, stream);
	case REPRISE_OP_WAIT:
		return reprise_driver.cuStreamWaitEvent(stream, op->event, CU_EVENT_WAIT_DEFAULT);
	default:
		return reprise_driver.cuMemcpy3DAsync_v2((const CUDA_MEMCPY3D *)op->payload, stream);
	}
}

CUresult reprise_op_capture(const struct reprise_op *op, CUstream stream)
{
	if (op->kind == REPRISE_OP_COPY && op->copy.form == REPRISE_COPY_PEER)
		return reprise_driver.cuMemcpyDtoDAsync_v2(op->copy.target, op->copy.source, op->copy.bytes,
		                                           stream);
	return reprise_op_issue(op, stream);
}

const char *const reprise_op_kind_names[] = {
#define X(kind, name) name,
	REPRISE_OP_KINDS(X)
#undef X
};
