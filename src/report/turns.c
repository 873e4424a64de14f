/* What turns have measured (lane/turns.h), in words and as JSON. */
#include "report/inner.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "base/tuning.h"

#define EARLIER_MOST 80 /* bytes of a verdict in words */

static const char *const verdicts[] = {"undecided", "replay", "eager",
                                       "bound",     "costly", "unclear"};

/* The verdict on a loop before the last. */
static void tell_earlier(const struct reprise_turns_result *result, char words[EARLIER_MOST])
{
	if (result->earlier.verdict == REPRISE_VERDICT_REPLAY)
		snprintf(words, EARLIER_MOST, "%.2f x faster in an earlier loop, %.2f to %.2f",
		         result->earlier.gain / 1e3, result->earlier.low / 1e3, result->earlier.high / 1e3);
	else if (result->earlier.verdict == REPRISE_VERDICT_EAGER)
		snprintf(words, EARLIER_MOST, "no gain: an earlier loop was left eager");
	else if (result->earlier.verdict == REPRISE_VERDICT_COSTLY)
		snprintf(words, EARLIER_MOST, "an earlier loop was left eager for its processor time");
	else if (result->earlier.verdict == REPRISE_VERDICT_UNCLEAR)
		snprintf(words, EARLIER_MOST, "no clear gain: an earlier loop was left eager");
	else
		snprintf(words, EARLIER_MOST, "GPU-bound: an earlier loop had nothing to gain");
}

/* Where nothing is replayed, a loop is measured after REPRISE_TUNE_ANCHOR_UNREPLAYED_NS; otherwise
 * sooner. */
static void tell_undecided(const struct reprise_turns_told *told, char *words, size_t size)
{
	const struct reprise_turns_result *result = &told->result;
	char cost[REPRISE_AMOUNT_MOST], earlier[EARLIER_MOST];

	reprise_amount_duration((double)result->lost_ns, cost);
	tell_earlier(result, earlier);
	if (result->earlier.verdict != REPRISE_VERDICT_UNDECIDED)
		snprintf(words, size, "%s, cost %s; the last loop was too short to measure", earlier, cost);
	else if (result->turns > 0)
		snprintf(words, size, "too short to measure: no verdict in %" PRIu64 " turns, cost %s",
		         result->turns, cost);
	else if (told->since_ns < 2 * (uint64_t)REPRISE_TUNE_ANCHOR_UNREPLAYED_NS)
		snprintf(words, size, "too short to measure");
	else
		snprintf(words, size, "not measured: no loop was found");
}

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
	else if (result->verdict == REPRISE_VERDICT_UNCLEAR)
		snprintf(words, size, "no clear gain, at most %.2f x faster: left eager after %s, cost %s",
		         result->high / 1e3, after, cost);
	else if (result->verdict == REPRISE_VERDICT_COSTLY)
		snprintf(words, size,
		         "%.2f x faster, but for %.2f x the processor time: left eager after %s, cost %s",
		         result->gain / 1e3, result->processor / 1e3, after, cost);
	else if (result->verdict == REPRISE_VERDICT_BOUND)
		snprintf(words, size, "GPU-bound: nothing to gain; left eager after %s, cost %s", after,
		         cost);
	else
		tell_undecided(told, words, size);
}

static void add_earlier(struct reprise_text *text, const struct reprise_turns_result *result)
{
	if (result->earlier.verdict == REPRISE_VERDICT_UNDECIDED)
		return;
	reprise_text_add(
		text, ", \"earlier\": {\"verdict\": \"%s\", \"gain\": %u, \"low\": %u, \"high\": %u}",
		verdicts[result->earlier.verdict], result->earlier.gain, result->earlier.low,
		result->earlier.high);
}

void reprise_rows_add_turns(struct reprise_text *text)
{
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
	reprise_text_add(text,
	                 ", \"processor\": %u, \"direct\": %s, \"turns\": %" PRIu64
	                 ", \"tests\": %" PRIu64 ", \"loops\": %" PRIu64,
	                 result->processor, result->direct ? "true" : "false", result->turns,
	                 result->tests, result->loops);
	reprise_text_add(text, ", \"decided_ns\": %" PRIu64 ", \"lost_ns\": %" PRIu64,
	                 result->decided_ns, result->lost_ns);
	add_earlier(text, result);
	reprise_text_add(text, "},\n  \"turn_ops\": %" PRIu64 ",\n", reprise_counts_sum().in_turns);
}
