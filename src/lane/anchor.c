/* A leaf lock, taken only if it is free, protects what is known of the loop: of two simultaneous
 * visits one is not counted. */
#include "lane/anchor.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/launcher.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/tuning.h"
#include "graph/build_queue.h"
#include "lane/async_launch.h"
#include "lane/behind.h"
#include "lane/eager.h"
#include "lane/registry.h"
#include "stats/search.h"
#include "stats/waits.h"

_Thread_local bool reprise_anchor_waited __attribute__((tls_model(REPRISE_TLS_MODEL)));

/* This thread's ops that could be no anchor, and how many waits all threads had before them. */
static _Thread_local struct {
	unsigned int passed, waits;
	unsigned int looked; /* ops that came while no loop was measured */
} looks __attribute__((tls_model(REPRISE_TLS_MODEL)));

/* Sums over all lanes: their ops, and the replayed ones. `looked`: so many were looked at since. */
struct sums {
	uint64_t ops, replayed, looked;
};

static struct {
	struct reprise_lock lock;
	/* The anchor, or a candidate for one. `key` 0: the lane's next op that may be one. */
	struct reprise_lane *lane;
	uint64_t key;
	bool any; /* any op may be the anchor; otherwise the first ones after waits */
	/* No op comes at a regular distance: a period is so many ops, and counts by the op. */
	bool uneven;
	unsigned int in_vain; /* none was found among any ops, or among first ones after waits */
	/* Where any op may be, or all are: the next visit is at the lane's op of that number, or
	 * later. */
	uint64_t from;
	/* Candidates among any ops that were none, in a row. */
	uint64_t tried_keys[REPRISE_TUNE_ANCHOR_TRIED];
	unsigned int tried;
	struct reprise_waits recent; /* of a candidate that is first after waits */
	unsigned int part_waits;     /* periods of so many waits were part of the loop; 0: none were */
	unsigned int stride;         /* so many of its visits are one period */
	unsigned int visits;         /* in this period */
	unsigned int missed;         /* other ops that could be one, since its last visit */
	uint64_t passed_by;          /* ops of any lane since then, as far as they were seen */
	unsigned int waits;          /* ops that may be one, and came after waits */
	unsigned int alike;          /* periods in a row whose ops are about as many; of a candidate */
	/* Those in a row that are not; of a candidate: since so many in a row were. */
	unsigned int unlike;
	unsigned int passed_over;
	/* Periods measured, their ops, and those of the ones not alike, since it was asked last whether
	 * they are all of the loop. */
	unsigned int asked;
	uint64_t asked_ops, unlike_ops;
	/* Among any ops, periods of so many ops were part of the loop; 0: none were. */
	uint64_t part_ops;
	unsigned int parts;         /* how often that was so */
	uint64_t shortest;          /* so the candidate's periods have so many at least */
	uint64_t period_ops;        /* as many ops has a period */
	uint64_t least_ops;         /* the shortest of those that were alike */
	bool waited;                /* the thread waits in each period */
	bool waited_now;            /* and has in this one */
	uint64_t last_ns, last_ops; /* when the last period ended; the lane's ops until then */
	unsigned int long_ones;     /* periods between waits that took long, in a row */
	bool cut;                   /* a pause was in this period */
	uint64_t alike_ns;          /* when the first alike period began, without pauses and gaps */
	uint64_t longest_ns;        /* the longest period since; only of the first a gap is left out */
	uint64_t alike_ops;         /* the lane's ops then */
	uint64_t alike_replayed;    /* and its replayed ones */
	uint64_t replayed_ns;       /* when a period with replays was seen first; 0: none */
	uint64_t async; /* the launch thread had launched so many graphs before it was measured */
	bool begun, measuring;
	struct reprise_search search;
	struct sums sums; /* when the search was told of them last; no ops: not since it went on */
	unsigned int interruptions; /* until the search was told last */
	unsigned int left_out;      /* interruptions whose time is none of the loop's */
	uint64_t paused_ns;         /* what pauses had lasted in all when that was told last */
	uint64_t tests;             /* that had reached a verdict when the search was told last */
	uint64_t pause_ns;          /* a pause of the search begins with the eager turn; 0: none */
	struct reprise_turns turns;
} loop;

