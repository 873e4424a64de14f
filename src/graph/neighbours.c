#include "graph/neighbours.h"

#include <stdatomic.h>

#include "driver/driver.h"

#define KNOWN_MOST 64
#define BEING_MADE ((CUcontext)-1) /* `device` may not be set yet */
#define UNKNOWN (-1) /* no entry was free: from now on every device counts as shared */

/* Contexts made by the program. Primary contexts are not among them: the driver tells of those. */
static struct {
	_Atomic(CUcontext) context; /* NULL: free */
	_Atomic CUdevice device;
} known[KNOWN_MOST];
static _Atomic bool unknown;

int reprise_neighbours_begin(CUdevice device)
{
	for (int i = 0; i < KNOWN_MOST; i++) {
		CUcontext none = NULL;

		if (atomic_compare_exchange_strong(&known[i].context, &none, BEING_MADE)) {
			atomic_store(&known[i].device, device);
			return i;
		}
	}
	atomic_store(&unknown, true);
	return UNKNOWN;
}

void reprise_neighbours_made(int answer, bool made)
{
	CUcontext context = NULL;

	if (made)
		reprise_driver_current(&context);
	if (answer != UNKNOWN)
		atomic_store(&known[answer].context, context);
}

void reprise_neighbours_ended(CUcontext context)
{
	for (unsigned int i = 0; i < KNOWN_MOST; i++) {
		CUcontext expected = context;

		if (atomic_compare_exchange_strong(&known[i].context, &expected, NULL))
			return;
	}
}

bool reprise_neighbours_none(CUcontext context)
{
	bool was_made = false;
	CUdevice device;

	if (atomic_load(&unknown) || reprise_driver.cuCtxGetDevice == NULL ||
	    reprise_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS)
		return false;
	for (unsigned int i = 0; i < KNOWN_MOST; i++) {
		CUcontext other = atomic_load(&known[i].context);

		if (other == context)
			was_made = true;
		else if (other == BEING_MADE || (other != NULL && atomic_load(&known[i].device) == device))
			return false;
	}
	return !was_made || !reprise_driver_primary_is_there(device);
}
