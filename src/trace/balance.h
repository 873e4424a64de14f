/*
 * Whether a trace pays: what its visits cost the program's thread, patches and side exits included,
 * against what the same ops cost eagerly, both measured in this process. One that is seen to lose
 * as much as some visits cost eagerly is left to eager execution for a while.
 *
 * Under the lane's lock. Once a trace is known to pay, one visit in eight is timed, so that the
 * others read no clock.
 */
#pragma once

#include "trace/trace.h"

/* Whether this replay is to be timed. */
bool reprise_balance_wants(const struct reprise_trace *trace);

/* A replay that was timed took so many ticks; a side exit took so many, beside issuing its ops.
 * False if the trace does not pay. */
bool reprise_balance_replayed(struct reprise_trace *trace, uint64_t ticks);
bool reprise_balance_left(struct reprise_trace *trace, uint64_t ticks);