/* Pauses that have ended. */
static unsigned int interruptions;

/* ---- anchors ---- */

/* What can be compared at once, and is the same in both arms. Of ops after waits it is the same for
 * all shapes: grids and sizes change from call to call, and the same ones come again after many.
 * Where any op may be the anchor, they tell apart what comes often in a period. Not 0. */
static uint64_t key_of(const struct reprise_call *call, bool any)
{
	uint64_t key = call->kind;

	if (call->kind == REPRISE_OP_KERNEL)
		key = reprise_hash_mix((uintptr_t)call->kernel.function, any ? call->kernel.grid[0] : 0);
	else if (call->kind == REPRISE_OP_COPY && any)
		key = reprise_hash_mix(key, call->copy.bytes);
	return key | 1;
}

static void ask_anew(void)
{
	loop.asked = 0;
	loop.asked_ops = loop.unlike_ops = 0;
}

static void look_for(struct reprise_lane *lane, uint64_t key)
{
	reprise_behind_reset();
	__atomic_store_n(&loop.measuring, false, __ATOMIC_RELAXED);
	loop.lane = lane;
	loop.key = key;
	loop.stride = 1;
	loop.visits = loop.missed = loop.alike = loop.unlike = 0;
	loop.last_ns = loop.replayed_ns = 0;
	ask_anew();
	reprise_waits_begin(&loop.recent);
	loop.part_waits = 0;
	loop.shortest = 0;
	if (loop.any)
		loop.shortest = loop.part_ops == 0 ? REPRISE_TUNE_ANCHOR_SHORTEST : 2 * loop.part_ops;
	__atomic_store_n(&loop.uneven, false, __ATOMIC_RELAXED);
}

/* Looks among all ops, or among first ones after waits. */
static void look_among(bool any, struct reprise_lane *lane)
{
	__atomic_store_n(&loop.any, any, __ATOMIC_RELAXED);
	loop.tried = 0;
	look_for(lane, 0);
}

#define UNEVEN_KEY 1 /* of all ops */

static void take_as_uneven(struct reprise_lane *lane)
{
	look_for(lane, UNEVEN_KEY);
	loop.shortest = 0;
	__atomic_store_n(&loop.from, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&loop.any, true, __ATOMIC_RELAXED);
	__atomic_store_n(&loop.uneven, true, __ATOMIC_RELAXED);
}

/* None of the ops that were looked among is an anchor. A loop that waits too often has other ops,
 * too; one in which no op comes at a regular distance may come to wait. */
static void look_elsewhere(struct reprise_lane *lane)
{
	if (++loop.in_vain > 1 && loop.any)
		take_as_uneven(lane);
	else
		look_among(!loop.any, lane);
}

/* A candidate may be in another lane. */
static void turn_to(struct reprise_lane *lane, uint64_t key)
{
	if (loop.uneven && !loop.measuring)
		take_as_uneven(lane);
	else
		look_for(lane, loop.uneven ? 0 : key);
}

static bool is_alike(uint64_t ops)
{
	uint64_t margin = loop.period_ops /
	                  (loop.any ? REPRISE_TUNE_ANCHOR_MARGIN : REPRISE_TUNE_ANCHOR_WAITED_MARGIN);

	if (loop.uneven)
		return true;
	return loop.waited_now == loop.waited && ops + margin >= loop.period_ops &&
	       ops <= loop.period_ops + margin;
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
	turn_to(busiest, 0);
	return false;
}

/* True if the graphs of the loop are there, or it is time. Where nothing is replayed for long,
 * turns tell what watching costs. */
