/*
 * Vector clocks over the members of a stream group, in the order of the program's calls. Each op is
 * one tick of its member, a record stores its member's clock, and a wait merges that into its own
 * member's clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"
#include "op/op.h"

struct reprise_clock {
	uint16_t ticks[REPRISE_MEMBERS_MOST];
};

/* All zero before the first op. */
struct reprise_clocks {
	struct reprise_clock members[REPRISE_MEMBERS_MOST];
	unsigned int event_count;
	struct reprise_event_clock {
		CUevent event;
		struct reprise_clock clock;
	} events[REPRISE_FORK_EVENTS_MOST];
};

/* NULL if no op so far has recorded the event. */
static inline const struct reprise_clock *reprise_clocks_of_event(
	const struct reprise_clocks *clocks, CUevent event)
{
	for (unsigned int i = 0; i < clocks->event_count; i++)
		if (clocks->events[i].event == event)
			return &clocks->events[i].clock;
	return NULL;
}

static inline void reprise_clock_join(struct reprise_clock *clock,
                                      const struct reprise_clock *other)
{
	for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
		if (clock->ticks[i] < other->ticks[i])
			clock->ticks[i] = other->ticks[i];
}

/* False if there are too many events: the record's is not known then. */
static inline bool reprise_clocks_record(struct reprise_clocks *clocks, CUevent event,
                                         const struct reprise_clock *clock)
{
	unsigned int i = 0;

	while (i < clocks->event_count && clocks->events[i].event != event)
		i++;
	if (i == REPRISE_FORK_EVENTS_MOST)
		return false;
	clocks->events[i] = (struct reprise_event_clock){event, *clock};
	clocks->event_count += i == clocks->event_count;
	return true;
}

/* Takes one more op. `waited`: the clock of the event that it waits for, or NULL. False as above.
 */
static inline bool reprise_clocks_step(struct reprise_clocks *clocks, const struct reprise_op *op,
                                       const struct reprise_clock *waited)
{
	struct reprise_clock *clock = &clocks->members[op->member];

	clock->ticks[op->member]++;
	if (waited != NULL)
		reprise_clock_join(clock, waited);
	return op->kind != REPRISE_OP_RECORD || reprise_clocks_record(clocks, op->event, clock);
}
