/*
 * In place of src/lane/anchor.c, in a library for tests: turns begin and end at random, wherever
 * they may, and the launch thread is left out at random. In a program of a few milliseconds the real
 * one has found no loop yet.
 *
 * TURNING_SEED decides. A turn has one look, a few, or many, so that traces are made in between.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "lane/anchor.h"
#include "lane/async_launch.h"
#include "lane/behind.h"
#include "lane/eager.h"

_Thread_local bool reprise_anchor_waited __attribute__((tls_model(REPRISE_TLS_MODEL)));

static _Atomic(struct reprise_lane *) last;
static _Atomic int arm_now = REPRISE_ARM_REPLAY;
static atomic_int left = 1; /* looks of this turn */
static atomic_uint turns;

static uint64_t random_of(unsigned int turn)
{
	static _Atomic uint64_t seed;

	if (atomic_load(&seed) == 0) {
		const char *text = getenv("TURNING_SEED");

		atomic_store(&seed, 1 + (text != NULL ? strtoull(text, NULL, 10) : 0));
	}
	return reprise_hash_mix(atomic_load(&seed), turn + 1);
}

/* Replaying turns are looked at once in a visit, eager ones at each op. */
static int looks_of(uint64_t random, enum reprise_arm arm)
{
	static const int replaying[] = {1, 2, 3, 8, 20, 60}, eager[] = {1, 2, 3, 10, 30, 100};
	unsigned int i = (unsigned int)(random % 6);

	return arm == REPRISE_ARM_REPLAY ? replaying[i] : eager[i];
}

enum reprise_arm reprise_anchor_look(struct reprise_lane *lane, const struct reprise_call *call,
                                     uint64_t ops, enum reprise_arm arm)
{
	unsigned int turn = atomic_load(&turns);
	enum reprise_arm next = arm == REPRISE_ARM_REPLAY ? REPRISE_ARM_EAGER : REPRISE_ARM_REPLAY;

	(void)call;
	(void)ops;
	reprise_anchor_waited = false;
	atomic_store(&last, lane);
	reprise_async_launch_direct(random_of(turn) >> (atomic_load(&left) & 31) & 1);
	/* Between two looks another thread may have begun or ended the turn. */
	if (atomic_load(&arm_now) != (int)arm)
		return atomic_load(&arm_now);
	if (turn % 4 == 0)
		reprise_behind_want(lane, 2); /* the stream is queried, too */
	if (arm == REPRISE_ARM_EAGER && turn % 8 == 3 && atomic_load(&left) == 1)
		reprise_eager_unseen_begin(0); /* the next ops pass unseen, up to 64 */
	if (atomic_fetch_sub(&left, 1) > 1 || !atomic_compare_exchange_strong(&turns, &turn, turn + 1))
		return arm;
	if (turn % 4 == 1)
		reprise_behind_take(lane);
	atomic_store(&left, looks_of(random_of(turn), next));
	atomic_store(&arm_now, (int)next);
	return next;
}

/* By turns, so that both ways are taken. */
bool reprise_anchor_passes(const struct reprise_lane *lane, const struct reprise_call *call,
                           uint64_t ops)
{
	(void)lane;
	(void)call;
	return ops % 2 == 0 && atomic_load(&arm_now) == REPRISE_ARM_EAGER;
}

enum reprise_arm reprise_anchor_look_after(struct reprise_lane *lane)
{
	(void)lane;
	return atomic_load(&arm_now);
}

void reprise_anchor_turn_begun(void)
{
}

const struct reprise_lane *reprise_anchor_lane(void)
{
	return atomic_load(&last);
}

bool reprise_anchor_read(struct reprise_turns_result *result)
{
	(void)result;
	return false;
}

void reprise_anchor_interrupt(void)
{
}

void reprise_anchor_reset(void)
{
	atomic_store(&arm_now, REPRISE_ARM_REPLAY);
	atomic_store(&left, 1);
	reprise_async_launch_direct(false);
	reprise_behind_reset();
}
