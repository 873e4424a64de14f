/*
 * What turns lose: in the worse arm, as measured. A pair may begin only where what it may lose
 * still fits into a REPRISE_TUNE_TURNS_SHARE-th of the time so far, and REPRISE_TUNE_TURNS_FREE_NS.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_TURN_PERIODS_MOST 64

struct reprise_regret {
	uint64_t begun_ns;
	uint64_t lost_ns; /* in all */
	/* Of this test: without turns, calls would be eager. Then eager turns lose nothing that counts
	 * against the bound. */
	bool otherwise_eager;
	/* What the eager turns of this test took longer, in so many periods. */
	int64_t difference_ns;
	uint64_t compared;
	uint64_t before_ns;  /* lost in the tests before */
	uint64_t counted_ns; /* of that, what counts */
};

/* The periods of a turn, after so many pairs without a verdict, where a period takes so long. Turns
 * are short at first: a great difference shows in a few periods, and costs most. */
unsigned int reprise_regret_periods(unsigned int pairs, uint64_t period_ns);

/* What was lost so far stays lost. */
void reprise_regret_begin_test(struct reprise_regret *regret, bool otherwise_eager);

/* A pair is complete, of so many eager periods, and each of these took longer by so much:
 * one of its turns has lost it. Which one, all pairs of the test say together. */
void reprise_regret_count(struct reprise_regret *regret, int64_t difference_ns,
                          unsigned int periods);

/* This was lost outside of pairs. */
void reprise_regret_add(struct reprise_regret *regret, uint64_t ns);

/* True if so much more may be lost. */
bool reprise_regret_has_room(const struct reprise_regret *regret, uint64_t ns, uint64_t now_ns);

/* The same of what tells whether the arm of a rest is the better one still: it may lose up to the
 * aim, 1 % of the time and REPRISE_TUNE_TURNS_AIM_FREE_NS. */
bool reprise_regret_has_room_in_aim(const struct reprise_regret *regret, uint64_t ns,
                                    uint64_t now_ns);

/* True if a pair of so many periods may begin. Before anything is measured it may lose a
 * REPRISE_TUNE_TURNS_FIRST-th part of a turn, of `turn_ns`; then as much as the pairs before it. */
bool reprise_regret_affords(const struct reprise_regret *regret, uint64_t periods, uint64_t turn_ns,
                            uint64_t now_ns);
