/*
 * Sleep and wake of a worker (src/base/worker.c): a thread starts the worker when it first has
 * work, and later only reads whether it sleeps. For invariant 4 (bounded hold) and for building:
 * work that was asked for is seen to, however late each thread is.
 *
 * Real: base/worker.c, lock.c, thread.c. Stand-ins: what the worker does with its work.
 */
#include <stdatomic.h>

#include "base/worker.h"
#include "schedule.h"

static void *run(void *unused);

static struct reprise_worker worker;
static _Atomic unsigned int wanted, done;

static void setup(void)
{
	reprise_worker_define(&worker, run, "worker");
	schedule_name(&worker.state, 4, "state");
	schedule_name(&worker.calls, 4, "calls");
	schedule_name(&worker.starting, sizeof(worker.starting), "starting");
	schedule_name(&worker.stopped, 1, "stopped");
	schedule_name(&wanted, sizeof(wanted), "wanted");
	schedule_name(&done, sizeof(done), "done");
}

/* ---- until there is work ---- */

static bool has_work(void)
{
	return atomic_load(&wanted) != atomic_load(&done) || reprise_worker_stopped(&worker);
}

static void work(void)
{
	while (atomic_load(&wanted) != atomic_load(&done))
		atomic_fetch_add(&done, 1);
}

static void sleep_until_work(void)
{
	for (;;) {
		bool last = reprise_worker_stopped(&worker);

		work();
		if (last)
			return;
		reprise_worker_sleep(&worker, has_work);
	}
}

/* ---- without limit, unless called: as workers/timeline.c ---- */

static void pause_between_calls(void)
{
	for (;;) {
		uint32_t seen = atomic_load(&worker.calls);
		bool last = reprise_worker_stopped(&worker); /* read after `calls` */

		work();
		if (last)
			return;
		reprise_worker_pause(&worker, seen, 0);
	}
}

static bool pauses;

static void *run(void *unused)
{
	if (pauses)
		pause_between_calls();
	else
		sleep_until_work();
	reprise_worker_done(&worker);
	return NULL;
}

static void setup_pauses(void)
{
	pauses = true;
	setup();
}

static void ask(void)
{
	REQUIRE(reprise_worker_ready(&worker), "the worker could not be started");
	atomic_fetch_add(&wanted, 1);
	if (pauses)
		reprise_worker_call(&worker);
	else
		reprise_worker_wake(&worker);
}

static void ask_twice(void)
{
	ask();
	ask();
}

static void all_is_done(void)
{
	REQUIRE(wanted == done, "the worker sleeps, and %u of %u pieces of work are not done",
	        wanted - done, wanted);
}

/* ---- its end ---- */

static void ask_and_finish(void)
{
	ask();
	reprise_worker_finish(&worker, 1000000000);
	REQUIRE(atomic_load(&worker.state) == REPRISE_WORKER_DONE,
	        "the worker was stopped, and is not done within its time");
	all_is_done();
}

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "worker: one asks",
	     .words = "work is done that one thread asks for twice",
	     .setup = setup,
	     .threads = {ask_twice},
	     .check = all_is_done},
		{.name = "worker: two ask",
	     .words = "one worker is started, and does the work that two threads ask for",
	     .setup = setup,
	     .threads = {ask, ask},
	     .check = all_is_done},
		{.name = "worker: two call",
	     .words = "the same of a worker that pauses, by reprise_worker_call()",
	     .setup = setup_pauses,
	     .threads = {ask, ask},
	     .check = all_is_done},
		{.name = "worker: sleeps and is stopped",
	     .words = "it is done in time, and all work is done",
	     .setup = setup,
	     .threads = {ask_and_finish}},
		{.name = "worker: pauses and is stopped",
	     .words = "the same of a worker that pauses",
	     .setup = setup_pauses,
	     .threads = {ask_and_finish}},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
