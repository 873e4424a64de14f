/*
 * A driver that is newer than every cuda.h: functions with other parameters under known names, and
 * one under a new name. What they do is what the known ones do.
 */
#include "newer.h"

#include "api.h"
#include "device.h"

#define NEWER(name, parameters, known) \
	__attribute__((visibility("default"))) CUresult name parameters; \
	CUresult name parameters \
	{ \
		return (flags == 0) ? known : CUDA_ERROR_INVALID_VALUE; \
	}

NEWER(cuLaunchKernel_v9,
      (unsigned long flags, CUfunction function, const unsigned int *grid,
       const unsigned int *block, CUstream stream, void **parameters),
      cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream,
                     parameters, NULL))
NEWER(cuMemcpyAsync_v9,
      (unsigned long flags, CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
      cuMemcpyAsync(target, source, bytes, stream))
NEWER(cuStreamSynchronize_v9, (unsigned long flags, CUstream stream), cuStreamSynchronize(stream))
NEWER(cuStreamWaitEvent_v9, (unsigned long flags, CUstream stream, CUevent event),
      cuStreamWaitEvent(stream, event, 0))
NEWER(cuEventRecord_v9, (unsigned long flags, CUevent event, CUstream stream),
      cuEventRecord(event, stream))
NEWER(cuMemFree_v9, (unsigned long flags, CUdeviceptr memory), cuMemFree_v2(memory))
NEWER(cuModuleUnload_v9, (unsigned long flags, CUmodule module), cuModuleUnload(module))
NEWER(cuStreamBeginCapture_v9, (unsigned long flags, CUstream stream, CUstreamCaptureMode mode),
      cuStreamBeginCapture_v2(stream, mode))
NEWER(cuStreamRead, (unsigned long flags, CUdeviceptr word, CUstream stream, unsigned int *value),
      cuStreamSynchronize(stream) == CUDA_SUCCESS ? cuMemcpyDtoH_v2(value, word, sizeof(*value))
                                                  : CUDA_ERROR_UNKNOWN)

#define ROW(name, function) \
	{ \
#name, #function, SIM_NEWER_VERSION, "", (void *)name \
	}
static const struct sim_export newer[] = {
	ROW(cuLaunchKernel_v9, cuLaunchKernel),
	ROW(cuMemcpyAsync_v9, cuMemcpyAsync),
	ROW(cuStreamSynchronize_v9, cuStreamSynchronize),
	ROW(cuStreamWaitEvent_v9, cuStreamWaitEvent),
	ROW(cuEventRecord_v9, cuEventRecord),
	ROW(cuMemFree_v9, cuMemFree),
	ROW(cuModuleUnload_v9, cuModuleUnload),
	ROW(cuStreamBeginCapture_v9, cuStreamBeginCapture),
	ROW(cuStreamRead, cuStreamRead),
};

const struct sim_export *sim_newer_find(const char *function)
{
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		if (strcmp(newer[i].function, function) == 0)
			return &newer[i];
	return NULL;
}
