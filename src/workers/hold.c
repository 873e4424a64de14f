/*
 * The hold threads. One of them looks at all lanes. The driver may keep it in a launch for any
 * time, and other lanes must not wait for that. So before it issues anything it hands the looking
 * over to another thread, and waits for its next turn afterwards. Threads are started when first
 * needed, THREADS_MOST at most.
 *
 * While the program defers, the looking thread sleeps until the oldest deferred op is due, or until
 * an op deferred now would be; where a loop is steady, several times as long (steady.h), unless the
 * user has set the limit. After REPRISE_TUNE_HOLD_LINGER_NS without deferred ops, and at once in a
 * pause or an eager turn, it sleeps until it is woken. The program's threads only read whether it
 * sleeps: a steady loop makes no system call.
 */
#include "workers/workers.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/inside.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "lane/eager.h"
#include "lane/hold.h"
#include "lane/side_exit.h"
#include "lane/launch.h"
#include "lane/registry.h"
#include "workers/steady.h"

#define THREADS_MOST 8

static _Atomic uint32_t waiting; /* threads that wait for their turn to look */
static _Atomic uint32_t turn;    /* 1: handed over and not taken yet; a futex */
static _Atomic uint32_t threads; /* without the first one */

static struct reprise_steady steady; /* of the thread that looks */

static void *run(void *unused);

/* One look at all lanes. */
struct look {
	uint64_t limit, due, pause;   /* nanoseconds, by reprise_hold_due() and reprise_hold_pause() */
	struct reprise_steady before; /* as it was when the look began */
	uint64_t begun, next;         /* when it began, and when to look again */
	bool held;                    /* a lane had deferred ops */
	bool found;                   /* something was due, or there was a pause */
	bool over;                    /* another thread looks now */
};

/* Counts an issue: the ops were deferred at `since`, issuing began at `begun`. The order matters,
 * since the process may end anywhere: a part of another count must never be the larger one. */
static void note_issued(const struct look *look, uint64_t since, uint64_t begun)
{
	reprise_count_most(REPRISE_COUNT_hold_longest_ns, reprise_clock_ns() - since);
	reprise_count_most(REPRISE_COUNT_hold_begun_ns, begun - since);
	reprise_count(REPRISE_COUNT_hold_overruns,
	              begun - since > reprise_steady_limit(&look->before, since, look->limit));
}

/* Issues a lane whose first deferred op has waited since `since`. */
static void issue(struct reprise_lane *lane, const struct look *look, uint64_t since)
{
	uint64_t begun = reprise_clock_ns();

	if (lane->trace == NULL || lane->cursor == 0)
		return;
	reprise_lane_issue_held(lane, reprise_lane_note_pause(lane)); /* counts a flush */
	note_issued(look, since, begun);
}

/* Lets another thread look: this one is about to issue. If there can be no other thread, the other
 * lanes wait. */
static void hand_over(struct look *look)
{
	if (look->over)
		return;
	if (atomic_load(&waiting) > 0) {
		atomic_store(&turn, 1);
		reprise_futex_wake(&turn);
		look->over = true;
	} else if (atomic_load(&threads) < THREADS_MOST - 1 &&
	           reprise_thread_start(run, "reprise-hold")) {
		atomic_fetch_add(&threads, 1);
		look->over = true;
	}
}

static void wait_for_turn(void)
{
	uint32_t given = 1;

	atomic_fetch_add(&waiting, 1);
	while (!atomic_compare_exchange_strong(&turn, &given, 0)) {
		reprise_futex_wait(&turn, 0, 0);
		given = 1;
	}
	atomic_fetch_sub(&waiting, 1);
}

static void look_again(struct look *look, uint64_t at)
{
	if (at < look->next)
		look->next = at;
}

/* Something is due, or there is a pause: looks are as usual from now on. Before this thread hands
 * over. */
static void found(struct look *look, uint64_t now)
{
	if (look->over)
		return;
	look->found = true;
	reprise_steady_end(&steady, now);
	look_again(look, now + look->due);
}

/* Launches pending visits that are due. False if another thread is launching them. */
static bool finish_pending(struct reprise_lane *lane, struct look *look, uint64_t now)
{
	uint64_t since = reprise_pending_since(lane), begun;

	if (since == 0 || now < since + look->due)
		return true;
	if (!reprise_pending_try_take(lane))
		return false;
	since = reprise_pending_since(lane); /* some may be launched by now */
	if (since != 0)
		found(look, now);
	hand_over(look);
	begun = reprise_clock_ns();
	reprise_count(REPRISE_COUNT_hold_flushes, since != 0);
	reprise_pending_finish_taken(lane);
	if (since != 0)
		note_issued(look, since, begun);
	return true;
}

/* The lane, or its queue, is another thread's, which may be launching. */
static void look_soon(struct look *look, uint64_t now)
{
	look_again(look,
	           now + reprise_steady_due(&steady, now, look->due) / REPRISE_TUNE_HOLD_BUSY_LOOK);
}

