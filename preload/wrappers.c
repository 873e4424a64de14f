/*
 * The doors of the RECORD entry points. Each describes its call and hands it on; the lane decides
 * what to do with it and what to answer. `eager` makes the program's call at the entry point that
 * the program used.
 *
 * Nothing is copied or checked here, except that a pointer which must be followed is not NULL.
 */
#include "versions.h"

#include "base/inside.h"
#include "base/placement.h"
#include "entry/entry.h"
#include "doors.h"

/* Both forms of a name: stream 0 of the second is the thread's own default stream. */
#define DOORS(DOOR, name) \
	DOOR(name, name, false) \
	DOOR(name##_ptsz, name, true)

/* A launch takes memory if the driver loads the code at its first use. A function of its own: a
 * call that is answered saves no registers for it. */
static __attribute__((noinline)) CUresult call_with_room(const struct reprise_call *call)
{
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	for (unsigned int tried = 0; result == CUDA_ERROR_OUT_OF_MEMORY && reprise_make_room(tried);
	     tried++)
		result = reprise_call_eager(call, NULL);
	return result;
}

REPRISE_HOT static CUresult handle(struct reprise_call *call)
{
	CUresult result = reprise_inside != 0 ? call->eager(call) : reprise_handle_op(call);

	return __builtin_expect(result == CUDA_ERROR_OUT_OF_MEMORY, 0) ? call_with_room(call) : result;
}

/* What the lane sets. Launches name every member of the call: else gcc clears all of it first. */
#define NOT_KNOWN_YET \
	.member = 0, .unfit = 0, .way = 0, .unseen = false, .foreign = false, .begins_turn = false

/* The way of a call that passes (entry/entry.h). `key`: what a scan knows it by. */
#define PASS(name, stream, is_per_thread, is_launch, key, ...) \
	do { \
		CUresult passed; \
		unsigned int tried = 0; \
		if (!REPRISE_PASSES(stream, is_per_thread, is_launch, key)) \
			break; \
		do \
			passed = REPRISE_REAL(name)(__VA_ARGS__); \
		while (reprise_pass_again(passed, tried++)); \
		return passed; \
	} while (0)

/* Hands on a kernel launch; the last arguments describe it. */
#define HANDLE_LAUNCH(name, into, is_per_thread, makes_call, ...) \
	struct reprise_call call = {.kind = REPRISE_OP_KERNEL, \
	                            NOT_KNOWN_YET, \
	                            .per_thread = is_per_thread, \
	                            .stream = into, \
	                            .eager = makes_call, \
	                            .entry = reprise_real[REPRISE_ENTRY_##name], \
	                            .from = __builtin_return_address(0), \
	                            .kernel = {__VA_ARGS__}}; \
	return handle(&call)

REPRISE_HOT static CUresult eager_kernel(const struct reprise_call *call)
{
	__typeof__(&cuLaunchKernel) entry = call->entry;
	const struct reprise_call_kernel *kernel = &call->kernel;

	return entry(kernel->function, kernel->grid[0], kernel->grid[1], kernel->grid[2],
	             kernel->block[0], kernel->block[1], kernel->block[2], kernel->shared_bytes,
	             call->stream, kernel->params, kernel->extra);
}

#define DOOR_LAUNCH_KERNEL(name, plain, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	REPRISE_HOT CUresult reprise_door_##name(CUfunction function, unsigned int grid_x, \
	                                         unsigned int grid_y, unsigned int grid_z, \
	                                         unsigned int block_x, unsigned int block_y, \
	                                         unsigned int block_z, unsigned int shared_bytes, \
	                                         CUstream stream, void **params, void **extra) \
	{ \
		PASS(name, stream, is_per_thread, true, \
		     reprise_scan_key_of_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, \
		                                block_z), \
		     function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, \
		     params, extra); \
		HANDLE_LAUNCH(name, stream, is_per_thread, eager_kernel, .function = function, \
		              .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, \
		              .shared_bytes = shared_bytes, .params = params, .extra = extra, \
		              .config = NULL); \
	}
DOORS(DOOR_LAUNCH_KERNEL, cuLaunchKernel)

REPRISE_HOT static CUresult eager_kernel_ex(const struct reprise_call *call)
{
	__typeof__(&cuLaunchKernelEx) entry = call->entry;
	const struct reprise_call_kernel *kernel = &call->kernel;

	return entry(kernel->config, kernel->function, kernel->params, kernel->extra);
}

