/* Occupancy, from threads, blocks and shared memory alone: registers never limit it here. */
#include "api.h"
#include "context.h"
#include "device.h"
#include "module.h"

/* Blocks of a multiprocessor that so much shared memory has room for, beside what is reserved for
 * each. */
static int limited_by_shared(size_t bytes)
{
	size_t most =
		(size_t)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);

	return (int)(most / (bytes + (size_t)sim_device_attribute(
									 CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)));
}

static int blocks_of(const struct sim_function *function, int threads, size_t shared_bytes)
{
	int warp = sim_device_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
		rounded = (threads + warp - 1) / warp * warp;
	int blocks = sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / rounded;
	int most = sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);

	if (threads > function->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] ||
	    shared_bytes >
	        (size_t)function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES])
		return 0;
	if (blocks > most)
		blocks = most;
	return blocks < limited_by_shared(shared_bytes) ? blocks : limited_by_shared(shared_bytes);
}

static CUresult occupancy(int *blocks, CUfunction handle, int threads, size_t shared_bytes,
                          unsigned int flags)
{
	const struct sim_function *function = sim_function_asked_about(handle);

	if (!blocks || threads <= 0 || (flags & ~(unsigned int)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*blocks = blocks_of(function, threads, shared_bytes);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *blocks, CUfunction handle, int threads, size_t shared_bytes),
    (blocks, handle, threads, shared_bytes))
{
	return occupancy(blocks, handle, threads, shared_bytes, 0);
}

API(SIM_CONTEXT, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (int *blocks, CUfunction handle, int threads, size_t shared_bytes, unsigned int flags),
    (blocks, handle, threads, shared_bytes, flags))
{
	return occupancy(blocks, handle, threads, shared_bytes, flags);
}

/* The largest block of those that give the most threads, and how many of them fill the device. */
static CUresult potential(int *blocks, int *threads, CUfunction handle,
                          CUoccupancyB2DSize shared_for, size_t shared_bytes, int limit)
{
	const struct sim_function *function = sim_function_asked_about(handle);
	int warp = sim_device_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), size, best = 0;

	if (!blocks || !threads || limit < 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	size = function->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
	if (limit && limit < size)
		size = limit;
	*blocks = *threads = 0;
	for (; size > 0; size = (size - 1) / warp * warp) {
		int each = blocks_of(function, size, shared_for ? shared_for(size) : shared_bytes);

		if (each * size <= best)
			continue;
		best = each * size;
		*threads = size;
		*blocks = each * sim_device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	}
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuOccupancyMaxPotentialBlockSize,
    (int *blocks, int *threads, CUfunction handle, CUoccupancyB2DSize shared_for,
     size_t shared_bytes, int limit),
    (blocks, threads, handle, shared_for, shared_bytes, limit))
{
	return potential(blocks, threads, handle, shared_for, shared_bytes, limit);
}

API(SIM_CONTEXT, cuOccupancyMaxPotentialBlockSizeWithFlags,
    (int *blocks, int *threads, CUfunction handle, CUoccupancyB2DSize shared_for,
     size_t shared_bytes, int limit, unsigned int flags),
    (blocks, threads, handle, shared_for, shared_bytes, limit, flags))
{
	if (flags & ~(unsigned int)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
		return CUDA_ERROR_INVALID_VALUE;
	return potential(blocks, threads, handle, shared_for, shared_bytes, limit);
}

API(SIM_CONTEXT, cuOccupancyAvailableDynamicSMemPerBlock,
    (size_t * bytes, CUfunction handle, int blocks, int threads), (bytes, handle, blocks, threads))
{
	size_t most =
		(size_t)sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	size_t reserved =
		(size_t)sim_device_attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	const struct sim_function *function = sim_function_asked_about(handle);

	if (!bytes || blocks <= 0 || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (blocks > blocks_of(function, threads, 0))
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = most / (size_t)blocks - reserved;
	if (*bytes > (size_t)function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES])
		*bytes = (size_t)function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
	return CUDA_SUCCESS;
}

/* "Maximum cluster size that can be launched": the portable one, or 16 if the function allows it.
 */
API(SIM_CONTEXT, cuOccupancyMaxPotentialClusterSize,
    (int *size, CUfunction handle, const CUlaunchConfig *config), (size, handle, config))
{
	const struct sim_function *function = sim_function_asked_about(handle);

	if (!size || !config)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*size = function->attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] ? 16 : 8;
	return CUDA_SUCCESS;
}

/* "Maximum number of clusters that could co-exist on the target device": as many as blocks fit,
 * wherever they are. */
API(SIM_CONTEXT, cuOccupancyMaxActiveClusters,
    (int *clusters, CUfunction handle, const CUlaunchConfig *config), (clusters, handle, config))
{
	const struct sim_function *function = sim_function_asked_about(handle);
	unsigned int size = 0, i;
	int blocks;

	if (!clusters || !config)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	for (i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
			       config->attrs[i].value.clusterDim.z;
	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	blocks = blocks_of(function, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
	                   config->sharedMemBytes);
	*clusters = blocks * sim_device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) / (int)size;
	return CUDA_SUCCESS;
}
