/*
 * A libcupti that measures nothing: at each flush it tells of seven kernels, of which two run at the same time and one lies within another, the later ones first, and
 * of one whose time was not to be had. So busy time, span and time by name are known.
 */
#include <cupti.h>
#include <stdbool.h>
#include <stdlib.h>

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static bool enabled;

static const struct {
	const char *name;
	uint64_t start, end;
} kernels[] = {
	{"last", 90000, 100000}, {"alpha", 10000, 20000}, {"beta", 15000, 25000}, {"alpha", 30000, 50000}, {"beta", 35000, 40000}, {"alpha", 50000, 60000},
	{"beta", 60000, 61000}, {"unknown", 0, 0},
};

#define SHOWN __attribute__((visibility("default")))

SHOWN CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	const char *other = getenv("FAKE_CUPTI_VERSION");

	*version = other != NULL ? (uint32_t)atoi(other) : CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc first, CUpti_BuffersCallbackCompleteFunc second)
{
	request = first;
	complete = second;
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	enabled = getenv("FAKE_CUPTI_REFUSES") == NULL && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	return enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	size_t room = 0, most = 0, count = sizeof(kernels) / sizeof(kernels[0]);
	uint8_t *buffer = NULL;

	request(&buffer, &room, &most);
	if (!enabled || room < count * sizeof(REPRISE_CUPTI_KERNEL))
		return CUPTI_ERROR_UNKNOWN;
	for (size_t i = 0; i < count; i++)
		((REPRISE_CUPTI_KERNEL *)buffer)[i] = (REPRISE_CUPTI_KERNEL){
			.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .name = kernels[i].name, .start = kernels[i].start, .end = kernels[i].end};
	complete(NULL, 0, buffer, room, count * sizeof(REPRISE_CUPTI_KERNEL));
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record == NULL ? buffer : (uint8_t *)*record + sizeof(REPRISE_CUPTI_KERNEL);

	if (next + sizeof(REPRISE_CUPTI_KERNEL) > buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

SHOWN CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
	*dropped = 3;
	return CUPTI_SUCCESS;
}
