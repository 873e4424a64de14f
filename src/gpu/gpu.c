/*
 * CUPTI delivers buffers of records, on its own threads, on threads that flush, and perhaps on the
 * program's. No lock: each buffer is turned into activities, which go to the report and the
 * timeline. Neither calls CUPTI back.
 *
 * Buffers come about in the order of time, and records within a buffer in any order, so these are
 * sorted.
 */
#include "gpu/gpu.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/inside.h"
#include "base/log.h"
#include "base/options.h"
#include "base/tuning.h"
#include "stats/kernels.h"

bool reprise_gpu_for_report, reprise_gpu_for_timeline;

static _Atomic bool loaded, working;
static _Atomic uint64_t dropped;

#ifdef REPRISE_CUPTI_KERNEL

#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/loader.h"
#include "timeline/timeline.h"

#define TEXT_OF(number) #number
#define SONAME_OF(version) "libcupti.so." TEXT_OF(version)
#define SONAME SONAME_OF(REPRISE_CUPTI_MAJOR)

#define BUFFER_BYTES (1u << 20)
#define RECORD_LEAST sizeof(CUpti_ActivityMemset4) /* of the enabled kinds */

/* The functions of CUPTI that are used, each once. */
#define FUNCTIONS(X) \
	X(cuptiGetVersion) \
	X(cuptiActivityRegisterTimestampCallback) \
	X(cuptiActivityRegisterCallbacks) \
	X(cuptiActivityEnable) \
	X(cuptiActivityDisable) \
	X(cuptiActivityFlushAll) \
	X(cuptiActivityGetNextRecord) \
	X(cuptiActivityGetNumDroppedRecords)

static struct {
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
} cupti;

/* ---- records ---- */

static const char *name_of_copy(uint8_t kind)
{
	static const char *const names[] = {
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "copy, host to device",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "copy, device to host",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = "copy, host to array",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = "copy, array to host",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = "copy, array to array",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = "copy, array to device",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = "copy, device to array",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "copy, device to device",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = "copy, host to host",
		[CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "copy, device to another",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] != NULL ? names[kind] : "copy";
}

/* The fields that all three kinds of records have. */
#define COMMON(record) \
	.begin = (record)->start, .end = (record)->end, .node = (record)->graphNodeId, \
	.device = (record)->deviceId, .context = (record)->contextId, .stream = (record)->streamId, \
	.graph = (record)->graphId, .correlation = (record)->correlationId

static bool read_record(const CUpti_Activity *record, struct reprise_gpu_activity *activity)
{
	const REPRISE_CUPTI_KERNEL *kernel = (const REPRISE_CUPTI_KERNEL *)record;
	const CUpti_ActivityMemcpy5 *copy =
		(const CUpti_ActivityMemcpy5 *)record; /* newer records begin with the same fields */
	const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)record;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		*activity = (struct reprise_gpu_activity){
			COMMON(kernel), .kind = REPRISE_GPU_KERNEL,
			.name = kernel->name != NULL ? kernel->name : "?",
			.grid = {(uint32_t)kernel->gridX, (uint32_t)kernel->gridY, (uint32_t)kernel->gridZ},
			.block = {(uint32_t)kernel->blockX, (uint32_t)kernel->blockY,
		              (uint32_t)kernel->blockZ}};
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		*activity = (struct reprise_gpu_activity){COMMON(copy), .kind = REPRISE_GPU_COPY,
		                                          .name = name_of_copy(copy->copyKind),
		                                          .bytes = copy->bytes};
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		*activity = (struct reprise_gpu_activity){COMMON(set), .kind = REPRISE_GPU_MEMSET,
		                                          .name = "memset", .bytes = set->bytes};
		break;
	default:
		return false;
	}
	/* Skips a record without times. */
	return activity->begin != 0 && activity->end >= activity->begin;
}

static int by_begin(const void *a, const void *b)
{
	const struct reprise_gpu_activity *left = a, *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

static void tell(uint8_t *buffer, size_t bytes)
{
	size_t most = bytes / RECORD_LEAST + 1, count = 0;
	struct reprise_gpu_activity *activities = calloc(most, sizeof(*activities));
	CUpti_Activity *record = NULL;

	if (activities == NULL)
		return;
	while (count < most &&
	       cupti.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS)
		count += read_record(record, &activities[count]);
	qsort(activities, count, sizeof(*activities), by_begin);
	if (reprise_gpu_for_report)
		reprise_kernels_note(activities, count);
	if (reprise_gpu_for_timeline)
		reprise_timeline_note(activities, count);
	free(activities);
}

/* ---- what CUPTI calls ---- */

static uint64_t CUPTIAPI now(void)
{
	return reprise_clock_steady_ns(reprise_clock_ticks());
}

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer != NULL ? BUFFER_BYTES : 0;
	*most = 0;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                              size_t valid)
{
	size_t lost = 0;

	if (atomic_load(&working)) {
		tell(buffer, valid);
		if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS)
			atomic_fetch_add(&dropped, lost);
	}
	free(buffer);
}

