#include "../driver/driver.h"
#include "../report/counters.h"
#include "graph.h"

bool reprise_workshop_open(const struct reprise_workshop *workshop, CUstream *stream)
{
	int priority = 0;

	if (*stream != NULL)
		return true;
	/* A thread's own default stream has none, and the building thread's would be asked for its own. */
	if (workshop->model != CU_STREAM_PER_THREAD && reprise_driver.cuStreamGetPriority(workshop->model, &priority) != CUDA_SUCCESS)
		priority = 0;
	if (reprise_driver.cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, priority) != CUDA_SUCCESS) {
		*stream = NULL;
		reprise_count(REPRISE_COUNT_private_streams_failed, 1);
		return false;
	}
	/* The default streams have no attributes to copy; what a failure leaves are the defaults. */
	if (reprise_driver.cuStreamCopyAttributes != NULL && workshop->model > CU_STREAM_PER_THREAD)
		reprise_driver.cuStreamCopyAttributes(*stream, workshop->model);
	return true;
}

void reprise_workshop_close(struct reprise_workshop *workshop)
{
	if (workshop->for_building != NULL)
		reprise_driver.cuStreamDestroy_v2(workshop->for_building);
	if (workshop->for_patching != NULL)
		reprise_driver.cuStreamDestroy_v2(workshop->for_patching);
	workshop->for_building = NULL;
	workshop->for_patching = NULL;
}
