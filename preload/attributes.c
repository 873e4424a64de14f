/*
 * The doors that set attributes of functions and kernels. Most calls set a value that is set
 * already: these are no news. Any other call is news, and the traces that launch the function are
 * told (invariant 5: a lower limit must fail the next launch).
 *
 * A small table holds the last values. A collision in it only makes a setting news without need.
 * The mutex is only ever tried: a thread that does not get it treats its setting as news. A child
 * that was forked while it was held never gets it.
 *
 * Each slot counts its news. A thread may set the table's value while another thread sets a new
 * one, and then it is unknown which of the two the driver took last. Both are news then, and the
 * slot is cleared.
 */
#include "versions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "entry/entry.h"
#include "lane/loading.h"
#include "doors.h"

#define SETTING_COUNT 1024 /* a power of two */

/* The carveout and the older cache preference set the same thing, and the later one counts. They
 * share one attribute; the value says which of the two it was. */
#define CARVEOUT CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
#define CACHE_PREFERENCE(config) (INT64_C(1) << 32 | (int64_t)(config))
#define BANK_SIZE (-1) /* not an attribute of the driver's */

struct setting {
	uintptr_t function;
	uintptr_t where; /* a function's context, a kernel's device */
	int64_t value;
	int attribute;
	bool is_kernel;
	unsigned int generation; /* valid only while it equals the current one */
	uint32_t news;           /* how often the slot had news */
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

/* True if the setting is news; the slot has no value then until the setting has been made, but says
 * whose it is: void_other_handles() looks for that. Called before it is made. */
static bool is_news(struct setting *setting)
{
	struct setting *place = place_of(setting);
	bool same;

	setting->news = 0;
	if (pthread_mutex_trylock(&mutex) != 0) {
		setting->generation = 0; /* never valid: nobody can say that it was overtaken */
		return true;
	}
	same = same_setting(place, setting);
	setting->news = place->news + !same;
	if (!same) {
		*place = *setting;
		place->generation = 0;
	}
	pthread_mutex_unlock(&mutex);
	return !same;
}

/* A kernel and the function made from it are two handles of one thing: a change through one makes
 * the values kept for the other invalid. */
static void void_other_handles(const struct setting *setting)
{
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (settings[i].attribute == setting->attribute &&
		    settings[i].is_kernel != setting->is_kernel) {
			settings[i].generation = 0;
			settings[i].news++;
		}
}

/* Called after a setting that was news. False if another one was made at the same time: which of
 * the two the driver took last is unknown, and so is the value, unless it is the same. */
static bool remember(const struct setting *setting, bool succeeded)
{
	struct setting *place = place_of(setting);
	bool alone;

	if (pthread_mutex_trylock(&mutex) != 0) {
		reprise_attributes_forget();
		return false;
	}
	alone = setting->generation == atomic_load(&generation) && place->news == setting->news;
	if (alone && succeeded) {
		*place = *setting;
	} else if (!same_setting(place, setting)) {
		place->generation = 0;
		place->news++;
	}
	void_other_handles(setting);
	pthread_mutex_unlock(&mutex);
	return alone;
}

/* Called after a setting that was no news. True if its slot had news meanwhile, by whichever
 * handle: the slots are cleared then, as their value is unknown. */
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
		void_other_handles(setting);
	}
	pthread_mutex_unlock(&mutex);
	return overtaken;
}

static uintptr_t current_context(void)
{
	CUcontext context = NULL;

	reprise_driver_current(&context);
	return (uintptr_t)context;
}

/* Which grids a function takes is asked once and kept with its parameters, so these attributes
 * invalidate everything known of functions. */
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

/* A limit is no more than a number to compare launches with, so traces need not be forgotten. */
static bool is_limit(const struct setting *setting)
{
	return setting->attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
}

static struct reprise_limit limit_of(const struct setting *setting)
{
	return (struct reprise_limit){what_changes(setting), setting->function,
	                              (CUdevice)setting->where, (unsigned int)setting->value};
}

/* Called before the setting is made. If it is news, the traces are told, and nothing is deferred
 * until it has been made: the driver might refuse then what it accepted before. */
static bool announce(struct setting *setting)
{
	setting->generation = atomic_load(&generation);
	if (!is_news(setting))
		return false;
	reprise_gate_begin_waiting();
	if (is_limit(setting)) {
		struct reprise_limit limit = limit_of(setting);

		reprise_limit_begin(&limit);
	} else {
		reprise_lifetime(what_changes(setting), setting->function);
	}
	return true;
}

static void forget_behind(const struct setting *setting, bool succeeded)
{
	reprise_lifetime_ended(what_changes(setting), setting->function,
	                       succeeded ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
}

/* The limit is told first: if another setting was made meanwhile, what it says is forgotten again.
 */
static void complete_news(const struct setting *setting, bool succeeded)
{
	if (is_limit(setting) && succeeded) {
		struct reprise_limit limit = limit_of(setting);

		reprise_limit_end(&limit);
		if (!remember(setting, true))
			forget_behind(setting, true);
	} else {
		forget_behind(setting, succeeded);
		remember(setting, succeeded);
	}
	reprise_gate_end_waiting();
}

static void complete(const struct setting *setting, bool news, bool succeeded)
{
	if (news) {
		complete_news(setting, succeeded);
	} else if (was_overtaken(setting)) {
		reprise_lifetime(what_changes(setting), setting->function);
		forget_behind(setting, succeeded);
	}
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
