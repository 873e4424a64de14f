#include "trace/balance.h"

#include "base/tuning.h"
#include "op/cost.h"

uint64_t reprise_balance_eager(const struct reprise_trace *trace)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < trace->count; i++) {
		uint64_t cost = reprise_op_cost(trace->ops[i].kind, reprise_op_way(&trace->ops[i]));

		if (cost == 0)
			return 0;
		sum += cost;
	}
	return sum;
}

bool reprise_balance_wants(const struct reprise_trace *trace)
{
	return trace->balance < REPRISE_TUNE_BALANCE_TRUSTED ||
	       trace->visits % REPRISE_TUNE_BALANCE_SAMPLED == 0;
}

/* `ticks` in units of the balance; `eager`: the ticks of one eager visit. */
static int64_t parts(uint64_t ticks, uint64_t eager)
{
	return (int64_t)((ticks < REPRISE_TUNE_BALANCE_OUTLIER * eager
	                      ? ticks
	                      : REPRISE_TUNE_BALANCE_OUTLIER * eager) *
	                 REPRISE_TUNE_BALANCE_VISIT / eager);
}

static bool add(struct reprise_trace *trace, int64_t gain)
{
	int64_t balance = trace->balance + gain;
	bool pays = balance >= REPRISE_TUNE_BALANCE_LEAST;

	trace->balance = !pays                                 ? 0
	                 : balance > REPRISE_TUNE_BALANCE_MOST ? REPRISE_TUNE_BALANCE_MOST
	                                                       : (int)balance;
	return pays;
}

bool reprise_balance_replayed(struct reprise_trace *trace, uint64_t ticks)
{
	uint64_t eager = reprise_balance_eager(trace);

	if (eager == 0 || (ticks >= eager && ticks <= eager + eager / REPRISE_TUNE_BALANCE_MARGIN))
		return true;
	return add(trace, REPRISE_TUNE_BALANCE_VISIT - parts(ticks, eager));
}

bool reprise_balance_side_exit(struct reprise_trace *trace, uint64_t ticks)
{
	uint64_t eager = reprise_balance_eager(trace);

	return eager == 0 || add(trace, -parts(ticks, eager));
}
