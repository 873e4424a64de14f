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
