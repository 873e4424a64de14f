/*
 * Classes of short visits: of one op, of two or three, or of copies alone. A graph launch may cost
 * more than the few eager calls whose place it takes, so such a visit is replayed only while its
 * class is known to gain: by its length, by what its nodes are, and by whether the graph is patched
 * for it. That is measured in this process, and nothing is taken for granted.
 *
 * Each class is tried with some visits. The first of them do not count: behind eager calls the
 * driver's graphs are in no cache. Where the others did not cost less than the same calls did
 * eagerly, the class rests, for twice as many visits each time, and no graph is built for it. A
 * class that gains is measured on, in the visits that are timed for the balance of their trace
 * (balance.h), and one visit in many is eager, so that the prices of eager calls stay true.
 *
 * A class is the process's, whichever lane it is met in. Any thread, no lock: of two simultaneous
 * readings one may be lost, which does no harm.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

struct reprise_trace;

/* The number of the class of visits of such ops; 0: they are not short, and have none. */
uint8_t reprise_class_of(const struct reprise_op *ops, unsigned int count);

/* True if visits of the class are known to gain. */
bool reprise_class_gains(uint8_t class, bool patched);

/* True if it was tried, and does not: for a while no visit of it is replayed. */
bool reprise_class_rests(uint8_t class, bool patched);

/* Ops of such a visit have repeated. True if a graph may be built for them: while it is not known
 * whether the class gains, a few are enough to find out. take_build(): and one is. */
bool reprise_class_wants_builds(uint8_t class, bool patched);
bool reprise_class_take_build(uint8_t class, bool patched);

/* Ops of such a visit have repeated, and no graph is built for them: they are a visit of the
 * class, which rests for so many. */
void reprise_class_passed(uint8_t class, bool patched);

/* A visit of the trace begins. True if it may be replayed, and false if its ops are eager. */
bool reprise_class_take_visit(const struct reprise_trace *trace, bool patched);

/* A visit of the trace was replayed in `ticks`. False if it does not count: it is one of the first
 * of a try, which come behind eager calls. */
bool reprise_class_replayed(const struct reprise_trace *trace, bool patched, uint64_t ticks);
