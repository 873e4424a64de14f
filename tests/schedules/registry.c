/*
 * The directory of lanes against retirement (src/lane/registry.c, dispatch.c, entry/lifetime.c): a
 * stream is destroyed, its lane is retired and given to another stream, and its handle comes again;
 * meanwhile other threads find lanes, visit all of them and defer. For invariants 1, 2 and 3: an op
 * is never taken for another stream's.
 *
 * Real: all of src/lane, the ends of streams (src/entry/lifetime.c), and in one harness the hold
 * thread. Stand-ins: the program and the driver of tests/unit/lane. Each stream has learnt a trace.
 * What the program does is legal: nobody uses a stream while it is destroyed.
 */
#include <stdatomic.h>

#include "entry/entry.h"
#include "lane/hold.h"
#include "lane/registry.h"
#include "lanes.h"

static struct reprise_lane *of_second; /* the lane of stream 2 in setup() */
static uint64_t had;                   /* its ops then */
static _Atomic bool is_new;

static void setup(void)
{
	lanes_begin("a b c", "REPRISE_SUBMIT=never");
	lanes_without_hold();
	lanes_learn_second("a b c");
	of_second = lane_of(2);
	had = of_second->counts.ops;
	schedule_name(&of_second->lock, 4, "second.lock");
	schedule_name(&of_second->retired, 1, "second.retired");
	schedule_name(&of_second->deferred_since, 8, "second.deferred_since");
	schedule_name(of_second, sizeof(*of_second), "second");
}

static void setup_holding(void)
{
	setup();
	lanes_with_hold();
}

static bool is_set(void *flag)
{
	return *(_Atomic bool *)flag;
}

static void destroy_second(void)
{
	unsigned int before = lanes_answered(2);

	reprise_lifetime(REPRISE_LIFETIME_STREAM, (uintptr_t)driver_stream(2));
	REQUIRE(lanes_driver_has_of(2) >= before, "stream 2 is destroyed, and has %u of %u ops",
	        lanes_driver_has_of(2), before);
	schedule_point("cuStreamDestroy");
	reprise_lifetime_ended(REPRISE_LIFETIME_STREAM, (uintptr_t)driver_stream(2), CUDA_SUCCESS);
}

static void destroy_and_tell(void)
{
	destroy_second();
	atomic_store(&is_new, true);
}

/* The main thread has used stream 2 in setup(), and now a new stream that has its handle. */
static void use_again(void)
{
	schedule_wait(is_set, &is_new, "waits for a new stream with the handle of stream 2");
	lanes_call("2:x");
}

static void use_third(void)
{
	lanes_call("3:y");
}

/* Takes the lane that it has retired. */
static void destroy_and_use_third(void)
{
	destroy_and_tell();
	use_third();
}

static void use_and_destroy(void)
{
	lanes_call("2:a");
	destroy_second();
}

static void use_first(void)
{
	lanes_call("1:a 1:x");
}

static void observe_second(void)
{
	lanes_observe(2);
}

/* ---- whether any lane holds ---- */

static _Atomic bool is_answered;

/* No lane holds, and the word that says so has not been set back. */
static void setup_released(void)
{
	setup();
	schedule_name(&reprise_holding, 4, "holding");
	REQUIRE(atomic_load(&reprise_holding) != 0, "nothing was ever deferred");
}

static void defer_one(void)
{
	lanes_call("1:a");
	atomic_store(&is_answered, true);
}

static void look_for_holders(void)
{
	reprise_lanes_hold();
}

static void look_once_answered(void)
{
	schedule_wait(is_set, &is_answered, "waits for an op that is answered");
	REQUIRE(reprise_lanes_hold(), "an op is deferred, and no lane seems to hold any");
}

static void check_holding(void)
{
	lanes_call("1:x");
	lanes_check();
	REQUIRE(!reprise_lanes_hold() && atomic_load(&reprise_holding) == 0,
	        "no lane holds, and one seems to");
}

/* ---- streams that have no lane yet ---- */

static _Atomic bool is_used;

static void use_third_and_tell(void)
{
	use_third();
	atomic_store(&is_used, true);
}

static void ask_for_third(void)
{
	bool was_used = atomic_load(&is_used);
	const struct reprise_lane *lane = reprise_lanes_known(driver_stream(3), false);

	REQUIRE(lane != NULL || !was_used, "a stream had an op, and seems to have no lane");
}

/* It may find that there is none, and must not go on so. */
static void ask_again_and_again(void)
{
	ask_for_third();
	ask_for_third();
	schedule_wait(is_set, &is_used, "waits for the first op of stream 3");
	ask_for_third();
}

/* Each op counts for the lane that is its stream's at the end, or was. */
static void check_lanes(void)
{
	struct reprise_lane *second = lane_of(2), *third = lane_of(3);

	lanes_check();
	REQUIRE(second != third, "two streams have one lane");
	if (atomic_load(&is_new))
		REQUIRE(second->counts.ops == 1 + (second == of_second ? had : 0),
		        "the new stream 2 has the ops of another");
	if (lanes_answered(3) > 0)
		REQUIRE(third->counts.ops ==
		            1 + (third == of_second ? had + (atomic_load(&is_new) ? 0 : 1) : 0),
		        "stream 3 has the ops of another");
}

#define COMMON .is_over = lanes_are_quiet, .settle_ns = LANES_SETTLE_NS, .check = check_lanes

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "registry: a handle comes again",
	     .words = "an op is not taken for that of the stream that has the lane now",
	     .setup = setup,
	     .threads = {use_again, destroy_and_use_third},
	     COMMON},
		{.name = "registry: a new stream",
	     .words = "a thread finds a lane while one is retired: each stream has its own",
	     .setup = setup,
	     .threads = {use_third, use_and_destroy},
	     COMMON},
		{.name = "registry: a wait beside",
	     .words = "a wait that visits all lanes sees what came before",
	     .setup = setup,
	     .threads = {use_and_destroy, observe_second},
	     COMMON},
		{.name = "registry: another stream beside",
	     .words = "what is deferred on one stream is not touched by the end of another",
	     .setup = setup,
	     .threads = {use_first, use_and_destroy},
	     COMMON},
		{.name = "registry: the hold thread beside",
	     .words = "what is deferred on a stream that ends is issued once, before it ends",
	     .setup = setup_holding,
	     .threads = {use_and_destroy},
	     COMMON},
		{.name = "registry: three threads",
	     .words = "the first two at once",
	     .setup = setup,
	     .threads = {use_again, destroy_and_tell, use_third},
	     COMMON},
		{.name = "registry: a stream without a lane",
	     .words = "a thread that found none finds the lane once an op has made it",
	     .setup = setup,
	     .threads = {use_third_and_tell, ask_again_and_again, ask_for_third},
	     COMMON},
		{.name = "registry: who holds",
	     .words =
	         "a deferred op is seen by whoever comes after its answer, and none is seen in the end",
	     .setup = setup_released,
	     .threads = {defer_one, look_for_holders, look_for_holders, look_once_answered},
	     .check = check_holding},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
