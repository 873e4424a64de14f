/* The doors of what takes memory (ALLOC): the driver had none for the program, whose graphs may
 * have taken it. */
#include "entry/entry.h"

#include <limits.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/nap.h"
#include "base/tls.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "graph/building.h"
#include "graph/graph.h"
#include "stats/counters.h"
#include "entry/lifetime.h"
#include "lane/registry.h"

/* Waits until what the lane's stream has been given is done: a graph that still runs is freed only
 * then. */
static void settle(struct reprise_lane *lane, void *deadline)
{
	if (atomic_load(&lane->retired) || lane->unusable ||
	    lane->owner != 0) /* a thread's own stream is asked by that thread alone */
		return;
	reprise_driver.cuCtxSetCurrent(lane->context);
	for (unsigned int looks = 0;
	     reprise_driver.cuStreamQuery(lane->stream) == CUDA_ERROR_NOT_READY &&
	     reprise_clock_ns() < *(const uint64_t *)deadline;
	     looks++)
		reprise_nap(looks);
}

/* In the building thread's place, while no call is under way that waits: who destroys a graph then
 * would wait for that, too. */
static bool begin_work(uint64_t deadline)
{
	uint64_t pause;

	reprise_gate_doubt_no_more(); /* this is another call of its */
	while (reprise_gate_pass.waiting == 0) {
		uint32_t seen = atomic_load(&reprise_builder.calls);

		if (reprise_gate_begin_work(&reprise_builder.calls, &pause))
			return true;
		if (reprise_clock_ns() > deadline)
			return false;
		reprise_futex_wait(&reprise_builder.calls, seen, REPRISE_TUNE_SHORTAGE_LOOK_NS);
	}
	return false; /* the handler of a signal, in the midst of such a call */
}

/* Gives up every graph; returns how many were destroyed. Those that could not be by then are left
 * to the building thread. */
static unsigned int give_up_graphs(uint64_t deadline)
{
	unsigned int destroyed = 0;

	reprise_lanes_forget_all();
	if (begin_work(deadline)) {
		destroyed = reprise_reclaim_sweep(UINT_MAX);
		reprise_gate_end_work();
	}
	return destroyed;
}

bool reprise_make_room(unsigned int tried)
{
	REPRISE_KEEP_ERRNO;
	static _Thread_local unsigned int destroyed __attribute__((tls_model(REPRISE_TLS_MODEL)));
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	uint64_t deadline = reprise_clock_ns() + REPRISE_TUNE_SHORTAGE_SETTLE_NS;
	CUcontext current = NULL;
	int entered;

	/* To ask a stream that captures how far it is would end the capture. */
	if (reprise_inside != 0 || reprise_observing || tried > 1 ||
	    (tried == 1 && (destroyed == 0 || reprise_program_captures_any())))
		return false;
	entered = reprise_enter();
	reprise_driver.cuCtxGetCurrent(&current);
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	if (tried == 0)
		destroyed = give_up_graphs(deadline);
	else
		reprise_lanes_each(settle, &deadline);
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	reprise_driver.cuCtxSetCurrent(current);
	reprise_leave(entered);
	reprise_count(REPRISE_COUNT_rooms_made, tried == 0 && destroyed > 0);
	return true;
}
