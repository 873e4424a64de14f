/* Keeps invariants 1 and 5: what was answered is issued, each op once and in order. */
#include "lane/side_exit.h"

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/cost.h"
#include "graph/shadow.h"
#include "trace/balance.h"
#include "lane/async_launch.h"
#include "lane/ended_events.h"
#include "lane/errors.h"
#include "lane/group/group.h"
#include "lane/hold.h"
#include "lane/launch.h"
#include "lane/observe.h"
#include "lane/own_stream.h"
#include "lane/verify.h"

static const struct reprise_op *op_to_issue(struct reprise_lane *lane, unsigned int i)
{
	const struct reprise_op *op = reprise_trace_op(lane->trace, i);

	return __builtin_expect(reprise_verifying, 0) ? reprise_verify_op(lane, i, op) : op;
}

static CUresult issue_in_group(struct reprise_lane *lane, const struct reprise_op *op)
{
	CUresult result;

	reprise_group_issues(lane, op->kind, op->member, op->event);
	result = reprise_op_issue(op, lane->group->streams[op->member]);
	if (result != CUDA_SUCCESS)
		reprise_group_lose_order(lane);
	return result;
}

static CUstream stream_of(const struct reprise_lane *lane, unsigned int i)
{
	return lane->group == NULL ? lane->stream : lane->group->streams[lane->trace->ops[i].member];
}

static CUresult issue(struct reprise_lane *lane, const struct reprise_op *op, CUstream into)
{
	return lane->group == NULL ? reprise_op_issue(op, into) : issue_in_group(lane, op);
}

CUresult reprise_lane_issue(struct reprise_lane *lane, unsigned int count)
{
	uint64_t begin = reprise_clock_ns();
	CUresult result = CUDA_SUCCESS;
	bool in_place = reprise_own_stream_is_anothers(lane);
	CUstream stream = NULL,
			 into = in_place ? reprise_own_stream_begin_in_place(lane) : lane->stream;

	for (unsigned int i = 0; i < count; i++) {
		reprise_errors_keep(lane, stream, result); /* the op before was answered with success */
		stream = stream_of(lane, i);
		result = issue(lane, op_to_issue(lane, i), into);
	}
	if (in_place)
		reprise_own_stream_end_in_place(lane);
	reprise_cost_took(REPRISE_COST_eager, reprise_clock_ns() - begin, count);
	return result;
}

static void issue_deferred(struct reprise_lane *lane)
{
	int entered = reprise_enter();
	bool pushed = reprise_driver_make_current(lane->context);
	CUresult last;

	reprise_gate_begin_giving(lane->context);
	last = reprise_lane_issue(lane, lane->cursor);
	if (lane->cursor > 0)
		reprise_errors_keep(lane, stream_of(lane, lane->cursor - 1), last);
	reprise_gate_end_giving();
	reprise_driver_restore_current(pushed);
	reprise_leave(entered);
}

/* In a group, before the deferred ops are issued: their segment begins, and what their waits are
 * for is asked (reprise_op.waits_for). Returns the segment's number. */
static uint32_t begin_watching(struct reprise_lane *lane, const struct reprise_trace *trace,
                               unsigned int count, uint8_t *waits_for)
{
	uint32_t segment;

	reprise_lane_open_segment(lane);
	segment = reprise_watch_segment(lane->watch);
	for (unsigned int i = 0; i < count; i++)
		waits_for[i] = trace->ops[i].kind == REPRISE_OP_WAIT
		                   ? reprise_group_event_start(lane->group, segment, trace->ops[i].event)
		                   : 0;
	return segment;
}

/* The deferred ops were not timed: their gaps are taken to be the trace's mean gap. `waits_for`: in
 * a group, of this segment. */
static void watch_deferred(struct reprise_lane *lane, const struct reprise_trace *trace,
                           unsigned int count, const uint8_t *waits_for, uint32_t segment)
{
	for (unsigned int i = 0; i < count; i++) {
		bool known = lane->group != NULL && reprise_watch_segment(lane->watch) == segment;

		reprise_lane_watch_issued(lane, reprise_trace_op(trace, i),
		                          reprise_clock_ns_to_ticks(trace->gap_ns),
		                          known ? waits_for[i] : 0);
	}
}

