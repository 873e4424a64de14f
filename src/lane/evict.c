#include "lane/evict.h"

#include "base/clock.h"
#include "base/tuning.h"
#include "lane/registry.h"
#include "lane/traces.h"

struct search {
	struct reprise_lane *lane; /* the one with the oldest trace so far */
	uint64_t used;
	uint64_t still_since;
	bool stopped;
};

static void stop_watching(struct reprise_lane *lane, void *context)
{
	struct search *search = context;

	if (search->stopped || !reprise_lock_try(&lane->lock))
		return; /* the lock's holder is using the lane */
	search->stopped = reprise_lane_stop_watching(lane, search->still_since);
	reprise_lock_give(&lane->lock);
}

static void consider(struct reprise_lane *lane, void *context)
{
	struct search *search = context;
	uint64_t used;

	if (!reprise_lock_take_within(&lane->lock, REPRISE_TUNE_EVICT_PATIENCE_NS))
		return;
	used = reprise_lane_oldest(lane);
	reprise_lock_give(&lane->lock);
	if (used != 0 && (search->lane == NULL || used < search->used)) {
		search->lane = lane;
		search->used = used;
	}
}

bool reprise_lanes_evict(bool host)
{
	struct search search = {.still_since = reprise_clock_ticks() -
	                                       reprise_clock_ns_to_ticks(REPRISE_TUNE_EVICT_STILL_NS)};
	bool evicted;

	if (host)
		reprise_lanes_each(stop_watching, &search);
	if (search.stopped)
		return true;
	reprise_lanes_each(consider, &search);
	if (search.lane == NULL)
		return false;
	if (!reprise_lock_take_within(&search.lane->lock, REPRISE_TUNE_EVICT_PATIENCE_NS))
		return false;
	evicted = reprise_lane_evict(search.lane);
	reprise_lock_give(&search.lane->lock);
	return evicted;
}
