/*
 * The doors that set attributes of functions and kernels. Setting what is set already is the common case and no news; any
 * other setting is told to the traces that launch the function (invariant 5: a lower limit must fail the next launch).
 *
 * The last values are kept in a small table where a collision only costs a needless telling. A mutex guards it, which is only
 * ever tried: who does not get it, for instance in a child forked while it was held, takes the setting for news.
 */
#include "versions.h"

#include "attributes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../src/base/inside.h"
#include "../src/driver/driver.h"
#include "../src/lane/doors.h"
#include "door.h"

#define SETTING_COUNT 1024 /* a power of two */

/*
 * The carveout and the older cache preference say the same thing, so the later of the two counts: they share an attribute,
 * and the value tells which it was.
 */
#define CARVEOUT CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
#define CACHE_PREFERENCE(config) (INT64_C(1) << 32 | (int64_t)(config))
#define BANK_SIZE (-1) /* no attribute of the driver's */

struct setting {
	uintptr_t function;
	uintptr_t where; /* the context for a function, the device for a kernel */
	int64_t value;
	int attribute;
	bool is_kernel;
	unsigned int generation; /* not valid in another one */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct setting settings[SETTING_COUNT];
static atomic_uint generation = 1;

void reprise_attributes_forget(void)
{
	atomic_fetch_add(&generation, 1);
}

static struct setting *place_of(const struct setting *setting)
{
	uint64_t hash = setting->function ^ (uint64_t)setting->where << 16 ^ (uint64_t)setting->attribute << 56;

	return &settings[(hash >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static bool same_setting(const struct setting *a, const struct setting *b)
{
	return a->function == b->function && a->where == b->where && a->value == b->value &&
	       a->attribute == b->attribute && a->is_kernel == b->is_kernel && a->generation == b->generation;
}

static bool is_set_already(const struct setting *setting)
{
	if (pthread_mutex_trylock(&mutex) != 0)
		return false;

	bool same = same_setting(place_of(setting), setting);

	pthread_mutex_unlock(&mutex);
	return same;
}

/* A kernel and the function made from it are two handles of one thing: a change through one voids what the other said. */
static void remember(const struct setting *setting, bool succeeded)
{
	if (pthread_mutex_trylock(&mutex) != 0) {
		reprise_attributes_forget();
		return;
	}
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		if (settings[i].attribute == setting->attribute && settings[i].is_kernel != setting->is_kernel)
			settings[i].generation = 0;
	}
	*place_of(setting) = *setting;
	if (!succeeded)
		place_of(setting)->generation = 0;
	pthread_mutex_unlock(&mutex);
}

static uintptr_t current_context(void)
{
	CUcontext context = NULL;

	(void)reprise_driver.cuCtxGetCurrent(&context);
	return (uintptr_t)context;
}

/* Tells of the setting if it is news, before it is made. */
static bool announce(struct setting *setting)
{
	if (reprise_inside != 0)
		return false;
	setting->generation = atomic_load(&generation);
	if (is_set_already(setting))
		return false;
	reprise_lifetime(REPRISE_LIFETIME_FUNCTION, setting->function);
	return true;
}

#define SET(name, parameters, arguments, ...) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		struct setting setting = {__VA_ARGS__}; \
		bool news = announce(&setting); \
		CUresult result = REPRISE_REAL(name) arguments; \
		if (news) \
			remember(&setting, result == CUDA_SUCCESS); \
		return result; \
	}

SET(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value), (function, attribute, value),
    .function = (uintptr_t)function, .where = current_context(), .attribute = (int)attribute, .value = value)
SET(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config), (function, config),
    .function = (uintptr_t)function, .where = current_context(), .attribute = CARVEOUT, .value = CACHE_PREFERENCE(config))
SET(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig config), (function, config),
    .function = (uintptr_t)function, .where = current_context(), .attribute = BANK_SIZE, .value = (int64_t)config)
SET(cuKernelSetAttribute, (CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device),
    (attribute, value, kernel, device),
    .function = (uintptr_t)kernel, .where = (uintptr_t)device, .is_kernel = true, .attribute = (int)attribute, .value = value)
SET(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice device), (kernel, config, device),
    .function = (uintptr_t)kernel, .where = (uintptr_t)device, .is_kernel = true, .attribute = CARVEOUT,
    .value = CACHE_PREFERENCE(config))
