#include "lane/pace.h"

#include "base/clock.h"

#define SLOW_NS \
	4000u /* a program that takes as long for an op is slower than a GPU with small kernels; with \
	         long ones, it makes no difference */
#define FIRST 2     /* visits after a wait that are launched at once: the GPU has nothing to do */
#define MEASURED 64 /* visits by which the pace is taken, where the program waits for nothing */
#define MOST 65536  /* visits without a wait: it may wait by other means than calls */

#define LEAD_MOST 8 /* looks, of which one that finds the GPU busy counts two */
#define REST \
	2048 /* visits that are launched at once after the GPU was seen to be as slow as the program \
	      */

/* At a wait, the GPU is behind by what came in the thread's last period. That is to be a small part
 * of all. */
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
 * The GPU was as slow as the program when it was looked at last: what the program saves, it would
 * wait for in the end. So this visit rests, until enough have.
 */
static bool rest_without_lead(struct reprise_pace *pace)
{
	if (atomic_load(&pace->lead) > -LEAD_MOST)
		return false;
	if (++pace->resting < REST)
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
	return pace->op_ns >= SLOW_NS && pace->span_ns >= LEAST_NS && !rest_without_lead(pace);
}
