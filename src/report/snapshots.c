/*
 * The thread's files are in a table of its own, which is empty at first: the program would find a number taken that it expects to get, or close what it did not open, and
 * a child would inherit it. (close_range(2), CLOSE_RANGE_UNSHARE: Linux 5.9. On an older one, or where it is forbidden, there is the report at the end alone.)
 */
#include "snapshots.h"

#include <limits.h>
#include <linux/close_range.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/inside.h"
#include "../base/lock.h"
#include "../base/log.h"
#include "../base/options.h"
#include "../base/thread.h"
#include "report.h"

#define FIRST_NS 100000000u /* after the first op: many programs are short */
#define AGAIN_NS 1000000000u
#define SLACK_NS 50000000ul /* of the timer: nobody waits for it */

static _Atomic bool begun;

/* For words that have to be said now: stderr as the program has it, for that long. Nothing, if the kernel does not give it. */
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

/* What could not be told is told at the end, if it still is so. */
static void take_snapshot(int *kept)
{
	if (reprise_report_snapshot(kept))
		return;
	open_stderr();
	reprise_report_snapshot(kept);
	close(STDERR_FILENO);
}

/* Whoever locks itself in, by a filter of system calls, may have forbidden what comes here: opening files. */
static int filters(void)
{
	return prctl(PR_GET_SECCOMP);
}

static void *run(void *unused)
{
	static _Atomic uint32_t nothing;
	uint64_t pause = FIRST_NS;
	int kept = -1, before = filters();

	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	if (syscall(SYS_close_range, 0u, UINT_MAX, CLOSE_RANGE_UNSHARE) != 0) {
		reprise_log(REPRISE_LOG_INFO, "no report before the end: the kernel is older than Linux 5.9, or forbids close_range");
		return NULL;
	}
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	do {
		reprise_futex_wait(&nothing, 0, pause);
		if (filters() != before)
			break;
		take_snapshot(&kept);
		pause = AGAIN_NS;
	} while (true);
	return NULL;
}

void reprise_snapshots_begin(void)
{
	const char *where = reprise_option_text(REPRISE_OPTION_REPORT);

	if (where[0] != '\0' && strcmp(where, "stderr") != 0 && !atomic_exchange(&begun, true))
		reprise_thread_start(run, "reprise-report");
}

void reprise_snapshots_reset(void)
{
	atomic_store(&begun, false);
}