static bool is_settled(const struct reprise_lane *lane, uint64_t now)
{
	uint64_t ops = lane->counts.ops + lane->counts.in_turns - loop.alike_ops;

	if (lane->counts.replayed == loop.alike_replayed)
		return ops > REPRISE_TUNE_ANCHOR_UNREPLAYED_OPS ||
		       now - loop.alike_ns > REPRISE_TUNE_ANCHOR_UNREPLAYED_NS;
	if (loop.replayed_ns == 0)
		loop.replayed_ns = now;
	return reprise_build_queue_unfinished() == 0 ||
	       now - loop.replayed_ns > REPRISE_TUNE_ANCHOR_SETTLED_NS;
}

static void interrupt_search(void)
{
	reprise_search_interrupt(&loop.search);
	loop.sums = (struct sums){0};
}

/* What the ranks' clock is ahead of `now`; 0: the process is no rank (stats/in_step.h). */
static uint64_t common_ahead(uint64_t now)
{
	struct reprise_launcher launcher;

	return reprise_launcher_found(&launcher) ? reprise_clock_common_ns() - now : 0;
}

static void measure(uint64_t now)
{
	uint64_t period = (now - loop.alike_ns) / loop.alike;

	if (loop.begun) {
		reprise_turns_begin_loop(&loop.turns, now, period);
	} else {
		reprise_turns_begin(&loop.turns, now, period, reprise_clock_ticks() | 1, common_ahead(now));
		loop.paused_ns = reprise_eager_paused_ns();
	}
	loop.begun = true;
	interrupt_search();
	loop.async = reprise_async_launched();
	__atomic_store_n(&loop.measuring, true, __ATOMIC_RELAXED);
	loop.unlike = 0;
	loop.in_vain = 0;
	if (loop.any)
		loop.stride = 1; /* the distance tells */
}

/* All visits that make a period have been tried. */
static void try_another(struct reprise_lane *lane)
{
	if (!loop.any || loop.tried == REPRISE_TUNE_ANCHOR_TRIED) {
		look_elsewhere(lane);
		return;
	}
	loop.tried_keys[loop.tried++] = loop.key;
	look_for(lane, 0);
}

static bool was_tried(uint64_t key)
{
	for (unsigned int i = 0; i < loop.tried; i++)
		if (loop.tried_keys[i] == key)
			return true;
	return false;
}

static void begin_alike(const struct reprise_lane *lane, uint64_t now)
{
	loop.longest_ns = now - loop.last_ns;
	loop.alike = 1;
	loop.alike_ns = loop.last_ns;
	loop.alike_ops = loop.last_ops;
	loop.alike_replayed = lane->counts.replayed;
}

/* True if the periods are part of a loop: layers of a network, in a step that has more. What they
 * gain is not what the loop gains. */
static bool is_part(void)
{
	return loop.unlike_ops * REPRISE_TUNE_ANCHOR_PART > loop.asked_ops;
}

static void count_period(bool alike, uint64_t ops)
{
	loop.asked++;
	loop.asked_ops += ops;
	loop.unlike_ops += alike ? 0 : ops;
	loop.unlike = alike ? 0 : loop.unlike + 1;
}

/* The periods were part of the loop. */
static void look_for_more_waits(struct reprise_lane *lane)
{
	unsigned int waits = loop.stride;

	look_for(lane, loop.key);
	loop.part_waits = waits;
}

static void look_for_longer_among_any(struct reprise_lane *lane)
{
	loop.part_ops = loop.period_ops;
	if (++loop.parts > REPRISE_TUNE_ANCHOR_PARTS_MOST ||
	    2 * loop.part_ops > REPRISE_TUNE_ANCHOR_SELDOM)
		take_as_uneven(lane);
	else
		look_among(true, lane);
}

static void look_for_longer(struct reprise_lane *lane)
{
	if (loop.any)
		look_for_longer_among_any(lane);
	else
		look_for_more_waits(lane);
}

/* False if a period would be too long. */
static bool look_further(void)
{
	loop.shortest *= 2;
	return loop.shortest <= REPRISE_TUNE_ANCHOR_SELDOM;
}