/* ---- beginning and end ---- */

static uint32_t version;

/* NULL, or the reason why CUPTI cannot be used. */
static const char *load(void)
{
	void *library = dlopen(SONAME, RTLD_LAZY | RTLD_LOCAL);

	if (library == NULL)
		return SONAME " is not on the library path (it comes with the CUDA Toolkit)";
#define X(name) \
	cupti.name = (__typeof__(cupti.name))reprise_real_dlsym(library, #name); \
	if (cupti.name == NULL) \
		return SONAME " lacks " #name;
	FUNCTIONS(X)
#undef X
	if (cupti.cuptiGetVersion(&version) != CUPTI_SUCCESS || version < CUPTI_API_VERSION)
		return SONAME " is older than what Reprise was built with";
	return NULL;
}

/* Sets Reprise's clock as CUPTI's before anything is enabled, or the first times would be of
 * another clock. NULL, or the reason why not. */
static const char *start(void)
{
	static char refused[96];
	bool drawn = reprise_gpu_for_timeline;

	if (drawn && cupti.cuptiActivityRegisterTimestampCallback(now) != CUPTI_SUCCESS) {
		snprintf(refused, sizeof(refused),
		         "CUPTI (version %u) does not accept a timestamp callback", (unsigned int)version);
		return refused;
	}
	if (cupti.cuptiActivityRegisterCallbacks(request, complete) != CUPTI_SUCCESS ||
	    cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
		return "CUPTI refused: another profiler may be at work, or this user may not profile";
	if (drawn) { /* optional: kernels alone are worth it */
		cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
		cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
	}
	return NULL;
}

static void flush(bool all)
{
	cupti.cuptiActivityFlushAll(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

static void stop(void)
{
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET);
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY);
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

#else

static const char *load(void)
{
	return "Reprise was built without CUPTI";
}

static const char *start(void)
{
	return NULL;
}

static void flush(bool all)
{
	(void)all;
}

static void stop(void)
{
}

#endif

/* Warns if it fails. True if it succeeded. */
static bool done(const char *(*what)(void))
{
	int entered = reprise_enter();
	const char *why = what();

	reprise_leave(entered);
	if (why != NULL)
		reprise_log(REPRISE_LOG_WARNING, "GPU kernels are not measured: %s", why);
	return why == NULL;
}

void reprise_gpu_load(void)
{
	if (reprise_option(REPRISE_OPTION_CUPTI) != 0 &&
	    (reprise_gpu_for_report || reprise_gpu_for_timeline))
		atomic_store(&loaded, done(load));
}

bool reprise_gpu_start(void)
{
	bool started;

	if (!atomic_load(&loaded))
		return false;
	atomic_store(&working, true); /* first: a buffer may come at once */
	started = done(start);
	if (!started)
		atomic_store(&working, false);
	return started;
}

void reprise_gpu_look(uint64_t ops)
{
	if (__builtin_expect(ops == REPRISE_TUNE_KERNELS_AFTER, 0))
		atomic_store(&reprise_kernels_working, reprise_gpu_start());
}

static void flush_if_working(bool all)
{
	int entered;

	if (!atomic_load(&working))
		return;
	entered = reprise_enter();
	flush(all);
	reprise_leave(entered);
}

void reprise_gpu_flush(void)
{
	flush_if_working(false);
}

void reprise_gpu_end(void)
{
	flush_if_working(true);
}

void reprise_gpu_leave_timeline(void)
{
	int entered;

	if (reprise_gpu_for_report || !atomic_exchange(&working, false))
		return;
	entered = reprise_enter();
	stop();
	reprise_leave(entered);
}

uint64_t reprise_gpu_dropped(void)
{
	return atomic_load(&dropped);
}

void reprise_gpu_reset(void)
{
	atomic_store(&loaded, false);
	atomic_store(&working, false);
}
