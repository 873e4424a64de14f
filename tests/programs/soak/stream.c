#include "soak.h"

#include <string.h>

/* ---- its life ---- */

void soak_stream_init(struct soak_stream *stream, unsigned flags)
{
	memset(stream, 0, sizeof(*stream));
	pthread_mutex_init(&stream->lock, NULL);
	CHECK(cuStreamCreate(&stream->stream, flags));
	CHECK(cuMemAlloc(&stream->x, SOAK_BYTES));
	CHECK(cuMemAlloc(&stream->y, SOAK_BYTES));
	CHECK(cuMemHostAlloc((void **)&stream->staged, SOAK_BYTES, 0));
	CHECK(cuMemHostAlloc((void **)&stream->landed, SOAK_BYTES, 0));
	memset(stream->staged, 0, SOAK_BYTES);
	memset(stream->landed, 0, SOAK_BYTES);
	CHECK(cuMemsetD32Async(stream->x, 0, SOAK_WORDS, stream->stream));
	CHECK(cuMemsetD32Async(stream->y, 0, SOAK_WORDS, stream->stream));
}

void soak_stream_deinit(struct soak_stream *stream)
{
	CHECK(cuStreamDestroy(stream->stream));
	CHECK(cuMemFree(stream->x));
	CHECK(cuMemFree(stream->y));
	CHECK(cuMemFreeHost(stream->staged));
	CHECK(cuMemFreeHost(stream->landed));
	pthread_mutex_destroy(&stream->lock);
}

void soak_stream_renew(struct soak_stream *stream, unsigned flags)
{
	CHECK(cuStreamDestroy(stream->stream));
	CHECK(cuStreamCreate(&stream->stream, flags));
	atomic_fetch_add(&soak.streams, 1);
}

/* ---- ops ---- */

void soak_launch(struct soak_stream *stream, CUfunction function, bool turn, CUdeviceptr from,
                 const unsigned *mirror_from, unsigned value)
{
	unsigned *x = stream->mirror_x;

	CHECK(cuLaunchKernel(function, 1, 1, 1, SOAK_WORDS, 1, 1, 0, stream->stream,
	                     (void *[]){&stream->x, &from, &value}, NULL));
	for (unsigned i = 0; i < SOAK_WORDS; i++)
		x[i] = turn ? (x[i] * 22695477u + value) ^ (x[i] << 5) ^ (mirror_from[i] << 1)
		            : x[i] * 1664525u + 2u * mirror_from[i] + value;
	stream->ops++;
}

static unsigned note_in(unsigned noted, unsigned value)
{
	return noted * 69069u + value;
}

static void CUDA_CB note(void *entry)
{
	struct soak_note *it = entry;

	it->stream->noted = note_in(it->stream->noted, it->value);
}

static void issue_note(struct soak_stream *stream, unsigned value)
{
	struct soak_note *entry;

	if (stream->note_count == SOAK_NOTES) {
		CHECK(cuStreamSynchronize(stream->stream));
		soak_look(stream);
	}
	entry = &stream->notes[stream->note_count++];
	*entry = (struct soak_note){stream, value};
	CHECK(cuLaunchHostFunc(stream->stream, note, entry));
	stream->mirror_noted = note_in(stream->mirror_noted, value);
}

static void issue_ordered(struct soak_stream *stream, const struct soak_module *module,
                          unsigned value)
{
	unsigned words[SOAK_WORDS];
	CUdeviceptr memory;

	for (unsigned i = 0; i < SOAK_WORDS; i++)
		words[i] = value;
	CHECK(cuMemAllocAsync(&memory, SOAK_BYTES, stream->stream));
	CHECK(cuMemsetD32Async(memory, value, SOAK_WORDS, stream->stream));
	soak_launch(stream, module->mix, false, memory, words, value);
	CHECK(cuMemFreeAsync(memory, stream->stream));
	stream->ops += 3;
}

/* From memory that is something else as soon as the call has returned. */
static void issue_send(struct soak_stream *stream, unsigned value)
{
	unsigned words[SOAK_WORDS];

	for (unsigned i = 0; i < SOAK_WORDS; i++)
		words[i] = value * (i + 1);
	CHECK(cuMemcpyHtoDAsync(stream->y, words, SOAK_BYTES, stream->stream));
	memcpy(stream->mirror_y, words, SOAK_BYTES);
	memset(words, 0xee, SOAK_BYTES);
	__asm__ volatile("" : : "r"(words) : "memory");
}

