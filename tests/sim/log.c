#include "log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "context.h"
#include "event.h"
#include "memory.h"
#include "options.h"
#include "stream.h"

/* Longer runs of bytes are written as their hash. */
#define MOST_BYTES 512

/* The file is mapped once, as long as it may become, and grows by pieces. */
#define MOST_LOG ((size_t)8 << 30)
#define PIECE ((size_t)1 << 20)

/* A tenth of a second, after which the log is another living process's. */
#define LOCK_TRIES 100
#define LOCK_NAP_US 1000

static struct {
	int file;
	char *at;
	size_t used, room;
	bool open; /* by this process: a child of fork has its parent's log, and writes nothing */
} out = {.file = -1};

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

/* What most of a line is made of, without the cost of printf. Inline, so that lengths and bases are
 * constants: writing logs is a great part of what the tests take. */
#define INLINE static inline __attribute__((always_inline))

INLINE void add_text(struct line *line, const char *text)
{
	size_t length = strlen(text);

	if (line->length + length < sizeof(line->text)) {
		memcpy(line->text + line->length, text, length);
		line->length += length;
	}
}

INLINE void add_number(struct line *line, uint64_t number, unsigned int base)
{
	char digits[24];
	size_t at = sizeof(digits), length;

	do
		digits[--at] = "0123456789abcdef"[number % base];
	while (number /= base);
	length = sizeof(digits) - at;
	if (line->length + length >= sizeof(line->text))
		return;
	for (size_t i = 0; i < length; i++)
		line->text[line->length + i] = digits[at + i];
	line->length += length;
}

INLINE void add_named(struct line *line, const char *name, uint64_t number)
{
	add_text(line, name);
	add_number(line, number, 10);
}

/* Takes the log for this process. On some kernels the lock of a process that was killed is there
 * for a moment after its parent was told. */
static bool lock_alone(int file)
{
	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			return true;
		usleep(LOCK_NAP_US);
	}
	return false;
}

/* Another process that has this log has it alone: this one's goes beside it. */
static int open_alone(const char *path)
{
	char beside[4096];
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (file >= 0 && !lock_alone(file)) {
		close(file);
		snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid());
		file = open(beside, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	}
	return file >= 0 && ftruncate(file, 0) == 0 ? file : -1;
}

static void leave_to_parent(void)
{
	out.open = false;
}

static void open_log(void)
{
	const char *path = sim_options()->log;

	out.file = open_alone(path);
	if (out.file < 0)
		sim_misuse("SIM_LOG=%s cannot be written", path);
	out.at = mmap(NULL, MOST_LOG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, out.file, 0);
	if (out.at == MAP_FAILED)
		sim_misuse("SIM_LOG=%s cannot be mapped", path);
	out.open = true;
	/* Not getpid() for each line: that took a tenth of the time. */
	pthread_atfork(NULL, NULL, leave_to_parent);
}

/* Cuts off the zeros behind the last line. A thread may still be at work, and writes nothing more;
 * if it holds the lock for good, the zeros stay. */
__attribute__((destructor)) static void close_log(void)
{
	if (pthread_mutex_trylock(&sim_lock) != 0)
		return;
	if (out.open) {
		if (ftruncate(out.file, (off_t)out.used) != 0)
			perror("SIM_LOG");
		out.open = false;
	}
	pthread_mutex_unlock(&sim_lock);
}

static void write_out(struct line *line)
{
	add_text(line, "\n");
	if (out.file < 0)
		open_log();
	if (!out.open)
		return;
	while (out.used + line->length > out.room) {
		out.room += PIECE;
		if (out.room > MOST_LOG || ftruncate(out.file, (off_t)out.room) != 0)
			sim_misuse("SIM_LOG=%s cannot be written", sim_options()->log);
	}
	memcpy(out.at + out.used, line->text, line->length);
	out.used += line->length;
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
	static const char letters[SIM_MEMORY_KINDS] = {
		[SIM_DEVICE] = 'd', [SIM_PINNED] = 'h', [SIM_MANAGED] = 'm', [SIM_REGISTERED] = 'r'};
	const struct sim_memory *memory = sim_memory_of(address);

	if (!memory)
		return false;
	add_named(line, (char[]){'@', letters[memory->kind], '\0'}, memory->ordinal);
	add_text(line, "+");
	add_number(line, address - memory->base, 16);
	return true;
}

/* What a kernel does through a parameter of that type. */
static char access_of(const char *type)
{
	if (!strchr(type, '*'))
		return 'u';
	if (strstr(type, "volatile"))
		return 'v';
	return strncmp(type, "const ", 6) == 0 ? 'r' : 'w';
}

/* Parameter bytes: words that are addresses as such, the rest in hexadecimal. */
static void add_bytes(struct line *line, const unsigned char *bytes,
                      const struct sim_parameter *parameter)
{
	static const char digits[] = "0123456789abcdef";
	size_t count = parameter->size, i = 0;
	uint64_t word;

	if (count > MOST_BYTES) {
		add(line, "#%zu:%016lx", count, hash(bytes, count));
		return;
	}
	while (i < count) {
		if (count - i >= 8 && (i % 8) == 0) {
			memcpy(&word, bytes + i, 8);
			if (word > UINT32_MAX && add_address(line, (uintptr_t)word)) {
				add_text(line, (char[]){count == 8 ? access_of(parameter->type) : 'u', '\0'});
				i += 8;
				continue;
			}
		}
		if (line->length + 2 < sizeof(line->text)) {
			line->text[line->length++] = digits[bytes[i] >> 4];
			line->text[line->length++] = digits[bytes[i] & 15];
		}
		i++;
	}
}