/* As many ops came again and again: whether that is all of the loop. False if they come no more. */
static bool confirm(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	bool alike = is_alike(ops);

	count_period(alike, ops);
	if (loop.unlike > REPRISE_TUNE_ANCHOR_CONFIRMED) {
		loop.alike = loop.unlike = 0;
		ask_anew();
		return false;
	}
	loop.alike++; /* the mean of all is a period, until one is measured */
	if (alike && ops < loop.least_ops)
		loop.least_ops = ops;
	if (!alike || loop.asked < REPRISE_TUNE_ANCHOR_CONFIRMED || !is_settled(lane, now))
		return true;
	if (is_part()) {
		look_for_longer(lane);
	} else if (is_busy_enough(lane)) {
		ask_anew();
		measure(now);
	}
	return true;
}

/* Turns of long periods cost much. Among any ops there are mostly shorter ones. */
static bool waits_seldom(uint64_t now)
{
	bool is_long = now - loop.last_ns > loop.stride * REPRISE_TUNE_ANCHOR_LONG_NS;

	loop.long_ones = is_long ? loop.long_ones + 1 : 0;
	return loop.long_ones == REPRISE_TUNE_ANCHOR_LONG;
}

/* So many of its visits are one period. */
static void take_period(const struct reprise_lane *lane, const struct reprise_waits_period *period,
                        uint64_t now, uint64_t ops)
{
	loop.stride = period->waits;
	loop.period_ops = period->ops;
	loop.least_ops = period->least_ops;
	loop.longest_ns = period->ns;
	loop.waited = true;
	loop.alike = period->periods;
	loop.alike_ns = now - period->periods * period->ns;
	loop.alike_ops = ops - period->periods * period->ops;
	loop.alike_replayed = lane->counts.replayed;
}

/* A candidate that is first after waits is visited, or a period of it has ended. */
static void consider_waits(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	struct reprise_waits_period period;

	if (waits_seldom(now)) {
		look_among(true, lane);
		return;
	}
	if (loop.alike > 0) {
		if (confirm(lane, now, ops - loop.last_ops))
			return;
		loop.stride = 1;
		reprise_waits_begin(&loop.recent);
	}
	if (loop.recent.count == 0)
		reprise_waits_note(&loop.recent, loop.last_ops, loop.last_ns);
	reprise_waits_note(&loop.recent, ops, now);
	period = reprise_waits_find(&loop.recent, loop.part_waits);
	if (period.waits != 0)
		take_period(lane, &period, now, ops);
	else if (reprise_waits_are_all(&loop.recent) && loop.part_waits != 0)
		take_as_uneven(lane);
	else if (reprise_waits_are_all(&loop.recent))
		try_another(lane);
}

/* A period of a candidate among any ops has ended. Where its ops are as many again and again, it is
 * the anchor. Otherwise a period is longer, or shorter ones were part of the loop. */
static void consider_any(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	if (loop.alike > REPRISE_TUNE_ANCHOR_ALIKE && confirm(lane, now, ops))
		return;
	if (loop.alike > 0 && is_alike(ops)) {
		if (ops < loop.least_ops)
			loop.least_ops = ops;
		if (++loop.alike > REPRISE_TUNE_ANCHOR_ALIKE)
			loop.unlike = 0;
		return;
	}
	loop.period_ops = loop.least_ops = ops;
	loop.waited = loop.waited_now;
	begin_alike(lane, now);
	if (++loop.unlike < REPRISE_TUNE_ANCHOR_ALIKE)
		return;
	loop.unlike = loop.alike = 0;
	if (!look_further())
		try_another(lane);
}

/* A period of an uneven loop has ended. */
static void consider_uneven(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	if (loop.alike == 0)
		begin_alike(lane, now);
	else if (++loop.alike > REPRISE_TUNE_ANCHOR_ALIKE && is_settled(lane, now) &&
	         is_busy_enough(lane)) {
		loop.period_ops = (ops - loop.alike_ops) / loop.alike;
		measure(now);
	}
}

/* A program may load or compile something in a period of a candidate. So a period counts for
 * REPRISE_TUNE_TURN_OUTLIER times the longest before it at most, and the first for so many times
 * the second. */
