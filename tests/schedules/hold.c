/*
 * The hold limit against side exits (src/lane/hold.c, side_exit.c, src/workers/hold.c): a program's
 * thread defers, and goes on or does not; the hold threads issue what is due, and hand the looking
 * over before they issue. For invariants 1 (each op once, in order), 2 and 4 (nothing stays
 * deferred, whatever the driver keeps).
 *
 * Real: all of src/lane, and the hold threads. Stand-ins: the program and the driver of
 * tests/unit/lane. The program has learnt a trace before. Not checked: how long the hold lasts. A
 * schedule has no speed.
 */
#include <time.h>

#include "lane/hold.h"
#include "lanes.h"

static void setup(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
	reprise_hold_ensure();
}

/* The hold thread starts with the first visit: it may sleep before its starter goes on. */
static void setup_late(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
}

static void ensure_and_defer(void)
{
	reprise_hold_ensure();
	lanes_call("a b");
}

/* The hold thread is about to go to sleep. */
static void defer_late(void)
{
	nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_HOLD_LINGER_NS}, NULL);
	schedule_choices_begin();
	lanes_call("a b");
}

static void defer(void)
{
	lanes_call("a b");
}

static void defer_one(void)
{
	lanes_call("a");
}

static void defer_and_leave(void)
{
	lanes_call("a b x");
}

static void defer_and_go_on(void)
{
	lanes_call("a b c a");
}

/* ---- the driver keeps a thread ---- */

static bool other_is_there(void *unused)
{
	return lanes_driver_has_of(2) > 0;
}

/* The first stream's work waits in the driver until the second's is there. */
static void keep_first_stream(unsigned int stream)
{
	if (stream == 1)
		schedule_wait(other_is_there, NULL, "is kept by the driver");
}

static void setup_kept(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
	lanes_learn_second("a b c");
	lanes_in_driver = keep_first_stream;
	reprise_hold_ensure();
}

static void defer_first(void)
{
	lanes_call("1:a");
}

static void defer_second(void)
{
	lanes_call("2:a");
}

static void observe(void)
{
	lanes_observe(1);
}

#define COMMON .is_over = lanes_are_quiet, .settle_ns = LANES_SETTLE_NS, .check = lanes_check

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "hold: the program pauses",
	     .words = "what is deferred is issued",
	     .setup = setup,
	     .threads = {defer},
	     COMMON},
		{.name = "hold: the thread starts late",
	     .words = "the same where the hold thread is started just before",
	     .setup = setup_late,
	     .threads = {ensure_and_defer},
	     COMMON},
		{.name = "hold: the thread goes to sleep",
	     .words = "the same where the hold thread is about to go to sleep, or sleeps",
	     .setup = setup,
	     .threads = {defer_late},
	     .begins_late = true,
	     COMMON},
		{.name = "hold: against a side exit",
	     .words = "each op is issued once and in order, by the program's thread or the hold thread",
	     .setup = setup,
	     .threads = {defer_and_leave},
	     COMMON},
		{.name = "hold: against a replay",
	     .words = "the same where the visit is completed, and the next one begins",
	     .setup = setup,
	     .threads = {defer_and_go_on},
	     COMMON},
		{.name = "hold: against another thread's wait",
	     .words = "the same, and the wait sees what was answered before",
	     .setup = setup,
	     .threads = {defer, observe},
	     COMMON},
		{.name = "hold: against another thread's query",
	     .words = "the same: who queries has the hold thread issue",
	     .setup = setup,
	     .threads = {defer_one, lanes_query},
	     COMMON},
		{.name = "hold: the driver keeps a hold thread",
	     .words = "another one issues the other stream's ops, for which the first is kept",
	     .setup = setup_kept,
	     .threads = {defer_first, defer_second},
	     COMMON},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
