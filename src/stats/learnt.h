/*
 * Whether a loop is still learnt while it is measured: whether more of its ops are replayed than in
 * the first replaying turn of the test.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_learnt {
	uint64_t ops, replayed;             /* of the lane, as told last */
	uint64_t ops_begun, replayed_begun; /* when the turn began */
	/* What was replayed in the first turn of the test, and in the last, in thousandths. */
	unsigned int first, last;
};

void reprise_learnt_begin_test(struct reprise_learnt *learnt);

/* The compared part of a replaying turn begins, and has ended. */
void reprise_learnt_begin_turn(struct reprise_learnt *learnt);
void reprise_learnt_end_turn(struct reprise_learnt *learnt);

/* True if the share has grown by more than `growth`, in thousandths, since the test's first turn.
 */
bool reprise_learnt_more(const struct reprise_learnt *learnt, unsigned int growth);

/* True if the share of the last replaying turn is more than `before`, by more than
 * REPRISE_TUNE_TURNS_LEARNING. */
bool reprise_learnt_since(const struct reprise_learnt *learnt, unsigned int before);

/* True if less than REPRISE_TUNE_LESSON_BELOW of the ops were replayed in the last replaying turn.
 * False where nothing was told. */
bool reprise_learnt_is_little(const struct reprise_learnt *learnt);

/* True if next to nothing was replayed in the first replaying turn of the test, and in the last:
 * fewer than REPRISE_TUNE_TURNS_NOTHING of the ops. */
bool reprise_learnt_is_nothing(const struct reprise_learnt *learnt);
