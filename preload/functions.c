/*
 * The doors of queries about functions and kernels. No deferred op changes what they read. But a
 * query loads a kernel that is not loaded yet, and loading may wait for running work
 * (src/lane/loading.h).
 */
#include "versions.h"

#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "entry/entry.h"
#include "lane/loading.h"
#include "stats/sites.h"
#include "doors.h"

/* Newer than the headers. */
CUresult CUDAAPI cuFuncGetParamCount(CUfunction function, size_t *count);
CUresult CUDAAPI cuKernelGetParamCount(CUkernel kernel, size_t *count);

#define ASK(name, call, handle, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		bool loads = reprise_loading_begins((CUfunction)(handle), REPRISE_FUNCTION_##call); \
		CUresult result = REPRISE_REAL(name) arguments; \
\
		if (loads) \
			reprise_loading_ends((CUfunction)(handle), REPRISE_FUNCTION_##call, \
			                     result == CUDA_SUCCESS); \
		return result; \
	}

ASK(cuFuncGetAttribute, ATTRIBUTE, function,
    (int *value, CUfunction_attribute attribute, CUfunction function), (value, attribute, function))
ASK(cuFuncGetName, NAME, function, (const char **name, CUfunction function), (name, function))
ASK(cuFuncGetParamCount, PARAM_COUNT, function, (CUfunction function, size_t *count),
    (function, count))
ASK(cuFuncGetParamInfo, PARAM_INFO, function,
    (CUfunction function, size_t index, size_t *offset, size_t *size),
    (function, index, offset, size))
ASK(cuKernelGetAttribute, ATTRIBUTE, kernel,
    (int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device),
    (value, attribute, kernel, device))
ASK(cuKernelGetFunction, GET, kernel, (CUfunction * function, CUkernel kernel), (function, kernel))
ASK(cuKernelGetName, NAME, kernel, (const char **name, CUkernel kernel), (name, kernel))
ASK(cuKernelGetParamCount, PARAM_COUNT, kernel, (CUkernel kernel, size_t *count), (kernel, count))
ASK(cuKernelGetParamInfo, PARAM_INFO, kernel,
    (CUkernel kernel, size_t index, size_t *offset, size_t *size), (kernel, index, offset, size))
ASK(cuOccupancyAvailableDynamicSMemPerBlock, DYNAMIC_MEMORY, function,
    (size_t * bytes, CUfunction function, int blocks, int threads),
    (bytes, function, blocks, threads))
ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor, ACTIVE_BLOCKS, function,
    (int *blocks, CUfunction function, int threads, size_t bytes),
    (blocks, function, threads, bytes))
ASK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, ACTIVE_BLOCKS_WITH_FLAGS, function,
    (int *blocks, CUfunction function, int threads, size_t bytes, unsigned int flags),
    (blocks, function, threads, bytes, flags))
ASK(cuOccupancyMaxActiveClusters, ACTIVE_CLUSTERS, function,
    (int *clusters, CUfunction function, const CUlaunchConfig *config),
    (clusters, function, config))
ASK(cuOccupancyMaxPotentialBlockSize, BLOCK_SIZE, function,
    (int *grid, int *block, CUfunction function, CUoccupancyB2DSize bytes_of_block, size_t bytes,
     int limit),
    (grid, block, function, bytes_of_block, bytes, limit))
ASK(cuOccupancyMaxPotentialBlockSizeWithFlags, BLOCK_SIZE_WITH_FLAGS, function,
    (int *grid, int *block, CUfunction function, CUoccupancyB2DSize bytes_of_block, size_t bytes,
     int limit, unsigned int flags),
    (grid, block, function, bytes_of_block, bytes, limit, flags))
ASK(cuOccupancyMaxPotentialClusterSize, CLUSTER_SIZE, function,
    (int *size, CUfunction function, const CUlaunchConfig *config), (size, function, config))

__typeof__(cuLibraryGetModule) reprise_door_cuLibraryGetModule;
CUresult reprise_door_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	CUresult result;

	if (reprise_inside != 0)
		return REPRISE_REAL(cuLibraryGetModule)(module, library);
	reprise_call_site_note(REPRISE_CALL_SITE_waits, "cuLibraryGetModule",
	                       __builtin_return_address(0));
	reprise_gate_begin_waiting();
	reprise_sync(REPRISE_SYNC_ALL, 0, false);
	result = REPRISE_REAL(cuLibraryGetModule)(module, library);
	reprise_loading_note_module();
	reprise_gate_end_waiting();
	if (result != CUDA_SUCCESS)
		reprise_observe_result(result);
	return result;
}