static void leave_out_gap(uint64_t now)
{
	uint64_t took = now - loop.last_ns, most = REPRISE_TUNE_TURN_OUTLIER * took;

	if (loop.alike == 0)
		return;
	if (loop.alike == 1 && loop.longest_ns > most) {
		loop.alike_ns += loop.longest_ns - most;
		loop.longest_ns = most;
	}
	most = REPRISE_TUNE_TURN_OUTLIER * loop.longest_ns;
	if (took > most)
		loop.alike_ns += took - most;
	if (took > loop.longest_ns)
		loop.longest_ns = took;
}

/* A period of a candidate has ended, at the lane's op of this number. */
static void consider(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	leave_out_gap(now);
	if (loop.uneven)
		consider_uneven(lane, now, ops);
	else if (loop.any)
		consider_any(lane, now, ops - loop.last_ops);
	else
		consider_waits(lane, now, ops);
}

/* As long as the period would have taken with as many ops as others. */
static uint64_t period_ns(uint64_t now, uint64_t ops, bool alike)
{
	uint64_t ns = now - loop.last_ns;

	return alike ? ns * loop.period_ops / ops : ns;
}

/* The loop is another one. */
static void look_anew(struct reprise_lane *lane)
{
	loop.part_ops = loop.parts = 0;
	loop.long_ones = 0;
	look_for(lane, loop.key);
}

/* When in the period that ends `now` the GPU caught up, if that was seen. */
static void note_caught_up(uint64_t now, uint64_t ops)
{
	uint64_t at_ns, at_ops;

	if (reprise_turns_asks_when(&loop.turns) && reprise_behind_seen(&at_ns, &at_ops) &&
	    at_ns >= loop.last_ns && at_ns < now && at_ops >= loop.last_ops &&
	    at_ops < loop.last_ops + ops)
		reprise_turns_note_caught_up(&loop.turns,
		                             (unsigned int)((at_ns - loop.last_ns) * 1000 /
		                                            (now - loop.last_ns)),
		                             (unsigned int)((at_ops - loop.last_ops) * 1000 / ops));
}

/* A period has ended: the arm of the next. After a wait the GPU is not behind. */
static enum reprise_arm note_period(struct reprise_lane *lane, uint64_t now, uint64_t ops)
{
	bool alike = is_alike(ops), idle = reprise_behind_take(lane) || loop.waited_now;
	enum reprise_arm arm;

	count_period(alike, ops);
	if (loop.unlike == REPRISE_TUNE_ANCHOR_LOST) {
		look_anew(lane);
		return REPRISE_ARM_REPLAY;
	}
	if (loop.asked == REPRISE_TUNE_ANCHOR_PART_PERIODS) {
		if (is_part()) {
			look_for_longer(lane);
			return REPRISE_ARM_REPLAY;
		}
		ask_anew();
	}
	if (alike && reprise_turns_asks_processor(&loop.turns))
		reprise_turns_note_processor(&loop.turns, reprise_processor_ns(), loop.last_ops + ops);
	reprise_turns_note_replayed(&loop.turns, lane->counts.replayed, lane->counts.ops,
	                            lane->counts.launches);
	if (reprise_async_launched() != loop.async)
		reprise_turns_note_async(&loop.turns);
	note_caught_up(now, ops);
	arm = reprise_turns_note(&loop.turns, now, period_ns(now, ops, alike), alike, idle);
	if (!loop.waited && reprise_turns_asks(&loop.turns))
		reprise_behind_want(lane, reprise_turns_asks_when(&loop.turns)
		                              ? 1 + loop.period_ops / REPRISE_TUNE_TURNS_LOOKS
		                              : 0);
	reprise_async_launch_direct(reprise_turns_is_direct(&loop.turns));
	if (loop.turns.result.tests != loop.tests)
		reprise_search_succeeds(&loop.search);
	loop.tests = loop.turns.result.tests;
	if (loop.turns.unseen_until_ns != 0)
		reprise_eager_unseen_begin(loop.turns.unseen_until_ns);
	return arm;
}