static void add_dim(struct line *line, const char *name, struct sim_dim dim)
{
	add_named(line, name, dim.x);
	add_named(line, ",", dim.y);
	add_named(line, ",", dim.z);
}

/* A handle by its number. */
static CUevent by_number(CUevent handle)
{
	const struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);

	return (CUevent)(uintptr_t)(event ? event->object.ordinal : 0);
}

static void add_attribute(struct line *line, const CUlaunchAttribute *attribute)
{
	CUlaunchAttributeValue value = attribute->value;

	if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
		value.programmaticEvent.event = by_number(value.programmaticEvent.event);
	if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
		value.launchCompletionEvent.event = by_number(value.launchCompletionEvent.event);
	/* Memory has other addresses in another run. */
	if (attribute->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
		value.accessPolicyWindow.base_ptr = NULL;
	add(line, " attribute%d=%016lx", (int)attribute->id, hash(&value, sizeof(value)));
	if (attribute->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
		add_address(line, (uintptr_t)attribute->value.accessPolicyWindow.base_ptr);
}

static void add_kernel(struct line *line, const struct sim_kernel_work *kernel)
{
	const struct sim_kernel *code = kernel->function->code;
	unsigned int i;

	add_text(line, " ");
	add_text(line, code->name);
	add_dim(line, " grid=", kernel->grid);
	add_dim(line, " block=", kernel->block);
	add_named(line, " shared=", kernel->shared_bytes);
	if (kernel->multiprocessors)
		add_named(line, " multiprocessors=", kernel->multiprocessors);
	for (i = 0; i < kernel->attribute_count; i++)
		add_attribute(line, &kernel->attributes[i]);
	add_text(line, " parameters=");
	for (i = 0; i < code->parameter_count; i++) {
		add_text(line, i ? "|" : "");
		add_bytes(line, kernel->params[i], &code->parameters[i]);
	}
}

static void add_end(struct line *line, const char *what, CUmemorytype type, const void *host,
                    CUdeviceptr device)
{
	uintptr_t address = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;

	add(line, " %s=", what);
	if (!add_address(line, address))
		add(line, "pageable");
}

static void add_copy(struct line *line, const struct sim_copy_work *copy)
{
	const CUDA_MEMCPY3D *s = &copy->shape;

	/* What was pageable at the call may be registered by now. */
	if (copy->staged)
		add(line, " from=pageable");
	else
		add_end(line, "from", s->srcMemoryType, s->srcHost, s->srcDevice);
	if (s->Height * s->Depth > 1)
		add(line, "(%zu,%zu,%zu,%zu,%zu)", s->srcXInBytes, s->srcY, s->srcZ, s->srcPitch,
		    s->srcHeight);
	add_end(line, "to", s->dstMemoryType, s->dstHost, s->dstDevice);
	if (s->Height * s->Depth > 1)
		add(line, "(%zu,%zu,%zu,%zu,%zu)", s->dstXInBytes, s->dstY, s->dstZ, s->dstPitch,
		    s->dstHeight);
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
		add(line, " value=%lx size=%u flags=%u", work->word.value, work->word.bytes,
		    work->word.flags);
		break;
	case SIM_RECORD:
		add(line, " event=%u", work->event->object.ordinal);
		break;
	case SIM_ATTACH:
		add_end(line, "at", CU_MEMORYTYPE_DEVICE, NULL, work->attach.address);
		add(line, " flags=%u", work->attach.flags);
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
	return kind != SIM_RECORD && kind != SIM_WAIT && kind != SIM_WAIT_ELSEWHERE &&
	       kind != SIM_EMPTY;
}

void sim_log_op(const struct sim_op *op)
{
	static struct line line; /* too long for a small stack; under sim_lock, as all of the log */
	size_t i;

	if (!sim_options()->log)
		return;
	line.length = 0;
	add_named(&line, op->work && is_program_work(op->work->kind) ? "op " : "mark ", op->sequence);
	add_named(&line, " context=", op->place.context);
	add_named(&line, op->place.stream & SIM_PER_THREAD_PLACE ? " stream=thread" : " stream=",
	          op->place.stream & ~SIM_PER_THREAD_PLACE);
	add_text(&line, " after=");
	for (i = 0; i < op->edges.count; i++)
		add_named(&line, i ? "," : "", op->edges.at[i]);
	add_named(&line, " host=", op->host);
	add_named(&line, " own=", op->own);
	add_text(&line, " ");
	add_text(&line, op->work ? sim_work_name(op->work) : "point");
	if (op->work)
		add_work(&line, op->work);
	if (op->work && op->work->kind == SIM_KERNEL && op->priority != 0)
		add(&line, " priority=%d", op->priority);
	write_out(&line);
}

void sim_log_wait(uint64_t sequence, uint64_t before, uint64_t op)
{
	static struct line line; /* too long for a small stack; under sim_lock, as all of the log */

	line.length = 0;
	add(&line, "mark %lu context=0 stream=0 after=%lu,%lu host=0 own=%lu host-wait thread=%lu",
	    sequence, before, op, sim_self()->waited, sim_self()->id);
	write_out(&line);
}

void sim_log_call(const char *name, CUresult result)
{
	static struct line line; /* too long for a small stack; under sim_lock, as all of the log */

	if (!sim_options()->log)
		return;
	line.length = 0;
	add(&line, "call %s %d", name, (int)result);
	write_out(&line);
}

void sim_log_describe(const struct sim_op *op, char *text, size_t room)
{
	static struct line line; /* too long for a small stack; under sim_lock, as all of the log */

	line.length = 0;
	add(&line, "%s", sim_work_name(op->work));
	add_work(&line, op->work);
	snprintf(text, room, "%s", line.text);
}
