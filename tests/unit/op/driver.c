#include "driver.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver/driver.h"

static char seen[1024];
static size_t seen_bytes;

__attribute__((format(printf, 1, 2))) static CUresult see(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	seen_bytes += (size_t)vsnprintf(seen + seen_bytes, sizeof(seen) - seen_bytes, format, values);
	va_end(values);
	ck_assert_uint_lt(seen_bytes, sizeof(seen));
	return CUDA_SUCCESS;
}

static void see_bytes(const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		see("%02x", ((const unsigned char *)bytes)[i]);
	see(" ");
}

const char *driver_saw(void)
{
	static char last[sizeof(seen)];

	memcpy(last, seen, sizeof(seen));
	seen_bytes = 0;
	seen[0] = '\0';
	return last;
}

/* ---- memory ---- */

static struct {
	CUdeviceptr start;
	CUmemorytype type;
	bool managed;
	unsigned int device;
} pieces[] = {
	{DEVICE_0, CU_MEMORYTYPE_DEVICE, false, 0}, {DEVICE_0_TOO, CU_MEMORYTYPE_DEVICE, false, 0},
	{DEVICE_1, CU_MEMORYTYPE_DEVICE, false, 1}, {PINNED, CU_MEMORYTYPE_HOST, false, 0},
	{PINNED_TOO, CU_MEMORYTYPE_HOST, false, 0}, {MANAGED, CU_MEMORYTYPE_DEVICE, true, 0},
};

#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

static size_t piece_at(CUdeviceptr address)
{
	size_t i = 0;

	while (i < PIECES && address - pieces[i].start >= PIECE)
		i++;
	return i;
}

void driver_moves(CUdeviceptr piece)
{
	pieces[piece_at(piece)].device ^= 1;
}

static CUresult CUDAAPI get_attributes(unsigned int count, CUpointer_attribute *attributes,
                                       void **answers, CUdeviceptr address)
{
	size_t i = piece_at(address);

	for (unsigned int k = 0; k < count; k++)
		switch (attributes[k]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
			*(unsigned int *)answers[k] = i < PIECES ? pieces[i].type : 0;
			break;
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			*(unsigned int *)answers[k] = i < PIECES && pieces[i].managed;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)answers[k] = i < PIECES ? (int)pieces[i].device : CU_DEVICE_INVALID;
			break;
		case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
			*(CUdeviceptr *)answers[k] = i < PIECES ? pieces[i].start : 0;
			break;
		case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
			*(size_t *)answers[k] = i < PIECES ? PIECE : 0;
			break;
		default:
			*(void **)answers[k] = NULL;
		}
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	size_t i = piece_at(address);

	if (i == PIECES)
		return CUDA_ERROR_INVALID_VALUE;
	*base = pieces[i].start;
	*bytes = PIECE;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI count_devices(int *count)
{
	*count = 2;
	return CUDA_SUCCESS;
}

/* ---- functions ---- */

static const struct {
	size_t offset, bytes;
} params[] = {{0, 4}, {8, 8}, {16, 3}};

#define PARAMS (sizeof(params) / sizeof(params[0]))

