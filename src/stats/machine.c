#include "stats/machine.h"

#include <stdio.h>

#include "base/inside.h"
#include "driver/driver.h"
#include "driver/search.h"
#include "sources.h"

struct reprise_machine reprise_machine;

const char *reprise_version(void)
{
	return REPRISE_VERSION;
}

const char *reprise_commit(void)
{
	return REPRISE_COMMIT;
}

static void note_gpu(void)
{
	CUdevice device;

	if (reprise_driver.cuCtxGetDevice == NULL || reprise_driver.cuDeviceGetName == NULL ||
	    reprise_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
	    reprise_driver.cuDeviceGetName(reprise_machine.gpu, sizeof(reprise_machine.gpu), device) !=
	        CUDA_SUCCESS)
		reprise_machine.gpu[0] = '\0';
	reprise_machine.gpu[sizeof(reprise_machine.gpu) - 1] = '\0';
}

static void note_cuda(void)
{
	int version = 0;

	if (reprise_driver.cuDriverGetVersion != NULL &&
	    reprise_driver.cuDriverGetVersion(&version) == CUDA_SUCCESS && version > 0)
		snprintf(reprise_machine.cuda, sizeof(reprise_machine.cuda), "%d.%d", version / 1000,
		         version % 1000 / 10);
}

void reprise_machine_note_driver(void)
{
	reprise_release_read(REPRISE_RELEASE_FILE, reprise_machine.driver,
	                     sizeof(reprise_machine.driver));
}

void reprise_machine_note(void)
{
	int entered = reprise_enter();

	note_gpu();
	note_cuda();
	reprise_leave(entered);
}
