/* The doors of calls that take memory (ALLOC): if the driver has none for the program, Reprise's
 * graphs may be the cause. */
#include "entry/inner.h"

#include <limits.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "graph/building.h"
#include "graph/graph.h"
#include "stats/counters.h"
#include "lane/registry.h"

/* Waits until the lane's stream is done: a running graph is freed only after that. */
static void wait_for_stream(struct reprise_lane *lane, void *deadline)
{
	if (atomic_load(&lane->retired) || lane->unusable ||
	    lane->owner != 0) /* only its own thread can ask a thread's own stream */
		return;
	reprise_driver.cuCtxSetCurrent(lane->context);
	for (unsigned int looks = 0;
	     reprise_driver.cuStreamQuery(lane->stream) == CUDA_ERROR_NOT_READY &&
	     reprise_clock_ns() < *(const uint64_t *)deadline;
	     looks++)
		reprise_nap(looks);
}

/* Takes the builder's place at the gate. True if no call that waits is under way: such a call would
 * make the destruction of a graph wait, too. False after the deadline. */
static bool begin_work(uint64_t deadline)
{
	uint64_t pause;

	reprise_gate_doubt_no_more(); /* the earlier call has returned */
	while (reprise_gate_thread.waiting == 0) {
		uint32_t seen = atomic_load(&reprise_builder.calls);

		if (reprise_gate_begin_work(&reprise_builder.calls, &pause))
			return true;
		if (reprise_clock_ns() > deadline)
			return false;
		reprise_futex_wait(&reprise_builder.calls, seen, REPRISE_TUNE_SHORTAGE_LOOK_NS);
	}
	return false; /* a signal handler that interrupted such a call */
}

/* Gives up every graph and returns how many were destroyed. The builder destroys the rest later. */
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
	CUstreamCaptureMode mode;
	uint64_t deadline = reprise_clock_ns() + REPRISE_TUNE_SHORTAGE_WAIT_NS;
	CUcontext current = NULL;
	int entered;
	bool known;

	/* A query of a capturing stream would end the capture. */
	if (reprise_inside != 0 || reprise_observing || tried > 1 ||
	    (tried == 1 && (destroyed == 0 || reprise_program_captures_any())))
		return false;
	entered = reprise_enter();
	known = reprise_driver_current(&current);
	mode = reprise_driver_begin_relaxed();
	if (tried == 0)
		destroyed = give_up_graphs(deadline);
	else
		reprise_lanes_each(wait_for_stream, &deadline);
	reprise_driver_end_relaxed(mode);
	if (known && reprise_driver.cuCtxSetCurrent(current) != CUDA_SUCCESS)
		reprise_driver.cuCtxSetCurrent(current);
	reprise_leave(entered);
	reprise_count(REPRISE_COUNT_memory_shortages, tried == 0 && destroyed > 0);
	return true;
}
