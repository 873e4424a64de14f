#include "stats/in_step.h"

#include "base/tuning.h"

/* The greatest power of two that is no more. */
static uint64_t power_below(uint64_t ns)
{
	return UINT64_C(1) << (63 - __builtin_clzll(ns | 1));
}

/* A pair that begins with its slot ends in it. One that begins late may end in the next. */
static uint64_t slot_of(uint64_t pair_ns)
{
	return 2 * power_below(pair_ns + pair_ns / REPRISE_TUNE_IN_STEP_LATE);
}

static uint64_t begin_of(const struct reprise_in_step *step, uint64_t now_ns, uint64_t slot_ns)
{
	return (now_ns + step->ahead_ns) & ~(slot_ns - 1);
}

bool reprise_in_step_begins(struct reprise_in_step *step, uint64_t now_ns, uint64_t pair_ns)
{
	uint64_t slot_ns = slot_of(pair_ns), begin = begin_of(step, now_ns, slot_ns);

	if (step->ahead_ns == 0)
		return true;
	if (begin == step->slot ||
	    now_ns + step->ahead_ns - begin > slot_ns / REPRISE_TUNE_IN_STEP_LATE)
		return false;
	step->slot = begin;
	return true;
}

uint64_t reprise_in_step_next(const struct reprise_in_step *step, uint64_t now_ns, uint64_t pair_ns)
{
	uint64_t slot_ns = slot_of(pair_ns);

	return step->ahead_ns == 0 ? UINT64_MAX
	                           : begin_of(step, now_ns, slot_ns) + slot_ns - step->ahead_ns;
}

uint64_t reprise_in_step_rest(const struct reprise_in_step *step, uint64_t now_ns, uint64_t rest_ns)
{
	uint64_t until = now_ns + rest_ns, slot_ns = power_below(rest_ns) / 2;

	return step->ahead_ns == 0 ? until
	                           : begin_of(step, until + slot_ns - 1, slot_ns) - step->ahead_ns;
}

/* A step of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
 * OOPSLA 2014). */
uint64_t reprise_in_step_random(const struct reprise_in_step *step, uint64_t random)
{
	uint64_t mixed = step->slot + UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return step->ahead_ns == 0 ? random : mixed ^ mixed >> 31;
}