void soak_issue(struct soak_stream *stream, const struct soak_module *module, enum soak_op op,
                unsigned value)
{
	switch (op) {
	case SOAK_MIX:
	case SOAK_TURN:
		soak_launch(stream, op == SOAK_TURN ? module->turn : module->mix, op == SOAK_TURN,
		            stream->y, stream->mirror_y, value);
		return;
	case SOAK_SET:
		CHECK(cuMemsetD32Async(stream->y, value, SOAK_WORDS, stream->stream));
		for (unsigned i = 0; i < SOAK_WORDS; i++)
			stream->mirror_y[i] = value;
		break;
	case SOAK_SET_BYTES:
		CHECK(cuMemsetD8Async(stream->y, (unsigned char)value, SOAK_BYTES, stream->stream));
		memset(stream->mirror_y, (unsigned char)value, SOAK_BYTES);
		break;
	case SOAK_MOVE:
		CHECK(cuMemcpyDtoDAsync(stream->y, stream->x, SOAK_BYTES, stream->stream));
		memcpy(stream->mirror_y, stream->mirror_x, SOAK_BYTES);
		break;
	case SOAK_STAGE:
		CHECK(cuMemcpyHtoDAsync(stream->y, stream->staged, SOAK_BYTES, stream->stream));
		memcpy(stream->mirror_y, stream->staged, SOAK_BYTES);
		break;
	case SOAK_SEND:
		issue_send(stream, value);
		break;
	case SOAK_LAND:
		CHECK(cuMemcpyDtoHAsync(stream->landed, stream->x, SOAK_BYTES, stream->stream));
		memcpy(stream->mirror_landed, stream->mirror_x, SOAK_BYTES);
		break;
	case SOAK_ORDERED:
		issue_ordered(stream, module, value);
		return;
	case SOAK_NOTE:
	case SOAK_OPS:
		issue_note(stream, value);
		break;
	}
	stream->ops++;
}

/* ---- what is seen ---- */

static void compare(const char *what, const unsigned *seen, const unsigned *mirror, unsigned words)
{
	atomic_fetch_add(&soak.checks, 1);
	if (memcmp(seen, mirror, words * sizeof(*seen)) == 0)
		return;
	for (unsigned i = 0; i < words; i++) {
		if (seen[i] == mirror[i])
			continue;
		fprintf(stderr, "soak: %s: word %u is %08x, not %08x\n", what, i, seen[i], mirror[i]);
		break;
	}
	atomic_store(&soak.differs, true);
}

void soak_look(struct soak_stream *stream)
{
	compare("what was copied to the host", stream->landed, stream->mirror_landed, SOAK_WORDS);
	compare("what host functions noted", &stream->noted, &stream->mirror_noted, 1);
	stream->note_count = 0;
	atomic_fetch_add(&soak.ops, stream->ops);
	stream->ops = 0;
}

void soak_wait(struct soak_stream *stream, uint64_t *random)
{
	CUresult result;
	CUevent event;

	switch (soak_random(random, 8)) {
	case 0:
		while ((result = cuStreamQuery(stream->stream)) == CUDA_ERROR_NOT_READY)
			;
		CHECK(result);
		break;
	case 1:
		CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
		CHECK(cuEventRecord(event, stream->stream));
		CHECK(cuEventSynchronize(event));
		CHECK(cuEventDestroy(event));
		break;
	default:
		CHECK(cuStreamSynchronize(stream->stream));
	}
	soak_look(stream);
	if (soak_random(random, 4) > 0)
		return;
	for (unsigned i = 0; i < SOAK_WORDS; i++)
		stream->staged[i] = soak_random(random, 1u << 31);
}

void soak_check(struct soak_stream *stream)
{
	unsigned words[SOAK_WORDS];

	CHECK(cuStreamSynchronize(stream->stream));
	soak_look(stream);
	CHECK(cuMemcpyDtoH(words, stream->y, SOAK_BYTES));
	compare("y", words, stream->mirror_y, SOAK_WORDS);
	CHECK(cuMemcpyDtoH(words, stream->x, SOAK_BYTES));
	compare("x", words, stream->mirror_x, SOAK_WORDS);
}
