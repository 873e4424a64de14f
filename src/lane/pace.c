#include "lane/pace.h"

#include "base/clock.h"
#include "base/tuning.h"

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
		lead -= lead > -REPRISE_TUNE_PACE_LEAD_MOST ? 2 : 0;
	else
		lead += lead < REPRISE_TUNE_PACE_LEAD_MOST;
	atomic_store(&lane->pace.lead, lead);
}

/*
 * True while the GPU is known to be no faster than the program: the program would wait in the end
 * for the time it saves. Counts the visits launched at once for that, and tries again after
 * REPRISE_TUNE_PACE_DIRECT.
 */
static bool launch_without_lead(struct reprise_pace *pace)
{
	if (atomic_load(&pace->lead) > -REPRISE_TUNE_PACE_LEAD_MOST)
		return false;
	if (++pace->resting < REPRISE_TUNE_PACE_DIRECT)
		return true;
	pace->resting = 0;
	atomic_store(&pace->lead, 0);
	return false;
}

bool reprise_pace_judge(struct reprise_lane *lane)
{
	struct reprise_pace *pace = &lane->pace;

	if (pace->visits <= REPRISE_TUNE_PACE_FIRST || pace->visits >= REPRISE_TUNE_PACE_MOST)
		return false;
	if (pace->visits % REPRISE_TUNE_PACE_MEASURED == 0)
		measure(lane);
	if (pace->begin_ns == 0) {
		pace->begin_ns = reprise_clock_ns();
		pace->begin_ops = lane->counts.ops;
	}
	return pace->op_ns >= REPRISE_TUNE_PACE_SLOW_NS &&
	       pace->span_ns >= REPRISE_TUNE_PACE_LEAST_NS && !launch_without_lead(pace);
}