#define DOOR_LAUNCH_KERNEL_EX(name, plain, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	REPRISE_HOT CUresult reprise_door_##name(const CUlaunchConfig *config, CUfunction function, \
	                                         void **params, void **extra) \
	{ \
		if (config == NULL) \
			return REPRISE_REAL(name)(config, function, params, extra); \
		if (config->numAttrs > 0 && reprise_inside == 0) \
			reprise_meet_attributes(config); \
		PASS(name, config->hStream, is_per_thread, true, \
		     reprise_scan_key_of_kernel(function, config->gridDimX, config->gridDimY, \
		                                config->gridDimZ, config->blockDimX, config->blockDimY, \
		                                config->blockDimZ), \
		     config, function, params, extra); \
		HANDLE_LAUNCH(name, config->hStream, is_per_thread, eager_kernel_ex, .function = function, \
		              .grid = {config->gridDimX, config->gridDimY, config->gridDimZ}, \
		              .block = {config->blockDimX, config->blockDimY, config->blockDimZ}, \
		              .shared_bytes = config->sharedMemBytes, .params = params, .extra = extra, \
		              .config = config); \
	}
DOORS(DOOR_LAUNCH_KERNEL_EX, cuLaunchKernelEx)

REPRISE_HOT static CUresult eager_cooperative(const struct reprise_call *call)
{
	__typeof__(&cuLaunchCooperativeKernel) entry = call->entry;
	const struct reprise_call_kernel *kernel = &call->kernel;

	return entry(kernel->function, kernel->grid[0], kernel->grid[1], kernel->grid[2],
	             kernel->block[0], kernel->block[1], kernel->block[2], kernel->shared_bytes,
	             call->stream, kernel->params);
}

/* Described as cuLaunchKernelEx with the attribute, and deferred launches are issued by that.
 * `eager` makes the program's own call. */
#define DOOR_LAUNCH_COOPERATIVE(name, plain, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	REPRISE_HOT CUresult reprise_door_##name(CUfunction function, unsigned int grid_x, \
	                                         unsigned int grid_y, unsigned int grid_z, \
	                                         unsigned int block_x, unsigned int block_y, \
	                                         unsigned int block_z, unsigned int shared_bytes, \
	                                         CUstream stream, void **params) \
	{ \
		PASS(name, stream, is_per_thread, true, \
		     reprise_scan_key_of_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, \
		                                block_z), \
		     function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, \
		     params); \
		CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, \
		                                 .value.cooperative = 1}; \
		CUlaunchConfig config = {.attrs = &cooperative, .numAttrs = 1}; \
		HANDLE_LAUNCH(name, stream, is_per_thread, eager_cooperative, .function = function, \
		              .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, \
		              .shared_bytes = shared_bytes, .params = params, .extra = NULL, \
		              .config = &config); \
	}
DOORS(DOOR_LAUNCH_COOPERATIVE, cuLaunchCooperativeKernel)

