/*
 * What the program's own calls cost its thread, as measured in this process: for each kind of op,
 * in ticks of the processor's counter.
 *
 * Any thread; no lock: a reading that is lost harms nobody.
 */
#pragma once

#include <stdint.h>

#include "op/call.h"

/* An eager call took so long. One that had to wait for something counts for little. */
void reprise_op_cost_note(enum reprise_op_kind kind, uint64_t ticks);

/* What such a call takes; 0 if none was ever timed. */
uint64_t reprise_op_cost(enum reprise_op_kind kind);
