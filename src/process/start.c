#include "process/start.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/filters.h"
#include "base/inside.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/tools.h"
#include "driver/namespace.h"
#include "graph/shadow.h"
#include "record/record.h"
#include "report/report.h"
#include "stats/stack.h"
#include "timeline/timeline.h"
#include "workers/timeline.h"
#include "lane/lane.h"
#include "process/process.h"

#define IGNORE 1 /* the second word of REPRISE_TOOLS */

static struct reprise_lock start_lock;
static _Atomic int started; /* the mode and one; 0 before */

static enum reprise_mode decide(void)
{
	int entered = reprise_enter();

	reprise_options_read();
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
	reprise_leave(entered);
	reprise_dry = mode == REPRISE_MODE_OBSERVE;
	reprise_stack_wanted = reprise_dry;
	reprise_verifying = mode == REPRISE_MODE_VERIFY;
	if (mode != REPRISE_MODE_OFF) {
		reprise_record_begin();
		reprise_timeline_begin_writing();
		reprise_timeline_start();
	}
	return mode;
}

enum reprise_mode reprise_start(void)
{
	int mode = atomic_load_explicit(&started, memory_order_acquire);

	if (__builtin_expect(mode != 0, 1))
		return (enum reprise_mode)(mode - 1);
	reprise_process_watch_forks();
	reprise_lock_take(&start_lock);
	mode = atomic_load(&started);
	if (mode == 0) {
		mode = (int)decide() + 1;
		atomic_store_explicit(&started, mode, memory_order_release);
	}
	reprise_lock_give(&start_lock);
	return (enum reprise_mode)(mode - 1);
}

void reprise_start_reset(void)
{
	atomic_store(&start_lock.word, 0);
}
