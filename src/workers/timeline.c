/*
 * The timeline's writer: writes events in the array format of trace events, one line each. The
 * array need not be closed, so the file can be read at any time if no line is cut. No line and no
 * write crosses a page: if the process ends during a write, the kernel still finishes the page. The
 * file is open only during writes.
 *
 * Times count from the start of Reprise at one constant rate: with two rates an inner event could
 * stick out of the outer one.
 *
 * The activities of the GPU are asked for here, and come in chunks of their own. Viewers drop
 * events that overlap on a track. So activities that overlap on one stream, as branches of a graph
 * do, or that are reported late, go to further tracks.
 */
#include "workers/workers.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/worker.h"
#include "gpu/gpu.h"
#include "timeline/inner.h"
#include "op/name.h"
#include "op/op.h"
#include "stats/counters.h"
#include "base/output.h"
#include "base/tuning.h"

#define PAGE_BYTES 4096
#define LINE_MOST 768
#define LANE_TRACK 5000000 /* above all thread ids: these are at most 2^22 */
#define LANES 255
#define STREAM_TRACK 6000000
#define STREAM_TRACKS 256

/* The writer's own state. */
static struct {
	struct reprise_output_path output;
	bool made, ended;
	uint64_t bytes; /* including text that is not written yet */
	bool named[LANES];
	unsigned int tracks;
	struct {
		uint32_t device, context, stream;
		uint64_t end; /* of the last activity on the track */
	} streams[STREAM_TRACKS];
} file;

/* The last page of the file, not written yet. */
static struct {
	char text[PAGE_BYTES];
	size_t length;
	uint64_t events;
} page;

static int open_file(void)
{
	int made;

	if (file.made)
		return reprise_output_again(&file.output, O_APPEND);
	file.made = true;
	made = reprise_output_make(reprise_option_text(REPRISE_OPTION_TIMELINE), &file.output);
	if (made >= 0 && file.output.beside)
		reprise_log(REPRISE_LOG_WARNING, "%s is there already: the timeline is in %s",
		            reprise_option_text(REPRISE_OPTION_TIMELINE), file.output.path);
	return made;
}

static void end(void)
{
	file.ended = true;
	atomic_store(&reprise_timeline_on, false);
}

static void write_page(void)
{
	int error;
	char room[128];

	if (page.length == 0)
		return;
	error = reprise_output_add(open_file(), page.text, page.length);
	if (error == 0)
		reprise_count(REPRISE_COUNT_timeline_events, page.events);
	else if (error != REPRISE_OUTPUT_LOCKED_IN)
		reprise_log(REPRISE_LOG_WARNING, "the timeline %s stopped: %s",
		            file.output.path[0] != '\0' ? file.output.path
		                                        : reprise_option_text(REPRISE_OPTION_TIMELINE),
		            reprise_output_words(error, room, sizeof(room)));
	if (error != 0)
		end();
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

/* Adds a line; if the file would become too large, the closing lines, and ends the timeline. */
__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	static const char full[] =
		",\n{\"name\":\"the timeline ends here: it is as large as it may be\",\"ph\":\"i\",\"s\":\"g\","
		"\"pid\":0,\"tid\":0,\"ts\":0}\n]\n";
	char line[LINE_MOST];
	va_list arguments;
	int length;

	if (file.ended)
		return;
	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (file.bytes + (size_t)length + 2 * LINE_MOST <= reprise_option(REPRISE_OPTION_TIMELINE_MOST)
	                                                       << 20) {
		add_text(line, (size_t)length);
		return;
	}
	add_text(full, sizeof(full) - 1);
	write_page();
	if (!file.ended)
		reprise_log(REPRISE_LOG_WARNING, "the timeline %s stopped: it is as large as it may be",
		            file.output.path);
	end();
}

static void begin_file(void)
{
	char name[REPRISE_TIMELINE_NAME_MOST];

	reprise_timeline_escape(name, program_invocation_short_name);
	add("[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}",
	    (int)getpid(), name);
	add(",\n{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"labels\":\"under Reprise\"}}",
	    (int)getpid());
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
	add(",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
	    (int)getpid(), track, name);
}

