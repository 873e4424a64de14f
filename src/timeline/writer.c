/*
 * Writing events down, in the array format of trace events: one line after another, of which the last need not be followed by the array's closing
 * bracket. So the file can be read at any time, if only no line is cut. No line lies across two pages, and no write does: what ends a process
 * while it writes lets the kernel finish the page that it is at. The file is open only while it is written to.
 *
 * Times are counted from when Reprise started. How many ticks a microsecond has is measured until the first line is written and is the
 * same from then on, or else an event and what is within it might be written at two rates, and stick out.
 */
#include "inner.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../base/inside.h"
#include "../base/lock.h"
#include "../base/log.h"
#include "../base/options.h"
#include "../base/thread.h"
#include "../base/write.h"
#include "../report/counters.h"
#include "../report/file.h"

#define INTERVAL_NS 100000000u /* between two pieces at most, while there are events */
#define PAGE_BYTES 4096
#define LINE_MOST 384
#define LANE_TRACK 5000000 /* above all threads: the kernel's greatest number is 2^22 */
#define LANES 255

enum { ABSENT, AWAKE, ASLEEP, DONE };

static _Atomic uint32_t thread_state; /* ABSENT, AWAKE, ASLEEP or DONE */
static _Atomic uint32_t work;         /* moves when there is something to do; the thread sleeps on it */
static _Atomic bool finishing;
static struct reprise_lock start_lock;

/* The rest is the thread's own. */
static struct {
	struct reprise_report_place place;
	bool made, ended;
	uint64_t bytes; /* with what is not written yet */
	double ns_per_tick;
	bool named[LANES];
} file;

/* What comes into the page at which the file ends. */
static struct {
	char text[PAGE_BYTES];
	size_t length;
	uint64_t events;
} page;

static int open_file(void)
{
	if (file.made)
		return reprise_report_file_again(&file.place, O_APPEND);
	file.made = true;
	return reprise_report_file_make(reprise_option_text(REPRISE_OPTION_TIMELINE), &file.place);
}

/* Nothing is written any more. */
static void end(void)
{
	file.ended = true;
	atomic_store(&reprise_timeline_on, false);
}

static void write_page(void)
{
	int descriptor;
	bool whole;

	if (page.length == 0)
		return;
	descriptor = open_file();
	whole = descriptor >= 0 && reprise_write(descriptor, page.text, page.length);
	if (descriptor >= 0)
		close(descriptor);
	if (whole) {
		reprise_count(REPRISE_COUNT_timeline_events, page.events);
	} else {
		reprise_log(REPRISE_LOG_WARNING, "the timeline ends early: its file cannot be written");
		end();
	}
	page.length = 0;
	page.events = 0;
}

static void append(const char *text, size_t length)
{
	memcpy(page.text + page.length, text, length);
	page.length += length;
	file.bytes += length;
	if (file.bytes % PAGE_BYTES == 0)
		write_page();
}

static void add_text(const char *text, size_t length)
{
	static const char blanks[LINE_MOST] = {[0 ... LINE_MOST - 1] = ' '};
	size_t left = PAGE_BYTES - file.bytes % PAGE_BYTES;

	if (length > left)
		append(blanks, left);
	if (!file.ended)
		append(text, length);
}

/* A line, unless the file would become too large: then the last two. */
__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	static const char full[] = ",\n{\"name\":\"the timeline ends here: it is as large as it may be\",\"ph\":\"i\",\"s\":\"g\","
	                           "\"pid\":0,\"tid\":0,\"ts\":0}\n]\n";
	char line[LINE_MOST];
	va_list arguments;
	int length;

	if (file.ended)
		return;
	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (file.bytes + (size_t)length + 2 * LINE_MOST <= reprise_option(REPRISE_OPTION_TIMELINE_MOST) << 20) {
		add_text(line, (size_t)length);
		return;
	}
	add_text(full, sizeof(full) - 1);
	write_page();
	end();
}

static void begin_file(void)
{
	uint64_t ticks = reprise_clock_ticks() - reprise_clock_start_ticks();

	file.ns_per_tick = (double)reprise_clock_ticks_to_ns(ticks) / (double)(ticks > 0 ? ticks : 1);
	add("[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"program under Reprise\"}}", (int)getpid());
}

static void end_file(void)
{
	if (file.made && !file.ended)
		add_text("\n]\n", 3);
	write_page();
	file.ended = true;
}

static void name_track(int track, const char *name)
{
	add(",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}", (int)getpid(), track, name);
}

static void name_thread(const struct reprise_timeline_chunk *chunk)
{
	char name[sizeof(chunk->name)];
	size_t i = 0;

	for (; i < sizeof(name) - 1 && chunk->name[i] != '\0'; i++)
		name[i] = chunk->name[i] < ' ' || chunk->name[i] > '~' || chunk->name[i] == '"' || chunk->name[i] == '\\' ? '?' : chunk->name[i];
	name[i] = '\0';
	name_track(chunk->thread, name);
}

