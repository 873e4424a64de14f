/*
 * The anchor of the loop that turns measure (turns.h), in one lane, by function or kind: the first
 * op after a wait of the same thread; where a thread does not wait, any op that comes again at a
 * regular distance in ops. From one visit of it to another is a period. Both arms find it by the
 * same comparison: where a period is as long as others in ops, it is the same op.
 *
 * The clock is read at anchors only, and once in many ops where the anchor may be lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/placement.h"
#include "lane/lane.h"
#include "stats/turns.h"

/* This thread has waited since its last op that may be an anchor. */
extern _Thread_local bool reprise_anchor_waited
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/* An op comes at which the lane follows no trace: the arm from here on, which was `arm`. `ops`: the
 * lane's, with this one. Under the lane's lock; its context is current. */
enum reprise_arm reprise_anchor_look(struct reprise_lane *lane, const struct reprise_call *call,
                                     uint64_t ops, enum reprise_arm arm);

/* In the eager arm, without the lane's lock: true if such a look would change nothing, whatever the
 * call is if it is NULL. Counts it. */
bool reprise_anchor_passes(const struct reprise_lane *lane, const struct reprise_call *call,
                           uint64_t ops);

/* The same once in a while in the eager arm: the anchor may not be visited any more. */
enum reprise_arm reprise_anchor_look_after(struct reprise_lane *lane);

/* An eager turn has begun. Where it is a pause of the search (stats/search.h), ops pass unseen
 * until that ends. */
void reprise_anchor_turn_begun(void);

/* The lane of the anchor, or of the candidate for one. NULL: none. Without the lock. */
const struct reprise_lane *reprise_anchor_lane(void);

/* True if a loop is measured; *result is what turns say. Waits for nothing: false, and *result
 * stays, if the lock is held. */
bool reprise_anchor_read(struct reprise_turns_result *result);

/* A pause of the program's ends: the period under way is none. Any thread. */
void reprise_anchor_interrupt(void);

/* After fork, in the child. */
void reprise_anchor_reset(void);
