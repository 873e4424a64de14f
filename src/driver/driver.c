/*
 * Loads the real driver. The handle is kept for the life of the process: doors that were handed out
 * point into it.
 *
 * No lock: every thread that comes before the work is done does it too, and writes the same values
 * (driver.h gives the reason).
 */
#include "driver/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "base/inside.h"
#include "base/placement.h"
#include "driver/loader.h"
#include "driver/search.h"

struct reprise_driver reprise_driver REPRISE_HOT_DATA;

static _Atomic(void *) driver_handle;
static atomic_bool loaded;
static _Atomic(const char *) lacking;

/* A row of the table: the pointer to fill, and the function's name. */
struct function_slot {
	void **pointer;
	const char *name;
	bool needed;
};

#define SLOT(function, is_needed) {(void **)&reprise_driver.function, #function, is_needed},
#define NEEDED(function) SLOT(function, true)
#define OPTIONAL(function) SLOT(function, false)
static const struct function_slot slots[] = {REPRISE_DRIVER_FUNCTIONS(NEEDED, OPTIONAL)};
#undef OPTIONAL
#undef NEEDED
#undef SLOT

static bool find_driver(int flags)
{
	if (atomic_load_explicit(&driver_handle, memory_order_acquire) != NULL)
		return true;

	void *handle = reprise_driver_open(RTLD_LAZY | flags);

	if (handle == NULL)
		return false;
	atomic_store_explicit(&driver_handle, handle, memory_order_release);
	return true;
}

void *reprise_driver_handle(void)
{
	return atomic_load_explicit(&driver_handle, memory_order_acquire);
}

bool reprise_driver_present(void)
{
	return find_driver(RTLD_NOLOAD);
}

const char *reprise_driver_lacks(void)
{
	return atomic_load(&lacking);
}

bool reprise_driver_loaded(void)
{
	return atomic_load_explicit(&loaded, memory_order_acquire);
}

bool reprise_driver_load(void)
{
	if (atomic_load_explicit(&loaded, memory_order_acquire))
		return true;
	if (!find_driver(RTLD_NOLOAD) && !find_driver(0))
		return false;

	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		void *address = reprise_real_dlsym(reprise_driver_handle(), slots[i].name);

		if (address == NULL)
			(void)dlerror();
		if (address == NULL && slots[i].needed && missing == NULL)
			missing = slots[i].name;
		__atomic_store_n(slots[i].pointer, address, __ATOMIC_RELAXED);
	}
	atomic_store(&lacking, missing);
	atomic_store_explicit(&loaded, missing == NULL, memory_order_release);
	return missing == NULL;
}

/* ---- on the program's threads ---- */

bool reprise_driver_current(CUcontext *context)
{
	return reprise_driver.cuCtxGetCurrent(context) == CUDA_SUCCESS ||
	       reprise_driver.cuCtxGetCurrent(context) == CUDA_SUCCESS;
}

bool reprise_driver_make_current(CUcontext context)
{
	CUcontext current = NULL;

	if (reprise_driver_current(&current) && current == context)
		return false;
	return reprise_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS ||
	       reprise_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
}

void reprise_driver_restore_current(bool pushed)
{
	CUcontext popped;

	if (pushed && reprise_driver.cuCtxPopCurrent_v2(&popped) != CUDA_SUCCESS)
		reprise_driver.cuCtxPopCurrent_v2(&popped);
}

/* No thread has it, so nothing is to be put back. */
#define AS_IT_WAS ((CUstreamCaptureMode)-1)

static bool exchange(CUstreamCaptureMode *mode)
{
	return reprise_driver.cuThreadExchangeStreamCaptureMode(mode) == CUDA_SUCCESS ||
	       reprise_driver.cuThreadExchangeStreamCaptureMode(mode) == CUDA_SUCCESS;
}

CUstreamCaptureMode reprise_driver_begin_relaxed(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	return exchange(&mode) ? mode : AS_IT_WAS;
}

void reprise_driver_end_relaxed(CUstreamCaptureMode mode)
{
	if (mode != AS_IT_WAS)
		exchange(&mode);
}

CUresult reprise_driver_query(CUstream stream)
{
	int entered = reprise_enter();
	CUstreamCaptureMode mode = reprise_driver_begin_relaxed();
	CUresult result = reprise_driver.cuStreamQuery(stream);

	reprise_driver_end_relaxed(mode);
	reprise_leave(entered);
	return result;
}

CUresult reprise_driver_synchronize(CUstream stream)
{
	CUstreamCaptureMode mode = reprise_driver_begin_relaxed();
	CUresult result = reprise_driver.cuStreamSynchronize(stream);

	reprise_driver_end_relaxed(mode);
	return result;
}

/* False if the driver does not say. */
static bool ask_for_primary(CUdevice device, int *active)
{
	unsigned int flags;

	return reprise_driver.cuDevicePrimaryCtxGetState(device, &flags, active) == CUDA_SUCCESS ||
	       reprise_driver.cuDevicePrimaryCtxGetState(device, &flags, active) == CUDA_SUCCESS;
}

bool reprise_driver_primary_is_there(CUdevice device)
{
	int active;

	return !ask_for_primary(device, &active) || active != 0;
}

CUcontext reprise_driver_primary(CUdevice device)
{
	CUcontext context = NULL;
	int active;

	if (!ask_for_primary(device, &active) || active == 0 ||
	    (reprise_driver.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS &&
	     reprise_driver.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS))
		return NULL;
	reprise_driver.cuDevicePrimaryCtxRelease_v2(device);
	return context;
}
