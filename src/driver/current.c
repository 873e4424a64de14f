#include "driver/current.h"

#include "base/inside.h"
#include "driver/driver.h"

bool reprise_driver_make_current(CUcontext context)
{
	CUcontext current = NULL;

	return reprise_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != context &&
	       reprise_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
}

void reprise_driver_restore_current(bool pushed)
{
	CUcontext popped;

	if (pushed)
		reprise_driver.cuCtxPopCurrent_v2(&popped);
}

CUresult reprise_driver_query(CUstream stream)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	int entered = reprise_enter();
	CUresult result;

	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	result = reprise_driver.cuStreamQuery(stream);
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	reprise_leave(entered);
	return result;
}

bool reprise_driver_primary_is_there(CUdevice device)
{
	unsigned int flags;
	int active;

	return reprise_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS ||
	       active != 0;
}
