#include "kernel_work.h"

#include <setjmp.h>
#include <stdio.h>

#include "context.h"
#include "device.h"
#include "stream.h"
#include "worker.h"

/* A launch in progress; a trap leaves the kernel by a jump. */
struct launch {
	struct sim_launch launch; /* first: kernels see only this */
	struct sim_context *context;
	CUresult error;
	jmp_buf end;
};

static void trap(struct sim_launch *launch)
{
	struct launch *self = (struct launch *)launch;

	self->error = CUDA_ERROR_LAUNCH_FAILED;
	longjmp(self->end, 1);
}

/* A kernel that spins in a context that another op has broken ends with it. */
static void pause_kernel(struct sim_launch *launch)
{
	struct launch *self = (struct launch *)launch;

	sim_worker_pause();
	if (self->context->error != CUDA_SUCCESS)
		longjmp(self->end, 1);
}

CUresult sim_kernel_work_run(struct sim_work *work)
{
	const struct sim_kernel_work *kernel = &work->kernel;
	struct launch launch = {
		.launch = {kernel->grid, kernel->block, NULL, kernel->shared_bytes, pause_kernel, trap},
		.context = work->context,
	};

	if (sim_object_of(SIM_A_FUNCTION, kernel->function) != kernel->function ||
	    kernel->function->object.serial != kernel->serial) {
		fprintf(stderr, "simulated driver: a kernel of an unloaded module was run\n");
		return CUDA_ERROR_LAUNCH_FAILED;
	}
	if (kernel->shared_bytes)
		launch.launch.shared = calloc(1, kernel->shared_bytes);
	if (setjmp(launch.end) == 0)
		kernel->function->code->run(&launch.launch, kernel->bytes);
	free(launch.launch.shared);
	return launch.error;
}

bool sim_kernel_work_spins(const struct sim_work *work)
{
	return work->kernel.function->code->spins;
}

const CUlaunchAttributeValue *sim_kernel_work_attribute(const struct sim_work *work,
                                                        CUlaunchAttributeID id)
{
	unsigned int i;

	for (i = 0; i < work->kernel.attribute_count; i++)
		if (work->kernel.attributes[i].id == id)
			return &work->kernel.attributes[i].value;
	return NULL;
}

int sim_kernel_work_priority(const struct sim_work *work, int otherwise)
{
	const CUlaunchAttributeValue *own =
		work->kind == SIM_KERNEL ? sim_kernel_work_attribute(work, CU_LAUNCH_ATTRIBUTE_PRIORITY)
								 : NULL;

	return own ? sim_stream_priority(own->priority) : otherwise;
}

/* CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: "must either all be 0 or all be positive"; else checked
 * at the launch, as a launch's own attribute is. */
static CUresult check_required_cluster(const struct sim_function *function, struct sim_dim grid)
{
	unsigned int x = (unsigned int)function->attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
	unsigned int y = (unsigned int)function->attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT];
	unsigned int z = (unsigned int)function->attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH];

	if (!x && !y && !z)
		return CUDA_SUCCESS;
	return !x || !y || !z || grid.x % x || grid.y % y || grid.z % z || (uint64_t)x * y * z > 8
	           ? CUDA_ERROR_INVALID_CLUSTER_SIZE
	           : CUDA_SUCCESS;
}

/* "CUDA_ERROR_INVALID_VALUE": dimensions of zero or beyond the device's limits, more shared memory
 * than the function may have. */
static CUresult check_shape(const struct sim_function *function, struct sim_dim grid,
                            struct sim_dim block, unsigned int shared_bytes)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	if (!grid.x || !grid.y || !grid.z || threads == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (grid.x > (unsigned int)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) ||
	    grid.y > (unsigned int)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) ||
	    grid.z > (unsigned int)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z))
		return CUDA_ERROR_INVALID_VALUE;
	if (block.z > (unsigned int)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
	    threads > (unsigned int)function->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
		return CUDA_ERROR_INVALID_VALUE;
	if (shared_bytes >
	    (unsigned int)function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES])
		return CUDA_ERROR_INVALID_VALUE;
	return check_required_cluster(function, grid);
}

bool sim_kernel_may_have_shape(CUfunction handle, struct sim_dim grid, struct sim_dim block,
                               unsigned int shared_bytes)
{
	const struct sim_function *function = sim_function_of(handle, sim_current());

	return function && check_shape(function, grid, block, shared_bytes) == CUDA_SUCCESS;
}

