/*
 * The cost of the program's own calls to its threads, as measured in this process: per kind of op,
 * in ticks of the processor's counter.
 *
 * Any thread, no lock: a lost reading does no harm.
 */
#pragma once

#include <stdint.h>

#include "op/call.h"

/* Notes the time of an eager call. One that had to wait counts for little. */
void reprise_op_cost_note(enum reprise_op_kind kind, uint64_t ticks);

/* The cost of such a call; 0 if none was timed. */
uint64_t reprise_op_cost(enum reprise_op_kind kind);