static void name_thread(const struct reprise_timeline_chunk *chunk)
{
	char name[REPRISE_TIMELINE_NAME_MOST];

	reprise_timeline_escape(name, chunk->name);
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

/* The first track of the activity's stream that is free at that time, or a new one. If there is no
 * room for a new one, the last of all tracks. */
static int stream_track(const struct reprise_gpu_activity *activity)
{
	unsigned int track = 0, before = 0;
	char name[80] = "GPU, more streams";

	for (; track < file.tracks; track++) {
		if (file.streams[track].device != activity->device ||
		    file.streams[track].context != activity->context ||
		    file.streams[track].stream != activity->stream)
			continue;
		if (file.streams[track].end <= activity->begin)
			break;
		before++;
	}
	if (track == STREAM_TRACKS)
		return STREAM_TRACK + STREAM_TRACKS - 1;
	if (track == file.tracks) {
		if (track < STREAM_TRACKS - 1)
			snprintf(name, sizeof(name), "GPU %u, context %u, stream %u%.*s", activity->device,
			         activity->context, activity->stream, before > 0 ? 18 : 0,
			         ", at the same time");
		name_track(STREAM_TRACK + (int)track, name);
		file.streams[track].device = activity->device;
		file.streams[track].context = activity->context;
		file.streams[track].stream = activity->stream;
		file.tracks++;
	}
	file.streams[track].end = activity->end;
	return STREAM_TRACK + (int)track;
}

/* Adds an event. Times are in nanoseconds; names and arguments are JSON already. */
static void add_span(const char *name, const char *category, int track, uint64_t begin,
                     uint64_t took, const char *arguments)
{
	add(",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"args\":{%s}}",
	    name, category, (int)getpid(), track, (unsigned long long)(begin / 1000),
	    (unsigned int)(begin % 1000), (unsigned long long)(took / 1000),
	    (unsigned int)(took % 1000), arguments);
	page.events += !file.ended;
}

static void add_activity(const struct reprise_gpu_activity *activity)
{
	const uint32_t *grid = activity->grid, *block = activity->block;
	char about[192];
	int length;

	if (activity->kind == REPRISE_GPU_KERNEL)
		length = snprintf(about, sizeof(about), "\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", grid[0],
		                  grid[1], grid[2], block[0], block[1], block[2]);
	else
		length =
			snprintf(about, sizeof(about), "\"bytes\":%llu", (unsigned long long)activity->bytes);
	if (activity->graph != 0)
		length += snprintf(about + length, sizeof(about) - (size_t)length,
		                   ",\"graph_id\":%u,\"node_id\":%llu", activity->graph,
		                   (unsigned long long)activity->node);
	snprintf(about + length, sizeof(about) - (size_t)length, ",\"correlation\":%u",
	         activity->correlation);
	add_span(activity->name, "gpu", stream_track(activity), activity->begin,
	         activity->end - activity->begin, about);
}

/* Adds a call of the program's, named after its kernel if known. */
static void add_call(const struct reprise_timeline_event *event, int thread, uint64_t begin,
                     uint64_t took)
{
	uint64_t seen;
	const char *kernel = event->kind == REPRISE_OP_KERNEL && event->graph != 0
	                         ? reprise_name_at((uint16_t)event->graph, &seen)
	                         : NULL;
	char name[REPRISE_TIMELINE_NAME_MOST], about[64];

	reprise_timeline_escape(name, kernel != NULL ? kernel : reprise_op_kind_names[event->kind]);
	snprintf(about, sizeof(about), "\"kind\":\"%s\"", reprise_op_kind_names[event->kind]);
	add_span(name, "call", thread, begin, took, about);
}

static void add_other(const struct reprise_timeline_event *event, int thread, uint64_t begin,
                      uint64_t took)
{
	static const char *const names[][2] = {
#define X(kind, name, category) {name, category},
		REPRISE_TIMELINE_KINDS(X)
#undef X
	};
	const char *const *named = names[event->kind - REPRISE_OP_KIND_COUNT];
	char name[REPRISE_TIMELINE_NAME_MOST], about[128];
	int length = 0;

	snprintf(name, sizeof(name), "%s%s%s", named[0], event->reason != NULL ? ": " : "",
	         event->reason != NULL ? event->reason : "");
	about[0] = '\0';
	if (event->lane != REPRISE_TIMELINE_NO_LANE)
		length += snprintf(about + length, sizeof(about) - (size_t)length, ",\"lane\":%u",
		                   (unsigned int)event->lane);
	if (event->graph != 0)
		length += snprintf(about + length, sizeof(about) - (size_t)length, ",\"graph\":%u",
		                   (unsigned int)event->graph);
	if (event->ops != 0)
		snprintf(about + length, sizeof(about) - (size_t)length, ",\"ops\":%u", event->ops);
	add_span(name, named[1],
	         event->kind == REPRISE_TIMELINE_HOLD ? lane_track(event->lane) : thread, begin, took,
	         about + (about[0] != '\0'));
}

static void add_event(const struct reprise_timeline_event *event, int thread)
{
	uint64_t begin = reprise_clock_steady_ns(event->begin),
			 took = reprise_clock_steady_ns(event->end) - begin;

	if (event->kind < REPRISE_OP_KIND_COUNT)
		add_call(event, thread, begin, took);
	else
		add_other(event, thread, begin, took);
}

/* True if there were events. */
static bool write_events(struct reprise_timeline_chunk *chunk)
{
	uint32_t count = atomic_load_explicit(&chunk->count, memory_order_acquire);

	if (count == chunk->written)
		return false;
	if (file.bytes == 0)
		begin_file();
	if (chunk->written == 0 && chunk->thread != 0)
		name_thread(chunk);
	for (uint32_t i = chunk->written; i < count; i++) {
		if (chunk->thread != 0)
			add_event(&chunk->events[i], chunk->thread);
		else
			add_activity(&chunk->activities[i]);
	}
	chunk->written = count;
	return true;
}

/* The oldest chunk. Sets all `newer`, which lead back to the head. */
static struct reprise_timeline_chunk *oldest(void)
{
	struct reprise_timeline_chunk *chunk = atomic_load(&reprise_timeline_chunks);

	if (chunk != NULL)
		chunk->newer = NULL;
	for (; chunk != NULL && chunk->next != NULL; chunk = chunk->next)
		chunk->next->newer = chunk;
	return chunk;
}

/* The head stays: other threads may add a chunk before it at any time. */
static bool write_all(void)
{
	struct reprise_timeline_chunk *newer;
	bool any = false;

	for (struct reprise_timeline_chunk *chunk = oldest(); chunk != NULL; chunk = newer) {
		bool ended = atomic_load_explicit(&chunk->ended, memory_order_acquire);

		any = write_events(chunk) || any;
		newer = chunk->newer;
		if (newer == NULL || !ended)
			continue;
		newer->next = chunk->next;
		munmap(chunk, REPRISE_TIMELINE_CHUNK_BYTES);
	}
	write_page();
	return any;
}

/* Flushes the GPU's activities, once per REPRISE_TUNE_TIMELINE_INTERVAL_NS at most. Ends them if
 * the file is full. */
static void ask_gpu(void)
{
	static uint64_t asked;
	uint64_t now = reprise_clock_ns();
	bool on = atomic_load(&reprise_timeline_on);

	if (reprise_worker_stopped(&reprise_timeline_writer)) /* read after `on` */
		return;
	if (!on) {
		reprise_gpu_leave_timeline();
	} else if (now - asked >= REPRISE_TUNE_TIMELINE_INTERVAL_NS) {
		asked = now;
		reprise_gpu_flush();
	}
}

static bool unwritten(void)
{
	bool any = reprise_worker_stopped(&reprise_timeline_writer);

	for (struct reprise_timeline_chunk *chunk = atomic_load(&reprise_timeline_chunks);
	     chunk != NULL && !any; chunk = chunk->next)
		any = atomic_load(&chunk->count) != chunk->written;
	return any;
}

static void *run(void *unused)
{
	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	for (;;) {
		uint32_t seen = atomic_load(&reprise_timeline_writer.calls);
		bool last = reprise_worker_stopped(&reprise_timeline_writer), any;

		ask_gpu();
		any = write_all();
		if (last)
			break;
		if (any)
			reprise_worker_pause(&reprise_timeline_writer, seen, REPRISE_TUNE_TIMELINE_INTERVAL_NS);
		else
			reprise_worker_sleep(&reprise_timeline_writer, unwritten);
	}
	end_file();
	reprise_worker_done(&reprise_timeline_writer);
	return NULL;
}

void reprise_timeline_begin_writing(void)
{
	reprise_worker_define(&reprise_timeline_writer, run, "reprise-line");
}

void reprise_timeline_finish(uint64_t patience_ns)
{
	/* The writer takes a timeline that is off for a full one unless it is stopped. */
	reprise_worker_stop(&reprise_timeline_writer);
	atomic_store(&reprise_timeline_on, false);
	reprise_worker_finish(&reprise_timeline_writer, patience_ns);
}

void reprise_timeline_writing_reset(void)
{
	memset(&file, 0, sizeof(file));
	page.length = 0;
	page.events = 0;
}
