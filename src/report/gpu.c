/*
 * CUPTI's threads bring buffers of records, and so does reprise_gpu_end(); `gpu_lock`, a leaf, is over what is added up of them. Buffers come about in
 * the order of time, and records within one in any, so these are sorted; time that two buffers share counts once.
 */
#include "gpu.h"

#include "../base/inside.h"
#include "../base/log.h"
#include "../base/options.h"

static struct reprise_gpu gpu;
static bool loaded;

_Atomic bool reprise_gpu_working;

#ifdef REPRISE_CUPTI_KERNEL

#include <cupti.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../base/lock.h"
#include "../driver/lookup.h"

#define TEXT_OF(number) #number
#define SONAME_OF(version) "libcupti.so." TEXT_OF(version)
#define SONAME SONAME_OF(REPRISE_CUPTI_MAJOR)

#define BUFFER_BYTES (1u << 20)
#define NAME_MOST 512
#define OTHERS (REPRISE_GPU_KERNELS_MOST - 1)

/* Each function of CUPTI that is used, once. */
#define FUNCTIONS(X) \
	X(cuptiGetVersion) \
	X(cuptiActivityRegisterCallbacks) \
	X(cuptiActivityEnable) \
	X(cuptiActivityFlushAll) \
	X(cuptiActivityGetNextRecord) \
	X(cuptiActivityGetNumDroppedRecords)

static struct {
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
} cupti;

static struct reprise_lock gpu_lock;

struct span {
	uint64_t begin, end;
};

static int by_begin(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

/* ---- adding up, under the lock ---- */

static unsigned int row_of(const char *name)
{
	unsigned int row = 0;

	while (row < gpu.count && strncmp(gpu.rows[row].name, name, NAME_MOST) != 0)
		row++;
	if (row == gpu.count && row < OTHERS) {
		const char *kept = strndup(name, NAME_MOST);

		if (kept == NULL)
			return OTHERS;
		gpu.rows[row].name = kept;
		gpu.count++;
	}
	return row < OTHERS ? row : OTHERS;
}

static void note_name(const REPRISE_CUPTI_KERNEL *kernel)
{
	unsigned int row = row_of(kernel->name != NULL ? kernel->name : "?");

	if (row == OTHERS && gpu.count == OTHERS) {
		gpu.rows[OTHERS].name = "others";
		gpu.count++;
	}
	gpu.rows[row].launches++;
	gpu.rows[row].ns += kernel->end - kernel->start;
	gpu.kernels++;
}

static void note_spans(struct span *spans, size_t count)
{
	qsort(spans, count, sizeof(*spans), by_begin);
	if (count > 0 && (gpu.first_ns == 0 || spans[0].begin < gpu.first_ns))
		gpu.first_ns = spans[0].begin;
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = spans[i].begin > gpu.last_ns ? spans[i].begin : gpu.last_ns;

		if (spans[i].end <= begin)
			continue;
		gpu.busy_ns += spans[i].end - begin;
		gpu.last_ns = spans[i].end;
	}
}

static void note_buffer(uint8_t *buffer, size_t bytes)
{
	struct span *spans = calloc(bytes / sizeof(CUpti_Activity) + 1, sizeof(*spans));
	CUpti_Activity *record = NULL;
	size_t count = 0;

	while (spans != NULL && cupti.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) {
		const REPRISE_CUPTI_KERNEL *kernel = (const REPRISE_CUPTI_KERNEL *)record;

		/* A time of 0 was not to be had. */
		if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernel->start == 0 || kernel->end < kernel->start)
			continue;
		note_name(kernel);
		spans[count++] = (struct span){kernel->start, kernel->end};
	}
	if (spans != NULL)
		note_spans(spans, count);
	free(spans);
}

/* ---- what CUPTI calls ---- */

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer != NULL ? BUFFER_BYTES : 0;
	*most = 0;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	size_t dropped = 0;

	reprise_lock_take(&gpu_lock);
	note_buffer(buffer, valid);
	if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
		gpu.dropped += dropped;
	reprise_lock_give(&gpu_lock);
	free(buffer);
}

/* ---- beginning and end ---- */

/* NULL, or why it cannot be used. */
static const char *load(void)
{
	void *library = dlopen(SONAME, RTLD_LAZY | RTLD_LOCAL);
	uint32_t version = 0;

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

static const char *start(void)
{
	if (cupti.cuptiActivityRegisterCallbacks(request, complete) != CUPTI_SUCCESS ||
	    cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
		return "CUPTI refused: another profiler may be at work, or this user may not profile";
	return NULL;
}

static void flush(void)
{
	cupti.cuptiActivityFlushAll(0);
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

static void flush(void)
{
}

#endif

/* Whether it could be done. */
static bool done(const char *(*what)(void))
{
	int entered = reprise_enter();
	const char *why = what();

	reprise_leave(entered);
	if (why != NULL)
		reprise_log(REPRISE_LOG_WARNING, "kernels are not measured: %s", why);
	return why == NULL;
}

void reprise_gpu_begin(void)
{
	loaded = reprise_option(REPRISE_OPTION_CUPTI) != 0 && done(load);
}

void reprise_gpu_look(uint64_t ops)
{
	if (__builtin_expect(ops == REPRISE_GPU_AFTER, 0) && loaded)
		atomic_store(&reprise_gpu_working, done(start));
}

void reprise_gpu_end(void)
{
	int entered;

	if (!reprise_gpu_at_work())
		return;
	entered = reprise_enter();
	flush();
	reprise_leave(entered);
}

const struct reprise_gpu *reprise_gpu_read(void)
{
	return reprise_gpu_at_work() ? &gpu : NULL;
}

void reprise_gpu_reset(void)
{
	loaded = false;
	atomic_store(&reprise_gpu_working, false);
}
