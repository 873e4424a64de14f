#include "process/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/changes.h"
#include "base/clock.h"
#include "base/ending.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/placement.h"
#include "base/profile.h"
#include "base/store.h"
#include "base/thread.h"
#include "base/tools.h"
#include "base/tuning.h"
#include "driver/loader.h"
#include "op/function.h"
#include "stats/counters.h"
#include "stats/kernels.h"
#include "stats/machine.h"
#include "stats/sites.h"
#include "record/record.h"
#include "timeline/timeline.h"
#include "gpu/gpu.h"
#include "nvtx/listener.h"
#include "nvtx/ranges.h"
#include "graph/building.h"
#include "graph/program_captures.h"
#include "graph/capture_lock.h"
#include "graph/shadow.h"
#include "lane/eager.h"
#include "lane/ended_events.h"
#include "lane/errors.h"
#include "lane/hold.h"
#include "lane/group/group.h"
#include "lane/lane.h"
#include "lane/registry.h"
#include "lane/threads.h"
#include "lane/async_launch.h"
#include "lane/turns.h"
#include "trace/watch.h"
#include "workers/workers.h"
#include "report/report.h"
#include "control/control.h"

#define IGNORE 1 /* the second word of REPRISE_TOOLS */

static struct reprise_lock start_lock;
static _Atomic int started; /* mode + 1; 0: not started */

_Atomic int reprise_process_prepared REPRISE_HOT_DATA;
static bool registered; /* a forked child inherits it */

/* ---- exit and fork ---- */

static void stop_calls(void)
{
	reprise_stop_at_exit(REPRISE_TUNE_EXIT_PATIENCE_NS);
}

static void stop_building(void)
{
	reprise_graph_building_stop(REPRISE_TUNE_EXIT_PATIENCE_NS);
}

static void finish_timeline(void)
{
	reprise_timeline_finish(REPRISE_TUNE_TIMELINE_PATIENCE_NS);
}

static void reset_here(void)
{
	atomic_store(&start_lock.word, 0);
	atomic_store(&reprise_process_prepared, 0);
}

/*
 * What is stopped at exit and what a forked child resets, in this order; NULL: nothing. At exit the
 * program is done issuing and the driver still works; from the first row on every call is eager. A
 * child has one thread: the parent's lanes, traces and graphs mean nothing there, and no lock is
 * held.
 */
