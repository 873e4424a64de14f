/*
 * Pending launches (src/lane/launch.c, async_launch.c, src/workers/launcher.c): a program's thread
 * leaves complete visits to the launch thread, and whoever issues something behind them, or is
 * about to observe them, launches them first. For invariants 1 (same work, same order), 2 (nothing
 * passes a barrier) and 4 (bounded hold).
 *
 * Real: all of src/lane, and the launch thread; in some harnesses the hold threads. Stand-ins: the
 * program and the driver of tests/unit/lane. The program has learnt a trace before.
 */
#include <time.h>

#include "lane/async_launch.h"
#include "lane/hold.h"
#include "lanes.h"

static void setup(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=always");
	reprise_hold_ensure();
}

/* No hold thread is there. */
static void setup_alone(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=always");
	lanes_without_hold();
}

static void setup_there(void)
{
	setup_alone();
	reprise_async_launch_ensure();
}

static void visit(void)
{
	lanes_call("a b c");
}

/* The launch thread is about to go to sleep. */
static void visit_late(void)
{
	nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_LAUNCH_LINGER_NS}, NULL);
	schedule_choices_begin();
	lanes_call("a b c");
}

static void visit_twice(void)
{
	lanes_call("a b c a b c");
}

static void visit_and_go_on(void)
{
	lanes_call("a b c x");
}

static void visit_and_side_exit(void)
{
	lanes_call("a b c a x");
}

static void visit_and_wait(void)
{
	lanes_call("a b c |");
}

static void observe(void)
{
	lanes_observe(1);
}

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "pending: the launch thread alone",
	     .words = "a visit is launched, once, and a second one behind it",
	     .setup = setup_alone,
	     .threads = {visit_twice},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = lanes_check},
		{.name = "pending: the launch thread goes to sleep",
	     .words = "a visit is launched where it is about to go to sleep, or sleeps",
	     .setup = setup_there,
	     .threads = {visit_late},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .begins_late = true,
	     .check = lanes_check},
		{.name = "pending: an eager op behind",
	     .words = "what is eager comes behind what is pending, whoever launches that",
	     .setup = setup_alone,
	     .threads = {visit_and_go_on},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = lanes_check},
		{.name = "pending: a side exit behind",
	     .words = "what a side exit issues comes behind what is pending",
	     .setup = setup_alone,
	     .threads = {visit_and_side_exit},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = lanes_check},
		{.name = "pending: a wait",
	     .words = "a wait sees all that came before it",
	     .setup = setup_alone,
	     .threads = {visit_and_wait},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = lanes_check},
		{.name = "pending: another thread waits",
	     .words = "a wait of another thread sees all that was answered before it began",
	     .setup = setup_alone,
	     .threads = {visit, observe},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = lanes_check},
		{.name = "pending: beside the hold thread",
	     .words = "the launch thread and the hold thread launch a visit once",
	     .setup = setup,
	     .threads = {visit},
	     .is_over = lanes_are_quiet,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = lanes_check},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
