#include "trace/balance.h"

#include "op/cost.h"

/* The balance is in parts of what one visit costs eagerly. */
#define VISIT 64
#define MOST (16 * VISIT)
#define TRUSTED (8 * VISIT) /* above this, */
#define SAMPLED 8           /* one in so many is timed */
#define LEAST (-8 * VISIT)  /* below this it does not pay */
#define OUTLIER 4 /* one visit costs so many at most: it may have been an interrupt's fault */
#define MARGIN 10 /* a loss of less than one part in so many is none: that much is noise */

/* What a visit costs eagerly, in ticks; 0 if that is not known. */
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

/* What `ticks` are in parts of a visit, of which one costs `eager`. */
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

bool reprise_balance_left(struct reprise_trace *trace, uint64_t ticks)
{
	uint64_t eager = eager_cost(trace);

	return eager == 0 || add(trace, -parts(ticks, eager));
}
