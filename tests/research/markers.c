/* Whether a profiler hears Reprise's replays as ranges of NVTX. CUPTI is the listener here, as it
 * is for NVIDIA's profilers: it records the ranges of all domains. At the exit, a line for each
 * domain and name: how many ranges, and how long they were together. docs/looking.md says what was
 * heard.
 *
 *     gcc -O2 -shared -fPIC -I/usr/local/cuda/include tests/research/markers.c -o markers.so \
 *         -L/usr/local/cuda/extras/CUPTI/lib64 -lcupti
 *     NVTX_INJECTION64_PATH=.../libcupti.so LD_PRELOAD="$PWD/markers.so libreprise.so" PROGRAM
 *
 * It is preloaded: Reprise stands aside for CUDA_INJECTION64_PATH. */
#include <cupti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MOST 64
#define OPEN_MOST 4096
#define BUFFER_BYTES (1u << 20)

/* CUPTI gives buffers back on one thread at a time. */
static struct kind {
	const char *domain, *name; /* CUPTI's, which keeps them */
	uint64_t count, ns;
} kinds[KINDS_MOST];
static unsigned int kind_count;

static struct open {
	uint32_t id;
	uint64_t begin_ns;
	struct kind *kind;
} opens[OPEN_MOST];
static uint64_t lost;

static const char *text(const char *string)
{
	return string != NULL ? string : "-";
}

static struct kind *kind_of(const CUpti_ActivityMarker2 *marker)
{
	for (unsigned int i = 0; i < kind_count; i++)
		if (strcmp(kinds[i].domain, text(marker->domain)) == 0 &&
		    strcmp(kinds[i].name, text(marker->name)) == 0)
			return &kinds[i];
	if (kind_count == KINDS_MOST)
		return NULL;
	kinds[kind_count] = (struct kind){text(marker->domain), text(marker->name), 0, 0};
	return &kinds[kind_count++];
}

/* The record of a range's end has no name. */
static void note(const CUpti_ActivityMarker2 *marker)
{
	struct open *open = &opens[marker->id % OPEN_MOST];

	if ((marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
		lost += open->kind != NULL;
		*open = (struct open){marker->id, marker->timestamp, kind_of(marker)};
	} else if ((marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) {
		if (open->kind == NULL || open->id != marker->id) {
			lost++;
			return;
		}
		open->kind->count++;
		open->kind->ns += marker->timestamp - open->begin_ns;
		open->kind = NULL;
	}
}

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer != NULL ? BUFFER_BYTES : 0;
	*most_records = 0;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t filled)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	while (cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS)
		if (record->kind == CUPTI_ACTIVITY_KIND_MARKER)
			note((const CUpti_ActivityMarker2 *)record);
	free(buffer);
}

static __attribute__((constructor)) void begin(void)
{
	CUptiResult result = cuptiActivityRegisterCallbacks(give, take);

	if (result == CUPTI_SUCCESS)
		result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MARKER);
	if (result != CUPTI_SUCCESS)
		fprintf(stderr, "markers: CUPTI refused: %d\n", (int)result);
}

static __attribute__((destructor)) void end(void)
{
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	for (unsigned int i = 0; i < kind_count; i++)
		fprintf(stderr, "markers: domain %s: %s: %llu ranges, %.3f ms\n", kinds[i].domain,
		        kinds[i].name, (unsigned long long)kinds[i].count, (double)kinds[i].ns * 1e-6);
	if (lost != 0)
		fprintf(stderr, "markers: %llu ends without a beginning, or the other way round\n",
		        (unsigned long long)lost);
}
