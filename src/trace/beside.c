#include "trace/beside.h"

#include <string.h>

#include "trace/clocks.h"

/* Of members: a bit for each of which the clock has all ops before the first. */
static struct reprise_clock at_first(uint8_t members)
{
	struct reprise_clock clock = {{0}};

	for (unsigned int member = 0; members >> member != 0; member++)
		clock.ticks[member] = members >> member & 1;
	return clock;
}

/* What the event of this wait is behind. `before`: room for it, if it was recorded before all ops.
 * NULL if that is not known. */
static const struct reprise_clock *waited_for(const struct reprise_clocks *clocks,
                                              const struct reprise_op *op,
                                              struct reprise_clock *before)
{
	const struct reprise_clock *waited = reprise_clocks_of_event(clocks, op->event);

	if (waited != NULL || op->waits_for == 0)
		return waited;
	*before = at_first(op->waits_for);
	return before;
}

/* `waited`: what the op waits for, or NULL. An event beyond the most replaces the first, which is
 * not known any more. */
static void step(struct reprise_clocks *clocks, const struct reprise_op *op,
                 const struct reprise_clock *waited)
{
	if (!reprise_clocks_step(clocks, op, waited))
		clocks->events[0] = (struct reprise_event_clock){op->event, clocks->members[op->member]};
}

static uint8_t members_of(const struct reprise_op *ops, unsigned int count)
{
	uint8_t members = 0;

	for (unsigned int i = 0; i < count; i++)
		members |= (uint8_t)(1u << ops[i].member);
	return members;
}

static bool is_recorded(const struct reprise_op *ops, unsigned int count, CUevent event)
{
	for (unsigned int i = 0; i < count; i++)
		if (ops[i].kind == REPRISE_OP_RECORD && ops[i].event == event)
			return true;
	return false;
}

/* Calls `note` for each wait with which the member begins in these ops. False if the member is no
 * root, or has no op. */
static bool begins_as_root(const struct reprise_op *ops, unsigned int count, unsigned int member,
                           void (*note)(void *context, unsigned int at), void *context)
{
	bool any = false;

	for (unsigned int i = 0; i < count; i++) {
		if (ops[i].member != member)
			continue;
		if (ops[i].kind != REPRISE_OP_WAIT)
			return true;
		if (is_recorded(ops, i, ops[i].event))
			return any;
		any = true;
		note(context, i);
	}
	return any;
}

static void count_leading(void *context, unsigned int at)
{
	++*(unsigned int *)context;
}

bool reprise_beside_may(const struct reprise_op *ops, unsigned int count, uint8_t blocking)
{
	uint8_t members = members_of(ops, count), roots = 0;
	unsigned int leading = 0, records = 0;

	if ((members & (members - 1)) == 0 ||
	    (blocking & members) != ((blocking & 1) != 0 ? members : 0))
		return false;
	for (unsigned int i = 0; i < count; i++)
		records += ops[i].kind == REPRISE_OP_RECORD && !is_recorded(ops, i, ops[i].event);
	for (unsigned int member = 0; members >> member != 0; member++)
		if (begins_as_root(ops, count, member, count_leading, &leading))
			roots |= (uint8_t)(1u << member);
	return records <= REPRISE_FORK_EVENTS_MOST && leading <= REPRISE_BESIDE_LEADING_MOST &&
	       roots != 0;
}

bool reprise_beside_knows(const struct reprise_op *ops, unsigned int start, unsigned int count)
{
	for (unsigned int i = start; i < start + count; i++)
		if (ops[i].kind == REPRISE_OP_WAIT && ops[i].waits_for == 0 &&
		    !is_recorded(ops, i, ops[i].event))
			return false;
	return true;
}

static void add_leading(void *context, unsigned int at)
{
	struct reprise_beside *beside = context;

	beside->leading[beside->leading_count++] = (uint16_t)at;
}

