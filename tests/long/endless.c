/*
 * endless [OPS] [SEED]
 *
 * A program without end in front of the doors' functions, on a virtual clock and a driver that only
 * keeps hashes (driver.h): OPS ops, 1000000000 by default, of sequences that repeat, change, or
 * never come again; streams, contexts, events, threads, kernels and call sites come and go for
 * ever. Numbers of 32 bits begin just before their end, as far as they can be set from here.
 *
 * Again and again the hashes of all streams are compared with the program's own, counters must not
 * have fallen, and what is kept must be within bounds. Ends with 1 if anything is not so.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

#include "base/changes.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/store.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "entry/entry.h"
#include "graph/building.h"
#include "graph/estimate.h"
#include "graph/program_captures.h"
#include "lane/async_launch.h"
#include "lane/errors.h"
#include "lane/hold.h"
#include "lane/registry.h"
#include "op/name.h"
#include "report/report.h"
#include "stats/sites.h"
#include "workers/workers.h"
#include "../virtual/answers.h"
#include "../virtual/threads.h"

enum {
	STREAMS = 160,
	EVENTS = 24,
	CONTEXTS = 3,
	SEQUENCES = 16, /* that streams come back to */
	LENGTH_MOST = 60,
	GAP_NS = 1000,   /* of the program, between two calls */
	WORK_NS = 50000, /* that the builder has, once in BUILDER_PERIOD ops */
	BUILDER_PERIOD = 1000,
	HOLD_PERIOD = 1000,
	CHECKS = 200,    /* in the whole run */
	SETTLED = 40,    /* after so many of them, memory does not grow */
	SLACK = 1 << 20, /* bytes, by which memory without a limit of its own differs */
	REPORT_MOST = 1 << 20,
};

struct stream {
	CUstream handle;
	CUcontext context;
	uint64_t hash; /* as driver_hash() */
};

static struct {
	struct stream streams[STREAMS];
	CUevent events[EVENTS];
	CUcontext contexts[CONTEXTS];
	uintptr_t context_number, function_number, call_site;
	uint64_t random, ops, ended_streams, ended_contexts, ended_events, threads;
} program;

/* Of numbers of 32 bits, so that they go round early. Generations are odd. */
#define BEFORE_END (UINT32_MAX - 20)

static bool wrong;

