/*
 * fork (src/process/process.c, and what each part resets): a thread forks while others are anywhere
 * in Reprise. The child has one thread, no lock is held there, nothing that the parent deferred is
 * issued there, and Reprise starts anew. For invariants 1 and 10 (no CUDA call in a forked child:
 * none but the child's own).
 *
 * Real: process/process.c and all that it resets, src/lane, the hold and the launch threads. A fork
 * is a scheduling point after which the other threads are gone; the parent is not followed.
 * Stand-ins: the program and the driver of tests/unit/lane; CUDA would refuse the child's calls.
 * Not checked: locks of the C library.
 */
#include <stdlib.h>
#include <string.h>

#include "base/gate.h"
#include "graph/building.h"
#include "lane/async_launch.h"
#include "lane/hold.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lanes.h"
#include "process/process.h"

static bool is_child;

/* ---- while Reprise starts ---- */

static void setup_nothing(void)
{
	unsetenv("REPRISE_REPORT");
}

static void start(void)
{
	REQUIRE(reprise_start() == REPRISE_MODE_ON, "Reprise is not on");
}

static void fork_and_start(void)
{
	schedule_fork();
	is_child = true;
	start();
}

/* ---- while lanes are used ---- */

/* One thread of the program's alone. */
static void setup(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
	start(); /* has forks watched */
	lanes_without_hold();
}

/* And the threads of Reprise. */
static void setup_threads(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=always");
	start();
	reprise_hold_ensure();
}

static void use(void)
{
	lanes_call("a b c a x 2:y |");
}

static void visit(void)
{
	lanes_call("a b c");
}

/* What the child does: all of it with locks that the parent's threads may have held. */
static void be_child(void)
{
	is_child = true;
	lanes_forget();
	REQUIRE(reprise_inside == 0, "the child's thread counts as inside");
	start();
	lanes_call("x y");
	reprise_lanes_sync(REPRISE_SYNC_ALL, 0, false);
	reprise_graph_building_pause();
	reprise_graph_building_resume();
	reprise_gate_begin_waiting();
	reprise_gate_end_waiting();
	reprise_gate_begin_giving(NULL);
	reprise_gate_end_giving();
	REQUIRE(reprise_hold_ensure() && reprise_async_launch_ensure(), "the child has no threads");
}

static void fork_beside(void)
{
	schedule_fork();
	be_child();
}

static bool is_over(void)
{
	return is_child || lanes_are_quiet();
}

static void check_child(void)
{
	REQUIRE(is_child, "there is no child");
	lanes_check();
}

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "fork: while Reprise starts",
	     .words = "Reprise starts in the child, whoever was starting it",
	     .setup = setup_nothing,
	     .threads = {start, fork_and_start}},
		{.name = "fork: beside a thread that calls",
	     .words = "the child gets its own ops alone, and waits for no lock",
	     .setup = setup,
	     .threads = {use, fork_beside},
	     .is_over = is_over,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = check_child},
		{.name = "fork: beside Reprise's threads",
	     .words = "the same, with a hold thread and a launch thread",
	     .setup = setup_threads,
	     .threads = {visit, fork_beside},
	     .is_over = is_over,
	     .settle_ns = LANES_SETTLE_NS,
	     .check = check_child,
	     .preemptions = 2}, /* the fork takes one, unless it comes first or last */
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
