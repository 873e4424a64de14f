#include "lane/pace.h"

#include "base/clock.h"

/* A program that takes this long per op is slower than a GPU with small kernels. With long kernels
 * it makes no difference. */
#define SLOW_NS 4000u
#define FIRST 2     /* visits after a wait that are launched at once: the GPU is idle */
#define MEASURED 64 /* visits of one measurement, if the program does not wait */
#define MOST 65536  /* visits without a wait: the program may wait by means other than calls */

#define LEAD_MOST 8 /* looks; one that finds the GPU busy counts twice */
/* Visits launched at once after the GPU was found to be no faster than the program. */
#define DIRECT_VISITS 2048

/* At a wait, the GPU is behind by what came in the launch thread's last period. That must be a
 * small part of the time between two waits. */
#define LEAST_NS (6 * REPRISE_ASYNC_LAUNCH_PERIOD_NS)

static void measure(struct reprise_lane *lane)
{
	struct reprise_pace *pace = &lane->pace;
	uint64_t ops = lane->counts.ops - pace->begin_ops;

	if (pace->begin_ns != 0 && ops > 0) {
		pace->span_ns = reprise_clock_ns() - pace->begin_ns;
		pace->op_ns = pace->span_ns / ops;
	}
	pace->begin_ns = 0;
}

void reprise_pace_wait(struct reprise_lane *lane)
{
	measure(lane);
	lane->pace.visits = 0;
}

void reprise_pace_look(struct reprise_lane *lane, bool busy)
{
	int lead = atomic_load(&lane->pace.lead);

	if (busy)
		lead -= lead > -LEAD_MOST ? 2 : 0;
	else
		lead += lead < LEAD_MOST;
	atomic_store(&lane->pace.lead, lead);
}

/*
 * True while the GPU is known to be no faster than the program: the program would wait in the end
 * for the time it saves. Counts the visits launched at once for that, and tries again after
 * DIRECT_VISITS.
 */
static bool launch_without_lead(struct reprise_pace *pace)
{
	if (atomic_load(&pace->lead) > -LEAD_MOST)
		return false;
	if (++pace->resting < DIRECT_VISITS)
		return true;
	pace->resting = 0;
	atomic_store(&pace->lead, 0);
	return false;
}

bool reprise_pace_judge(struct reprise_lane *lane)
{
	struct reprise_pace *pace = &lane->pace;

	if (pace->visits <= FIRST || pace->visits >= MOST)
		return false;
	if (pace->visits % MEASURED == 0)
		measure(lane);
	if (pace->begin_ns == 0) {
		pace->begin_ns = reprise_clock_ns();
		pace->begin_ops = lane->counts.ops;
	}
	return pace->op_ns >= SLOW_NS && pace->span_ns >= LEAST_NS && !launch_without_lead(pace);
}