/* The members of which the clock has all ops. */
static uint8_t complete(const struct reprise_clock *clock, const struct reprise_clock *all,
                        uint8_t members)
{
	uint8_t have = 0;

	for (unsigned int member = 0; members >> member != 0; member++)
		if ((members >> member & 1) != 0 && clock->ticks[member] == all->ticks[member])
			have |= (uint8_t)(1u << member);
	return have;
}

void reprise_beside_describe(const struct reprise_op *ops, unsigned int count,
                             struct reprise_beside *beside)
{
	uint8_t members = members_of(ops, count);
	struct reprise_clocks clocks = {.event_count = 0};
	struct reprise_clock all = {{0}};

	beside->roots = beside->leading_count = 0;
	for (unsigned int member = 0; members >> member != 0; member++)
		if (begins_as_root(ops, count, member, add_leading, beside))
			beside->roots |= (uint8_t)(1u << member);
	for (unsigned int i = 0; i < count; i++)
		all.ticks[ops[i].member]++;
	for (unsigned int i = 0; i < count; i++) {
		beside->behind[i] = ops[i].kind == REPRISE_OP_WAIT && !is_recorded(ops, i, ops[i].event);
		step(&clocks, &ops[i],
		     ops[i].kind == REPRISE_OP_WAIT ? reprise_clocks_of_event(&clocks, ops[i].event)
		                                    : NULL);
		if (ops[i].kind == REPRISE_OP_RECORD)
			beside->behind[i] = complete(&clocks.members[ops[i].member], &all, members);
	}
	for (unsigned int member = 0; member < REPRISE_MEMBERS_MOST; member++)
		beside->ends[member] = complete(&clocks.members[member], &all, members);
}

/* ---- where they may begin ---- */

struct leading {
	const struct reprise_clocks *clocks;
	const struct reprise_op *ops;
	struct reprise_clock clock;
	bool assumed; /* events of which nothing is known are behind all that came before the ops */
	bool unknown; /* one is for such an event */
};

static void join_leading(void *context, unsigned int at)
{
	struct leading *leading = context;
	struct reprise_clock before;
	const struct reprise_clock *waited = waited_for(leading->clocks, &leading->ops[at], &before);

	if (waited == NULL && leading->assumed) {
		before = at_first(UINT8_MAX);
		waited = &before;
	}
	if (waited != NULL)
		reprise_clock_join(&leading->clock, waited);
	else
		leading->unknown = true;
}

/* True if the member is no root of these ops, or is behind all. */
static bool is_level(const struct reprise_clocks *clocks, const struct reprise_op *ops,
                     unsigned int count, unsigned int member, bool assumed)
{
	struct leading leading = {clocks, ops, clocks->members[member], assumed, false};

	if (!begins_as_root(ops, count, member, join_leading, &leading))
		return true;
	for (unsigned int i = 0; !leading.unknown && i < REPRISE_MEMBERS_MOST; i++)
		if (leading.clock.ticks[i] < clocks->members[i].ticks[i])
			return false;
	return !leading.unknown;
}

void reprise_beside_begins(const struct reprise_op *ops, unsigned int count, const uint8_t *start,
                           bool *begins)
{
	struct reprise_clocks clocks = {.event_count = 0};
	struct reprise_clock before;
	uint8_t members = members_of(ops, count);

	for (unsigned int member = 0; members >> member != 0; member++)
		clocks.members[member] = at_first(members & (start != NULL ? start[member] : UINT8_MAX));
	for (unsigned int i = 0; i < count; i++) {
		begins[i] = is_level(&clocks, ops + i, count - i, ops[i].member, start == NULL);
		for (unsigned int member = 0; begins[i] && members >> member != 0; member++)
			begins[i] = is_level(&clocks, ops + i, count - i, member, start == NULL);
		step(&clocks, &ops[i],
		     ops[i].kind == REPRISE_OP_WAIT ? waited_for(&clocks, &ops[i], &before) : NULL);
	}
}
