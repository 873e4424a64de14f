/*
 * A capture of the program's against ops of another thread on the stream that is captured
 * (src/graph/program_captures.c, src/lane/order.c, src/lane/dispatch.c): what was answered before
 * is no part of the capture, and no graph is launched into it. For invariants 1 and 2.
 *
 * Real: all of src/lane, the notes of captures, and the hold and launch threads. Stand-ins: the
 * program and the driver of tests/unit/lane. The program has learnt a trace before.
 */
#include "graph/program_captures.h"
#include "lane/async_launch.h"
#include "lane/hold.h"
#include "lane/order.h"
#include "lanes.h"

#define HERE ((CUcontext)1)

static unsigned int launches; /* of graphs, when the capture began */
static bool begun;

static void setup(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
	reprise_hold_ensure();
	begun = false;
}

/* What is deferred is issued by the capturing thread, or by nobody. */
static void setup_alone(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
	lanes_without_hold();
	begun = false;
}

static void setup_pending(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=always");
	lanes_without_hold();
	reprise_async_launch_ensure();
	begun = false;
}

static void call(void)
{
	lanes_call("a b c");
}

static void call_and_go_on(void)
{
	lanes_call("a b c a");
}

/* As cuStreamBeginCapture does. */
static void capture(void)
{
	unsigned int answered = lanes_answered(1);

	reprise_program_captures_begin(driver_stream(1), HERE, false);
	reprise_lanes_give_way_to_capture(driver_stream(1), false, HERE, false);
	REQUIRE(lanes_driver_has_of(1) >= answered, "what was answered before is captured");
	launches = driver.launches;
	begun = true;
}

/* As a wait for an event that another stream has recorded in its capture. */
static void join(void)
{
	unsigned int answered = lanes_answered(1);

	reprise_program_captures_begin(driver_stream(2), HERE, false);
	reprise_program_captures_join(driver_stream(1), HERE, false);
	reprise_lanes_give_way_to_capture(driver_stream(1), false, HERE, false);
	REQUIRE(lanes_driver_has_of(1) >= answered, "what was answered before is captured");
	launches = driver.launches;
	begun = true;
	schedule_point("joins");
	reprise_program_captures_joined(driver_stream(1), HERE, true);
}

static void check(void)
{
	REQUIRE(!begun || driver.launches == launches, "a graph is launched into the capture");
	lanes_check();
}

#define COMMON .is_over = lanes_are_quiet, .settle_ns = LANES_SETTLE_NS, .check = check

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "captures: one begins",
	     .words = "an op is issued before it, or is captured",
	     .setup = setup,
	     .threads = {call, capture},
	     COMMON},
		{.name = "captures: a stream joins one",
	     .words = "the same where the stream joins a capture that has begun elsewhere",
	     .setup = setup_alone,
	     .threads = {call, join},
	     COMMON},
		{.name = "captures: one begins beside pending launches",
	     .words = "the same where the launch thread launches",
	     .setup = setup_pending,
	     .threads = {call_and_go_on, capture},
	     COMMON},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