/* Under the lane's lock. Issues what is due: pending visits first, then the current visit, which is
 * the one that a pause of the program belongs to. */
static void look_into(struct reprise_lane *lane, struct look *look, uint64_t now)
{
	if (!finish_pending(lane, look, now)) {
		look_soon(look, now);
		return;
	}
	reprise_hold_again(lane);
	if (lane->visit_since == 0 || reprise_pending_since(lane) != 0 ||
	    now < lane->visit_since + look->pause)
		return;
	found(look, now);
	if (now >= lane->visit_since + look->due) {
		hand_over(look);
		issue(lane, look, lane->visit_since);
	} else if (reprise_lane_note_pause(lane)) {
		hand_over(look);
		reprise_lane_issue_held(lane, true);
	}
}

static void issue_wanted(struct reprise_lane *lane, struct look *look)
{
	atomic_store(&lane->wanted, false);
	hand_over(look);
	reprise_lane_issue_wanted(lane);
}

static void look_at(struct reprise_lane *lane, void *context)
{
	struct look *look = context;
	uint64_t now = reprise_clock_ns(), since = atomic_load(&lane->deferred_since);
	bool wanted;

	wanted = atomic_load(&lane->wanted);
	if (since == 0 && wanted)
		atomic_store(&lane->wanted, false);
	if (since == 0 || look->over)
		return;
	look->held = true;
	if (now < since + look->due)
		look_again(look, since + reprise_steady_due(&steady, since, look->due));
	if (now < since + look->pause && !wanted)
		return;
	if (!reprise_lock_try(&lane->lock)) { /* the holder is at work on the lane */
		look_soon(look, now);
		return;
	}
	if (wanted && !reprise_worker_stopped(&reprise_hold_worker))
		issue_wanted(lane, look);
	else if (atomic_load(&lane->deferred_since) == since &&
	         !reprise_worker_stopped(&reprise_hold_worker))
		look_into(lane, look, now);
	reprise_lock_give(&lane->lock);
}

/* Sleeps until `at`, or until a lane is wanted. Returns at once if one was wanted since
 * `calls_before` was read. */
static void sleep_until(uint64_t at, uint32_t calls_before)
{
	uint64_t now = reprise_clock_ns();

	reprise_worker_pause(&reprise_hold_worker, calls_before, at > now ? at - now : 1);
}

/* Who sets the limit means it. */
static bool may_be_seldom(void)
{
	return !reprise_option_given(REPRISE_OPTION_HOLD);
}

static void begin(struct look *look, uint64_t limit)
{
	uint64_t now = reprise_clock_ns(), due = reprise_hold_due(limit);

	*look = (struct look){.limit = limit,
	                      .due = due,
	                      .pause = reprise_hold_pause(limit),
	                      .before = steady,
	                      .begun = now,
	                      .next = now + reprise_steady_due(&steady, now, due)};
}

/* As many looks as usual find nothing deferred before the thread sleeps: to wake it costs the
 * program some microseconds. */
static uint64_t linger_ns(void)
{
	return REPRISE_TUNE_HOLD_LINGER_NS * reprise_steady_times(&steady);
}

static void *run(void *unused)
{
	uint64_t limit = reprise_option(REPRISE_OPTION_HOLD) * 1000, last_seen = reprise_clock_ns();

	reprise_inside = REPRISE_INSIDE_FOR_GOOD; /* its driver calls bypass the doors */
	/* In relaxed mode, this thread's calls do not invalidate the program's captures. */
	reprise_driver_begin_relaxed();
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (!reprise_worker_stopped(&reprise_hold_worker)) {
		struct look look;
		uint32_t calls_before = atomic_load(&reprise_hold_worker.calls);

		begin(&look, limit);
		reprise_lanes_each(look_at, &look);
		if (look.over) {
			wait_for_turn();
			last_seen = reprise_clock_ns();
			continue;
		}
		if (!look.found && may_be_seldom())
			reprise_steady_note(&steady, look.begun, look.due, look.held);
		if (look.held) {
			last_seen = reprise_clock_ns();
		} else if (reprise_clock_ns() - last_seen > linger_ns() || reprise_all_are_eager()) {
			reprise_worker_sleep(&reprise_hold_worker, reprise_lanes_hold);
			last_seen = reprise_clock_ns();
			continue;
		}
		sleep_until(look.next, calls_before);
	}
	return NULL;
}

void reprise_hold_define(void)
{
	reprise_worker_define(&reprise_hold_worker, run, "reprise-hold");
}

void reprise_hold_stop(void)
{
	reprise_worker_stop(&reprise_hold_worker);
}

void reprise_hold_reset(void)
{
	reprise_worker_reset(&reprise_hold_worker);
	atomic_store(&waiting, 0);
	atomic_store(&turn, 0);
	atomic_store(&threads, 0);
	steady = (struct reprise_steady){0};
}
