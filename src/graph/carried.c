#include "graph/carried.h"

#include <stdatomic.h>
#include <string.h>

#include "driver/driver.h"

/* attribute ids that are asked for, with room for later versions */
#define IDS_ASKED 32

/* True once the program has set attributes of such a stream. Others have those of a new stream. */
static _Atomic bool noted_legacy, noted_per_thread, noted_created;

static _Atomic bool *noted(CUstream stream)
{
	return stream == CU_STREAM_LEGACY       ? &noted_legacy
	       : stream == CU_STREAM_PER_THREAD ? &noted_per_thread
	                                        : &noted_created;
}

void reprise_carried_note(CUstream stream)
{
	atomic_store(noted(stream), true);
}

bool reprise_carried_noted_per_thread(void)
{
	return atomic_load(&noted_per_thread);
}

static bool get(CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value)
{
	/* The driver writes only the bytes that have a meaning. */
	memset(value, 0, sizeof(*value));
	return reprise_driver.cuStreamGetAttribute(stream, id, value) == CUDA_SUCCESS;
}

void reprise_carried_read(struct reprise_carried *carried)
{
	CUstreamAttrValue value;

	carried->count = 0;
	carried->unknown = reprise_driver.cuStreamGetAttribute == NULL;
	for (int id = 1; !carried->unknown && id < IDS_ASKED; id++) {
		if (!get(CU_STREAM_PER_THREAD, (CUstreamAttrID)id, &value))
			continue;
		carried->unknown = carried->count == REPRISE_CARRIED_MOST;
		if (carried->unknown)
			break;
		carried->rows[carried->count].id = (CUstreamAttrID)id;
		carried->rows[carried->count++].value = value;
	}
	carried->unknown |= carried->count == 0; /* every stream has some */
}

/* An attribute that is equal already is not set: some default values cannot be set. */
static bool bring_one(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue *value)
{
	CUstreamAttrValue own;

	if (get(stream, id, &own) && memcmp(&own, value, sizeof(own)) == 0)
		return true;
	return reprise_driver.cuStreamSetAttribute != NULL &&
	       reprise_driver.cuStreamSetAttribute(stream, id, value) == CUDA_SUCCESS;
}

static bool bring_written_down(CUstream stream, const struct reprise_carried *carried)
{
	if (carried->unknown)
		return false;
	for (unsigned int i = 0; i < carried->count; i++)
		if (!bring_one(stream, carried->rows[i].id, &carried->rows[i].value))
			return false;
	return true;
}

bool reprise_carried_bring(CUstream stream, CUstream model, const struct reprise_carried *carried)
{
	if (model == CU_STREAM_PER_THREAD)
		return bring_written_down(stream, carried);
	if (model == CU_STREAM_LEGACY && !atomic_load(&noted_legacy))
		return true;
	if (reprise_driver.cuStreamCopyAttributes != NULL &&
	    reprise_driver.cuStreamCopyAttributes(stream, model) == CUDA_SUCCESS)
		return true;
	return !atomic_load(noted(model)); /* true: both have those of a new stream */
}
