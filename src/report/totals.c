#include "report/totals.h"

#include <string.h>

#include "base/clock.h"
#include "base/tuning.h"
#include "graph/cost.h"
#include "lane/registry.h"
#include "op/cost.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "stats/pauses.h"

static struct reprise_totals totals;

/* Reads word by word, so no counter is torn: a thread in the lane may go on counting. */
static struct reprise_lane_counts copy_counts(const struct reprise_lane *lane)
{
	struct reprise_lane_counts counts;
	const uint64_t *from = (const uint64_t *)&lane->counts;
	uint64_t *to = (uint64_t *)&counts;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	return counts;
}

struct reprise_lane_counts reprise_lane_counts_now(struct reprise_lane *lane)
{
	struct reprise_lane_counts counts = copy_counts(lane);
	uint64_t ahead = reprise_lane_counts_ahead(lane);

	counts.ops -= ahead;
	counts.backed_off -= ahead;
	return counts;
}

/* Takes no lane lock: an exit must not wait for one, and a count may be one short. */
static void sum_counts(struct reprise_lane *lane, void *context)
{
	struct reprise_lane_counts counts = reprise_lane_counts_now(lane);
	const uint64_t *from = (const uint64_t *)&counts;
	uint64_t *to = context;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*to); i++)
		to[i] += from[i];
}

struct reprise_lane_counts reprise_counts_sum(void)
{
	struct reprise_lane_counts sum = {0};

	reprise_lanes_each(sum_counts, &sum);
	sum.in_turns += reprise_counted(REPRISE_COUNT_unseen_ops);
	return sum;
}

static void add_traces(struct reprise_lane *lane, void *context)
{
	struct reprise_accounts *accounts = context;

	if (!reprise_lock_try(&lane->lock)) {
		totals.lanes_busy++;
		return;
	}
	/* Launching a pending launch updates graphs under queue.lock. */
	if (reprise_lock_try(&lane->queue.lock)) {
		for (struct reprise_trace *trace = lane->index != NULL ? lane->index->newest : NULL;
		     trace != NULL; trace = trace->older)
			reprise_account_add(accounts, trace, lane->number);
		reprise_lock_give(&lane->queue.lock);
	} else {
		totals.lanes_busy++;
	}
	reprise_lock_give(&lane->lock);
}

uint64_t reprise_side_exits(const struct reprise_lane_counts *counts)
{
	uint64_t all = 0;

	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		all += counts->exits[i];
	return all;
}

static uint64_t more_than(uint64_t one, uint64_t other)
{
	return one > other ? one - other : 0;
}

/*
 * What all ops would have cost eagerly. A replayed op keeps the price that its trace had; an ended
 * trace keeps the price of its end. Other ops have the present price of their kind, and ops that
 * Reprise did not look at have the mean price. So the replayed part never exceeds the whole, even
 * if prices changed.
 */
static uint64_t cost_of_all(const struct reprise_gain *gain)
{
	uint64_t looked_at = 0, others = 0;
	double cost = 0;

	for (int i = 0; i < REPRISE_OP_KIND_COUNT; i++) {
		looked_at += totals.counts.kinds[i];
		cost += (double)totals.counts.kinds[i] * (double)gain->kind_ns[i];
		others += more_than(totals.counts.kinds[i], totals.accounts.by_kind[i]) * gain->kind_ns[i];
	}
	if (looked_at > 0)
		others += (uint64_t)(cost / (double)looked_at * (double)more_than(totals.ops, looked_at));
	return gain->replaced_ns + others;
}

static uint64_t replaced_ticks(void)
{
	uint64_t ticks = totals.accounts.rest.eager_ticks;

	for (unsigned int i = 0; i < totals.accounts.count; i++)
		ticks += totals.accounts.most[i].eager_ticks;
	return ticks;
}

/* Mode observe neither patches nor builds: estimates what it would have cost. */
static void expect(struct reprise_gain *gain)
{
	gain->patches_ns =
		reprise_cost(REPRISE_COST_node_set,
	                 totals.counts.patched - reprise_counted(REPRISE_COUNT_async_patches));
	gain->build_ns = reprise_cost(REPRISE_COST_build, totals.accounts.nodes);
}

/* Launches by the launch thread cost the program nothing. In mode observe: what the program would
 * launch. */
static uint64_t launched_by_program(void)
{
	return more_than(totals.counts.launches, reprise_counted(REPRISE_COUNT_async_launches));
}

static void weigh(struct reprise_gain *gain)
{
	uint64_t launch_ticks = reprise_histogram_median(REPRISE_HISTOGRAM_graph);
	struct reprise_pauses pauses = reprise_pauses_read();

	gain->launch_measured = launch_ticks != 0 || reprise_cost_is_measured(REPRISE_COST_launch);
	gain->launch_ns = launch_ticks != 0 ? reprise_clock_ticks_to_ns(launch_ticks)
	                                    : reprise_cost(REPRISE_COST_launch, 1);
	for (unsigned int i = 0; i < REPRISE_OP_KIND_COUNT; i++) {
		gain->kind_measured[i] = reprise_op_cost_of_kind(i) != 0;
		gain->kind_ns[i] = reprise_clock_ticks_to_ns(reprise_account_kind_ticks(i));
	}
	gain->eager_measured = gain->kind_measured[REPRISE_OP_KERNEL];
	gain->replaced_ns = reprise_clock_ticks_to_ns(replaced_ticks());
	gain->all_ns = cost_of_all(gain);
	gain->launches_ns = launched_by_program() * gain->launch_ns;
	gain->patches_ns =
		reprise_counted(REPRISE_COUNT_update_ns) + reprise_counted(REPRISE_COUNT_node_update_ns);
	gain->exits_ns = reprise_clock_ticks_to_ns(totals.counts.exit_ticks);
	gain->defers_ns = totals.counts.replayed * REPRISE_TUNE_DEFER_NS;
	gain->build_ns = reprise_counted(REPRISE_COUNT_build_ns);
	gain->firsts = pauses.firsts;
	gain->pauses = pauses.count;
	gain->pauses_ns = reprise_clock_ticks_to_ns(pauses.ticks);
	if (reprise_observing)
		expect(gain);
	gain->saved_ns = (int64_t)gain->replaced_ns - (int64_t)(gain->launches_ns + gain->patches_ns +
	                                                        gain->exits_ns + gain->defers_ns);
}

const struct reprise_totals *reprise_totals_take(void)
{
	memset(&totals, 0, sizeof(totals));
	totals.counts = reprise_counts_sum();
	totals.ops =
		totals.counts.ops + totals.counts.in_turns + atomic_load(&reprise_ops_without_lane);
	if (reprise_accounts_read(&totals.accounts))
		reprise_lanes_each(add_traces, &totals.accounts);
	weigh(&totals.gain);
	return &totals;
}