void reprise_lane_side_exit(struct reprise_lane *lane, enum reprise_exit why)
{
	struct reprise_trace *trace = lane->trace;
	unsigned int count = lane->cursor;
	uint8_t waits_for[REPRISE_TUNE_SEGMENT_MOST]; /* no trace is longer */
	uint32_t segment = 0;
	uint64_t entered_at = reprise_timeline_begin(), begin, end, took;

	reprise_pending_finish(lane, false);
	if (trace == NULL)
		return;
	if (lane->group != NULL && count > 0)
		segment = begin_watching(lane, trace, count, waits_for);
	if (!reprise_observing)
		issue_deferred(lane);
	reprise_timeline_end(REPRISE_TIMELINE_EXIT, entered_at,
	                     reprise_visit_about(lane, reprise_exit_words[why], count));
	begin =
		reprise_clock_ticks(); /* issuing is not counted: eager calls would have cost the same */
	reprise_hold_end(lane);
	reprise_visit_note_exit(lane, trace, why, count);
	lane->last = NULL;
	lane->expected = NULL;
	watch_deferred(lane, trace, count, waits_for, segment);
	reprise_trace_end_visit(trace, false);
	if (why == REPRISE_EXIT_values)
		lane->only_watch_until = lane->counts.ops + trace->count - count;
	else
		reprise_trace_note_side_exit(trace, lane->counts.ops, count);
	end = reprise_clock_ticks();
	took = reprise_clock_elapsed(begin, end) + lane->place_ticks;
	reprise_lane_count(&lane->counts.exit_ticks, took);
	if (!reprise_observing && reprise_visit_is_measured() &&
	    !reprise_balance_side_exit(trace, took))
		reprise_visit_note_loss(lane, trace);
	atomic_store_explicit(&lane->last_return, end, memory_order_relaxed);
	lane->trace = NULL;
	lane->cursor = 0;
	reprise_held_none(&lane->held);
	reprise_held_none(&lane->held_waits);
}

void reprise_lane_issue_held(struct reprise_lane *lane, bool split)
{
	struct reprise_trace *trace = lane->trace;
	unsigned int at = lane->cursor;
	bool pushed;

	if (trace == NULL || at == 0)
		return;
	pushed = reprise_driver_make_current(lane->context);
	reprise_count(REPRISE_COUNT_hold_flushes, 1);
	reprise_lane_side_exit(lane, REPRISE_EXIT_hold);
	if (split)
		reprise_lane_split(lane, trace, at);
	reprise_driver_restore_current(pushed);
}

bool reprise_lane_note_pause(struct reprise_lane *lane)
{
	bool noted = lane->paused;

	if (lane->trace == NULL || lane->cursor == 0)
		return false;
	lane->paused = true;
	return !noted && reprise_trace_note_held(lane->trace, lane->cursor);
}

void reprise_lane_issue_wanted(struct reprise_lane *lane)
{
	bool pushed = reprise_driver_make_current(lane->context);

	reprise_lane_side_exit(lane, REPRISE_EXIT_barrier);
	reprise_driver_restore_current(pushed);
}

/* ---- barriers ---- */

/* The host has waited: the stream is empty. */
static void note_wait(struct reprise_lane *lane)
{
	reprise_lane_move_to(lane, REPRISE_BEFORE_WAIT);
	lane->position.since_wait = 0;
	reprise_pace_wait(lane);
}

/* A wait cuts a visit of a graph beside streams: there may be a trace of what is left there. */
static void note_cut(struct reprise_lane *lane)
{
	if (lane->trace != NULL && lane->cursor > 0 && lane->trace->beside != NULL)
		lane->trace->cut_at = lane->position.since_wait;
}

void reprise_lane_barrier(struct reprise_lane *lane, bool wait)
{
	reprise_pending_finish(lane, wait);
	if (wait)
		note_cut(lane);
	reprise_lane_side_exit(lane, REPRISE_EXIT_barrier);
	reprise_lane_close_segment(lane, wait);
	if (__builtin_expect(reprise_ended_any(lane), 0))
		reprise_ended_forget(lane);
	reprise_lane_place(lane);
	if (wait)
		note_wait(lane);
	else
		reprise_lane_move_to(lane, REPRISE_BEFORE_BARRIER);
	/* `attended` stays until the next barrier without news: a loop that waits once in each
	 * iteration must not write what all threads read. A group that is tracked has to be told of
	 * every call on its streams. */
	atomic_store_explicit(&lane->noisy, reprise_group_is_tracked(lane), memory_order_relaxed);
}

bool reprise_lane_is_to_be_told(const struct reprise_lane *lane)
{
	return reprise_lane_has_news(lane) || atomic_load(&lane->attended);
}

void reprise_lane_told(struct reprise_lane *lane, bool wait)
{
	if (reprise_lane_has_news(lane)) { /* news may have come since the check without the lock */
		reprise_lane_barrier(lane, wait);
		return;
	}
	if (wait && lane->position.before == REPRISE_BEFORE_BARRIER) /* a free, and then a wait */
		note_wait(lane);
	reprise_lane_unattend(lane);
}

void reprise_lane_tell(struct reprise_lane *lane, bool wait)
{
	if (!reprise_lane_is_to_be_told(lane))
		return;
	reprise_lock_take(&lane->lock);
	reprise_lane_told(lane, wait);
	reprise_lock_give(&lane->lock);
}
