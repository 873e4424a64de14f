#include "process/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/changes.h"
#include "base/ending.h"
#include "base/filters.h"
#include "base/gate.h"
#include "base/hot.h"
#include "base/keep.h"
#include "base/options.h"
#include "process/start.h"
#include "base/store.h"
#include "base/thread.h"
#include "control/control.h"
#include "gpu/gpu.h"
#include "graph/captures.h"
#include "graph/building.h"
#include "graph/exclusion.h"
#include "graph/shadow.h"
#include "op/function.h"
#include "record/record.h"
#include "stats/counters.h"
#include "stats/kernels.h"
#include "stats/machine.h"
#include "stats/sites.h"
#include "report/report.h"
#include "report/snapshots.h"
#include "timeline/timeline.h"
#include "lane/eager.h"
#include "lane/ended.h"
#include "lane/errors.h"
#include "lane/hold.h"
#include "lane/joint.h"
#include "lane/meeting.h"
#include "lane/registry.h"
#include "lane/submission.h"
#include "workers/builder.h"
#include "workers/hold.h"
#include "workers/submission.h"
#include "workers/timeline.h"

#define PATIENCE_NS \
	500000000u /* how long an exit waits for each of our threads, which may be waiting for what \
	              this one holds */
#define TIMELINE_PATIENCE_NS 2000000000u /* for some MiB to be written */

static _Atomic int prepared REPRISE_HOT_DATA;
static bool registered; /* what a child inherits */

/* The program is done issuing; the driver is still there. After this every call passes. */
static void at_exit(void)
{
	reprise_stop_at_exit(PATIENCE_NS);
	reprise_record_end();
	reprise_hold_stop();
	reprise_submission_stop();
	reprise_graph_building_stop(PATIENCE_NS);
	reprise_gpu_end();
	reprise_timeline_finish(TIMELINE_PATIENCE_NS);
}

/* Only this thread lives on. The parent's lanes, traces and graphs mean nothing here, and the locks
 * may be held by nobody. */
static void in_child(void)
{
	REPRISE_KEEP_ERRNO;

	reprise_start_reset();
	reprise_lanes_reset();
	reprise_store_reset();
	reprise_eager_reset();
	reprise_joint_reset();
	reprise_ended_reset();
	reprise_meeting_reset();
	reprise_hold_reset();
	reprise_errors_reset();
	reprise_submission_reset();
	reprise_graph_building_reset();
	reprise_exclusion_reset();
	reprise_captures_reset();
	reprise_gate_reset();
	reprise_functions_reset();
	reprise_changes_reset();
	reprise_record_reset();
	reprise_gpu_reset();
	reprise_kernels_reset();
	reprise_report_forget();
	reprise_snapshots_reset();
	reprise_control_reset();
	reprise_timeline_writing_reset();
	reprise_timeline_reset();
	reprise_thread_reset();
	reprise_ending_reset();
	atomic_store(&prepared, 0);
}

/* In observe later: reprise_gpu_look(). */
static void begin_gpu(void)
{
	reprise_gpu_for_report = reprise_dry;
	reprise_gpu_for_timeline = atomic_load(&reprise_timeline_on);
	reprise_gpu_load();
	if (!reprise_dry)
		reprise_gpu_start();
}

/* Every thread that is about to start Reprise has seen to it: who forks while another one is
 * starting has a child that begins anew. */
void reprise_process_watch_forks(void)
{
	static _Atomic bool watched;

	if (!atomic_load(&watched) && pthread_atfork(NULL, NULL, in_child) == 0)
		atomic_store(&watched, true);
}

static void register_all(void)
{
	if (registered)
		return;
	registered = true;
	reprise_places_begin();
	if (reprise_reporting || reprise_option(REPRISE_OPTION_CONTROL) != 0)
		reprise_machine_note();
	begin_gpu(); /* before the next line: what CUPTI does at exit comes after what we do */
	atexit(at_exit);
	reprise_control_begin();
}

/* Where the address space is limited, the thread with the program's own stack is started only when
 * it is wanted. */
static bool has_room(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
}

/*
 * All threads that may be wanted later: a program that locks itself in after its first work on the
 * device, by a filter of system calls or by limits, is not to find that another one is started
 * then.
 */
static void start_threads(void)
{
	reprise_hold_define();
	reprise_submission_define();
	reprise_builder_define();
	if (!reprise_dry && reprise_option(REPRISE_OPTION_HOLD) > 0) {
		reprise_hold_ensure();
		reprise_submission_begin();
	}
	if (!reprise_dry)
		reprise_graph_building_begin();
	reprise_ending_begin(!reprise_dry && has_room());
	reprise_snapshots_begin();
}

static void prepare(void)
{
	reprise_filters_note();
	register_all();
	start_threads();
}

REPRISE_HOT void reprise_process_prepare(void)
{
	int before = 0;

	if (__builtin_expect(atomic_load_explicit(&prepared, memory_order_relaxed) != 0, 1) ||
	    !atomic_compare_exchange_strong(&prepared, &before, 1))
		return;
	prepare();
}
