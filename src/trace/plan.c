/* Sizes and spans as measured (docs/decisions/0032-first-trace.md). Launches of
 * several threads wait for each other in the driver, so `few` makes long traces (decision 13). A
 * copy between devices is a trace of its own (decision 14). */
#include "trace/plan.h"

#include "base/tuning.h"

static unsigned int most_ops(unsigned int position, bool few)
{
	if (few)
		return REPRISE_TUNE_PLAN_MOST;
	return position < REPRISE_TUNE_PLAN_FIRST ? REPRISE_TUNE_PLAN_FIRST - position
	                                          : REPRISE_TUNE_PLAN_MOST;
}

/* The longest run from `start`, of at most `most` ops, whose gaps sum up to at most `span_ns`.
 * `evenly`: and in which no gap is much longer than those before it, so that the end is hardly
 * late. */
static unsigned int within_span(const struct reprise_segment *segment, unsigned int start,
                                unsigned int most, uint64_t span_ns, bool evenly)
{
	uint64_t thought = 0;
	unsigned int count = 1;

	for (; count < most && start + count < segment->count; count++) {
		uint64_t gap = segment->gaps[start + count];

		thought += gap;
		if (thought > span_ns ||
		    (evenly && gap * count > thought + thought / REPRISE_TUNE_PLAN_EVEN_PART))
			break;
	}
	return count;
}

/* The longest run from `start`, of at most `most` ops, with at most
 * REPRISE_TUNE_PLAN_ANY_VALUE_MOST any-value ops.
 */
static unsigned int within_any_value(const struct reprise_segment *segment, unsigned int start,
                                     unsigned int most)
{
	unsigned int any_value = segment->any_value[start], count = 1;

	for (; count < most && start + count < segment->count; count++) {
		any_value += segment->any_value[start + count];
		if (any_value > REPRISE_TUNE_PLAN_ANY_VALUE_MOST)
			break;
	}
	return count;
}

/* The longest run from `start`, of at most `most` ops, that leaves copies between devices alone. */
static unsigned int within_device(const struct reprise_segment *segment, unsigned int start,
                                  unsigned int most)
{
	unsigned int count = 1;

	if (reprise_op_is_between_devices(&segment->ops[start]))
		return 1;
	while (count < most && !reprise_op_is_between_devices(&segment->ops[start + count]))
		count++;
	return count;
}

/* The rest of the hold limit is a margin for slower visits. */
static uint64_t most_span(uint64_t hold_ns)
{
	return hold_ns * REPRISE_TUNE_PLAN_HOLD / 16;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The program's gaps end a trace after `count` ops. A graph of the few that would be left before a
 * wait costs the GPU a border; one op alone costs an eager call, or about as much. True if the host
 * issues them sooner, so that they go with the graph before. Values that are set take longer. */
static bool takes_rest(const struct reprise_segment *segment, unsigned int start,
                       unsigned int count, uint64_t hold_ns)
{
	unsigned int left = segment->count - start;
	uint64_t rest = 0;

	if (!segment->ends_in_wait || left > REPRISE_TUNE_PLAN_MOST)
		return false;
	for (unsigned int i = count; i < left; i++) {
		if (segment->any_value[start + i])
			return false;
		rest += segment->gaps[start + i];
	}
	return rest <=
	           (left == count + 1 ? REPRISE_TUNE_PLAN_SINGLE_NS : REPRISE_TUNE_PLAN_BORDER_NS) &&
	       within_span(segment, start, left, most_span(hold_ns), false) == left &&
	       within_device(segment, start, left) == left;
}

unsigned int reprise_plan_within_functions(const struct reprise_op *ops, unsigned int count)
{
	unsigned int functions = 0, i = 0;

	while (i < count &&
	       (ops[i].kind != REPRISE_OP_HOST || ++functions <= REPRISE_TUNE_PLAN_FUNCTIONS))
		i++;
	return i;
}

unsigned int reprise_plan_longest(const struct reprise_segment *segment, unsigned int start,
                                  uint64_t hold_ns)
{
	uint64_t span = hold_ns * REPRISE_TUNE_PLAN_FORK_HOLD / 16;

	return within_span(segment, start, segment->count - start, span, false);
}

unsigned int reprise_plan_piece(const struct reprise_segment *segment, unsigned int start,
                                uint64_t hold_ns, bool few)
{
	unsigned int position = segment->position.since_wait + start, left = segment->count - start;
	unsigned int most = most_ops(position, few), count, even;

	if (hold_ns == 0)
		return 1;
	count = within_span(segment, start, most,
	                    least(position == 0 && !few ? REPRISE_TUNE_PLAN_FIRST_SPAN_NS
	                                                : REPRISE_TUNE_PLAN_SPAN_NS,
	                          most_span(hold_ns)),
	                    false);
	even = within_span(segment, start, REPRISE_TUNE_PLAN_FIRST,
	                   least(REPRISE_TUNE_PLAN_EVEN_SPAN_NS, most_span(hold_ns)), true);
	if (position >= REPRISE_TUNE_PLAN_EVEN_FROM && even < REPRISE_TUNE_PLAN_FIRST &&
	    even > count) /* the host is slow */
		count = even;
	if (!few)
		count = within_any_value(segment, start, count);
	count = within_device(segment, start, count);
	if (count < most && takes_rest(segment, start, count, hold_ns))
		count = left;

	/* The last trace before a wait is short on a slow host: little is left to do at the wait. */
	if (count == left && segment->ends_in_wait && count > 1 &&
	    within_span(segment, start, count, REPRISE_TUNE_PLAN_LAST_SPAN_NS, false) < count)
		count = (count + 1) / 2;
	return count;
}
