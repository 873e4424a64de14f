#include "stats/turns.h"

#include "base/tuning.h"

/* ---- the mean of a turn ---- */

static void sort(uint64_t *values, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++) {
		uint64_t value = values[i];
		unsigned int at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* A period weighs TURN_OUTLIER medians at most: stalls count, and one of them does not decide. */
static uint64_t mean(uint64_t *periods, unsigned int count)
{
	uint64_t sum = 0, most;

	sort(periods, count);
	most = REPRISE_TUNE_TURN_OUTLIER * periods[(count - 1) / 2];
	for (unsigned int i = 0; i < count; i++)
		sum += periods[i] < most ? periods[i] : most;
	return sum / count;
}

/* ---- what is lost ---- */

static int64_t absolute(int64_t value)
{
	return value < 0 ? -value : value;
}

/* Two turns of so many periods each differed by so much: one of them has lost it. Which one, all
 * pairs of the test say together. */
static void count_loss(struct reprise_turns *turns, int64_t difference, unsigned int periods)
{
	turns->difference_ns += difference * (int64_t)(periods + REPRISE_TUNE_TURN_SKIPPED);
	turns->compared += periods + REPRISE_TUNE_TURN_SKIPPED;
	turns->result.lost_ns = turns->lost_before_ns + (uint64_t)absolute(turns->difference_ns);
}

/* ---- how long a turn is, and when a pair may begin ---- */

/* Turns are short at first: a great difference shows in a few periods, and costs most. */
static unsigned int periods_wanted(const struct reprise_turns *turns)
{
	unsigned int doubled = turns->pairs.count / REPRISE_TUNE_TURN_LENGTHENED;
	uint64_t period = turns->period_ns + 1, least = REPRISE_TUNE_TURN_NS / period + 1,
			 most = REPRISE_TUNE_TURN_LONG_NS / period + 1,
			 wanted = doubled < 6 ? (uint64_t)REPRISE_TUNE_TURN_PERIODS << doubled
	                              : REPRISE_TURN_PERIODS_MOST;

	wanted = wanted > most ? most : wanted;
	wanted = wanted < least ? least : wanted;
	wanted = wanted < REPRISE_TUNE_TURN_PERIODS ? REPRISE_TUNE_TURN_PERIODS : wanted;
	return wanted < REPRISE_TURN_PERIODS_MOST ? (unsigned int)wanted : REPRISE_TURN_PERIODS_MOST;
}

/* What the next pair may lose. Before anything is measured: half of a turn. */
static uint64_t may_lose(const struct reprise_turns *turns)
{
	uint64_t periods = periods_wanted(turns) + REPRISE_TUNE_TURN_SKIPPED;

	return turns->pairs.count == 0
	           ? periods * turns->period_ns / 2
	           : (uint64_t)absolute(turns->difference_ns) * periods / turns->compared;
}

static bool affordable(const struct reprise_turns *turns, uint64_t now)
{
	uint64_t most = REPRISE_TUNE_TURNS_FREE_NS + (now - turns->begun_ns) / REPRISE_TUNE_TURNS_SHARE;

	return turns->result.lost_ns + may_lose(turns) <= most;
}

/* The arm of a rest between two pairs: the verdict's, and eager before the first, unless the pairs
 * so far say otherwise. */
static enum reprise_arm better(const struct reprise_turns *turns)
{
	int surplus = reprise_pairs_surplus(&turns->pairs);

	if (surplus >= REPRISE_TUNE_TURNS_SURPLUS)
		return REPRISE_ARM_REPLAY;
	return turns->result.verdict == REPRISE_VERDICT_REPLAY && surplus > -REPRISE_TUNE_TURNS_SURPLUS
	           ? REPRISE_ARM_REPLAY
	           : REPRISE_ARM_EAGER;
}

/* ---- the phases ---- */

static uint64_t next_random(struct reprise_turns *turns)
{
	turns->random ^= turns->random << 13;
	turns->random ^= turns->random >> 7;
	turns->random ^= turns->random << 17;
	return turns->random;
}

static void begin_turn(struct reprise_turns *turns, enum reprise_arm arm)
{
	turns->arm = arm;
	turns->count = 0;
	turns->skip = REPRISE_TUNE_TURN_SKIPPED;
}

static void begin_rest(struct reprise_turns *turns, enum reprise_arm arm)
{
	turns->phase = REPRISE_TURNS_REST;
	begin_turn(turns, arm);
}

static void begin_pair(struct reprise_turns *turns)
{
	turns->phase = REPRISE_TURNS_FIRST;
	turns->wanted = periods_wanted(turns);
	begin_turn(turns, next_random(turns) >> 32 & 1 ? REPRISE_ARM_EAGER : REPRISE_ARM_REPLAY);
}

static void begin_test(struct reprise_turns *turns)
{
	reprise_pairs_begin(&turns->pairs);
	turns->lost_before_ns = turns->result.lost_ns;
	turns->difference_ns = 0;
	turns->compared = 0;
	turns->testing = true;
	turns->usual_ns = turns->spread_ns = 0;
	turns->windows = turns->unusual = 0;
}

static enum reprise_verdict judge(const struct reprise_pairs *pairs)
{
	struct reprise_interval interval = reprise_pairs_read(pairs);

	if (!interval.bounded)
		return REPRISE_VERDICT_UNDECIDED;
	if (interval.low > 0)
		return REPRISE_VERDICT_REPLAY;
	return interval.high < reprise_log2(REPRISE_TUNE_TURNS_WORTH) - reprise_log2(1000)
	           ? REPRISE_VERDICT_EAGER
	           : REPRISE_VERDICT_UNDECIDED;
}

/* The pause before the next test: from the least for this verdict, twice as long each time that it
 * stays. */
static void decide(struct reprise_turns *turns, enum reprise_verdict verdict, uint64_t now)
{
	struct reprise_turns_result *result = &turns->result;
	struct reprise_interval interval = reprise_pairs_read(&turns->pairs);
	uint64_t least = verdict == REPRISE_VERDICT_EAGER ? REPRISE_TUNE_TURNS_EAGER_NS
	                                                  : REPRISE_TUNE_TURNS_REPLAY_NS;

	if (verdict != result->verdict)
		turns->pause_ns = least;
	else if (turns->pause_ns < least << REPRISE_TUNE_TURNS_DOUBLED)
		turns->pause_ns *= 2;
	turns->rest_until_ns = now + turns->pause_ns;
	turns->testing = false;
	result->verdict = verdict;
	result->gain = reprise_thousandths(interval.median);
	result->low = reprise_thousandths(interval.low);
	result->high = reprise_thousandths(interval.high);
	result->tests++;
	if (result->decided_ns == 0)
		result->decided_ns = now - turns->begun_ns;
	begin_rest(turns, verdict == REPRISE_VERDICT_EAGER ? REPRISE_ARM_EAGER : REPRISE_ARM_REPLAY);
}

/* Begins the next pair, or rests in `arm` until it may begin. */
static void go_on(struct reprise_turns *turns, enum reprise_arm arm, uint64_t now)
{
	if (affordable(turns, now))
		begin_pair(turns);
	else if (turns->phase != REPRISE_TURNS_REST || turns->arm != arm)
		begin_rest(turns, arm);
}

/* `took`: the mean period of the pair's second turn. */
static void end_pair(struct reprise_turns *turns, uint64_t took, uint64_t now)
{
	bool replayed = turns->arm == REPRISE_ARM_REPLAY;
	uint64_t eager = replayed ? turns->first_ns : took, replay = replayed ? took : turns->first_ns;
	enum reprise_verdict verdict;

	reprise_pairs_add(&turns->pairs, eager, replay);
	count_loss(turns, (int64_t)(eager - replay), turns->wanted);
	turns->period_ns = eager > replay ? eager : replay;
	verdict = judge(&turns->pairs);
	if (verdict != REPRISE_VERDICT_UNDECIDED) {
		decide(turns, verdict, now);
		return;
	}
	if (turns->pairs.count == REPRISE_PAIRS_MOST)
		begin_test(turns);
	go_on(turns, better(turns), now);
}

static void end_turn(struct reprise_turns *turns, uint64_t now)
{
	uint64_t took = mean(turns->periods, turns->count);

	turns->result.turns++;
	if (turns->phase == REPRISE_TURNS_SECOND) {
		end_pair(turns, took, now);
		return;
	}
	turns->first_ns = took;
	turns->phase = REPRISE_TURNS_SECOND;
	begin_turn(turns, turns->arm == REPRISE_ARM_EAGER ? REPRISE_ARM_REPLAY : REPRISE_ARM_EAGER);
}

/* ---- a rest ---- */

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* `value` with `other` in it, which weighs as one of `weight`. */
static uint64_t mixed(uint64_t value, uint64_t other, unsigned int weight)
{
	return value - value / weight + other / weight;
}

/* True if the loop's periods have not been what they were after the verdict for some windows in a
 * row: what was measured may not hold any more. How much windows differ anyway is learnt. */
static bool has_changed(struct reprise_turns *turns, uint64_t took)
{
	uint64_t off = apart(took, turns->usual_ns),
			 most = REPRISE_TUNE_TURNS_SPREADS * turns->spread_ns;

	if (most < turns->usual_ns / REPRISE_TUNE_TURNS_CHANGED)
		most = turns->usual_ns / REPRISE_TUNE_TURNS_CHANGED;
	if (turns->windows >= REPRISE_TUNE_TURNS_KNOWN && off > most)
		return ++turns->unusual >= REPRISE_TUNE_TURNS_UNUSUAL;
	turns->unusual = 0;
	if (turns->windows < 2 * REPRISE_TUNE_TURNS_KNOWN)
		turns->windows++;
	if (turns->windows > 1)
		turns->spread_ns = mixed(turns->spread_ns, off, turns->windows - 1);
	turns->usual_ns = mixed(turns->usual_ns, took, turns->windows);
	return false;
}

static void end_window(struct reprise_turns *turns, uint64_t now)
{
	uint64_t took = mean(turns->periods, turns->count);

	turns->period_ns = took;
	turns->count = 0;
	if (!turns->testing && (has_changed(turns, took) || now >= turns->rest_until_ns))
		begin_test(turns);
	if (turns->testing)
		go_on(turns, better(turns), now);
}

/* ---- what is called ---- */

void reprise_turns_begin(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns,
                         uint64_t random)
{
	*turns = (struct reprise_turns){.begun_ns = now_ns, .random = random};
	reprise_turns_begin_loop(turns, now_ns, period_ns);
}

void reprise_turns_begin_loop(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns)
{
	turns->result.verdict = REPRISE_VERDICT_UNDECIDED;
	turns->result.gain = turns->result.low = turns->result.high = 0;
	turns->result.loops++;
	turns->period_ns = period_ns;
	begin_test(turns);
	begin_rest(turns, REPRISE_ARM_EAGER);
	go_on(turns, REPRISE_ARM_EAGER, now_ns);
}

enum reprise_arm reprise_turns_note(struct reprise_turns *turns, uint64_t now_ns,
                                    uint64_t period_ns, bool alike)
{
	bool rests = turns->phase == REPRISE_TURNS_REST;

	if (!alike)
		return turns->arm;
	if (turns->skip > 0) {
		turns->skip--;
		return turns->arm;
	}
	turns->periods[turns->count++] = period_ns;
	if (rests && (turns->testing || turns->count == REPRISE_TUNE_TURNS_WINDOW))
		end_window(turns, now_ns);
	else if (!rests && turns->count == turns->wanted)
		end_turn(turns, now_ns);
	return turns->arm;
}

enum reprise_arm reprise_turns_give_up(struct reprise_turns *turns)
{
	begin_rest(turns, better(turns));
	return turns->arm;
}