/* The time since the last period ended is none of the loop's. */
static void leave_out(uint64_t now)
{
	loop.alike_ns += now - loop.last_ns;
	reprise_waits_leave_out(&loop.recent, 0, now - loop.last_ns);
	loop.last_ns = now;
}

/* `passed`: since the last period ended. Pauses have not lasted longer since then, whatever other
 * threads did to them at this moment. */
static void tell_pauses(uint64_t passed)
{
	uint64_t paused = reprise_eager_paused_ns(), more = paused - loop.paused_ns;

	reprise_turns_leave_out(&loop.turns, more < passed ? more : passed);
	loop.paused_ns = paused;
}

/* In a pause no op is seen: time counts from its end. */
static void take_interruption(uint64_t now)
{
	unsigned int ended = __atomic_load_n(&interruptions, __ATOMIC_RELAXED);

	if (loop.left_out == ended)
		return;
	loop.left_out = ended;
	loop.cut = true;
	if (loop.begun)
		tell_pauses(now - loop.last_ns);
	leave_out(now);
}

/* True if the anchor has not been visited for so long, or for so many other ops, that it will not
 * be: a loop of long periods may be followed by one of short ones. */
static bool is_lost(uint64_t now)
{
	uint64_t since;

	take_interruption(now);
	since = now - loop.last_ns;
	return since > REPRISE_TUNE_ANCHOR_LOST_NS &&
	       (since > REPRISE_TUNE_ANCHOR_LOST * loop.turns.period_ns ||
	        loop.passed_by > REPRISE_TUNE_ANCHOR_LOST * loop.period_ops);
}

/* Another op than the anchor comes, which could be one. */
static enum reprise_arm miss(struct reprise_lane *lane, uint64_t key)
{
	unsigned int most = loop.any ? REPRISE_TUNE_ANCHOR_SELDOM : REPRISE_TUNE_ANCHOR_MISSED;

	if (loop.any && loop.lane != NULL && loop.key == 0 &&
	    loop.missed >= most) { /* all have been tried */
		look_elsewhere(lane);
		return REPRISE_ARM_REPLAY;
	}
	if (loop.lane == NULL || (!loop.measuring && loop.missed >= most)) {
		turn_to(lane, key);
		return REPRISE_ARM_REPLAY;
	}
	if (++loop.missed % most == 0) {
		loop.passed_by += most;
		if (loop.measuring && is_lost(reprise_clock_ns())) {
			turn_to(lane, key);
			return REPRISE_ARM_REPLAY;
		}
	}
	return loop.measuring ? loop.turns.arm : REPRISE_ARM_REPLAY;
}

/* A period that a pause was in says nothing, nor does its turn. Those before it and after it are as
 * if it had not been: a program may pause often. */
static enum reprise_arm leave_out_period(enum reprise_arm arm, uint64_t now, uint64_t ops)
{
	loop.cut = false;
	leave_out(now);
	loop.alike_ops += ops - loop.last_ops;
	reprise_waits_leave_out(&loop.recent, ops - loop.last_ops, 0);
	return loop.measuring ? reprise_turns_give_up(&loop.turns) : arm;
}

/* An op comes that may be the anchor: the arm of the next period. `ops`: the lane's, with this
 * one. */
static enum reprise_arm meet(struct reprise_lane *lane, uint64_t key, uint64_t ops)
{
	enum reprise_arm arm = loop.measuring ? loop.turns.arm : REPRISE_ARM_REPLAY;
	uint64_t now;

