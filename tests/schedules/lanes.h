/* A program in front of the lanes, for harnesses: tests/unit/lane/program.h says how its calls are
 * written. What is the same for all of them is checked here: the driver gets the program's ops,
 * each once and in order, and none stays deferred. */
#pragma once

#include "../unit/lane/program.h"
#include "schedule.h"

#define LANES_SETTLE_NS 2000000 /* five times the hold limit */

/* In setup(): the program has learnt a trace of these calls, and none of Reprise's threads is there
 * yet. `option`: NAME=value. */
void lanes_begin(const char *learnt, const char *option);

/* In setup(): the hold thread is taken to be there, and never runs. */
void lanes_without_hold(void);

/* After that: it runs, from the begin of each schedule. */
void lanes_with_hold(void);

/* In a forked child: what the program called before, and what the driver was given, is not its own.
 */
void lanes_forget(void);

/* The same calls of stream 2, after lanes_begin(). */
void lanes_learn_second(const char *learnt);

/* A thread of a harness makes these calls. Each stream is one thread's. */
void lanes_call(const char *words);

/* Another thread waits for the context: what was answered before on this stream is in the driver
 * then. */
void lanes_observe(unsigned int stream);

/* Another thread asks whether stream 1 is done: no, as long as ops that were answered before are
 * not in the driver. */
void lanes_query(void);

/* How many calls on a stream have returned. */
unsigned int lanes_answered(unsigned int stream);

/* How many ops the driver has been given since setup(); of one stream. */
unsigned int lanes_driver_has(void);
unsigned int lanes_driver_has_of(unsigned int stream);

/* What the driver does before it takes work of a stream. */
extern void (*lanes_in_driver)(unsigned int stream);

/* True if nothing is deferred or pending. */
bool lanes_are_quiet(void);

/* At the end of a schedule. */
void lanes_check(void);
