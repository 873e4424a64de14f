/* A leaf lock, taken only if it is free, protects what is known of the loop: of two simultaneous
 * visits one is not counted. */
#include "lane/turns.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "lane/eager.h"
#include "lane/registry.h"

bool reprise_turns_on REPRISE_HOT_DATA;
_Thread_local bool reprise_turns_waited __attribute__((tls_model(REPRISE_TLS_MODEL)));

static struct {
	struct reprise_lock lock;
	/* The anchor, or a candidate for one. `key` 0: the lane's next first op after a wait. */
	struct reprise_lane *lane;
	uint64_t key;
	unsigned int stride; /* so many of its visits are one period */
	unsigned int visits; /* in this period */
	unsigned int missed; /* first ops after waits that were others, since its last visit */
	unsigned int alike;  /* periods in a row whose ops are about as many; of a candidate */
	/* Those in a row that are not; of a candidate: since so many in a row were. */
	unsigned int unlike;
	unsigned int passed_over;
	uint64_t period_ops;        /* as many ops has a period */
	uint64_t last_ns, last_ops; /* when the last period ended; the lane's ops until then */
	uint64_t alike_ns;          /* when the first alike period began */
	uint64_t alike_replayed;    /* the lane's replayed ops then */
	uint64_t replayed_ns;       /* when a period with replays was seen first; 0: none */
	bool begun, measuring;
	struct reprise_turns turns;
} loop;

/* ---- anchors ---- */

/* What can be compared at once, and is the same in both arms. Not 0. */
static uint64_t key_of(const struct reprise_call *call)
{
	uint64_t key = call->kind;

	if (call->kind == REPRISE_OP_KERNEL)
		key = reprise_hash_mix((uintptr_t)call->kernel.function, call->kernel.grid[0]);
	else if (call->kind == REPRISE_OP_COPY)
		key = reprise_hash_mix(key, call->copy.bytes);
	return key | 1;
}

static uint64_t ops_of(const struct reprise_lane *lane)
{
	return lane->counts.ops + lane->counts.in_turns;
}

static void look_for(struct reprise_lane *lane, uint64_t key)
{
	loop.measuring = false;
	loop.lane = lane;
	loop.key = key;
	loop.stride = 1;
	loop.visits = loop.missed = loop.alike = loop.unlike = 0;
	loop.last_ns = loop.replayed_ns = 0;
}

static bool is_alike(uint64_t ops)
{
	uint64_t margin = loop.period_ops / REPRISE_TUNE_ANCHOR_MARGIN;

	return ops + margin >= loop.period_ops && ops <= loop.period_ops + margin;
}

static void find_busiest(struct reprise_lane *lane, void *context)
{
	struct reprise_lane **busiest = context;

	if (__atomic_load_n(&lane->counts.replayed, __ATOMIC_RELAXED) / 2 >
	    __atomic_load_n(&(*busiest)->counts.replayed, __ATOMIC_RELAXED))
		*busiest = lane;
}

/* False if a busier lane is looked at instead. */
static bool is_busy_enough(struct reprise_lane *lane)
{
	struct reprise_lane *busiest = lane;

	if (loop.passed_over == REPRISE_TUNE_ANCHOR_PASSED_OVER)
		return true;
	reprise_lanes_each(find_busiest, &busiest);
	if (busiest == lane)
		return true;
	loop.passed_over++;
	look_for(busiest, 0);
	return false;
}

/* True if the graphs of the loop are there, or it is time. */
static bool is_settled(const struct reprise_lane *lane, uint64_t now)
{
	if (lane->counts.replayed == loop.alike_replayed)
		return false;
	if (loop.replayed_ns == 0)
		loop.replayed_ns = now;
	return reprise_build_queue_unfinished() == 0 ||
	       now - loop.replayed_ns > REPRISE_TUNE_ANCHOR_SETTLED_NS;
}

static void measure(uint64_t now)
{
	uint64_t period = (now - loop.alike_ns) / loop.alike;

	if (!loop.begun)
		reprise_turns_begin(&loop.turns, now, period, reprise_clock_ticks() | 1);
	else
		reprise_turns_begin_loop(&loop.turns, now, period);
	loop.begun = loop.measuring = true;
	loop.unlike = 0;
}

/* A period of the candidate has ended. Where its ops are as many again and again, it is the anchor.
 * Otherwise more visits make one period: a loop may wait several times. */
static void consider(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	if (loop.alike > 0 && is_alike(ops)) {
		if (++loop.alike <= REPRISE_TUNE_ANCHOR_ALIKE)
			return;
		loop.unlike = 0;
		if (is_settled(lane, now) && is_busy_enough(lane))
			measure(now);
		return;
	}
	loop.period_ops = ops;
	loop.alike = 1;
	loop.alike_ns = loop.last_ns;
	loop.alike_replayed = lane->counts.replayed;
	if (++loop.unlike < REPRISE_TUNE_ANCHOR_ALIKE)
		return;
	loop.unlike = loop.alike = 0;
	loop.stride = loop.stride % REPRISE_TUNE_ANCHOR_STRIDE_MOST + 1;
}

