#include "current.h"

#include "driver.h"

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
