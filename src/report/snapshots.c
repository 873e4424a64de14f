/*
 * The report thread: once a second it writes the report to the file for the final one, and the
 * metrics (metrics.h). So a program
 * that ends by a signal, by _exit or by execve has a report that is at most a second old and says
 * so ("complete": false). The callers of call sites are left out: looking them up takes the
 * loader's lock, which the program may hold while it waits for this thread's end, and reads
 * libraries that the program may close.
 *
 * No call of the program waits for the thread: it only tries the locks that a call may want, and
 * holds none of them while it writes.
 *
 * The thread has a file table of its own. If it cannot have one, there is only the final report.
 */
#include "report/report.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/output.h"
#include "base/thread.h"
#include "base/tuning.h"
#include "report/metrics.h"

/* The report thread sleeps on it. */
enum { ABSENT, WATCHING, ASKED };
static _Atomic uint32_t state;

/* Gets the program's stderr into this thread's file table, for a message. Does nothing if the
 * kernel refuses. */
static void open_stderr(void)
{
	int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int file = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0) : -1;

	if (file >= 0 && file != STDERR_FILENO) {
		dup2(file, STDERR_FILENO);
		close(file);
	}
	if (process >= 0 && process != STDERR_FILENO)
		close(process);
}

/* If the error could not be logged, tries once more with stderr. The final report tells it again if
 * it still fails. */
static void take_snapshot(int *kept)
{
	if (reprise_report_snapshot(kept))
		return;
	open_stderr();
	reprise_report_snapshot(kept);
	close(STDERR_FILENO);
}

/* Runs until the end, or until the program locks its threads in by a filter. */
static void write_on(void)
{
	uint64_t pause = REPRISE_TUNE_SNAPSHOT_FIRST_NS;
	int kept = -1;

	for (;;) {
		reprise_futex_wait(&state, WATCHING, pause);
		if (reprise_filters_came())
			return;
		if (atomic_load(&state) == ASKED)
			break;
		take_snapshot(&kept);
		pause = REPRISE_TUNE_SNAPSHOT_AGAIN_NS;
	}
	reprise_report_write_last();
}

static void *run(void *unused)
{
	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	if (!reprise_thread_own_files(false)) {
		reprise_log(
			REPRISE_LOG_INFO,
			"no report before the end: the kernel is older than Linux 5.9, or forbids close_range");
	} else {
		prctl(PR_SET_TIMERSLACK, (unsigned long)REPRISE_TUNE_SNAPSHOT_SLACK_NS);
		write_on();
	}
	atomic_store(&state, ABSENT);
	reprise_futex_wake(&state);
	return NULL;
}

void reprise_snapshots_begin(void)
{
	uint32_t absent = ABSENT;

	if ((reprise_report_has_file() || reprise_metrics_wanted()) &&
	    atomic_compare_exchange_strong(&state, &absent, WATCHING) &&
	    !reprise_thread_start(run, "reprise-report"))
		atomic_store(&state, ABSENT);
}

void reprise_snapshots_reset(void)
{
	atomic_store(&state, ABSENT);
}

/* Lets the report thread write the final report: this thread may not open files, but
 * that one may. */
static void have_last_written(void)
{
	uint64_t now = reprise_clock_ns(), end = now + REPRISE_TUNE_SNAPSHOT_PATIENCE_NS;
	uint32_t watching = WATCHING;

	if (!atomic_compare_exchange_strong(&state, &watching, ASKED))
		return;
	reprise_futex_wake(&state);
	for (; atomic_load(&state) == ASKED && now < end; now = reprise_clock_ns())
		reprise_futex_wait(&state, ASKED, end - now);
}

/* No constructor and no CUDA call: invariant 10. If Reprise never started, all options
 * are empty. */
__attribute__((destructor)) static void at_end(void)
{
	REPRISE_KEEP_FLOAT;

	reprise_report_end_metrics();
	if (reprise_option_text(REPRISE_OPTION_REPORT)[0] == '\0')
		return;

	int error = reprise_report_write_last();

	if (error == REPRISE_OUTPUT_LOCKED_IN)
		have_last_written();
	else if (error != 0)
		reprise_report_tell_error(error);
}
