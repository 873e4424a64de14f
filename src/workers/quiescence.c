#include "workers/quiescence.h"

#include <sched.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/program_captures.h"
#include "lane/registry.h"

static bool knows_events_of_contexts(void)
{
	return reprise_driver.cuCtxRecordEvent != NULL;
}

/* The gate must be closed, and the program must not capture. */
static bool record(struct reprise_quiescence *quiescence, CUcontext context)
{
	quiescence->since = reprise_clock_ns();
	if (!knows_events_of_contexts())
		return true;
	if (quiescence->behind == NULL &&
	    reprise_driver.cuEventCreate(&quiescence->behind, CU_EVENT_DISABLE_TIMING) !=
	        CUDA_SUCCESS) {
		quiescence->behind = NULL;
		return false;
	}
	return reprise_driver.cuCtxRecordEvent(context, quiescence->behind) == CUDA_SUCCESS;
}

/* True if all work is done that the context had when the event was last recorded. Another answer
 * than that may hide work that waits for the program. */
static bool is_reached(const struct reprise_quiescence *quiescence)
{
	return reprise_driver.cuEventQuery(quiescence->behind) == CUDA_SUCCESS;
}

static bool is_reached_within(const struct reprise_quiescence *quiescence, CUcontext context,
                              uint64_t patience_ns)
{
	while (
		!(knows_events_of_contexts() ? is_reached(quiescence) : reprise_lanes_are_done(context))) {
		if (reprise_clock_ns() > quiescence->since + patience_ns)
			return false;
		sched_yield();
	}
	return true;
}

/* Without events of contexts only the streams can be asked, and those only while the gate is
 * closed: the program may capture on them at any other time. */
bool reprise_quiescence_is_far(struct reprise_quiescence *quiescence)
{
	if (!quiescence->awaited || !knows_events_of_contexts())
		return false;
	if (!is_reached(quiescence))
		return true;
	quiescence->lag_ns = reprise_clock_ns() - quiescence->since;
	return false;
}

static uint64_t patience(const struct reprise_quiescence *quiescence)
{
	return quiescence->lag_ns <= REPRISE_TUNE_QUIESCENCE_PATIENCE_NS
	           ? REPRISE_TUNE_QUIESCENCE_PATIENCE_NS
	           : REPRISE_TUNE_QUIESCENCE_GLANCE_NS;
}

/* The gate must be closed. */
static bool reach(struct reprise_quiescence *quiescence, CUcontext context)
{
	bool reached;

	if (reprise_program_captures_any() || !record(quiescence, context))
		return false;
	reached = is_reached_within(quiescence, context, patience(quiescence));
	quiescence->awaited = !reached;
	if (reached)
		quiescence->lag_ns = reprise_clock_ns() - quiescence->since;
	return reached;
}

bool reprise_quiescence_begin(struct reprise_quiescence *quiescence, CUcontext context)
{
	if (!reprise_gate_close(context, patience(quiescence)))
		return false;
	if (reach(quiescence, context))
		return true;
	reprise_gate_open();
	reprise_count(REPRISE_COUNT_quiescence_missed, 1);
	return false;
}

void reprise_quiescence_end(void)
{
	reprise_gate_open();
}

uint64_t reprise_quiescence_pause_ns(const struct reprise_quiescence *quiescence)
{
	uint64_t pause = (reprise_clock_ns() - quiescence->since) / REPRISE_TUNE_QUIESCENCE_PAUSE_SHARE;

	if (!knows_events_of_contexts())
		return REPRISE_TUNE_QUIESCENCE_PAUSE_BLIND_NS;
	return pause < REPRISE_TUNE_QUIESCENCE_PAUSE_LEAST_NS  ? REPRISE_TUNE_QUIESCENCE_PAUSE_LEAST_NS
	       : pause > REPRISE_TUNE_QUIESCENCE_PAUSE_MOST_NS ? REPRISE_TUNE_QUIESCENCE_PAUSE_MOST_NS
	                                                       : pause;
}
