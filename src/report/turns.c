/* What turns have measured (lane/turns.h), in words and as JSON. */
#include "report/inner.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

void reprise_report_turns(const struct reprise_turns_told *told, char *words, size_t size)
{
	const struct reprise_turns_result *result = &told->result;
	char after[REPRISE_AMOUNT_MOST], cost[REPRISE_AMOUNT_MOST];

	reprise_amount_duration((double)result->decided_ns, after);
	reprise_amount_duration((double)result->lost_ns, cost);
	if (result->verdict == REPRISE_VERDICT_REPLAY)
		snprintf(words, size, "%.2f x faster, measured in %" PRIu64 " turns, %.2f to %.2f",
		         result->gain / 1e3, result->turns, result->low / 1e3, result->high / 1e3);
	else if (result->verdict == REPRISE_VERDICT_EAGER)
		snprintf(words, size, "no gain: left eager after %s, cost %s", after, cost);
	else if (result->verdict == REPRISE_VERDICT_BOUND)
		snprintf(words, size, "GPU-bound: nothing to gain; left eager after %s, cost %s", after,
		         cost);
	else if (result->turns > 0)
		snprintf(words, size, "too short to measure: no verdict in %" PRIu64 " turns, cost %s",
		         result->turns, cost);
	else
		snprintf(words, size, "too short to measure, or without a regular loop");
}

void reprise_rows_add_turns(struct reprise_text *text)
{
	static const char *const verdicts[] = {"undecided", "replay", "eager", "bound"};
	struct reprise_turns_told told = reprise_turns_read();
	const struct reprise_turns_result *result = &told.result;
	char words[160];

	if (!told.on)
		return;
	reprise_report_turns(&told, words, sizeof(words));
	reprise_text_add(text, "  \"measured\": \"%s\",\n", words);
	reprise_text_add(text,
	                 "  \"turns\": {\"verdict\": \"%s\", \"gain\": %u, \"low\": %u, \"high\": %u",
	                 verdicts[result->verdict], result->gain, result->low, result->high);
	reprise_text_add(text, ", \"turns\": %" PRIu64 ", \"tests\": %" PRIu64 ", \"loops\": %" PRIu64,
	                 result->turns, result->tests, result->loops);
	reprise_text_add(text,
	                 ", \"decided_ns\": %" PRIu64 ", \"lost_ns\": %" PRIu64
	                 "},\n  \"turn_ops\": %" PRIu64 ",\n",
	                 result->decided_ns, result->lost_ns, reprise_counts_sum().in_turns);
}
