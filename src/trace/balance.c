#include "trace/balance.h"

#include "op/cost.h"

/* The unit of the balance: one visit costs VISIT eagerly. */
#define VISIT 64
#define MOST (16 * VISIT)
/* Above this balance one replay in SAMPLED is timed; below it, each. */
#define TRUSTED (8 * VISIT)
#define SAMPLED 8
#define LEAST (-8 * VISIT) /* below this the trace does not pay */
/* One visit costs at most so many eager ones: a longer time may be an interrupt's. */
#define OUTLIER 4
/* A loss of less than this part of a visit is taken for noise. */
#define MARGIN 10

/* The eager cost of a visit, in ticks; 0 if it is not known. */
static uint64_t eager_cost(const struct reprise_trace *trace)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < trace->count; i++) {
		uint64_t cost = reprise_op_cost(trace->ops[i].kind);

		if (cost == 0)
			return 0;
		sum += cost;
	}
	return sum;
}

bool reprise_balance_wants(const struct reprise_trace *trace)
{
	return trace->balance < TRUSTED || trace->replays % SAMPLED == 0;
}

/* `ticks` in units of the balance; `eager`: the ticks of one eager visit. */
static int64_t parts(uint64_t ticks, uint64_t eager)
{
	return (int64_t)((ticks < OUTLIER * eager ? ticks : OUTLIER * eager) * VISIT / eager);
}

static bool add(struct reprise_trace *trace, int64_t gain)
{
	int64_t balance = trace->balance + gain;
	bool pays = balance >= LEAST;

	trace->balance = !pays ? 0 : balance > MOST ? MOST : (int)balance;
	return pays;
}

bool reprise_balance_replayed(struct reprise_trace *trace, uint64_t ticks)
{
	uint64_t eager = eager_cost(trace);

	if (eager == 0 || (ticks >= eager && ticks <= eager + eager / MARGIN))
		return true;
	return add(trace, VISIT - parts(ticks, eager));
}

bool reprise_balance_side_exit(struct reprise_trace *trace, uint64_t ticks)
{
	uint64_t eager = eager_cost(trace);

	return eager == 0 || add(trace, -parts(ticks, eager));
}