static CUresult CUDAAPI get_param(CUfunction function, size_t i, size_t *offset, size_t *bytes)
{
	if (function == FUNCTION_UNTOLD)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (i >= PARAMS || function == FUNCTION_WITHOUT)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = params[i].offset;
	*bytes = params[i].bytes;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_function_attribute(int *value, CUfunction_attribute attribute,
                                               CUfunction function)
{
	*value =
		function == FUNCTION_OF_CLUSTERS && attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_module(CUmodule *module, CUfunction function)
{
	*module = NULL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_variable(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                     const char *name)
{
	return CUDA_ERROR_NOT_FOUND;
}

/* ---- what is issued ---- */

/* Of a packed buffer the driver reads what it needs. */
static void see_params(CUfunction function, void **pointers, void **extra)
{
	if (function == FUNCTION_WITHOUT) {
		see("%s", pointers == NULL ? "no array " : "");
		return;
	}
	for (size_t i = 0; i < PARAMS; i++)
		see_bytes(pointers != NULL ? pointers[i] : (char *)extra[1] + params[i].offset,
		          params[i].bytes);
}

static CUresult CUDAAPI launch(CUfunction function, unsigned int x, unsigned int y, unsigned int z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z,
                               unsigned int shared_bytes, CUstream stream, void **pointers,
                               void **extra)
{
	see("launch %p %u,%u,%u %u,%u,%u %u %p ", (void *)function, x, y, z, block_x, block_y, block_z,
	    shared_bytes, (void *)stream);
	see_params(function, pointers, extra);
	return CUDA_SUCCESS;
}

static size_t value_bytes(CUlaunchAttributeID id)
{
	return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ? 12 : 4;
}

static CUresult CUDAAPI launch_extended(const CUlaunchConfig *config, CUfunction function,
                                        void **pointers, void **extra)
{
	see("extended ");
	for (unsigned int i = 0; i < config->numAttrs; i++) {
		see("%d=", (int)config->attrs[i].id);
		see_bytes(&config->attrs[i].value, value_bytes(config->attrs[i].id));
	}
	return launch(function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
	              config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream,
	              pointers, extra);
}

static CUresult CUDAAPI to_device(CUdeviceptr target, const void *source, size_t bytes,
                                  CUstream stream)
{
	return see("HtoD %llx %p %zu %p", target, source, bytes, (void *)stream);
}

static CUresult CUDAAPI to_host(void *target, CUdeviceptr source, size_t bytes, CUstream stream)
{
	return see("DtoH %p %llx %zu %p", target, source, bytes, (void *)stream);
}

static CUresult CUDAAPI on_device(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                  CUstream stream)
{
	return see("DtoD %llx %llx %zu %p", target, source, bytes, (void *)stream);
}

static CUresult CUDAAPI unified(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                CUstream stream)
{
	return see("copy %llx %llx %zu %p", target, source, bytes, (void *)stream);
}

static CUresult CUDAAPI peer(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                             CUcontext source_context, size_t bytes, CUstream stream)
{
	return see("peer %llx %p %llx %p %zu %p", target, (void *)target_context, source,
	           (void *)source_context, bytes, (void *)stream);
}

static CUresult CUDAAPI copy_2d(const CUDA_MEMCPY2D *descriptor, CUstream stream)
{
	see_bytes(descriptor, sizeof(*descriptor));
	return see("2D %p", (void *)stream);
}

static CUresult CUDAAPI copy_3d(const CUDA_MEMCPY3D *descriptor, CUstream stream)
{
	see_bytes(descriptor, sizeof(*descriptor));
	return see("3D %p", (void *)stream);
}

static CUresult CUDAAPI set_8(CUdeviceptr target, unsigned char value, size_t width,
                              CUstream stream)
{
	return see("set 8 %llx %u %zu %p", target, value, width, (void *)stream);
}

static CUresult CUDAAPI set_16(CUdeviceptr target, unsigned short value, size_t width,
                               CUstream stream)
{
	return see("set 16 %llx %u %zu %p", target, value, width, (void *)stream);
}

static CUresult CUDAAPI set_32(CUdeviceptr target, unsigned int value, size_t width,
                               CUstream stream)
{
	return see("set 32 %llx %u %zu %p", target, value, width, (void *)stream);
}

static CUresult CUDAAPI set_2d_8(CUdeviceptr target, size_t pitch, unsigned char value,
                                 size_t width, size_t height, CUstream stream)
{
	return see("set 2D 8 %llx %zu %u %zu %zu %p", target, pitch, value, width, height,
	           (void *)stream);
}

static CUresult CUDAAPI set_2d_16(CUdeviceptr target, size_t pitch, unsigned short value,
                                  size_t width, size_t height, CUstream stream)
{
	return see("set 2D 16 %llx %zu %u %zu %zu %p", target, pitch, value, width, height,
	           (void *)stream);
}

static CUresult CUDAAPI set_2d_32(CUdeviceptr target, size_t pitch, unsigned int value,
                                  size_t width, size_t height, CUstream stream)
{
	return see("set 2D 32 %llx %zu %u %zu %zu %p", target, pitch, value, width, height,
	           (void *)stream);
}

static CUresult CUDAAPI host(CUstream stream, CUhostFn function, void *data)
{
	return see("host %p %p %p", (void *)stream, (void *)(uintptr_t)function, data);
}

static CUresult CUDAAPI record(CUevent event, CUstream stream)
{
	return see("record %p %p", (void *)event, (void *)stream);
}

static CUresult CUDAAPI wait(CUstream stream, CUevent event, unsigned int flags)
{
	return see("wait %p %p %u", (void *)stream, (void *)event, flags);
}

void driver_begins(void)
{
	driver_saw();
	for (size_t i = 0; i < PIECES; i++)
		pieces[i].device = pieces[i].start == DEVICE_1;
	reprise_driver.cuPointerGetAttributes = get_attributes;
	reprise_driver.cuMemGetAddressRange_v2 = get_range;
	reprise_driver.cuDeviceGetCount = count_devices;
	reprise_driver.cuFuncGetParamInfo = get_param;
	reprise_driver.cuFuncGetAttribute = get_function_attribute;
	reprise_driver.cuFuncGetModule = get_module;
	reprise_driver.cuModuleGetGlobal_v2 = get_variable;
	reprise_driver.cuLaunchKernel = launch;
	reprise_driver.cuLaunchKernelEx = launch_extended;
	reprise_driver.cuMemcpyHtoDAsync_v2 = to_device;
	reprise_driver.cuMemcpyDtoHAsync_v2 = to_host;
	reprise_driver.cuMemcpyDtoDAsync_v2 = on_device;
	reprise_driver.cuMemcpyAsync = unified;
	reprise_driver.cuMemcpyPeerAsync = peer;
	reprise_driver.cuMemcpy2DAsync_v2 = copy_2d;
	reprise_driver.cuMemcpy3DAsync_v2 = copy_3d;
	reprise_driver.cuMemsetD8Async = set_8;
	reprise_driver.cuMemsetD16Async = set_16;
	reprise_driver.cuMemsetD32Async = set_32;
	reprise_driver.cuMemsetD2D8Async = set_2d_8;
	reprise_driver.cuMemsetD2D16Async = set_2d_16;
	reprise_driver.cuMemsetD2D32Async = set_2d_32;
	reprise_driver.cuLaunchHostFunc = host;
	reprise_driver.cuEventRecord = record;
	reprise_driver.cuStreamWaitEvent = wait;
}

static void call_kernel(const struct reprise_call_kernel *kernel, CUstream stream)
{
	if (kernel->config == NULL) {
		launch(kernel->function, kernel->grid[0], kernel->grid[1], kernel->grid[2],
		       kernel->block[0], kernel->block[1], kernel->block[2], kernel->shared_bytes, stream,
		       kernel->params, kernel->extra);
		return;
	}

	CUlaunchConfig config = *kernel->config;

	config.gridDimX = kernel->grid[0];
	config.gridDimY = kernel->grid[1];
	config.gridDimZ = kernel->grid[2];
	config.blockDimX = kernel->block[0];
	config.blockDimY = kernel->block[1];
	config.blockDimZ = kernel->block[2];
	config.sharedMemBytes = kernel->shared_bytes;
	config.hStream = stream;
	launch_extended(&config, kernel->function, kernel->params, kernel->extra);
}

static void call_copy(const struct reprise_call_copy *copy, CUstream stream)
{
	switch (copy->form) {
	case REPRISE_COPY_UNIFIED:
		unified(copy->target, copy->source, copy->bytes, stream);
		break;
	case REPRISE_COPY_HOST_TO_DEVICE:
		to_device(copy->target, (const void *)(uintptr_t)copy->source, copy->bytes, stream);
		break;
	case REPRISE_COPY_DEVICE_TO_HOST:
		to_host((void *)(uintptr_t)copy->target, copy->source, copy->bytes, stream);
		break;
	case REPRISE_COPY_DEVICE_TO_DEVICE:
		on_device(copy->target, copy->source, copy->bytes, stream);
		break;
	case REPRISE_COPY_PEER:
		peer(copy->target, copy->target_context, copy->source, copy->source_context, copy->bytes,
		     stream);
		break;
	}
}

static void call_set(const struct reprise_call_set *set, CUstream stream)
{
	unsigned char value_8 = (unsigned char)set->value;
	unsigned short value_16 = (unsigned short)set->value;

	if (set->plane && set->element_bytes == 1)
		set_2d_8(set->target, set->pitch, value_8, set->width, set->height, stream);
	else if (set->plane && set->element_bytes == 2)
		set_2d_16(set->target, set->pitch, value_16, set->width, set->height, stream);
	else if (set->plane)
		set_2d_32(set->target, set->pitch, set->value, set->width, set->height, stream);
	else if (set->element_bytes == 1)
		set_8(set->target, value_8, set->width, stream);
	else if (set->element_bytes == 2)
		set_16(set->target, value_16, set->width, stream);
	else
		set_32(set->target, set->value, set->width, stream);
}

void driver_is_called(const struct reprise_call *call)
{
	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		call_kernel(&call->kernel, call->stream);
		break;
	case REPRISE_OP_COPY:
		call_copy(&call->copy, call->stream);
		break;
	case REPRISE_OP_COPY_2D:
		copy_2d(call->copy_2d, call->stream);
		break;
	case REPRISE_OP_COPY_3D:
		copy_3d(call->copy_3d, call->stream);
		break;
	case REPRISE_OP_SET:
		call_set(&call->set, call->stream);
		break;
	case REPRISE_OP_HOST:
		host(call->stream, call->host.function, call->host.data);
		break;
	case REPRISE_OP_RECORD:
		record(call->event, call->stream);
		break;
	default:
		wait(call->stream, call->event, CU_EVENT_WAIT_DEFAULT);
	}
}
