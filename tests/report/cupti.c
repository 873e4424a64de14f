/*
 * A libcupti that measures nothing. At each flush it tells of seven kernels, of which two run at
 * the same time and one lies within another, the later ones first, and of one whose time was not to
 * be had. So busy time, span and time by name are known.
 *
 * If it is given a clock, it tells of them as of a time that has passed by that clock, and of a
 * copy, a memset and kernels with odd names, too, once all kinds are enabled. With
 * FAKE_CUPTI_THREAD it does so each millisecond, on a thread of its own. Each round has a number,
 * which is in the kernels' correlations; the round of the end has a kernel more.
 */
#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUND_NS 150000u /* later than all of a round */
#define LONG_NAME 2000

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc now;
static uint64_t told_until;
static uint32_t rounds;
static _Atomic bool kernels_enabled, copies_enabled, memsets_enabled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char long_name[LONG_NAME + 1];

static const struct row {
	const char *name;
	uint64_t start, end;
	uint32_t stream, graph;
} rows[] =
	{
		{"last", 90000, 100000, 9, 0}, {"alpha", 10000, 20000, 7, 0}, {"beta", 15000, 25000, 7, 0},
		{"alpha", 30000, 50000, 7, 0}, {"beta", 35000, 40000, 7, 4},  {"alpha", 50000, 60000, 7, 4},
		{"beta", 60000, 61000, 7, 0},  {"unknown", 0, 0, 7, 0},
},
  odd_rows[] =
	  {
		  {"\"quoted\"\\\n\t\x7f\xc3\xa9", 110000, 111000, 9, 0},
		  {long_name, 112000, 113000, 9, 0},
		  {NULL, 113000, 114000, 9, 0},
},
  end_row = {"end", 120000, 121000, 9, 0};

#define SHOWN __attribute__((visibility("default")))

static uint8_t *add_kernel(uint8_t *at, const struct row *row, uint64_t base)
{
	*(REPRISE_CUPTI_KERNEL *)at =
		(REPRISE_CUPTI_KERNEL){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	                           .name = row->name,
	                           .start = row->start != 0 ? base + row->start : 0,
	                           .end = row->end != 0 ? base + row->end : 0,
	                           .contextId = 1,
	                           .streamId = row->stream,
	                           .correlationId = rounds,
	                           .graphId = row->graph,
	                           .graphNodeId = (uint64_t)row->graph << 32,
	                           .gridX = 8,
	                           .gridY = 4,
	                           .gridZ = 1,
	                           .blockX = 64,
	                           .blockY = 2,
	                           .blockZ = 1};
	return at + sizeof(REPRISE_CUPTI_KERNEL);
}

static uint8_t *add_others(uint8_t *at, uint64_t base)
{
	if (memsets_enabled) {
		*(CUpti_ActivityMemset4 *)at = (CUpti_ActivityMemset4){.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		                                                       .start = base + 70000,
		                                                       .end = base + 71000,
		                                                       .contextId = 1,
		                                                       .streamId = 9,
		                                                       .bytes = 4096};
		at += sizeof(CUpti_ActivityMemset4);
	}
	if (copies_enabled) {
		*(CUpti_ActivityMemcpy5 *)at =
			(CUpti_ActivityMemcpy5){.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		                            .start = base + 65000,
		                            .end = base + 66000,
		                            .contextId = 1,
		                            .streamId = 9,
		                            .bytes = 8192,
		                            .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD};
		at += sizeof(CUpti_ActivityMemcpy5);
	}
	return at;
}

static CUptiResult tell(bool end)
{
	uint64_t base = told_until;
	size_t room = 0, most = 0;
	uint8_t *buffer = NULL, *at;

	if (now != NULL && (now() < base + ROUND_NS || !copies_enabled || !memsets_enabled))
		return CUPTI_SUCCESS;
	request(&buffer, &room, &most);
	if (room < 1 << 14)
		return CUPTI_ERROR_UNKNOWN;
	at = buffer;
	rounds++;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		at = add_kernel(at, &rows[i], base);
	if (now != NULL) {
		for (size_t i = 0; i < sizeof(odd_rows) / sizeof(odd_rows[0]); i++)
			at = add_kernel(at, &odd_rows[i], base);
		at = add_others(at, base);
		if (end)
			at = add_kernel(at, &end_row, base);
		told_until = now();
	}
	complete(NULL, 0, buffer, room, (size_t)(at - buffer));
	return CUPTI_SUCCESS;
}

static void *tell_each_millisecond(void *unused)
{
	while (kernels_enabled) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		pthread_mutex_lock(&mutex);
		tell(false);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

SHOWN CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	const char *other = getenv("FAKE_CUPTI_VERSION");

	*version = other != NULL ? (uint32_t)atoi(other) : CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
	if (kernels_enabled || getenv("FAKE_CUPTI_KEEPS_ITS_CLOCK") != NULL)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	now = callback;
	told_until = now();
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc first,
                                                          CUpti_BuffersCallbackCompleteFunc second)
{
	memset(long_name, 'n', LONG_NAME);
	request = first;
	complete = second;
	return CUPTI_SUCCESS;
}

static _Atomic bool *enabled(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? &kernels_enabled
	       : kind == CUPTI_ACTIVITY_KIND_MEMCPY          ? &copies_enabled
	                                                     : &memsets_enabled;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	pthread_t thread;

	if (getenv("FAKE_CUPTI_REFUSES") != NULL)
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	*enabled(kind) = true;
	if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && getenv("FAKE_CUPTI_THREAD") != NULL &&
	    pthread_create(&thread, NULL, tell_each_millisecond, NULL) == 0)
		pthread_detach(thread);
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	*enabled(kind) = false;
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	bool end = flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
	CUptiResult result;

	if (!kernels_enabled)
		return CUPTI_ERROR_UNKNOWN;
	pthread_mutex_lock(&mutex);
	while (end && now != NULL && now() < told_until + ROUND_NS)
		nanosleep(&(struct timespec){.tv_nsec = ROUND_NS}, NULL);
	result = tell(end);
	pthread_mutex_unlock(&mutex);
	return result;
}

static size_t size_of(const CUpti_Activity *record)
{
	return record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? sizeof(REPRISE_CUPTI_KERNEL)
	       : record->kind == CUPTI_ACTIVITY_KIND_MEMCPY          ? sizeof(CUpti_ActivityMemcpy5)
	                                                             : sizeof(CUpti_ActivityMemset4);
}

SHOWN CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                                      CUpti_Activity **record)
{
	uint8_t *next = *record == NULL ? buffer : (uint8_t *)*record + size_of(*record);

	if (next >= buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                                             size_t *dropped)
{
	*dropped = 3;
	return CUPTI_SUCCESS;
}