#define HOLDS(condition, ...) \
	do { \
		if (!(condition)) { \
			wrong = true; \
			printf("endless: after %lu ops: ", (unsigned long)program.ops); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

static unsigned int chance(unsigned int below)
{
	program.random ^= program.random << 13;
	program.random ^= program.random >> 7;
	program.random ^= program.random << 17;
	return (unsigned int)((program.random >> 11) % below);
}

/* ---- calls, as the doors make them ---- */

static CUresult eager(const struct reprise_call *call)
{
	return driver_takes(call->stream, call->entry);
}

/* What Reprise's threads would have done by now. */
static void threads_run(void)
{
	CUcontext context = NULL;

	if (program.ops % HOLD_PERIOD == 0) {
		thread_runs(&reprise_hold_worker, 0);
		thread_runs(&reprise_async_launch_worker, 0);
	}
	if (program.ops % BUILDER_PERIOD != 0)
		return;
	reprise_driver.cuCtxGetCurrent(&context);
	thread_runs(&reprise_builder, WORK_NS);
	driver_enter(context);
}

static void op(struct stream *stream, uintptr_t what, uint32_t value)
{
	struct work work = {what, value};
	static const unsigned char bytes[64];
	void *params[] = {&value, (void *)(uintptr_t)bytes, (void *)(uintptr_t)bytes,
	                  (void *)(uintptr_t)bytes};
	struct reprise_call call = {.eager = eager, .entry = &work, .stream = stream->handle};

	if (what >= DRIVER_FUNCTION) {
		call.kind = REPRISE_OP_KERNEL;
		call.kernel = (struct reprise_call_kernel){.function = (CUfunction)what,
		                                           .grid = {1, 1, 1},
		                                           .block = {1, 1, 1},
		                                           .params = params};
	} else {
		call.kind = REPRISE_OP_SET;
		call.set =
			(struct reprise_call_set){.target = answers_address_in(REPRISE_MEMORY_DEVICE, 256),
		                              .value = value & 0xff,
		                              .element_bytes = 1,
		                              .width = what,
		                              .height = 1};
		work.value = value & 0xff;
	}
	stream->hash = driver_hash(stream->hash, &work);
	reprise_clock_virtual += GAP_NS;
	if (!REPRISE_PASSES(call.stream, false, call.kind == REPRISE_OP_KERNEL,
	                    reprise_scan_key(&call))) {
		reprise_handle_op(&call);
	} else {
		eager(&call);
		reprise_pass_again(CUDA_SUCCESS, 0);
	}
	program.ops++;
	threads_run();
}

static void event_op(const struct stream *stream, CUevent event, bool records)
{
	struct reprise_call call = {.eager = eager,
	                            .stream = stream->handle,
	                            .kind = records ? REPRISE_OP_RECORD : REPRISE_OP_WAIT,
	                            .event = event};

	reprise_clock_virtual += GAP_NS;
	reprise_handle_event(&call);
}

static void wait_for(const struct stream *stream)
{
	reprise_wait(REPRISE_SYNC_STREAM, (uintptr_t)stream->handle, false);
}

static uintptr_t function(unsigned int number)
{
	return (uintptr_t)DRIVER_FUNCTION * (1 + number);
}

/* One that there never was. */
static uintptr_t new_function(void)
{
	return function(DRIVER_ORDINARY + (unsigned int)program.function_number++);
}

static struct stream *any_stream(void)
{
	struct stream *stream = &program.streams[chance(STREAMS)];

	driver_enter(stream->context);
	return stream;
}

static void make_stream(struct stream *stream)
{
	stream->context = program.contexts[chance(CONTEXTS)];
	stream->hash = 0;
	driver_enter(stream->context);
	stream->handle = driver_make_stream(chance(16) == 0);
}

static void end_stream(struct stream *stream)
{
	driver_enter(stream->context);
	reprise_lifetime(REPRISE_LIFETIME_STREAM, (uintptr_t)stream->handle);
	HOLDS(driver_hash_of(stream->handle) == stream->hash, "a stream ends with other ops");
	reprise_lifetime_ended(REPRISE_LIFETIME_STREAM, (uintptr_t)stream->handle,
	                       driver_end_stream(stream->handle));
	program.ended_streams++;
}

/* ---- what the program does ---- */

/* A sequence that comes again, with some value that changes in every other one. */
static void repeat(struct stream *stream, unsigned int times, uintptr_t extra)
{
	unsigned int sequence = chance(SEQUENCES), length = 4 + sequence * 37 % (LENGTH_MOST - 4),
				 changing = sequence % 2 ? length / 2 : LENGTH_MOST, waits = 1 + sequence % 5;

	for (unsigned int k = 0; k < times; k++) {
		for (unsigned int i = 0; i < length; i++)
			op(stream, (i + sequence) % 7 == 6 ? 64 + i : function(sequence + i % 9),
			   i == changing ? (uint32_t)program.ops : i);
		if (extra != 0)
			op(stream, extra, 1);
		if (k % waits == 0)
			wait_for(stream);
	}
}

static void never_again(struct stream *stream)
{
	for (unsigned int i = 0; i < 400; i++)
		op(stream, function(chance(60)), chance(1u << 30));
}

/* Streams that fork and join again; two of the three may be of another context than the third, and
 * then they are no group. */
static void forks(unsigned int times)
{
	struct stream *a = any_stream(), *b = any_stream(), *c = any_stream();
	CUevent *event = &program.events[chance(EVENTS - 2)];

	if (a == b || b == c || a == c || a->context != b->context || b->context != c->context)
		return;
	driver_enter(a->context);
	for (unsigned int k = 0; k < times; k++) {
		for (unsigned int i = 0; i < 5; i++)
			op(a, function(i), i);
		event_op(a, event[0], true);
		event_op(b, event[0], false);
		event_op(c, event[0], false);
		for (unsigned int i = 0; i < 4; i++) {
			op(b, function(10 + i), i);
			op(c, function(20 + i), i);
		}
		event_op(b, event[1], true);
		event_op(c, event[2], true);
		event_op(a, event[1], false);
		event_op(a, event[2], false);
		op(a, function(7), k % 8 == 7 ? k : 1);
		if (k % 3 == 0)
			wait_for(a);
	}
	wait_for(a);
}

static void end_event(void)
{
	CUevent *event = &program.events[chance(EVENTS)];

	driver_enter(program.contexts[0]);
	reprise_event_destroy(*event, driver_end_event);
	*event = driver_make_event();
	program.ended_events++;
}

/* With all its streams. */
static void end_context(void)
{
	unsigned int which = chance(CONTEXTS);
	CUcontext context = program.contexts[which];

	for (unsigned int i = 0; i < STREAMS; i++)
		if (program.streams[i].context == context && chance(2))
			end_stream(&program.streams[i]), program.streams[i].handle = NULL;
	driver_enter(context);
	reprise_lifetime(REPRISE_LIFETIME_CONTEXT, (uintptr_t)context);
	for (unsigned int i = 0; i < STREAMS; i++)
		if (program.streams[i].context == context && program.streams[i].handle != NULL)
			driver_end_stream(program.streams[i].handle);
	driver_enter(NULL);
	reprise_lifetime_ended(REPRISE_LIFETIME_CONTEXT, (uintptr_t)context, CUDA_SUCCESS);
	/* The driver gives the same address again, now and then. */
	program.contexts[which] = driver_context(1 + program.context_number++ % 50);
	for (unsigned int i = 0; i < STREAMS; i++)
		if (program.streams[i].context == context)
			make_stream(&program.streams[i]);
	program.ended_contexts++;
}

/* As of a program that compiles its kernels itself. The first launch loads a kernel, and no more is
 * asked about it then. */
static void new_kernels(struct stream *stream)
{
	for (unsigned int i = 0; i < 300; i++) {
		uintptr_t one = new_function();

		for (unsigned int k = 0; k < 3; k++)
			op(stream, one, k);
	}
}

static void other_call_sites(void)
{
	for (unsigned int i = 0; i < 50; i++)
		reprise_call_site_note(REPRISE_CALL_SITE_allocates, "cuMemAlloc",
		                       (const void *)(0x100000 + 16 * program.call_site++));
}

/* On its own stream. */
static void *short_life(void *unused)
{
	struct stream own = {.handle = CU_STREAM_PER_THREAD, .context = program.contexts[0]};

	driver_anew(own.handle);
	driver_enter(own.context);
	repeat(&own, 20, 0);
	reprise_wait(REPRISE_SYNC_STREAM, (uintptr_t)own.handle, false);
	HOLDS(driver_hash_of(own.handle) == own.hash, "a thread's own stream has other ops");
	return NULL;
}

static void run_thread(void)
{
	pthread_t thread;

	reprise_issue();
	if (pthread_create(&thread, NULL, short_life, NULL) == 0)
		pthread_join(thread, NULL);
	program.threads++;
}

/* The program captures, and now and then the stream ends meanwhile: nothing else tells of the end
 * of that capture. */
static void capture(struct stream *stream)
{
	struct stream *other = any_stream();

	driver_enter(stream->context);
	reprise_program_capture_begin(stream->handle);
	if (other != stream)
		repeat(other, 2, 0);
	driver_enter(stream->context);
	if (chance(4) == 0) {
		end_stream(stream);
		make_stream(stream);
	} else {
		reprise_program_capture_end(stream->handle);
	}
}

static void pause_reprise(void)
{
	reprise_pause_begin();
	repeat(any_stream(), 2, 0);
	reprise_pause_end();
}

static void free_memory(void)
{
	reprise_lifetime(REPRISE_LIFETIME_MEMORY, 0);
	reprise_lifetime_ended(REPRISE_LIFETIME_MEMORY, 0, CUDA_SUCCESS);
}

static void unload(void)
{
	reprise_lifetime(REPRISE_LIFETIME_CODE, 0);
	reprise_lifetime_ended(REPRISE_LIFETIME_CODE, 0, CUDA_SUCCESS);
}

static void pass_time(void)
{
	reprise_clock_virtual += chance(20000000);
	thread_runs(&reprise_hold_worker, 1000000);
}

static void do_something(void)
{
	struct stream *stream;
	unsigned int what = chance(200);

	if (chance(2000) == 0)
		unload();
	if (chance(1000) == 0)
		end_context();
	if (what < 112)
		repeat(any_stream(), 10 + chance(60), 0);
	else if (what < 118)
		never_again(any_stream());
	else if (what < 145)
		forks(10 + chance(40));
	else if (what < 160)
		repeat(any_stream(), 30, new_function());
	else if (what < 175) {
		stream = &program.streams[chance(STREAMS)];
		end_stream(stream);
		make_stream(stream);
		repeat(stream, 20, 0);
	} else if (what < 180)
		end_event();
	else if (what < 184)
		other_call_sites();
	else if (what < 188)
		free_memory();
	else if (what < 189)
		run_thread();
	else if (what < 191)
		new_kernels(any_stream());
	else if (what < 192)
		capture(any_stream());
	else if (what < 193)
		pause_reprise();
	else
		pass_time();
}

/* ---- what must hold ---- */

static struct {
	uint64_t counters[REPRISE_COUNTER_COUNT], lane_ops, lane_replayed, host_most;
	unsigned int lanes, traces, names, call_sites, graphs;
	uint64_t resident, other; /* bytes: of the process; what malloc has given for nothing below */
} seen, most_at_first;

static void hashes_are_equal(void)
{
	reprise_sync(REPRISE_SYNC_ALL, 0, false);
	for (unsigned int i = 0; i < STREAMS; i++)
		HOLDS(driver_hash_of(program.streams[i].handle) == program.streams[i].hash,
		      "stream %u was given other ops", i);
}

static void counters_have_not_fallen(void)
{
	uint64_t ops = 0, replayed = 0;

	for (unsigned int i = 0; i < REPRISE_COUNTER_COUNT; i++) {
		uint64_t now = reprise_counted(i);

		HOLDS(now >= seen.counters[i], "counter %u fell from %lu to %lu", i,
		      (unsigned long)seen.counters[i], (unsigned long)now);
		seen.counters[i] = now;
	}
	seen.lanes = seen.traces = 0;
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		ops += lane->counts.ops;
		replayed += lane->counts.replayed;
		seen.lanes++;
		seen.traces += lane->index != NULL ? lane->index->count : 0;
		HOLDS(reprise_pending_none(lane), "launches are pending after a wait for everything");
	}
	HOLDS(ops >= seen.lane_ops && replayed >= seen.lane_replayed && replayed <= ops,
	      "lanes count %lu ops, %lu replayed", (unsigned long)ops, (unsigned long)replayed);
	seen.lane_ops = ops;
	seen.lane_replayed = replayed;
}

static uint64_t resident(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file != NULL)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static off_t report_bytes(void)
{
	int file = memfd_create("report", 0);
	off_t bytes;

	HOLDS(reprise_report_now(file), "no report");
	bytes = lseek(file, 0, SEEK_END);
	close(file);
	return bytes;
}

static void what_is_kept_is_bounded(void)
{
	uint64_t limit = reprise_store_limit(), times;
	off_t report = report_bytes();

	seen.names = seen.call_sites = 0;
	for (unsigned int i = 0; i < REPRISE_NAMES_MOST; i++)
		seen.names += reprise_name_at((uint16_t)i, &times) != NULL;
	for (unsigned int i = 0; i < REPRISE_CALL_SITES_MOST; i++)
		seen.call_sites += reprise_call_site_at(i).count > 0;
	HOLDS(reprise_store_used() <= limit, "%lu bytes of traces and tables, of %lu",
	      (unsigned long)reprise_store_used(), (unsigned long)limit);
	HOLDS(reprise_estimate_bytes() <= reprise_option(REPRISE_OPTION_MEMORY) << 20,
	      "%lu bytes of graphs", (unsigned long)reprise_estimate_bytes());
	HOLDS(seen.lanes <= 3 * STREAMS, "%u lanes, of %d streams", seen.lanes, STREAMS);
	HOLDS(driver.executables <= seen.traces + REPRISE_TUNE_BUILD_SWEPT * 64,
	      "%lu executable graphs, of %u traces", (unsigned long)driver.executables, seen.traces);
	HOLDS(driver.graphs <= driver.executables + 1, "%lu graphs, of %lu executable ones",
	      (unsigned long)driver.graphs, (unsigned long)driver.executables);
	HOLDS(driver.streams <= STREAMS + 8u * seen.lanes, "%lu streams, of %u lanes",
	      (unsigned long)driver.streams, seen.lanes);
	HOLDS(driver.events <= EVENTS + 64u * seen.lanes, "%lu events, of %u lanes",
	      (unsigned long)driver.events, seen.lanes);
	HOLDS(report < REPORT_MOST, "a report of %ld bytes", (long)report);
	HOLDS(atomic_load(&reprise_errors_count) == 0, "errors are kept");
	HOLDS(!reprise_program_captures_any(), "a capture goes on, and there is none");
}

/* Traces, what lanes watch, and graphs have limits of their own. All else stays as it is. */
static void memory_is_flat(unsigned int check)
{
	seen.resident = resident();
	if (mallinfo2().uordblks < driver.bytes)
		return; /* a sanitizer's malloc does not tell */
	seen.other = mallinfo2().uordblks + mallinfo2().hblkhd - reprise_store_used() - driver.bytes;
	if (check <= SETTLED)
		most_at_first.other = seen.other > most_at_first.other ? seen.other : most_at_first.other;
	else
		HOLDS(seen.other <= most_at_first.other + SLACK, "%lu bytes for all else, %lu at first",
		      (unsigned long)seen.other, (unsigned long)most_at_first.other);
}

static void check(unsigned int number)
{
	hashes_are_equal();
	counters_have_not_fallen();
	what_is_kept_is_bounded();
	memory_is_flat(number);
	if (number % 10 > 0)
		return;
	printf("ops=%lu replayed=%lu lanes=%u traces=%u names=%u call_sites=%u executables=%lu "
	       "streams=%lu events=%lu store_kib=%lu other_kib=%lu resident_kib=%lu ended_streams=%lu "
	       "ended_contexts=%lu threads=%lu\n",
	       (unsigned long)program.ops, (unsigned long)seen.lane_replayed, seen.lanes, seen.traces,
	       seen.names, seen.call_sites, (unsigned long)driver.executables,
	       (unsigned long)driver.streams, (unsigned long)driver.events,
	       (unsigned long)reprise_store_used() / 1024, (unsigned long)seen.other / 1024,
	       (unsigned long)seen.resident / 1024, (unsigned long)program.ended_streams,
	       (unsigned long)program.ended_contexts, (unsigned long)program.threads);
	fflush(stdout);
}

/* What the run was made of. */
static void tell_counters(void)
{
	static const char *const names[] = {
#define X(name, text) #name,
		REPRISE_COUNTERS(X)
#undef X
	};

	uint64_t evicted = 0, exits = 0, backed_off = 0, made = 0;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		evicted += lane->counts.evicted;
		backed_off += lane->counts.backed_off;
		made += lane->counts.traces;
		for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
			exits += lane->counts.exits[i];
	}
	printf("made=%lu evicted=%lu backed_off=%lu side_exits=%lu ", (unsigned long)made,
	       (unsigned long)evicted, (unsigned long)backed_off, (unsigned long)exits);
	for (unsigned int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		if (seen.counters[i] != 0)
			printf("%s=%lu ", names[i], (unsigned long)seen.counters[i]);
	printf("\n");
}

/* ---- the begin ---- */

static void begin(uint64_t seed)
{
	program.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		unsetenv(reprise_option_rows[i].variable);
	putenv((char *)(uintptr_t) "REPRISE_PAYS=assumed");
	putenv((char *)(uintptr_t) "REPRISE_MEMORY=32");
	reprise_options_read();
	reprise_clock_virtual = 1000000000;
	reprise_clock_start();
	driver_install();
	reprise_builder_define();
	reprise_hold_define();
	reprise_async_launch_define();
	threads_are_there();
	reprise_reporting = reprise_names_wanted = true;
	atomic_store(&reprise_lanes_epoch, BEFORE_END);
	for (int what = 0; what < REPRISE_CHANGES_COUNT; what++)
		atomic_store(&reprise_changed[what].generation, BEFORE_END);
	atomic_store(&reprise_builder.calls, BEFORE_END);
	for (unsigned int i = 0; i < CONTEXTS; i++)
		program.contexts[i] = driver_context(1 + program.context_number++);
	for (unsigned int i = 0; i < EVENTS; i++)
		program.events[i] = driver_make_event();
	for (unsigned int i = 0; i < STREAMS; i++)
		make_stream(&program.streams[i]);
}

/* A stream without a wait, for as many ops as it takes. */
static void ops_since_a_wait_go_round(void)
{
	struct stream *stream = &program.streams[0];
	struct reprise_lane *lane;

	driver_enter(stream->context);
	op(stream, function(0), 0);
	lane = reprise_lanes_known(stream->handle, false);
	lane->position.since_wait = BEFORE_END;
	for (unsigned int i = 0; i < 1000; i++)
		op(stream, function(i % 10), 0);
	HOLDS(lane->position.since_wait < BEFORE_END, "a lane's ops since a wait have not gone round");
}

static void numbers_have_gone_round(void)
{
	HOLDS(atomic_load(&reprise_lanes_epoch) < BEFORE_END, "the lanes' epoch has not gone round");
	for (int what = 0; what < REPRISE_CHANGES_COUNT; what++)
		HOLDS(atomic_load(&reprise_changed[what].generation) < BEFORE_END,
		      "a generation of answers has not gone round");
	HOLDS(atomic_load(&reprise_builder.calls) < BEFORE_END, "calls have not gone round");
}

int main(int argc, char **argv)
{
	uint64_t ops = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000000;

	begin(argc > 2 ? strtoul(argv[2], NULL, 10) : 1);
	ops_since_a_wait_go_round();
	for (unsigned int number = 1; number <= CHECKS && !wrong; number++) {
		while (program.ops < ops / CHECKS * number)
			do_something();
		check(number);
	}
	numbers_have_gone_round();
	tell_counters();
	printf("%s\n", wrong ? "wrong" : "all held");
	fflush(stdout);
	_exit(wrong); /* there is no thread of Reprise's for its end to wait for */
}
