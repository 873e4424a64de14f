/*
 * Calls that pass: the shortest way to the driver, for ops of which nothing is noted but their
 * number.
 *
 * An op passes where its lane backs off or scans, in a pause, and in the unseen part of an eager
 * turn. Else, or while any lane holds deferred ops, it takes the way of an op (ops.c), which decides
 * the same.
 */
#include "entry/entry.h"

#include "base/placement.h"
#include "lane/group/group.h"
#include "lane/registry.h"
#include "lane/turns.h"
#include "record/record.h"
#include "timeline/timeline.h"

/* No lane holds. True if nothing else comes before the op, and nobody is to be told of it. */
static bool is_alone(CUstream stream, bool per_thread)
{
	return reprise_inside == 0 && !reprise_records() &&
	       !atomic_load_explicit(&reprise_timeline_on, memory_order_relaxed) &&
	       (__builtin_expect(atomic_load(&reprise_unsettled) == 0, 1) ||
	        reprise_stream_resolve(stream, per_thread) != CU_STREAM_PER_THREAD);
}

/* Whatever the lane does. Counts the op if it passes at once. */
static enum reprise_pass begins_eagerly(void)
{
	uint32_t pauses = atomic_load_explicit(&reprise_pauses, memory_order_acquire);

	if (pauses == 0 || reprise_stopped() != NULL)
		return REPRISE_PASS_NOT;
	if (pauses == REPRISE_PAUSE_TURN)
		return REPRISE_PASS_IN_TURN;
	if ((pauses & ~REPRISE_PAUSE_FLAGS) != 0) {
		reprise_gate_count(REPRISE_GATE_PAUSED);
		return REPRISE_PASS_AT_ONCE;
	}
	if (reprise_in_range != 0 || !reprise_eager_unseen())
		return REPRISE_PASS_NOT;
	reprise_turns_note_unseen();
	return REPRISE_PASS_AT_ONCE;
}

REPRISE_HOT enum reprise_pass reprise_pass_begins_alone(CUstream stream, bool per_thread)
{
	bool grouped = __builtin_expect(atomic_load(&reprise_groups) != 0, 0);
	enum reprise_pass pass, eagerly;

	if ((grouped && atomic_load(&reprise_groups_tracked) != 0) || !is_alone(stream, per_thread))
		return REPRISE_PASS_NOT;
	/* Whether a member backs off, its own lane does not tell. */
	pass = grouped ? REPRISE_PASS_NOT : reprise_lanes_pass(stream, per_thread);
	if (pass != REPRISE_PASS_AT_ONCE) {
		eagerly = begins_eagerly();
		if (pass == REPRISE_PASS_NOT || eagerly == REPRISE_PASS_AT_ONCE)
			pass = eagerly;
	}
	if (pass == REPRISE_PASS_AT_ONCE)
		reprise_gate_begin_giving(NULL);
	return pass;
}

REPRISE_HOT bool reprise_pass_begins_in_turn(CUstream stream, bool per_thread)
{
	if (!reprise_eager_by_turn() || !reprise_turns_pass_launch(stream, per_thread))
		return false;
	reprise_gate_begin_giving(NULL);
	return true;
}

REPRISE_HOT bool reprise_pass_begins_scanned(CUstream stream, bool per_thread,
                                             struct reprise_scan_key key)
{
	if (!reprise_lanes_pass_scanned(stream, per_thread, key))
		return false;
	reprise_gate_begin_giving(NULL);
	return true;
}
