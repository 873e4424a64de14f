#include "log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "context.h"
#include "event.h"
#include "memory.h"
#include "options.h"
#include "stream.h"

/* Longer runs of bytes are written as their hash. */
#define MOST_BYTES 512

static int file = -1;

/* A line in the making. */
struct line {
	char text[16384];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->text + line->length, room, format, arguments);
	va_end(arguments);
	line->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void write_out(struct line *line)
{
	add(line, "\n");
	if (file < 0) {
		file = open(sim_options()->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
		if (file < 0)
			sim_misuse("SIM_LOG=%s cannot be written", sim_options()->log);
	}
	if (write(file, line->text, line->length) != (ssize_t)line->length)
		sim_misuse("SIM_LOG=%s cannot be written", sim_options()->log);
}

static uint64_t hash(const void *data, size_t count)
{
	const unsigned char *bytes = data;
	uint64_t value = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < count; i++)
		value = (value ^ bytes[i]) * 0x100000001b3u;
	return value;
}

static bool add_address(struct line *line, uintptr_t address)
{
	static const char letters[SIM_MEMORY_KINDS] = {[SIM_DEVICE] = 'd', [SIM_PINNED] = 'h', [SIM_MANAGED] = 'm', [SIM_REGISTERED] = 'r'};
	const struct sim_memory *memory = sim_memory_of(address);

	if (memory)
		add(line, "@%c%u+%zx", letters[memory->kind], memory->ordinal, address - memory->base);
	return memory != NULL;
}

/* Parameter bytes: words that are addresses as such, the rest in hexadecimal. */
static void add_bytes(struct line *line, const unsigned char *bytes, size_t count)
{
	uint64_t word;
	size_t i = 0;

	if (count > MOST_BYTES) {
		add(line, "#%zu:%016lx", count, hash(bytes, count));
		return;
	}
	while (i < count) {
		if (count - i >= 8 && (i % 8) == 0) {
			memcpy(&word, bytes + i, 8);
			if (add_address(line, (uintptr_t)word)) {
				add(line, ".");
				i += 8;
				continue;
			}
		}
		add(line, "%02x", bytes[i++]);
	}
}

static void add_kernel(struct line *line, const struct sim_kernel_work *kernel)
{
	const struct sim_kernel *code = kernel->function->code;
	unsigned int i;

	add(line, " %s grid=%u,%u,%u block=%u,%u,%u shared=%u", code->name, kernel->grid.x, kernel->grid.y, kernel->grid.z,
		kernel->block.x, kernel->block.y, kernel->block.z, kernel->shared_bytes);
	for (i = 0; i < kernel->attribute_count; i++)
		add(line, " attribute%d=%016lx", (int)kernel->attributes[i].id,
			hash(&kernel->attributes[i].value, sizeof(kernel->attributes[i].value)));
	add(line, " parameters=");
	for (i = 0; i < code->parameter_count; i++) {
		add(line, i ? "|" : "");
		add_bytes(line, kernel->params[i], code->parameters[i].size);
	}
}

static void add_end(struct line *line, const char *what, CUmemorytype type, const void *host, CUdeviceptr device)
{
	uintptr_t address = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;

	add(line, " %s=", what);
	if (!add_address(line, address))
		add(line, "pageable");
}

static void add_copy(struct line *line, const struct sim_copy_work *copy)
{
	const CUDA_MEMCPY3D *s = &copy->shape;

	add_end(line, "from", s->srcMemoryType, s->srcHost, s->srcDevice);
	if (s->Height * s->Depth > 1)
		add(line, "(%zu,%zu,%zu,%zu,%zu)", s->srcXInBytes, s->srcY, s->srcZ, s->srcPitch, s->srcHeight);
	add_end(line, "to", s->dstMemoryType, s->dstHost, s->dstDevice);
	if (s->Height * s->Depth > 1)
		add(line, "(%zu,%zu,%zu,%zu,%zu)", s->dstXInBytes, s->dstY, s->dstZ, s->dstPitch, s->dstHeight);
	add(line, " bytes=%zu,%zu,%zu", s->WidthInBytes, s->Height, s->Depth);
	if (copy->staged)
		add(line, " content=%016lx", hash(copy->staged, s->WidthInBytes * s->Height * s->Depth));
}

static void add_set(struct line *line, const struct sim_set_work *set)
{
	add_end(line, "to", CU_MEMORYTYPE_DEVICE, NULL, set->target);
	add(line, " value=%x size=%u width=%zu", set->value, set->element_bytes, set->width);
	if (set->height > 1)
		add(line, " height=%zu pitch=%zu", set->height, set->pitch);
}

static void add_work(struct line *line, const struct sim_work *work)
{
	switch (work->kind) {
	case SIM_KERNEL:
		add_kernel(line, &work->kernel);
		break;
	case SIM_COPY:
		add_copy(line, &work->copy);
		break;
	case SIM_SET:
		add_set(line, &work->set);
		break;
	case SIM_WRITE_VALUE:
	case SIM_WAIT_VALUE:
		add_end(line, "at", CU_MEMORYTYPE_DEVICE, NULL, work->word.address);
		add(line, " value=%lx size=%u flags=%u", work->word.value, work->word.bytes, work->word.flags);
		break;
	case SIM_RECORD:
		add(line, " event=%u", work->event->object.ordinal);
		break;
	case SIM_ALLOC:
	case SIM_FREE:
		add_end(line, "at", CU_MEMORYTYPE_DEVICE, NULL, work->memory);
		break;
	default:
		break;
	}
}

static bool is_program_work(enum sim_work_kind kind)
{
	return kind != SIM_RECORD && kind != SIM_WAIT && kind != SIM_EMPTY && kind != SIM_ALLOC && kind != SIM_FREE;
}

void sim_log_op(const struct sim_op *op)
{
	struct line line;
	size_t i;

	if (!sim_options()->log)
		return;
	line.length = 0;
	add(&line, "%s %lu context=%u stream=", is_program_work(op->work->kind) ? "op" : "mark", op->sequence, op->place.context);
	if (op->place.stream & SIM_PER_THREAD_PLACE)
		add(&line, "thread%u", op->place.stream & ~SIM_PER_THREAD_PLACE);
	else
		add(&line, "%u", op->place.stream);
	add(&line, " after=");
	for (i = 0; i < op->edges.count; i++)
		add(&line, "%s%lu", i ? "," : "", op->edges.at[i]);
	add(&line, " %s", sim_work_name(op->work));
	add_work(&line, op->work);
	write_out(&line);
}

void sim_log_call(const char *name, CUresult result)
{
	struct line line;

	if (!sim_options()->log)
		return;
	line.length = 0;
	add(&line, "call %s %d", name, (int)result);
	write_out(&line);
}

void sim_log_describe(const struct sim_op *op, char *text, size_t room)
{
	struct line line;

	line.length = 0;
	add(&line, "%s", sim_work_name(op->work));
	add_work(&line, op->work);
	snprintf(text, room, "%s", line.text);
}
