/*
 * The lock (src/base/lock.c, lock.h): one holder at a time, a thread that sleeps for it is woken,
 * and who gives up holds nothing. For "Locks" in docs/design.md, and so for invariant 1.
 *
 * Real: base/lock.c. No stand-ins.
 */
#include "base/lock.h"
#include "base/tuning.h"
#include "schedule.h"

static struct reprise_lock lock;
static unsigned int holders, held, gave_up;

static void setup(void)
{
	schedule_name(&lock, sizeof(lock), "lock");
}

static void hold(void)
{
	REQUIRE(holders == 0, "two threads hold the lock");
	REQUIRE(reprise_inside == 1, "the holder counts as inside %d times", reprise_inside);
	holders++;
	schedule_point("holds");
	holders--;
	held++;
}

static void take(void)
{
	reprise_lock_take(&lock);
	hold();
	reprise_lock_give(&lock);
	REQUIRE(reprise_inside == 0, "who gave the lock counts as inside");
}

static void take_twice(void)
{
	take();
	take();
}

static void try_twice(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (reprise_lock_try(&lock)) {
			hold();
			reprise_lock_give(&lock);
		} else {
			gave_up++;
		}
		REQUIRE(reprise_inside == 0, "who tried counts as inside");
	}
}

static void take_within(void)
{
	if (reprise_lock_take_within(&lock, 1000)) {
		hold();
		reprise_lock_give(&lock);
	} else {
		gave_up++;
	}
	REQUIRE(reprise_inside == 0, "who gave up counts as inside");
}

static void is_free(void)
{
	REQUIRE(lock.word == 0, "the lock is not free in the end: %u", lock.word);
}

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "lock: two threads",
	     .words = "one holder at a time; who sleeps is woken",
	     .setup = setup,
	     .threads = {take_twice, take_twice},
	     .check = is_free},
		{.name = "lock: three threads",
	     .words = "the same of three",
	     .setup = setup,
	     .threads = {take, take, take_twice},
	     .check = is_free},
		{.name = "lock: one only tries",
	     .words = "the same beside reprise_lock_try()",
	     .setup = setup,
	     .threads = {take, take, try_twice},
	     .check = is_free},
		{.name = "lock: one gives up",
	     .words =
	         "the same beside reprise_lock_take_within(), whose time may be over at each reading",
	     .setup = setup,
	     .threads = {take, take, take_within},
	     .late_ns = 2000,
	     .check = is_free},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
