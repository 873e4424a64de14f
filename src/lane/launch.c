/* Keeps invariant 7: the program sees no failure of a graph's launch. */
#include "lane/launch.h"

#include "base/clock.h"
#include "base/placement.h"
#include "driver/driver.h"
#include "graph/cost.h"
#include "graph/shadow.h"
#include "stats/counters.h"
#include "timeline/timeline.h"
#include "lane/group/group.h"
#include "lane/verify.h"

static enum reprise_patch patch(const struct reprise_lane *lane,
                                const struct reprise_launch *launch)
{
	struct reprise_graph *graph = &launch->trace->graph;
	uint64_t begin = reprise_timeline_begin();
	enum reprise_patch result = reprise_graph_patch(graph, launch->ops, launch->changed);

	reprise_timeline_end(REPRISE_TIMELINE_PATCH, begin,
	                     (struct reprise_timeline_about){.lane = lane->number,
	                                                     .graph = graph->number,
	                                                     .ops = launch->nodes});
	return result;
}

static CUresult launch_executable(struct reprise_lane *lane, const struct reprise_trace *trace)
{
	CUresult result;

	if (__builtin_expect(lane->group == NULL, 1))
		return reprise_driver.cuGraphLaunch(trace->graph.executable, lane->stream);
	result =
		reprise_driver.cuGraphLaunch(trace->graph.executable, reprise_group_origin(lane, trace));
	if (result == CUDA_SUCCESS)
		reprise_group_launched(lane, trace);
	return result;
}

REPRISE_HOT enum reprise_patch reprise_launch_graph(struct reprise_lane *lane,
                                                    const struct reprise_launch *launch)
{
	enum reprise_patch result = REPRISE_PATCH_DONE;
	uint64_t patched_at = 0;

	if (__builtin_expect(launch->nodes > 0 || launch->trace->graph.mixed, 0)) {
		result = patch(lane, launch);
		patched_at = reprise_clock_ns();
	}
	if (__builtin_expect(reprise_verifying, 0) && result == REPRISE_PATCH_DONE &&
	    !reprise_verify_graph(lane))
		return REPRISE_PATCH_REFUSED;
	if (result == REPRISE_PATCH_DONE && launch_executable(lane, launch->trace) != CUDA_SUCCESS) {
		reprise_count(REPRISE_COUNT_launches_failed, 1);
		result = REPRISE_PATCH_BROKEN;
	}
	if (result == REPRISE_PATCH_DONE && patched_at != 0)
		reprise_cost_took(REPRISE_COST_launch, reprise_clock_ns() - patched_at, 1);
	return result;
}

/* A replay after a failure or a cooldown. A visit that began before the cooldown does not count as
 * a return. */
static void has_come_back(struct reprise_trace *trace, uint64_t now)
{
	if (trace->failed_at != 0)
		reprise_count_most(REPRISE_COUNT_recovery_ops, now - trace->failed_at);
	trace->failed_at = 0;
	if (!reprise_trace_comes_back(trace, now))
		return;
	reprise_count(REPRISE_COUNT_cooldown_returns, 1);
	trace->cooldown_until = 0;
}

REPRISE_HOT void reprise_launch_count(struct reprise_lane *lane, struct reprise_trace *trace,
                                      unsigned int patched, uint64_t now)
{
	reprise_lane_count(&lane->counts.replayed, trace->count);
	reprise_lane_count(&lane->counts.patched, patched);
	reprise_lane_count(&lane->counts.launches, 1);
	trace->counts.patched += patched;
	trace->replays++;
	trace->refusals = 0;
	if (__builtin_expect((trace->failed_at | trace->cooldown_until) != 0, 0))
		has_come_back(trace, now);
}
