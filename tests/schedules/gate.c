/*
 * The gate and quiescence (src/base/gate.c, src/workers/quiescence.c, docs/design/gate.md): the
 * builder works only while no call waits for all work; in quiescence its context has nothing to do
 * and is given nothing; and whoever waits at the gate goes on. For invariants 2 and 7.
 *
 * Real: base/gate.c, lock.c, ending.c, workers/quiescence.c. Stand-ins: the builder's loop (as in
 * workers/builder.c), and a device that needs a while for each piece of work.
 */
#include <stdatomic.h>

#include "base/gate.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "graph/graph.h"
#include "schedule.h"
#include "workers/quiescence.h"

#define ONE ((CUcontext)16)
#define OTHER ((CUcontext)32)

static _Atomic uint32_t calls; /* the word that the builder sleeps on */
static struct reprise_quiescence quiescence;
static unsigned int giving, waiting, working, unknown; /* calls of each kind in the driver */
static unsigned int undone;                            /* work of ONE that is not done */
static unsigned int built;

/* ---- the driver ---- */

static CUresult CUDAAPI create_event(CUevent *event, unsigned int flags)
{
	*event = (CUevent)1;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI record_context(CUcontext context, CUevent event)
{
	return CUDA_SUCCESS;
}

/* The device is done with a piece of work when it was asked for. */
static CUresult CUDAAPI query_event(CUevent event)
{
	if (undone == 0)
		return CUDA_SUCCESS;
	undone--;
	return CUDA_ERROR_NOT_READY;
}

static void setup(void)
{
	reprise_driver.cuEventCreate = create_event;
	reprise_driver.cuCtxRecordEvent = record_context;
	reprise_driver.cuEventQuery = query_event;
	schedule_name(&calls, 4, "calls");
	schedule_name(&reprise_gate_closed, 8, "closed");
	schedule_name(&reprise_gate_waiting, 4, "gate's waiting");
}

/* ---- the program ---- */

static void give(CUcontext context)
{
	reprise_gate_begin_giving(context);
	giving += context == ONE;
	schedule_point("launches");
	undone += context == ONE;
	giving -= context == ONE;
	reprise_gate_end_giving();
}

static void give_once(void)
{
	give(ONE);
}

static void give_twice(void)
{
	give(ONE);
	give(ONE);
}

static void give_elsewhere(void)
{
	give(OTHER);
}

static void wait_once(void)
{
	reprise_gate_begin_waiting();
	waiting++;
	schedule_point("synchronises");
	REQUIRE(working == 0, "a call waits for all work, and the builder works");
	waiting--;
	reprise_gate_end_waiting();
}

static void wait_twice(void)
{
	wait_once();
	wait_once();
}

static void end_within(void)
{
	reprise_gate_begin_giving(ONE);
	schedule_point("is cancelled in a launch");
}

static void end_while_waiting(void)
{
	reprise_gate_begin_waiting();
	schedule_point("is cancelled while it synchronises");
}

/* A call whose return is not seen; the thread's next one shows that it has returned. */
static void call_unknown(void)
{
	reprise_gate_doubt();
	unknown++;
	schedule_point("an unknown call");
	unknown--;
	reprise_gate_doubt_no_more();
}

/* ---- the builder ---- */

static void make_graph(void)
{
	REQUIRE(undone == 0 && giving == 0 && unknown == 0,
	        "in quiescence, %u calls give work, %u are unknown, and %u pieces of work are not done",
	        giving, unknown, undone);
	schedule_point("instantiates");
	REQUIRE(undone == 0 && giving == 0 && unknown == 0, "quiescence ended while it was used");
	built++;
}

static void work(void)
{
	REQUIRE(waiting == 0 && working == 0, "the builder works beside %u calls that wait, %u others",
	        waiting, working);
	working++;
	if (reprise_quiescence_begin(&quiescence, ONE)) {
		make_graph();
		reprise_quiescence_end();
	}
	working--;
}

static void build(void)
{
	for (unsigned int before = built; built == before;) {
		uint32_t seen = atomic_load(&calls);
		uint64_t pause;

		if (reprise_gate_begin_work(&calls, &pause)) {
			work();
			reprise_gate_end_work();
		} else {
			reprise_futex_wait(&calls, seen, pause);
		}
	}
}

/* Nobody is counted any more. */
static void all_have_left(void)
{
	uint64_t pause;

	REQUIRE(atomic_load(&reprise_gate_waiting) == 0, "%u calls still count as waiting",
	        atomic_load(&reprise_gate_waiting));
	REQUIRE(reprise_gate_begin_work(&calls, &pause), "the builder could work no more");
	REQUIRE(reprise_gate_close(ONE, 0), "a call still counts as giving work");
}

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "gate: two give",
	     .words = "in quiescence nothing is given, and who waits at the gate goes on",
	     .setup = setup,
	     .threads = {give_twice, give_once, build},
	     .check = all_have_left},
		{.name = "gate: another context",
	     .words = "the same where one thread gives another context work",
	     .setup = setup,
	     .threads = {give_once, give_elsewhere, build},
	     .check = all_have_left},
		{.name = "gate: one waits",
	     .words = "the builder and a call that waits take turns, and each gets its own",
	     .setup = setup,
	     .threads = {wait_twice, build},
	     .check = all_have_left},
		{.name = "gate: two wait",
	     .words = "the same with two threads that wait",
	     .setup = setup,
	     .threads = {wait_once, wait_once, build},
	     .check = all_have_left},
		{.name = "gate: two build",
	     .words = "the same where two threads do the builder's work",
	     .setup = setup,
	     .threads = {wait_once, build, build},
	     .check = all_have_left},
		{.name = "gate: threads end within",
	     .words = "who was cancelled in its call counts no more",
	     .setup = setup,
	     .threads = {end_within, end_while_waiting, build},
	     .check = all_have_left},
		{.name = "gate: unknown calls",
	     .words = "in quiescence there is no unknown call, until a second has passed",
	     .setup = setup,
	     .threads = {call_unknown, build},
	     .check = all_have_left},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
