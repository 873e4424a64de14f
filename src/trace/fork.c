/* Vector clocks over the members, in the order of the program's calls. Each op is one tick of
 * its member, a record stores its member's clock, and a wait merges that into its own member's
 * clock. */
#include "trace/fork.h"

#include <string.h>

#include "graph/graph.h"

struct clock {
	uint16_t ticks[REPRISE_MEMBERS_MOST];
};

struct walk {
	struct clock clocks[REPRISE_MEMBERS_MOST];
	uint8_t blocking, members, origin;
	unsigned int event_count;
	struct {
		CUevent event;
		struct clock clock;
	} events[REPRISE_FORK_EVENTS_MOST];
};

static const struct clock *clock_of(const struct walk *walk, CUevent event)
{
	for (unsigned int i = 0; i < walk->event_count; i++)
		if (walk->events[i].event == event)
			return &walk->events[i].clock;
	return NULL;
}

/* False if there are too many events. */
static bool record(struct walk *walk, CUevent event, const struct clock *clock)
{
	unsigned int i = 0;

	while (i < walk->event_count && walk->events[i].event != event)
		i++;
	if (i == REPRISE_FORK_EVENTS_MOST)
		return false;
	walk->events[i].event = event;
	walk->events[i].clock = *clock;
	walk->event_count += i == walk->event_count;
	return true;
}

static void join(struct clock *clock, const struct clock *other)
{
	for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
		if (clock->ticks[i] < other->ticks[i])
			clock->ticks[i] = other->ticks[i];
}

/* Takes one more op. False if no graph can contain it. */
static bool step(struct walk *walk, const struct reprise_op *op)
{
	struct clock *clock = &walk->clocks[op->member];
	const struct clock *waited = op->kind == REPRISE_OP_WAIT ? clock_of(walk, op->event) : NULL;

	if (walk->members == 0)
		walk->origin = op->member;
	else if ((walk->members >> op->member & 1) == 0 && waited == NULL)
		return false;
	if ((walk->blocking >> op->member & 1) != 0 && (walk->blocking >> walk->origin & 1) == 0)
		return false;
	if (op->kind == REPRISE_OP_WAIT && waited == NULL)
		return false;
	walk->members |= (uint8_t)(1u << op->member);
	clock->ticks[op->member]++;
	if (waited != NULL)
		join(clock, waited);
	return op->kind != REPRISE_OP_RECORD || record(walk, op->event, clock);
}

static bool is_closed(const struct walk *walk)
{
	const struct clock *origin = &walk->clocks[walk->origin];

	for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
		if (origin->ticks[i] != walk->clocks[i].ticks[i])
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