/* The four entry points differ only in the types of their two addresses. */
#define DOOR_COPY(name, plain, is_per_thread, copy_form, target_type, source_type) \
	static CUresult eager_##name(const struct reprise_call *call) \
	{ \
		__typeof__(&plain) entry = call->entry; \
		return entry((target_type)call->copy.target, (source_type)call->copy.source, \
		             call->copy.bytes, call->stream); \
	} \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(target_type target, source_type source, size_t bytes, \
	                             CUstream stream) \
	{ \
		PASS(name, stream, is_per_thread, false, reprise_scan_key_of_kind(REPRISE_OP_COPY, bytes), \
		     target, source, bytes, stream); \
		struct reprise_call call = {.kind = REPRISE_OP_COPY, \
		                            .per_thread = is_per_thread, \
		                            .stream = stream, \
		                            .eager = eager_##name, \
		                            .entry = reprise_real[REPRISE_ENTRY_##name], \
		                            .from = __builtin_return_address(0), \
		                            .copy = {.form = copy_form, \
		                                     .target = (CUdeviceptr)target, \
		                                     .source = (CUdeviceptr)source, \
		                                     .bytes = bytes}}; \
		return handle(&call); \
	}
#define DOOR_COPY_UNIFIED(name, plain, is_per_thread) \
	DOOR_COPY(name, plain, is_per_thread, REPRISE_COPY_UNIFIED, CUdeviceptr, CUdeviceptr)
#define DOOR_COPY_HOST_TO_DEVICE(name, plain, is_per_thread) \
	DOOR_COPY(name, plain, is_per_thread, REPRISE_COPY_HOST_TO_DEVICE, CUdeviceptr, const void *)
#define DOOR_COPY_DEVICE_TO_HOST(name, plain, is_per_thread) \
	DOOR_COPY(name, plain, is_per_thread, REPRISE_COPY_DEVICE_TO_HOST, void *, CUdeviceptr)
#define DOOR_COPY_DEVICE_TO_DEVICE(name, plain, is_per_thread) \
	DOOR_COPY(name, plain, is_per_thread, REPRISE_COPY_DEVICE_TO_DEVICE, CUdeviceptr, CUdeviceptr)
DOORS(DOOR_COPY_UNIFIED, cuMemcpyAsync)
DOORS(DOOR_COPY_HOST_TO_DEVICE, cuMemcpyHtoDAsync_v2)
DOORS(DOOR_COPY_DEVICE_TO_HOST, cuMemcpyDtoHAsync_v2)
DOORS(DOOR_COPY_DEVICE_TO_DEVICE, cuMemcpyDtoDAsync_v2)

static CUresult eager_peer(const struct reprise_call *call)
{
	__typeof__(&cuMemcpyPeerAsync) entry = call->entry;
	const struct reprise_call_copy *copy = &call->copy;

	return entry(copy->target, copy->target_context, copy->source, copy->source_context,
	             copy->bytes, call->stream);
}

#define DOOR_COPY_PEER(name, plain, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUdeviceptr target, CUcontext target_context, CUdeviceptr source, \
	                             CUcontext source_context, size_t bytes, CUstream stream) \
	{ \
		PASS(name, stream, is_per_thread, false, reprise_scan_key_of_kind(REPRISE_OP_COPY, bytes), \
		     target, target_context, source, source_context, bytes, stream); \
		struct reprise_call call = {.kind = REPRISE_OP_COPY, \
		                            .per_thread = is_per_thread, \
		                            .stream = stream, \
		                            .eager = eager_peer, \
		                            .entry = reprise_real[REPRISE_ENTRY_##name], \
		                            .from = __builtin_return_address(0), \
		                            .copy = {.form = REPRISE_COPY_PEER, \
		                                     .target = target, \
		                                     .source = source, \
		                                     .bytes = bytes, \
		                                     .target_context = target_context, \
		                                     .source_context = source_context}}; \
		return handle(&call); \
	}
DOORS(DOOR_COPY_PEER, cuMemcpyPeerAsync)

#define DOOR_COPY_DESCRIBED(name, plain, is_per_thread, op_kind, field, description) \
	static CUresult eager_##name(const struct reprise_call *call) \
	{ \
		__typeof__(&plain) entry = call->entry; \
		return entry(call->field, call->stream); \
	} \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(const description *copy, CUstream stream) \
	{ \
		if (copy == NULL) \
			return REPRISE_REAL(name)(copy, stream); \
		PASS(name, stream, is_per_thread, false, reprise_scan_key_of_kind(op_kind, 0), copy, \
		     stream); \
		struct reprise_call call = {.kind = op_kind, \
		                            .per_thread = is_per_thread, \
		                            .stream = stream, \
		                            .eager = eager_##name, \
		                            .entry = reprise_real[REPRISE_ENTRY_##name], \
		                            .from = __builtin_return_address(0), \
		                            .field = copy}; \
		return handle(&call); \
	}
#define DOOR_COPY_2D(name, plain, is_per_thread) \
	DOOR_COPY_DESCRIBED(name, plain, is_per_thread, REPRISE_OP_COPY_2D, copy_2d, CUDA_MEMCPY2D)
#define DOOR_COPY_3D(name, plain, is_per_thread) \
	DOOR_COPY_DESCRIBED(name, plain, is_per_thread, REPRISE_OP_COPY_3D, copy_3d, CUDA_MEMCPY3D)
DOORS(DOOR_COPY_2D, cuMemcpy2DAsync_v2)
DOORS(DOOR_COPY_3D, cuMemcpy3DAsync_v2)

#define DOOR_SET(name, plain, is_per_thread, element) \
	static CUresult eager_##name(const struct reprise_call *call) \
	{ \
		__typeof__(&plain) entry = call->entry; \
		return entry(call->set.target, (element)call->set.value, call->set.width, call->stream); \
	} \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUdeviceptr target, element value, size_t width, CUstream stream) \
	{ \
		PASS(name, stream, is_per_thread, false, reprise_scan_key_of_kind(REPRISE_OP_SET, width), \
		     target, value, width, stream); \
		struct reprise_call call = {.kind = REPRISE_OP_SET, \
		                            .per_thread = is_per_thread, \
		                            .stream = stream, \
		                            .eager = eager_##name, \
		                            .entry = reprise_real[REPRISE_ENTRY_##name], \
		                            .from = __builtin_return_address(0), \
		                            .set = {.target = target, \
		                                    .value = value, \
		                                    .element_bytes = sizeof(element), \
		                                    .width = width, \
		                                    .height = 1}}; \
		return handle(&call); \
	}
#define DOOR_SET_8(name, plain, is_per_thread) DOOR_SET(name, plain, is_per_thread, unsigned char)
#define DOOR_SET_16(name, plain, is_per_thread) DOOR_SET(name, plain, is_per_thread, unsigned short)
#define DOOR_SET_32(name, plain, is_per_thread) DOOR_SET(name, plain, is_per_thread, unsigned int)
DOORS(DOOR_SET_8, cuMemsetD8Async)
DOORS(DOOR_SET_16, cuMemsetD16Async)
DOORS(DOOR_SET_32, cuMemsetD32Async)

#define DOOR_SET_2D(name, plain, is_per_thread, element) \
	static CUresult eager_##name(const struct reprise_call *call) \
	{ \
		__typeof__(&plain) entry = call->entry; \
		return entry(call->set.target, call->set.pitch, (element)call->set.value, call->set.width, \
		             call->set.height, call->stream); \
	} \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUdeviceptr target, size_t pitch, element value, size_t width, \
	                             size_t height, CUstream stream) \
	{ \
		PASS(name, stream, is_per_thread, false, reprise_scan_key_of_kind(REPRISE_OP_SET, width), \
		     target, pitch, value, width, height, stream); \
		struct reprise_call call = {.kind = REPRISE_OP_SET, \
		                            .per_thread = is_per_thread, \
		                            .stream = stream, \
		                            .eager = eager_##name, \
		                            .entry = reprise_real[REPRISE_ENTRY_##name], \
		                            .from = __builtin_return_address(0), \
		                            .set = {.target = target, \
		                                    .pitch = pitch, \
		                                    .plane = true, \
		                                    .value = value, \
		                                    .element_bytes = sizeof(element), \
		                                    .width = width, \
		                                    .height = height}}; \
		return handle(&call); \
	}
#define DOOR_SET_2D_8(name, plain, is_per_thread) \
	DOOR_SET_2D(name, plain, is_per_thread, unsigned char)
#define DOOR_SET_2D_16(name, plain, is_per_thread) \
	DOOR_SET_2D(name, plain, is_per_thread, unsigned short)
#define DOOR_SET_2D_32(name, plain, is_per_thread) \
	DOOR_SET_2D(name, plain, is_per_thread, unsigned int)
DOORS(DOOR_SET_2D_8, cuMemsetD2D8Async)
DOORS(DOOR_SET_2D_16, cuMemsetD2D16Async)
DOORS(DOOR_SET_2D_32, cuMemsetD2D32Async)

static CUresult eager_host(const struct reprise_call *call)
{
	__typeof__(&cuLaunchHostFunc) entry = call->entry;

	return entry(call->stream, call->host.function, call->host.data);
}

#define DOOR_LAUNCH_HOST(name, plain, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUstream stream, CUhostFn function, void *data) \
	{ \
		PASS(name, stream, is_per_thread, false, \
		     reprise_scan_key_of_kind(REPRISE_OP_HOST, (uintptr_t)function), stream, function, \
		     data); \
		struct reprise_call call = {.kind = REPRISE_OP_HOST, \
		                            .per_thread = is_per_thread, \
		                            .stream = stream, \
		                            .eager = eager_host, \
		                            .entry = reprise_real[REPRISE_ENTRY_##name], \
		                            .from = __builtin_return_address(0), \
		                            .host = {function, data}}; \
		return handle(&call); \
	}
DOORS(DOOR_LAUNCH_HOST, cuLaunchHostFunc)