	if (lane != loop.lane || (loop.key == 0 ? was_tried(key) : key != loop.key))
		return miss(lane, key);
	if (loop.uneven && ops < loop.from)
		return arm;
	__atomic_store_n(&loop.key, key, __ATOMIC_RELAXED);
	loop.missed = 0;
	if (loop.last_ns != 0 && ops < loop.last_ops + loop.shortest)
		return arm;
	if (++loop.visits < loop.stride)
		return arm;
	loop.visits = 0;
	now = reprise_clock_ns();
	take_interruption(now);
	if (loop.cut)
		arm = leave_out_period(arm, now, ops);
	else if (loop.measuring)
		arm = note_period(lane, now, ops - loop.last_ops);
	else if (loop.last_ns != 0)
		consider(lane, now, ops);
	if (loop.lane != lane || loop.key != key)
		return arm; /* another one is looked at instead */
	loop.last_ns = now;
	loop.last_ops = ops;
	loop.passed_by = 0;
	loop.waited_now = false;
	__atomic_store_n(&loop.from,
	                 ops + (loop.uneven ? REPRISE_TUNE_ANCHOR_UNEVEN_OPS : loop.least_ops),
	                 __ATOMIC_RELAXED);
	return loop.measuring ? loop.turns.arm : arm;
}

/* An op is no anchor. Where a thread does not wait for long, any op may be one. */
static enum reprise_arm pass_by(struct reprise_lane *lane, enum reprise_arm arm)
{
	if (++looks.passed < REPRISE_TUNE_ANCHOR_UNWAITED || !reprise_lock_try(&loop.lock))
		return arm;
	if (loop.waits - looks.waits < REPRISE_TUNE_ANCHOR_WAITERS &&
	    (loop.measuring ? arm == REPRISE_ARM_REPLAY && is_lost(reprise_clock_ns()) : !loop.any)) {
		look_among(true, lane);
		arm = REPRISE_ARM_REPLAY;
	}
	looks.passed = 0;
	looks.waits = loop.waits;
	reprise_lock_give(&loop.lock);
	return arm;
}

/* Without the lock: as it was a moment ago. Where any op may be the anchor, both arms see the same
 * one by its distance: the replaying arm sees only those at which it follows no trace. */
static bool may_be_anchor(const struct reprise_lane *lane, const struct reprise_call *call,
                          uint64_t ops)
{
	if (!__atomic_load_n(&loop.any, __ATOMIC_RELAXED))
		return reprise_anchor_waited;
	return !__atomic_load_n(&loop.measuring, __ATOMIC_RELAXED) ||
	       (ops >= __atomic_load_n(&loop.from, __ATOMIC_RELAXED) &&
	        lane == __atomic_load_n(&loop.lane, __ATOMIC_RELAXED) &&
	        (call == NULL || __atomic_load_n(&loop.uneven, __ATOMIC_RELAXED) ||
	         key_of(call, true) == __atomic_load_n(&loop.key, __ATOMIC_RELAXED)));
}

REPRISE_HOT bool reprise_anchor_passes(const struct reprise_lane *lane,
                                       const struct reprise_call *call, uint64_t ops)
{
	if (looks.passed + 1 >= REPRISE_TUNE_ANCHOR_UNWAITED || may_be_anchor(lane, call, ops))
		return false;
	looks.passed++;
	return true;
}

/* A wait counts in the period of the lane in which its thread gives the next work. */
static void take_wait(const struct reprise_lane *lane)
{
	if (!reprise_anchor_waited || (loop.any && lane != loop.lane))
		return;
	reprise_anchor_waited = false;
	loop.waited_now = true;
	loop.waits++;
}

static void add_lane(struct reprise_lane *lane, void *context)
{
	struct sums *sums = context;

	sums->ops += __atomic_load_n(&lane->counts.ops, __ATOMIC_RELAXED);
	sums->replayed += __atomic_load_n(&lane->counts.replayed, __ATOMIC_RELAXED);
}

/* The ops beside those that were looked at, since the search was told of them last: those of
 * backoffs, and other threads'. 0 if more than a few were replayed. The counts are read as other
 * threads write them, and may go back a little. */
static unsigned int passed_beside(void)
{
	struct sums now = {0}, before = loop.sums;
	uint64_t ops, replayed;

	reprise_lanes_each(add_lane, &now);
	loop.sums = now;
	ops = now.ops > before.ops ? now.ops - before.ops : 0;
	replayed = now.replayed > before.replayed ? now.replayed - before.replayed : 0;
	if (before.ops == 0 || ops <= before.looked || ops > UINT32_MAX ||
	    replayed > ops / REPRISE_TUNE_SEARCH_IDLE)
		return 0;
	return (unsigned int)(ops - before.looked);
}

