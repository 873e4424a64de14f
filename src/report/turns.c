/* What turns have measured (lane/turns.h), in words and as JSON. */
#include "report/inner.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "base/tuning.h"
#include "stats/counters.h"

#define EARLIER_MOST 112 /* bytes of a verdict in words */
#define FACTOR_MOST 40   /* bytes of a gain or an interval in words */
#define COST_MOST (REPRISE_AMOUNT_MOST + 8)

static const char *const verdicts[] = {"undecided", "replay", "eager",
                                       "bound",     "costly", "unclear"};

/* A gain in thousandths, and its interval: a loss has the words of a loss, and so has its interval.
 */
static void tell_factor(uint32_t gain, uint32_t low, uint32_t high, char factor[FACTOR_MOST],
                        char interval[FACTOR_MOST])
{
	bool lost = gain > 0 && gain < 1000 && low > 0 && high > 0;

	if (lost)
		snprintf(factor, FACTOR_MOST, "%.2f x slower", 1e3 / gain);
	else if (gain > 1000)
		snprintf(factor, FACTOR_MOST, "%.2f x faster", gain / 1e3);
	else
		snprintf(factor, FACTOR_MOST, "neither faster nor slower");
	snprintf(interval, FACTOR_MOST, "%.2f to %.2f", lost ? 1e3 / high : low / 1e3,
	         lost ? 1e3 / low : high / 1e3);
}

/* ", cost 3 ms"; "" if nothing was lost, or before there was anything to compare. */
static void tell_cost(uint64_t lost_ns, char words[COST_MOST])
{
	char cost[REPRISE_AMOUNT_MOST];

	reprise_amount_duration((double)lost_ns, cost);
	snprintf(words, COST_MOST, ", cost %s", cost);
	if (lost_ns == 0)
		words[0] = '\0';
}

/* The verdict on a loop before the last. */
static void tell_earlier(const struct reprise_turns_result *result, char words[EARLIER_MOST])
{
	char factor[FACTOR_MOST], interval[FACTOR_MOST];

	tell_factor(result->earlier.gain, result->earlier.low, result->earlier.high, factor, interval);
	if (result->earlier.verdict == REPRISE_VERDICT_REPLAY)
		snprintf(words, EARLIER_MOST, "%s in an earlier loop, %s", factor, interval);
	else if (result->earlier.verdict == REPRISE_VERDICT_EAGER)
		snprintf(words, EARLIER_MOST, "no gain: an earlier loop was left eager");
	else if (result->earlier.verdict == REPRISE_VERDICT_COSTLY)
		snprintf(words, EARLIER_MOST, "an earlier loop was left eager for its processor time");
	else if (result->earlier.verdict == REPRISE_VERDICT_UNCLEAR)
		snprintf(words, EARLIER_MOST, "no clear gain: an earlier loop was left eager");
	else
		snprintf(words, EARLIER_MOST, "GPU-bound: an earlier loop had nothing to gain");
}

/* The host runs ahead, and the GPU always has work: then no time is long enough to measure. True
 * if nothing was replayed, and most builds were put off for that. */
static bool tell_busy(const char *cost, char *words, size_t size)
{
	uint64_t put_off = reprise_counted(REPRISE_COUNT_quiescence_missed);
	uint64_t built = reprise_counted(REPRISE_COUNT_graphs_built);

	if (put_off <= built || reprise_counts_sum().replayed > 0)
		return false;
	if (built == 0)
		snprintf(words, size, "the GPU was busy whenever a graph was to be built, so none was%s",
		         cost);
	else
		snprintf(words, size,
		         "the GPU was busy %" PRIu64 " of the %" PRIu64
		         " times that a graph was to be built%s",
		         put_off, put_off + built, cost);
	return true;
}

/* Where nothing is replayed, a loop is measured after REPRISE_TUNE_ANCHOR_UNREPLAYED_NS; otherwise
 * sooner. */
static void tell_undecided(const struct reprise_turns_told *told, char *words, size_t size)
{
	const struct reprise_turns_result *result = &told->result;
	char cost[COST_MOST], earlier[EARLIER_MOST];

	tell_cost(result->lost_ns, cost);
	tell_earlier(result, earlier);
	if (result->earlier.verdict != REPRISE_VERDICT_UNDECIDED)
		snprintf(words, size, "%s%s; the last loop was too short to measure", earlier, cost);
	else if (tell_busy(cost, words, size))
		return;
	else if (result->turns > 0)
		snprintf(words, size, "too short to measure: no verdict in %" PRIu64 " turn%s%s",
		         result->turns, result->turns == 1 ? "" : "s", cost);
	else if (told->since_ns < 2 * (uint64_t)REPRISE_TUNE_ANCHOR_UNREPLAYED_NS)
		snprintf(words, size, "too short to measure");
	else
		snprintf(words, size, "not measured: no loop was found");
}

void reprise_report_turns(const struct reprise_turns_told *told, char *words, size_t size)
{
	const struct reprise_turns_result *result = &told->result;
	char after[REPRISE_AMOUNT_MOST], cost[COST_MOST];
	char factor[FACTOR_MOST], interval[FACTOR_MOST];

	tell_factor(result->gain, result->low, result->high, factor, interval);
	reprise_amount_duration((double)result->decided_ns, after);
	tell_cost(result->lost_ns, cost);
	if (result->verdict == REPRISE_VERDICT_REPLAY)
		snprintf(words, size, "%s, measured in %" PRIu64 " turn%s, %s", factor, result->turns,
		         result->turns == 1 ? "" : "s", interval);
	else if (result->verdict == REPRISE_VERDICT_EAGER)
		snprintf(words, size, "no gain: left eager after %s%s", after, cost);
	else if (result->verdict == REPRISE_VERDICT_UNCLEAR && result->high <= 1000)
		snprintf(words, size, "no clear gain: left eager after %s%s", after, cost);
	else if (result->verdict == REPRISE_VERDICT_UNCLEAR)
		snprintf(words, size, "no clear gain, at most %.2f x faster: left eager after %s%s",
		         result->high / 1e3, after, cost);
	else if (result->verdict == REPRISE_VERDICT_COSTLY)
		snprintf(words, size,
		         "%.2f x faster, but for %.2f x the processor time: left eager after %s%s",
		         result->gain / 1e3, result->processor / 1e3, after, cost);
	else if (result->verdict == REPRISE_VERDICT_BOUND)
		snprintf(words, size, "GPU-bound: nothing to gain; left eager after %s%s", after, cost);
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
	reprise_text_add(text,
	                 ", \"decided_ns\": %" PRIu64 ", \"lost_ns\": %" PRIu64
	                 ", \"searched_ns\": %" PRIu64,
	                 result->decided_ns, result->lost_ns, result->searched_ns);
	reprise_text_add(text, ", \"thread_gain\": %u, \"thread_processor\": %u", result->thread_gain,
	                 result->thread_processor);
	add_earlier(text, result);
	reprise_text_add(text, "},\n  \"turn_ops\": %" PRIu64 ",\n", reprise_counts_sum().in_turns);
}
