/*
 * The doors that set attributes of functions and kernels. Setting what is set already is the common
 * case and no news; any other setting is told to the traces that launch the function (invariant 5:
 * a lower limit must fail the next launch).
 *
 * The last values are kept in a small table where a collision only costs a needless telling. A
 * mutex guards it, which is only ever tried: who does not get it, for instance in a child forked
 * while it was held, takes the setting for news.
 *
 * A place is kept by its last word of news. While one thread sets what is news, another may set
 * what the table still has, and nobody knows which of the two the driver had last: then both are
 * news, and the table has neither.
 */
#include "versions.h"

#include "attributes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "entry/entry.h"
#include "lane/loading.h"
#include "door.h"

#define SETTING_COUNT 1024 /* a power of two */

/*
 * The carveout and the older cache preference say the same thing, so the later of the two counts:
 * they share an attribute, and the value tells which it was.
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
	uint32_t news;           /* how often the place has had any */
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
	uint64_t hash =
		setting->function ^ (uint64_t)setting->where << 16 ^ (uint64_t)setting->attribute << 56;

	return &settings[(hash >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static bool same_setting(const struct setting *a, const struct setting *b)
{
	return a->function == b->function && a->where == b->where && a->value == b->value &&
	       a->attribute == b->attribute && a->is_kernel == b->is_kernel &&
	       a->generation == b->generation;
}

/* What the table says of the setting before it is made. If it is none, the place says nothing until
 * that has been made. */
static bool is_news(struct setting *setting)
{
	struct setting *place = place_of(setting);
	bool same;

	setting->news = 0;
	if (pthread_mutex_trylock(&mutex) != 0)
		return true;
	same = same_setting(place, setting);
	if (!same) {
		place->generation = 0;
		place->news++;
	}
	setting->news = place->news;
	pthread_mutex_unlock(&mutex);
	return !same;
}

/* A kernel and the function made from it are two handles of one thing: a change through one voids
 * what the other said. */
static void void_other_handles(const struct setting *setting)
{
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].attribute == setting->attribute &&
		    settings[i].is_kernel != setting->is_kernel) {
			settings[i].generation = 0;
			settings[i].news++;
		}
}

/* The setting was news, and has been made. */
static void remember(const struct setting *setting, bool succeeded)
{
	struct setting *place = place_of(setting);

	if (pthread_mutex_trylock(&mutex) != 0) {
		reprise_attributes_forget();
		return;
	}
	if (place->news == setting->news && succeeded)
		*place = *setting;
	void_other_handles(setting);
	pthread_mutex_unlock(&mutex);
}

/* The setting was none, and has been made. True if there was news of its place meanwhile, which
 * then has none that can be relied upon. */
static bool was_overtaken(const struct setting *setting)
{
	struct setting *place = place_of(setting);
	bool overtaken;

	if (pthread_mutex_trylock(&mutex) != 0) {
		reprise_attributes_forget();
		return true;
	}
	overtaken = place->news != setting->news || place->generation != setting->generation;
	if (overtaken) {
		place->generation = 0;
		place->news++;
	}
	pthread_mutex_unlock(&mutex);
	return overtaken;
}

static uintptr_t current_context(void)
{
	CUcontext context = NULL;

	(void)reprise_driver.cuCtxGetCurrent(&context);
	return (uintptr_t)context;
}

/* Which grids a function takes is asked once and kept with its parameters, so all that is known of
 * functions is to be asked again. */
static enum reprise_lifetime what_changes(const struct setting *setting)
{
	switch (setting->attribute) {
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		return REPRISE_LIFETIME_CODE;
	default:
		return setting->is_kernel ? REPRISE_LIFETIME_KERNEL : REPRISE_LIFETIME_FUNCTION;
	}
}

/* Tells of the setting if it is news, before it is made. Until it has been made nothing is held
 * back: the driver might refuse then what it took before. */
static bool announce(struct setting *setting)
{
	setting->generation = atomic_load(&generation);
	if (!is_news(setting))
		return false;
	reprise_gate_begin_waiting();
	reprise_lifetime(what_changes(setting), setting->function);
	return true;
}

/* The setting has been made. */
static void complete(const struct setting *setting, bool news, bool succeeded)
{
	if (!news && !was_overtaken(setting))
		return;
	if (!news)
		reprise_lifetime(what_changes(setting), setting->function);
	reprise_lifetime_ended(what_changes(setting), setting->function,
	                       succeeded ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
	if (!news)
		return;
	remember(setting, succeeded);
	reprise_gate_end_waiting();
}

#define SET(name, parameters, arguments, ...) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		if (reprise_inside != 0) \
			return REPRISE_REAL(name) arguments; \
		struct setting setting = {__VA_ARGS__}; \
		bool loads = reprise_loading_begins((CUfunction)setting.function, REPRISE_FUNCTION_SET); \
		bool news = announce(&setting); \
		CUresult result = REPRISE_REAL(name) arguments; \
		complete(&setting, news, result == CUDA_SUCCESS); \
		if (loads) \
			reprise_loading_ends((CUfunction)setting.function, REPRISE_FUNCTION_SET, \
			                     result == CUDA_SUCCESS); \
		return result; \
	}

SET(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
    (function, attribute, value), .function = (uintptr_t)function, .where = current_context(),
    .attribute = (int)attribute, .value = value)
SET(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config), (function, config),
    .function = (uintptr_t)function, .where = current_context(), .attribute = CARVEOUT,
    .value = CACHE_PREFERENCE(config))
SET(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig config), (function, config),
    .function = (uintptr_t)function, .where = current_context(), .attribute = BANK_SIZE,
    .value = (int64_t)config)
SET(cuKernelSetAttribute,
    (CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device),
    (attribute, value, kernel, device), .function = (uintptr_t)kernel, .where = (uintptr_t)device,
    .is_kernel = true, .attribute = (int)attribute, .value = value)
SET(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice device),
    (kernel, config, device), .function = (uintptr_t)kernel, .where = (uintptr_t)device,
    .is_kernel = true, .attribute = CARVEOUT, .value = CACHE_PREFERENCE(config))
