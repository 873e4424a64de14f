/*
 * The timeline's writer: makes lines of events (timeline_file.h).
 *
 * Times count from the start of Reprise at one constant rate: with two rates an inner event could
 * stick out of the outer one.
 *
 * Counters are made here of what the events say, and of what graphs take when they are written. An
 * arrow leads from each hold that a replay ended to that replay: a thread notes the two one after
 * the other.
 *
 * The activities of the GPU are asked for here, and come in chunks of their own. Viewers drop
 * events that overlap on a track. So activities that overlap on one stream, as branches of a graph
 * do, or that are reported late, go to further tracks.
 */
#include "workers/workers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/options.h"
#include "base/profile.h"
#include "base/worker.h"
#include "gpu/gpu.h"
#include "graph/estimate.h"
#include "timeline/inner.h"
#include "op/name.h"
#include "op/op.h"
#include "base/tuning.h"
#include "workers/timeline_file.h"

#define LANE_TRACK 5000000 /* above all thread ids: these are at most 2^22 */
#define LANES 255
#define STREAM_TRACK 6000000
#define STREAM_TRACKS 256

/* The tracks that have a name: of lanes, and of streams of the GPU. */
static struct {
	bool named[LANES];
	unsigned int count; /* of streams */
	struct {
		uint32_t device, context, stream;
		uint64_t end; /* of the last activity on the track */
	} streams[STREAM_TRACKS];
} tracks;

/* Of each lane, the replays whose hold was not written yet, and their threads (0: none). The events
 * of another thread may be written between the two. */
#define REPLAYERS 4

static struct replay {
	uint64_t begin;
	int thread;
} replays[LANES][REPLAYERS];

static uint64_t arrows;      /* so many were written: their numbers */
static uint64_t graph_bytes; /* as the counter was written last */

/* How much of the present window of time at least one activity ran on the GPU. Activities that are
 * told late, and lie before what is counted already, are left out. */
static struct {
	uint64_t window, until, busy_ns; /* the window's begin; the end of what is counted */
	bool was_busy;
} gpu;

static void begin_file(void)
{
	char name[REPRISE_TIMELINE_NAME_MOST];

	reprise_timeline_escape(name, reprise_profile_program());
	reprise_timeline_file_add(
		"[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}",
		(int)getpid(), name);
	reprise_timeline_file_add(
		",\n{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"labels\":\"under Reprise\"}}",
		(int)getpid());
}

