#include "trace/fork.h"

#include <string.h>

#include "trace/clocks.h"

struct walk {
	struct reprise_clocks clocks;
	uint8_t blocking, members, origin;
};

/* Takes one more op. False if no graph can contain it. */
static bool step(struct walk *walk, const struct reprise_op *op)
{
	const struct reprise_clock *waited =
		op->kind == REPRISE_OP_WAIT ? reprise_clocks_of_event(&walk->clocks, op->event) : NULL;

	if (walk->members == 0)
		walk->origin = op->member;
	else if ((walk->members >> op->member & 1) == 0 && waited == NULL)
		return false;
	if ((walk->blocking >> op->member & 1) != 0 && (walk->blocking >> walk->origin & 1) == 0)
		return false;
	if (op->kind == REPRISE_OP_WAIT && waited == NULL)
		return false;
	walk->members |= (uint8_t)(1u << op->member);
	return reprise_clocks_step(&walk->clocks, op, waited);
}

static bool is_closed(const struct walk *walk)
{
	const struct reprise_clock *members = walk->clocks.members, *origin = &members[walk->origin];

	for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
		if (origin->ticks[i] != members[i].ticks[i])
			return false;
	return true;
}

bool reprise_fork_is_closed(const struct reprise_op *ops, unsigned int count, uint8_t blocking)
{
	struct walk walk = {.blocking = blocking};

	for (unsigned int i = 0; i < count; i++)
		if (!step(&walk, &ops[i]))
			return false;
	return is_closed(&walk);
}

bool reprise_fork_in(const struct reprise_op *ops, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++)
		if (ops[i].member != ops[0].member)
			return true;
	return false;
}

void reprise_fork_cross(const struct reprise_op *ops, unsigned int count, bool *crossed)
{
	memset(crossed, 0, count * sizeof(*crossed));
	for (unsigned int i = 0; i < count; i++) {
		unsigned int from = i;

		if (ops[i].kind != REPRISE_OP_WAIT)
			continue;
		while (from > 0 &&
		       (ops[from - 1].kind != REPRISE_OP_RECORD || ops[from - 1].event != ops[i].event))
			from--;
		for (unsigned int at = from; from > 0 && at <= i; at++)
			crossed[at] = true;
	}
}

unsigned int reprise_fork_reach(const struct reprise_op *ops, unsigned int most,
                                unsigned int wanted, const bool *crossed, unsigned int count,
                                uint8_t blocking)
{
	struct walk walk = {.blocking = blocking};
	unsigned int reach = 0, clean = 0;

	for (unsigned int i = 0; i < most && step(&walk, &ops[i]); i++) {
		if (!is_closed(&walk))
			continue;
		reach = i + 1;
		if (i + 1 == count || !crossed[i + 1])
			clean = reach;
		if (clean >= wanted)
			break;
	}
	return clean > 0 ? clean : reach;
}