/* All blocks of a cooperative launch run at once. */
static bool fits_at_once(struct sim_dim grid, struct sim_dim block)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z,
			 blocks = (uint64_t)grid.x * grid.y * grid.z;
	uint64_t most =
		(uint64_t)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) /
		threads;
	uint64_t limit =
		(uint64_t)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);

	return blocks <= (most < limit ? most : limit) *
	                     (uint64_t)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

static CUresult check_attributes(const CUlaunchAttribute *attributes, unsigned int count,
                                 struct sim_dim grid, struct sim_dim block)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		const CUlaunchAttributeValue *value = &attributes[i].value;

		if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && value->cooperative &&
		    !fits_at_once(grid, block))
			return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
		if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			unsigned int x = value->clusterDim.x, y = value->clusterDim.y, z = value->clusterDim.z;

			/* Measured: all zeros are no cluster; any other that does not divide the grid, and one
			 * that is too large, are refused. */
			if (!x && !y && !z)
				continue;
			if (!x || !y || !z || grid.x % x || grid.y % y || grid.z % z || (uint64_t)x * y * z > 8)
				return CUDA_ERROR_INVALID_CLUSTER_SIZE;
		}
	}
	return CUDA_SUCCESS;
}

/* `extra`: a list of CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE, ended by _END. */
static CUresult read_extra(void **extra, const void **buffer, size_t *size)
{
	*buffer = NULL;
	*size = 0;
	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			*buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*size = *(const size_t *)extra[1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	return *buffer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int by_id(const void *a, const void *b)
{
	return (int)((const CUlaunchAttribute *)a)->id - (int)((const CUlaunchAttribute *)b)->id;
}

static void copy_attributes(struct sim_kernel_work *kernel, const CUlaunchAttribute *attributes,
                            unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (attributes[i].id != CU_LAUNCH_ATTRIBUTE_IGNORE)
			kernel->attributes[kernel->attribute_count++] = attributes[i];
	if (kernel->attribute_count > 1)
		qsort(kernel->attributes, kernel->attribute_count, sizeof(*kernel->attributes), by_id);
}

CUresult sim_work_kernel(struct sim_work **made, CUfunction handle, struct sim_dim grid,
                         struct sim_dim block, unsigned int shared_bytes, void **params,
                         void **extra, const CUlaunchAttribute *attributes,
                         unsigned int attribute_count)
{
	struct sim_function *function = sim_function_to_launch(handle);
	const struct sim_kernel *code;
	const void *buffer = NULL;
	size_t bytes, rounded, size = 0, i;
	struct sim_work *work;
	CUresult result;

	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	code = function->code;
	bytes = sim_function_bytes(code);
	rounded = (code->parameter_bytes + 15) / 16 * 16;
	result = check_shape(function, grid, block, shared_bytes);
	if (result == CUDA_SUCCESS)
		result = check_attributes(attributes, attribute_count, grid, block);
	if (result == CUDA_SUCCESS && params && extra)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && extra)
		result = read_extra(extra, &buffer, &size);
	if (result != CUDA_SUCCESS)
		return result;
	if (bytes && !params && size < bytes)
		return CUDA_ERROR_INVALID_VALUE;

	work = sim_work_new_with(SIM_KERNEL, rounded + code->parameter_count * sizeof(void *) +
	                                         attribute_count * sizeof(CUlaunchAttribute) + 16);
	work->context = function->context;
	work->kernel.function = function;
	work->kernel.serial = function->object.serial;
	work->kernel.kernel = (CUkernel)function->kernel;
	work->kernel.grid = grid;
	work->kernel.block = block;
	work->kernel.shared_bytes = shared_bytes;
	work->kernel.bytes = (unsigned char *)(((uintptr_t)(work + 1) + 15) / 16 * 16);
	work->kernel.params = (void **)(work->kernel.bytes + rounded);
	work->kernel.attributes = (CUlaunchAttribute *)(work->kernel.params + code->parameter_count);
	if (buffer)
		memcpy(work->kernel.bytes, buffer, bytes);
	for (i = 0; i < code->parameter_count; i++) {
		work->kernel.params[i] = work->kernel.bytes + code->parameters[i].offset;
		if (params)
			memcpy(work->kernel.params[i], params[i], code->parameters[i].size);
	}
	copy_attributes(&work->kernel, attributes, attribute_count);
	*made = work;
	return CUDA_SUCCESS;
}
