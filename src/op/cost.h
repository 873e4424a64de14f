/*
 * The cost of the program's own calls to its threads, as measured in this process: in ticks of the
 * processor's counter, by kind of op and, for copies, by the way that they take. It is the lower
 * quartile of what was read (base/quartile.h): what a call waits for is no cost that a graph saves.
 *
 * Any thread, no lock: a lost reading does no harm.
 */
#pragma once

#include <stdint.h>

#include "op/call.h"
#include "op/op.h"

/* The ways of copies. A copy from or to pageable memory waits, or is staged by the driver; so does
 * one between host memory. */
enum reprise_way {
	REPRISE_WAY_NONE, /* no copy, or one that was not examined */
	REPRISE_WAY_WITHIN,
	REPRISE_WAY_TO_DEVICE,
	REPRISE_WAY_FROM_DEVICE,
	REPRISE_WAY_PAGEABLE_TO_DEVICE,
	REPRISE_WAY_PAGEABLE_FROM_DEVICE,
	REPRISE_WAY_COUNT
};

/* The way of an op that was examined. */
enum reprise_way reprise_op_way(const struct reprise_op *op);

/* Notes the time of an eager call. A copy of which the way is not known is passed over. */
void reprise_op_cost_note(enum reprise_op_kind kind, enum reprise_way way, uint64_t ticks);

/* The same of a call that came where all calls were eager, by turns (lane/turns.h). Amid replays a
 * call may wait for the launch thread, and finds other caches: it is dearer than the program's own
 * calls would be without them. A copy is passed over: its way was not looked at. */
void reprise_op_cost_note_in_turn(enum reprise_op_kind kind, uint64_t ticks);

/* The cost of such a call; 0 if none was timed. */
uint64_t reprise_op_cost(enum reprise_op_kind kind, enum reprise_way way);

/* What it would cost without replays: as timed in eager turns, if it was, or else the same. For
 * what is told of replaying as a whole; whether one visit more gains is decided by the other. */
uint64_t reprise_op_cost_alone(enum reprise_op_kind kind, enum reprise_way way);

/* The same of calls of a kind: the mean over all that were timed, whatever way they took, unless
 * some were timed in eager turns. */
uint64_t reprise_op_cost_of_kind(enum reprise_op_kind kind);

/* True if enough calls like this op were timed to decide something. */
bool reprise_op_cost_is_known(const struct reprise_op *op);
