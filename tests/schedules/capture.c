/*
 * The capture lock (src/graph/capture_lock.c): no capture of Reprise's is open while the program
 * synchronises the context, and neither waits for ever. For invariant 7.
 *
 * Real: graph/capture_lock.c, base/gate.c. No stand-ins.
 */
#include "graph/capture_lock.h"
#include "base/tuning.h"
#include "schedule.h"

#define ONE ((CUcontext)16)
#define OTHER ((CUcontext)32)

static unsigned int capturing, syncing;

static void capture(void)
{
	while (!reprise_capture_lock_enter_soon(ONE, REPRISE_TUNE_CAPTURE_PATIENCE_NS))
		continue;
	REQUIRE(syncing == 0, "a capture begins while the context is synchronised");
	capturing++;
	schedule_point("captures");
	REQUIRE(syncing == 0, "the context is synchronised while a capture is open");
	capturing--;
	reprise_capture_lock_leave(ONE);
}

static void synchronise(CUcontext context)
{
	reprise_context_sync_begin(context);
	REQUIRE(context == OTHER || capturing == 0, "the context is synchronised in a capture");
	syncing += context != OTHER;
	schedule_point("synchronises");
	syncing -= context != OTHER;
	reprise_context_sync_end(context);
}

static void sync_twice(void)
{
	synchronise(ONE);
	synchronise(ONE);
}

static void sync_once(void)
{
	synchronise(ONE);
}

static void sync_unknown(void)
{
	synchronise(NULL);
}

static void sync_elsewhere(void)
{
	synchronise(OTHER);
}

int main(int count, char **words)
{
	static const struct harness harnesses[] = {
		{.name = "capture: one synchronises",
	     .words = "captures and synchronisation exclude each other, and each gets its turn",
	     .threads = {sync_twice, capture}},
		{.name = "capture: two synchronise",
	     .words = "the same of two threads",
	     .threads = {sync_once, sync_once, capture}},
		{.name = "capture: another context",
	     .words = "the same where one thread synchronises another context",
	     .threads = {sync_once, sync_elsewhere, capture}},
		{.name = "capture: an unknown context",
	     .words = "the same where a call does not say whose context it is",
	     .threads = {sync_unknown, capture}},
	};

	return schedule_main(count, words, harnesses, sizeof(harnesses) / sizeof(*harnesses));
}
