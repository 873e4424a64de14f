#include "trace/kin.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/tuning.h"
#include "graph/cost.h"
#include "op/cost.h"
#include "trace/account.h"
#include "trace/index.h"

/* So many of the traces used last are looked at for what they have saved meanwhile. */
#define LOOKED_AT 64

uint64_t reprise_kin_of(const struct reprise_op *ops, const bool *any_value, unsigned int count)
{
	uint64_t kin = count;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t what = (uint64_t)ops[i].kind << 8 | (uint64_t)reprise_op_way(&ops[i]);

		if (any_value[i])
			return 0;
		kin = reprise_hash_mix(kin, ops[i].kind == REPRISE_OP_KERNEL ? ops[i].shape : what);
	}
	return kin | 1;
}

/* What one visit saves: a little, if it is not known to save anything, so that nothing is ruled out
 * for good. */
static int64_t saving_ns(const struct reprise_op *ops, unsigned int count)
{
	uint64_t ticks = 0, eager, launch = reprise_cost(REPRISE_COST_launch, 1);

	for (unsigned int i = 0; i < count; i++)
		ticks += reprise_account_eager_ticks(&ops[i]);
	eager = reprise_clock_ticks_to_ns(ticks);
	return (int64_t)(eager > launch + eager / REPRISE_TUNE_KIN_LEAST
	                     ? eager - launch
	                     : eager / REPRISE_TUNE_KIN_LEAST);
}

/* What building a graph of so many nodes costs the program. */
static int64_t price_ns(unsigned int count)
{
	return (int64_t)(REPRISE_TUNE_KIN_BUILD * reprise_cost(REPRISE_COST_build, count));
}

static struct reprise_kin *row_of(struct reprise_kin_table *table, uint64_t kin)
{
	return &table->rows[kin / 2 % REPRISE_KIN_ROWS];
}

static void earn(struct reprise_kin *row, struct reprise_trace *trace, int64_t saving)
{
	row->saved_ns += (int64_t)(trace->replays - trace->earned_replays) * saving;
	trace->earned_replays = trace->replays;
}

bool reprise_kin_take_build(struct reprise_kin_table *table, const struct reprise_index *index,
                            uint64_t kin, const struct reprise_op *ops, unsigned int count)
{
	struct reprise_kin *row = row_of(table, kin);
	int64_t price = price_ns(count), saving = saving_ns(ops, count);
	struct reprise_trace *trace = index->newest;

	if (kin == 0)
		return true;
	if (row->kin != kin)
		*row = (struct reprise_kin){kin, REPRISE_TUNE_KIN_FREE * price};
	row->saved_ns += saving;
	for (unsigned int i = 0; trace != NULL && i < LOOKED_AT; i++, trace = trace->older)
		if (trace->kin == kin)
			earn(row, trace, saving);
	if (row->saved_ns > REPRISE_TUNE_KIN_MOST * price)
		row->saved_ns = REPRISE_TUNE_KIN_MOST * price;
	if (row->saved_ns < price)
		return false;
	row->saved_ns -= price;
	return true;
}

void reprise_kin_ended(struct reprise_kin_table *table, struct reprise_trace *trace)
{
	struct reprise_kin *row = row_of(table, trace->kin);

	if (trace->kin != 0 && row->kin == trace->kin)
		earn(row, trace, saving_ns(trace->ops, trace->count));
}
