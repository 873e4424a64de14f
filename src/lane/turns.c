#include "lane/turns.h"

#include "base/placement.h"
#include "base/tuning.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "lane/eager.h"
#include "lane/registry.h"

bool reprise_turns_on REPRISE_HOT_DATA;

static uint64_t ops_of(const struct reprise_lane *lane)
{
	return lane->counts.ops + lane->counts.in_turns;
}

/* ---- the replaying arm ---- */

bool reprise_turns_visit(struct reprise_lane *lane, struct reprise_call *call)
{
	call->begins_turn =
		reprise_anchor_look(lane, call, ops_of(lane), REPRISE_ARM_REPLAY) == REPRISE_ARM_EAGER;
	call->unseen = call->begins_turn;
	return call->begins_turn;
}

void reprise_turns_switch(struct reprise_lane *lane)
{
	reprise_eager_turn_begin();
	atomic_store_explicit(&lane->noisy, true, memory_order_relaxed); /* this op is its news */
}

/* ---- the eager arm ---- */

static void end_turn(void)
{
	reprise_eager_turn_end();
	if (reprise_build_queue_unfinished() > 0)
		reprise_worker_call(&reprise_builder);
}

/* Counts the op, and notes that the lane has news: it is told of the next wait, and knows where its
 * ops come when the turn is over. */
static void pass(struct reprise_lane *lane)
{
	reprise_lane_count(&lane->counts.in_turns, 1);
	atomic_store_explicit(&lane->noisy, true, memory_order_relaxed);
	if (lane->trace != NULL)
		return; /* deferred by another thread just before the turn began */
	lane->position =
		(struct reprise_position){REPRISE_BEFORE_NOTHING, 0, lane->position.since_wait + 1};
	lane->last = lane->expected = NULL;
}

bool reprise_turns_goes_on(struct reprise_lane *found, const struct reprise_call *call)
{
	struct reprise_lane *lane = reprise_lane_take(found);
	enum reprise_arm arm = REPRISE_ARM_EAGER;

	if (__builtin_expect(reprise_lanes_moved(), 0)) {
		reprise_lock_give(&lane->lock);
		return true;
	}
	arm = reprise_anchor_look(lane, call, ops_of(lane) + 1, arm);
	if (arm == REPRISE_ARM_EAGER && lane->counts.in_turns % REPRISE_TUNE_ANCHOR_LOOKED_AFTER == 0)
		arm = reprise_anchor_look_after(lane);
	if (arm == REPRISE_ARM_EAGER)
		pass(lane);
	reprise_lock_give(&lane->lock);
	if (arm == REPRISE_ARM_REPLAY)
		end_turn();
	return arm == REPRISE_ARM_EAGER;
}

/* ---- the process ---- */

/* So that every wait is seen, whatever came before it. */
static void attend(void)
{
	atomic_fetch_add(&reprise_attention, 1);
}

void reprise_turns_start(void)
{
	reprise_turns_on = true;
	attend();
}

const struct reprise_lane *reprise_turns_lane(void)
{
	return reprise_anchor_lane();
}

struct reprise_turns_told reprise_turns_read(void)
{
	struct reprise_turns_told told = {.on = reprise_turns_on};

	if (told.on)
		told.measuring = reprise_anchor_read(&told.result);
	return told;
}

void reprise_turns_reset(void)
{
	reprise_anchor_reset();
	if (reprise_turns_on)
		attend();
}