static int lane_track(unsigned int lane)
{
	char name[16];

	if (!file.named[lane]) {
		snprintf(name, sizeof(name), "lane %u", lane);
		name_track(LANE_TRACK + (int)lane, name);
		file.named[lane] = true;
	}
	return LANE_TRACK + (int)lane;
}

static uint64_t to_ns(uint64_t ticks)
{
	return (uint64_t)((double)(ticks - reprise_clock_start_ticks()) * file.ns_per_tick);
}

static void add_event(const struct reprise_timeline_event *event, int thread)
{
	static const char *const names[][2] = {
#define X(kind, name) {name, "call"},
		REPRISE_OP_KINDS(X)
#undef X
#define X(kind, name, category) {name, category},
		REPRISE_TIMELINE_KINDS(X)
#undef X
	};
	uint64_t begin = to_ns(event->begin), took = to_ns(event->end) - begin;
	char about[128];
	int length = 0;

	about[0] = '\0';
	if (event->lane != REPRISE_TIMELINE_NO_LANE)
		length += snprintf(about + length, sizeof(about) - (size_t)length, ",\"lane\":%u", (unsigned int)event->lane);
	if (event->graph != 0)
		length += snprintf(about + length, sizeof(about) - (size_t)length, ",\"graph\":%u", (unsigned int)event->graph);
	if (event->ops != 0)
		snprintf(about + length, sizeof(about) - (size_t)length, ",\"ops\":%u", event->ops);
	add(",\n{\"name\":\"%s%s%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"args\":{%s}}",
	    names[event->kind][0], event->reason != NULL ? ": " : "", event->reason != NULL ? event->reason : "", names[event->kind][1], (int)getpid(),
	    event->kind == REPRISE_TIMELINE_HOLD ? lane_track(event->lane) : thread, (unsigned long long)(begin / 1000), (unsigned int)(begin % 1000),
	    (unsigned long long)(took / 1000), (unsigned int)(took % 1000), about + (about[0] != '\0'));
	page.events += !file.ended;
}

/* True if there was any. */
static bool write_events(struct reprise_timeline_chunk *chunk)
{
	uint32_t count = atomic_load_explicit(&chunk->count, memory_order_acquire);

	if (count == chunk->written)
		return false;
	if (file.bytes == 0)
		begin_file();
	if (chunk->written == 0)
		name_thread(chunk);
	for (uint32_t i = chunk->written; i < count; i++)
		add_event(&chunk->events[i], chunk->thread);
	chunk->written = count;
	return true;
}

/* The head of the list stays: others may be put before it at any moment. */
static bool write_all(void)
{
	struct reprise_timeline_chunk *before = NULL, *next;
	bool any = false;

	for (struct reprise_timeline_chunk *chunk = atomic_load(&reprise_timeline_chunks); chunk != NULL; chunk = next) {
		bool ended = atomic_load_explicit(&chunk->ended, memory_order_acquire);

		any = write_events(chunk) || any;
		next = chunk->next;
		if (before == NULL || !ended) {
			before = chunk;
			continue;
		}
		before->next = next;
		munmap(chunk, REPRISE_TIMELINE_CHUNK_BYTES);
	}
	write_page();
	return any;
}

static void *run(void *unused)
{
	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	for (;;) {
		uint32_t seen = atomic_load(&work);
		bool last = atomic_load(&finishing), any = write_all();

		if (last)
			break;
		atomic_store(&thread_state, any ? AWAKE : ASLEEP);
		reprise_futex_wait(&work, seen, any ? INTERVAL_NS : 0);
		atomic_store(&thread_state, AWAKE);
	}
	end_file();
	atomic_store(&thread_state, DONE);
	return NULL;
}

bool reprise_timeline_writer_start(void)
{
	bool there;

	if (atomic_load(&thread_state) != ABSENT)
		return true;
	reprise_lock_take(&start_lock);
	there = atomic_load(&thread_state) != ABSENT;
	if (!there) {
		atomic_store(&thread_state, AWAKE); /* first: the thread moves it on */
		there = reprise_thread_start(run, "reprise-line");
		if (!there)
			atomic_store(&thread_state, ABSENT);
	}
	reprise_lock_give(&start_lock);
	return there;
}

void reprise_timeline_writer_wake(void)
{
	atomic_fetch_add(&work, 1);
	reprise_futex_wake(&work);
}

void reprise_timeline_writer_watch(void)
{
	uint32_t asleep = ASLEEP;

	if (__builtin_expect(atomic_load_explicit(&thread_state, memory_order_relaxed) == ASLEEP, 0) &&
	    atomic_compare_exchange_strong(&thread_state, &asleep, AWAKE))
		reprise_timeline_writer_wake();
}

void reprise_timeline_writer_finish(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	if (atomic_load(&thread_state) == ABSENT)
		return;
	atomic_store(&finishing, true);
	reprise_timeline_writer_wake();
	while (atomic_load(&thread_state) != DONE && reprise_clock_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

void reprise_timeline_writer_reset(void)
{
	memset(&file, 0, sizeof(file));
	page.length = 0;
	page.events = 0;
	atomic_store(&thread_state, ABSENT);
	atomic_store(&finishing, false);
	atomic_store(&start_lock.word, 0);
}