/* A period has ended: the arm of the next. */
static enum reprise_arm note_period(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	bool alike = is_alike(ops);

	loop.unlike = alike ? 0 : loop.unlike + 1;
	if (loop.unlike == REPRISE_TUNE_ANCHOR_LOST) {
		look_for(lane, loop.key);
		return REPRISE_ARM_REPLAY;
	}
	return reprise_turns_note(&loop.turns, now, now - loop.last_ns, alike);
}

/* True if the anchor has not been visited for so long that it will not be. */
static bool is_lost(uint64_t now)
{
	uint64_t since = now - loop.last_ns;

	return since > REPRISE_TUNE_ANCHOR_LOST_NS &&
	       since > REPRISE_TUNE_ANCHOR_LOST * loop.turns.period_ns;
}

/* Another op than the anchor is the first after a wait. */
static enum reprise_arm miss(struct reprise_lane *lane, uint64_t key)
{
	if (loop.lane == NULL || (!loop.measuring && loop.missed >= REPRISE_TUNE_ANCHOR_MISSED)) {
		look_for(lane, key);
		return REPRISE_ARM_REPLAY;
	}
	loop.missed++;
	if (loop.measuring && loop.missed % REPRISE_TUNE_ANCHOR_MISSED == 0 &&
	    is_lost(reprise_clock_ns())) {
		look_for(lane, key);
		return REPRISE_ARM_REPLAY;
	}
	return loop.measuring ? loop.turns.arm : REPRISE_ARM_REPLAY;
}

/* The first op after a wait comes: the arm of the next period. `ops`: the lane's, with this one. */
static enum reprise_arm meet(struct reprise_lane *lane, const struct reprise_call *call,
                             uint64_t ops)
{
	enum reprise_arm arm = loop.measuring ? loop.turns.arm : REPRISE_ARM_REPLAY;
	uint64_t key = key_of(call), now;

	if (lane != loop.lane || (key != loop.key && loop.key != 0))
		return miss(lane, key);
	loop.key = key;
	loop.missed = 0;
	if (++loop.visits < loop.stride)
		return arm;
	loop.visits = 0;
	now = reprise_clock_ns();
	if (loop.measuring)
		arm = note_period(lane, now, ops - loop.last_ops);
	else if (loop.last_ns != 0)
		consider(lane, now, ops - loop.last_ops);
	if (loop.lane != lane)
		return arm; /* a busier one is looked at instead */
	loop.last_ns = now;
	loop.last_ops = ops;
	return loop.measuring ? loop.turns.arm : arm;
}

static enum reprise_arm meet_if_free(struct reprise_lane *lane, const struct reprise_call *call,
                                     uint64_t ops, enum reprise_arm now)
{
	enum reprise_arm arm;

	reprise_turns_waited = false;
	if (!reprise_lock_try(&loop.lock))
		return now;
	arm = meet(lane, call, ops);
	reprise_lock_give(&loop.lock);
	return arm;
}

/* ---- the replaying arm ---- */

bool reprise_turns_visit(struct reprise_lane *lane, struct reprise_call *call)
{
	call->begins_turn =
		meet_if_free(lane, call, ops_of(lane), REPRISE_ARM_REPLAY) == REPRISE_ARM_EAGER;
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

/* Ends an eager turn in which the anchor is not visited any more. */
static enum reprise_arm look_after(struct reprise_lane *lane)
{
	enum reprise_arm arm = REPRISE_ARM_EAGER;

	if (!reprise_lock_try(&loop.lock))
		return arm;
	if (!loop.measuring || is_lost(reprise_clock_ns())) {
		look_for(lane, 0);
		arm = REPRISE_ARM_REPLAY;
	}
	reprise_lock_give(&loop.lock);
	return arm;
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
	if (reprise_turns_waited)
		arm = meet_if_free(lane, call, ops_of(lane) + 1, arm);
	else if (lane->counts.in_turns % REPRISE_TUNE_ANCHOR_LOOKED_AFTER == 0)
		arm = look_after(lane);
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
	return loop.lane;
}

struct reprise_turns_told reprise_turns_read(void)
{
	struct reprise_turns_told told = {.on = reprise_turns_on};

	if (!told.on || !reprise_lock_try(&loop.lock))
		return told;
	told.measuring = loop.measuring;
	told.result = loop.turns.result;
	reprise_lock_give(&loop.lock);
	return told;
}

void reprise_turns_reset(void)
{
	memset(&loop, 0, sizeof(loop));
	reprise_turns_waited = false;
	if (reprise_turns_on)
		attend();
}