static void name_track(int track, const char *name)
{
	reprise_timeline_file_add(
		",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
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
	char name[32];

	if (!tracks.named[lane]) {
		snprintf(name, sizeof(name), "stream %u: deferrals", lane);
		name_track(LANE_TRACK + (int)lane, name);
		tracks.named[lane] = true;
	}
	return LANE_TRACK + (int)lane;
}

/* The first track of the activity's stream that is free at that time, or a new one. If there is no
 * room for a new one, the last of all tracks. */
static int stream_track(const struct reprise_gpu_activity *activity)
{
	unsigned int track = 0, before = 0;
	char name[80] = "GPU, more streams";

	for (; track < tracks.count; track++) {
		if (tracks.streams[track].device != activity->device ||
		    tracks.streams[track].context != activity->context ||
		    tracks.streams[track].stream != activity->stream)
			continue;
		if (tracks.streams[track].end <= activity->begin)
			break;
		before++;
	}
	if (track == STREAM_TRACKS)
		return STREAM_TRACK + STREAM_TRACKS - 1;
	if (track == tracks.count) {
		if (track < STREAM_TRACKS - 1)
			snprintf(name, sizeof(name), "GPU %u, context %u, stream %u%.*s", activity->device,
			         activity->context, activity->stream, before > 0 ? 18 : 0,
			         ", at the same time");
		name_track(STREAM_TRACK + (int)track, name);
		tracks.streams[track].device = activity->device;
		tracks.streams[track].context = activity->context;
		tracks.streams[track].stream = activity->stream;
		tracks.count++;
	}
	tracks.streams[track].end = activity->end;
	return STREAM_TRACK + (int)track;
}

/* Adds an event. Times are in nanoseconds; names and arguments are JSON already. */
static void add_span(const char *name, const char *category, int track, uint64_t begin,
                     uint64_t took, const char *arguments)
{
	reprise_timeline_file_add(
		",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"args\":{%s}}",
		name, category, (int)getpid(), track, (unsigned long long)(begin / 1000),
		(unsigned int)(begin % 1000), (unsigned long long)(took / 1000),
		(unsigned int)(took % 1000), arguments);
	reprise_timeline_file_count();
}

/* ---- counters and arrows ---- */

/* Sets a counter from that time on. */
static void add_counter(const char *name, uint64_t at, const char *unit, uint64_t value)
{
	reprise_timeline_file_add(
		",\n{\"name\":\"%s\",\"ph\":\"C\",\"pid\":%d,\"ts\":%llu.%03u,\"args\":{\"%s\":%llu}}",
		name, (int)getpid(), (unsigned long long)(at / 1000), (unsigned int)(at % 1000), unit,
		(unsigned long long)value);
}

/* An end of an arrow: "s" it starts, or "f" it arrives, in what lasts at that time on the track. */
static void add_arrow(const char *phase, int track, uint64_t at)
{
	reprise_timeline_file_add(
		",\n{\"name\":\"replay\",\"cat\":\"replay\",\"ph\":\"%s\",%s\"id\":%llu,\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u}",
		phase, phase[0] == 'f' ? "\"bp\":\"e\"," : "", (unsigned long long)arrows, (int)getpid(),
		track, (unsigned long long)(at / 1000), (unsigned int)(at % 1000));
}

/* That of the thread, or one that is free. */
static struct replay *replay_of(unsigned int lane, int thread)
{
	struct replay *found = &replays[lane][0];

	for (unsigned int i = 0; i < REPLAYERS; i++) {
		if (replays[lane][i].thread == thread)
			return &replays[lane][i];
		if (replays[lane][i].thread == 0)
			found = &replays[lane][i];
	}
	return found;
}

/* The lane's deferred calls while the hold lasts, and the arrow to the replay that ended it. */
static void add_hold(const struct reprise_timeline_event *event, int thread, uint64_t begin,
                     uint64_t took)
{
	struct replay *replay = replay_of(event->lane, thread);
	char name[64];

	snprintf(name, sizeof(name), "stream %u: deferred calls", (unsigned int)event->lane);
	add_counter(name, begin, "calls", event->ops);
	add_counter(name, begin + took, "calls", 0);
	if (replay->thread != thread)
		return;
	replay->thread = 0;
	if (replay->begin >= begin && replay->begin <= begin + took) {
		arrows++;
		add_arrow("s", LANE_TRACK + (int)event->lane, begin);
		add_arrow("f", thread, replay->begin);
	}
}

static void add_graph_memory(void)
{
	uint64_t bytes = reprise_estimate_bytes();

	if (bytes == graph_bytes)
		return;
	graph_bytes = bytes;
	add_counter("graph memory", reprise_clock_steady_ns(reprise_clock_ticks()), "bytes", bytes);
}

/* Writes the present window, and begins the one of that time. */
static void next_window(uint64_t at)
{
	if (gpu.busy_ns > 0 || gpu.was_busy)
		add_counter("GPU busy", gpu.window, "per cent",
		            gpu.busy_ns * 100 / REPRISE_TUNE_TIMELINE_BUSY_NS);
	if (gpu.busy_ns > 0 && at - gpu.window >= 2 * (uint64_t)REPRISE_TUNE_TIMELINE_BUSY_NS)
		add_counter("GPU busy", gpu.window + REPRISE_TUNE_TIMELINE_BUSY_NS, "per cent", 0);
	gpu.was_busy = gpu.busy_ns > 0 && at - gpu.window < 2 * (uint64_t)REPRISE_TUNE_TIMELINE_BUSY_NS;
	gpu.window = at - at % REPRISE_TUNE_TIMELINE_BUSY_NS;
	gpu.busy_ns = 0;
}

static void count_busy(uint64_t begin, uint64_t end)
{
	uint64_t rest;

	if (begin < gpu.until)
		begin = gpu.until;
	while (begin < end) {
		if (begin - gpu.window >= REPRISE_TUNE_TIMELINE_BUSY_NS)
			next_window(begin);
		if (begin == gpu.window && end - begin >= 2 * (uint64_t)REPRISE_TUNE_TIMELINE_BUSY_NS) {
			/* One point for many windows that are all alike; the last one is counted below. */
			add_counter("GPU busy", begin, "per cent", 100);
			begin = end - end % REPRISE_TUNE_TIMELINE_BUSY_NS - REPRISE_TUNE_TIMELINE_BUSY_NS;
			gpu.window = begin;
			gpu.was_busy = true;
		}
		rest = gpu.window + REPRISE_TUNE_TIMELINE_BUSY_NS - begin;
		rest = rest < end - begin ? rest : end - begin;
		gpu.busy_ns += rest;
		begin += rest;
		gpu.until = begin;
	}
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
	count_busy(activity->begin, activity->end);
}

static void end_file(void)
{
	if (gpu.busy_ns > 0)
		next_window(gpu.window + 2 * (uint64_t)REPRISE_TUNE_TIMELINE_BUSY_NS);
	reprise_timeline_file_end();
}

/* Adds a call of the program's, named after its kernel if known. A launch has its grid, other calls
 * their kind. */
static void add_call(const struct reprise_timeline_event *event, int thread, uint64_t begin,
                     uint64_t took)
{
	uint64_t seen;
	const char *kernel = event->kind == REPRISE_OP_KERNEL && event->graph != 0
	                         ? reprise_name_at((uint16_t)event->graph, &seen)
	                         : NULL;
	char name[REPRISE_TIMELINE_NAME_MOST], about[64];

	reprise_timeline_escape(name, kernel != NULL ? kernel : reprise_op_kind_names[event->kind]);
	if (event->kind == REPRISE_OP_KERNEL && event->grid.x != 0)
		snprintf(about, sizeof(about), "\"grid\":[%u,%u,%u]", event->grid.x, event->grid.y,
		         event->grid.z);
	else
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
		length += snprintf(about + length, sizeof(about) - (size_t)length, ",\"stream\":%u",
		                   (unsigned int)event->lane);
	if (event->graph != 0)
		length += snprintf(about + length, sizeof(about) - (size_t)length, ",\"graph\":%u",
		                   (unsigned int)event->graph);
	if (event->ops != 0)
		snprintf(about + length, sizeof(about) - (size_t)length, ",\"calls\":%u", event->ops);
	add_span(name, named[1],
	         event->kind == REPRISE_TIMELINE_HOLD ? lane_track(event->lane) : thread, begin, took,
	         about + (about[0] != '\0'));
	if (event->kind == REPRISE_TIMELINE_HOLD) {
		add_hold(event, thread, begin, took);
	} else if (event->kind == REPRISE_TIMELINE_REPLAY && event->lane < LANES) {
		*replay_of(event->lane, thread) = (struct replay){begin, thread};
	}
}

static void add_event(const struct reprise_timeline_event *event, int thread)
{
	uint64_t begin = reprise_clock_steady_ns(event->begin),
			 took = reprise_clock_steady_ns(event->end) - begin;

	/* An arrow to a replay would end in a patch that begins in the same nanosecond. */
	if (event->kind == REPRISE_TIMELINE_PATCH && took > 0) {
		begin++;
		took--;
	}
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
	if (!reprise_timeline_file_begun())
		begin_file();
	if (chunk->written == 0 && chunk->thread != 0)
		name_thread(chunk);
	add_graph_memory();
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
	reprise_timeline_file_write();
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
	reprise_timeline_file_reset();
	memset(&tracks, 0, sizeof(tracks));
	memset(&replays, 0, sizeof(replays));
	memset(&gpu, 0, sizeof(gpu));
	arrows = 0;
	graph_bytes = 0;
}