static const struct {
	void (*stop)(void), (*reset)(void);
} parts[] = {
	{NULL, reset_here},
	{NULL, reprise_lanes_reset},
	{NULL, reprise_lanes_calls_reset},
	{NULL, reprise_store_reset},
	{NULL, reprise_watch_reset},
	{stop_calls, reprise_eager_reset},
	{reprise_record_end, NULL},
	{NULL, reprise_group_reset},
	{NULL, reprise_turns_reset},
	{NULL, reprise_ended_reset},
	{NULL, reprise_fork_detect_reset},
	{reprise_hold_stop, reprise_hold_reset},
	{NULL, reprise_errors_reset},
	{reprise_async_launch_stop, reprise_async_launch_reset},
	{stop_building, reprise_graph_building_reset},
	{NULL, reprise_capture_lock_reset},
	{NULL, reprise_program_captures_reset},
	{NULL, reprise_gate_reset},
	{NULL, reprise_functions_reset},
	{NULL, reprise_changes_reset},
	{NULL, reprise_ranges_reset},
	{NULL, reprise_record_reset},
	{reprise_gpu_end, reprise_gpu_reset},
	{NULL, reprise_kernels_reset},
	{NULL, reprise_report_forget},
	{NULL, reprise_snapshots_reset},
	{NULL, reprise_control_reset},
	{finish_timeline, reprise_timeline_writing_reset},
	{NULL, reprise_timeline_activities_reset},
	{NULL, reprise_timeline_reset},
	{NULL, reprise_thread_reset},
	{NULL, reprise_ending_reset},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void at_exit(void)
{
	for (unsigned int i = 0; i < PARTS; i++)
		if (parts[i].stop != NULL)
			parts[i].stop();
}

static void in_child(void)
{
	REPRISE_KEEP_ERRNO;

	for (unsigned int i = 0; i < PARTS; i++)
		if (parts[i].reset != NULL)
			parts[i].reset();
}

/* Every thread calls this before it may start Reprise, so a fork during another thread's start is
 * handled too: the child starts anew. */
static void watch_forks(void)
{
	static _Atomic bool watched;

	if (!atomic_load(&watched) && pthread_atfork(NULL, NULL, in_child) == 0)
		atomic_store(&watched, true);
}

/* ---- the start ---- */

static bool wants_turns(void)
{
	uint64_t wanted = reprise_option(REPRISE_OPTION_TURNS);

	if (reprise_records())
		return false;
	return wanted == REPRISE_TURNS_ALWAYS ||
	       (wanted == REPRISE_TURNS_AUTO &&
	        reprise_option(REPRISE_OPTION_PAYS) == REPRISE_PAYS_MEASURED);
}

/* REPRISE_NVTX_OFF by hand, without what makes the program's ranges known. */
static void tell_deaf(void)
{
	const char *listener = getenv(REPRISE_LISTENER);

	if (reprise_ranges_wanted && (listener == NULL || !reprise_tool_listener_is_ours(listener)))
		reprise_log(
			REPRISE_LOG_WARNING,
			"REPRISE_NVTX_OFF has no effect: NVTX_INJECTION64_PATH does not name this library (reprise run --nvtx-off sets it)");
}

static enum reprise_mode decide(void)
{
	int entered = reprise_enter();

	reprise_options_read();
	reprise_profiles_read(reprise_profile_program());
	reprise_clock_start();
	reprise_thread_note_processors();

	enum reprise_mode mode = (enum reprise_mode)reprise_option(REPRISE_OPTION_MODE);

	if (mode != REPRISE_MODE_OFF)
		reprise_namespace_begin_threads();
	reprise_filters_note();
	reprise_report_begin();
	if (mode != REPRISE_MODE_OFF &&
	    reprise_tools_look(reprise_option(REPRISE_OPTION_TOOLS) == IGNORE)) {
		reprise_log(REPRISE_LOG_INFO, "standing aside for %s (%s)", reprise_tool_found()->name,
		            reprise_tool_found()->sign);
		mode = REPRISE_MODE_OFF;
	}
	reprise_mode = mode;
	reprise_leave(entered);
	reprise_observing = mode == REPRISE_MODE_OBSERVE;
	reprise_stack_wanted = reprise_observing;
	reprise_verifying = mode == REPRISE_MODE_VERIFY;
	if (mode != REPRISE_MODE_OFF) {
		reprise_ranges_begin();
		tell_deaf();
		reprise_record_begin();
		reprise_timeline_begin_writing();
		reprise_hold_define();
		reprise_async_launch_define();
		reprise_builder_define();
		reprise_timeline_start();
		if (mode == REPRISE_MODE_ON && wants_turns())
			reprise_turns_start();
	}
	return mode;
}

enum reprise_mode reprise_start(void)
{
	int mode = atomic_load_explicit(&started, memory_order_acquire);

	if (__builtin_expect(mode != 0, 1))
		return (enum reprise_mode)(mode - 1);
	watch_forks();
	reprise_lock_take(&start_lock);
	mode = atomic_load(&started);
	if (mode == 0) {
		mode = (int)decide() + 1;
		atomic_store_explicit(&started, mode, memory_order_release);
	}
	reprise_lock_give(&start_lock);
	return (enum reprise_mode)(mode - 1);
}

/* ---- before the first op ---- */

/* In mode observe, CUPTI starts later: reprise_gpu_look(). */
static void begin_gpu(void)
{
	reprise_gpu_for_report = reprise_observing;
	reprise_gpu_for_timeline = atomic_load(&reprise_timeline_on);
	reprise_gpu_load();
	if (!reprise_observing)
		reprise_gpu_start();
}

static void register_all(void)
{
	if (registered)
		return;
	registered = true;
	reprise_call_sites_begin();
	if (reprise_reporting || reprise_option(REPRISE_OPTION_CONTROL) != 0)
		reprise_machine_note();
	begin_gpu(); /* before atexit: CUPTI's exit handlers run after at_exit() */
	if (!reprise_observing)
		reprise_nvtx_begin(); /* the same of a listener's */
	atexit(at_exit);
	reprise_control_begin();
}

/* True if the address space has no limit. If it has one, the thread that watches for the end of the
 * process starts only when it is needed: its stack is as large as the program's own. */
static bool has_room(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
}

/* Starts all threads that may be needed later: after its first work on the device, a program may
 * forbid new threads, by a filter of system calls or by limits. */
static void start_threads(void)
{
	if (!reprise_observing && reprise_option(REPRISE_OPTION_HOLD) > 0) {
		reprise_hold_ensure();
		reprise_async_launch_begin();
	}
	if (!reprise_observing)
		reprise_graph_building_begin();
	reprise_ending_begin(!reprise_observing && has_room());
	reprise_snapshots_begin();
}

static void prepare(void)
{
	reprise_filters_note();
	register_all();
	start_threads();
	/* A program may filter its system calls when its first op has returned. */
	reprise_thread_await_begun(REPRISE_TUNE_THREAD_BEGIN_NS);
}

void reprise_process_prepare_once(void)
{
	int before = 0;

	if (!atomic_compare_exchange_strong(&reprise_process_prepared, &before, 1))
		return;
	prepare();
}
