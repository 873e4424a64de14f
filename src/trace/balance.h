/*
 * Whether a trace pays. Its visits cost the program's thread time, patches and side exits included;
 * the balance compares that with the eager cost of the same ops. Both are measured in this process.
 * A trace that has lost as much as some eager visits cost gets a cooldown.
 *
 * Under the lane's lock. Once a trace is known to pay, one visit in eight is timed; the others read
 * no clock.
 */
#pragma once

#include "trace/trace.h"

/* The eager cost of a visit, in ticks; 0 if it is not known. */
uint64_t reprise_balance_eager(const struct reprise_trace *trace);

/* True if this replay should be timed. */
bool reprise_balance_wants(const struct reprise_trace *trace);

/* Adds a timed replay; a side exit, without the issue of its ops. False if the trace does not
 * pay. */
bool reprise_balance_replayed(struct reprise_trace *trace, uint64_t ticks);
bool reprise_balance_side_exit(struct reprise_trace *trace, uint64_t ticks);