/* True if no loop was found for so long that all is eager now. */
static bool search_pauses(void)
{
	unsigned int ops = REPRISE_TUNE_ANCHOR_CLOCK;
	uint64_t pause = 0;

	if (__atomic_load_n(&loop.measuring, __ATOMIC_RELAXED) ||
	    ++looks.looked % REPRISE_TUNE_ANCHOR_CLOCK != 0 || !reprise_lock_try(&loop.lock))
		return false;
	if (loop.interruptions != __atomic_load_n(&interruptions, __ATOMIC_RELAXED)) {
		interrupt_search();
	} else if (!loop.measuring) {
		loop.sums.looked += REPRISE_TUNE_ANCHOR_CLOCK;
		if (looks.looked % REPRISE_TUNE_SEARCH_ASKED == 0)
			ops += passed_beside();
		pause = reprise_search_goes_on(&loop.search, ops, reprise_clock_ns());
	}
	loop.interruptions = __atomic_load_n(&interruptions, __ATOMIC_RELAXED);
	if (pause != 0)
		interrupt_search();
	__atomic_store_n(&loop.pause_ns, pause, __ATOMIC_RELAXED);
	reprise_lock_give(&loop.lock);
	return pause != 0;
}

enum reprise_arm reprise_anchor_look(struct reprise_lane *lane, const struct reprise_call *call,
                                     uint64_t ops, enum reprise_arm arm)
{
	if (arm == REPRISE_ARM_REPLAY && search_pauses())
		return REPRISE_ARM_EAGER;
	if (!may_be_anchor(lane, call, ops))
		return pass_by(lane, arm);
	if (!reprise_lock_try(&loop.lock)) {
		reprise_anchor_waited = reprise_anchor_waited && loop.any;
		return arm;
	}
	looks.passed = 0;
	take_wait(lane);
	arm = meet(lane, loop.uneven ? UNEVEN_KEY : key_of(call, loop.any), ops);
	reprise_lock_give(&loop.lock);
	return arm;
}

enum reprise_arm reprise_anchor_look_after(struct reprise_lane *lane)
{
	enum reprise_arm arm = REPRISE_ARM_EAGER;

	if (!reprise_lock_try(&loop.lock))
		return arm;
	loop.passed_by += REPRISE_TUNE_ANCHOR_LOOKED_AFTER;
	if (!loop.measuring || is_lost(reprise_clock_ns())) {
		look_for(lane, 0);
		arm = REPRISE_ARM_REPLAY;
	}
	reprise_lock_give(&loop.lock);
	return arm;
}

void reprise_anchor_turn_begun(void)
{
	uint64_t pause = __atomic_exchange_n(&loop.pause_ns, 0, __ATOMIC_RELAXED);

	if (pause != 0)
		reprise_eager_unseen_begin(reprise_clock_ns() + pause);
}

/* ---- the process ---- */

const struct reprise_lane *reprise_anchor_lane(void)
{
	return loop.lane;
}

bool reprise_anchor_read(struct reprise_turns_result *result)
{
	bool measuring;

	if (!reprise_lock_try(&loop.lock))
		return false;
	measuring = loop.measuring;
	*result = loop.turns.result;
	result->searched_ns = loop.search.all_ns;
	reprise_lock_give(&loop.lock);
	return measuring;
}

void reprise_anchor_interrupt(void)
{
	__atomic_fetch_add(&interruptions, 1, __ATOMIC_RELAXED);
}

void reprise_anchor_reset(void)
{
	interruptions = 0;
	reprise_async_launch_direct(false);
	memset(&loop, 0, sizeof(loop));
	memset(&looks, 0, sizeof(looks));
	reprise_behind_reset();
	reprise_anchor_waited = false;
}
