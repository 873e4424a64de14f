#include "stats/turns.h"

#include "base/tuning.h"
#include "stats/regret.h"
#include "stats/usual.h"

/* ---- how long a turn is, and when a pair may begin ---- */

static unsigned int periods_wanted(const struct reprise_turns *turns)
{
	return reprise_regret_periods(turns->pairs.count, turns->period_ns);
}

/* The arm of a rest between two pairs: the verdict's, and eager before the first, unless the pairs
 * so far say otherwise. Where the host is ahead, these do not: a rest of replays would fill the
 * launch queue. Nor do they where next to nothing is replayed, which gains nothing. */
static enum reprise_arm better(const struct reprise_turns *turns)
{
	int surplus = reprise_pairs_surplus(&turns->pairs);

	if (surplus >= REPRISE_TUNE_TURNS_SURPLUS && !turns->ahead &&
	    !reprise_learnt_is_nothing(&turns->learnt))
		return REPRISE_ARM_REPLAY;
	return turns->result.verdict == REPRISE_VERDICT_REPLAY && surplus > -REPRISE_TUNE_TURNS_SURPLUS
	           ? REPRISE_ARM_REPLAY
	           : REPRISE_ARM_EAGER;
}

/* Periods at the beginning of a turn that are not compared. The first ones behind a switch are
 * longer, by a tenth where they take 50 us. Once a gain is told, more of them are left out. The
 * first test leaves out one, since it comes to a verdict sooner so. Ranks' turns are as long as
 * each other's. */
static unsigned int skipped(const struct reprise_turns *turns)
{
	uint64_t periods = REPRISE_TUNE_TURN_SKIPPED;

	if (turns->result.verdict == REPRISE_VERDICT_REPLAY && turns->step.ahead_ns == 0)
		periods += REPRISE_TUNE_TURN_SKIPPED_NS / (turns->period_ns + 1);
	return periods < REPRISE_TUNE_TURN_SKIPPED_MOST ? (unsigned int)periods
	                                                : REPRISE_TUNE_TURN_SKIPPED_MOST;
}

/* Of a turn of the next pair. One more may pass before the GPU is seen to have caught up. */
static uint64_t turn_periods(const struct reprise_turns *turns)
{
	return periods_wanted(turns) + skipped(turns) + !turns->idle;
}

static uint64_t turn_ns(const struct reprise_turns *turns)
{
	return turn_periods(turns) * turns->period_ns;
}

static bool affordable(const struct reprise_turns *turns, uint64_t now)
{
	return reprise_regret_affords(&turns->regret, turn_periods(turns), turn_ns(turns), now);
}

/* Once a gain was seen, a longer turn of replays costs nothing. It has several parts, of as many
 * periods as the eager turn, and their median stands for it: an odd number, so that it is as often
 * above the eager turn as below it where there is no difference. Ranks' turns are as long as each
 * other's. */
static unsigned int parts_wanted(const struct reprise_turns *turns)
{
	unsigned int most = REPRISE_TURN_PERIODS_MOST / turns->wanted;

	if (turns->result.verdict != REPRISE_VERDICT_REPLAY || turns->step.ahead_ns != 0)
		return 1;
	return most < REPRISE_TUNE_TURN_PARTS ? (most - 1) | 1 : REPRISE_TUNE_TURN_PARTS;
}

/* Periods of the turn under way that are compared. */
static unsigned int compared(const struct reprise_turns *turns)
{
	return turns->wanted * (turns->arm == REPRISE_ARM_REPLAY ? turns->parts : 1);
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
	turns->skip = skipped(turns);
	turns->draining = false;
	turns->behind_ns = turns->behind = 0;
}

static void begin_rest(struct reprise_turns *turns, enum reprise_arm arm)
{
	turns->phase = REPRISE_TURNS_REST;
	turns->rested = turns->slow = 0;
	turns->launched = turns->launches;
	reprise_choice_interrupt(&turns->choice);
	begin_turn(turns, arm);
	turns->skip = REPRISE_TUNE_TURN_SKIPPED;
}

/* Where it was not seen when in a period the GPU caught up: half of it is as good as any. */
static const struct reprise_caught_up unseen = {.time = 500, .ops = 500};

/* Periods of `arm` pass until the GPU has caught up. */
static void begin_drain(struct reprise_turns *turns, enum reprise_arm arm)
{
	turns->arm = arm;
	turns->draining = true;
	turns->drained_ns = turns->drained = 0;
	turns->caught_up = unseen;
}

static void begin_first(struct reprise_turns *turns)
{
	uint64_t random = reprise_in_step_random(&turns->step, next_random(turns));

	begin_turn(turns, random >> 32 & 1 ? REPRISE_ARM_EAGER : REPRISE_ARM_REPLAY);
}

/* What the GPU still has of a rest would be in the first turn's account. */
static void begin_pair(struct reprise_turns *turns)
{
	turns->filled = turns->phase == REPRISE_TURNS_REST && turns->arm == REPRISE_ARM_REPLAY;
	turns->phase = REPRISE_TURNS_FIRST;
	turns->wanted = periods_wanted(turns);
	turns->parts = parts_wanted(turns);
	turns->before = !turns->idle;
	if (turns->idle)
		begin_first(turns);
	else
		begin_drain(turns, REPRISE_ARM_EAGER);
}

static void begin_test(struct reprise_turns *turns)
{
	reprise_pairs_begin(&turns->pairs);
	reprise_regret_begin_test(&turns->regret, turns->result.verdict != REPRISE_VERDICT_REPLAY);
	turns->bound = 0;
	reprise_learnt_begin_test(&turns->learnt);
	turns->testing = true;
	turns->usual = (struct reprise_usual){0};
}

/* The loop is not what earlier pairs were of. */
static void forget_pairs(struct reprise_turns *turns)
{
	reprise_pairs_begin(&turns->processor);
	reprise_pairs_begin(&turns->told);
}

/* No gain is known. */
static void forget_gain(struct reprise_turns_result *result)
{
	result->gain = result->low = result->high = result->processor = 0;
}

/* What is told of the gain may be far off yet, and more pairs would tell it better. Where there is
 * no room for them, earlier ones are halved: with half as many as there may be, more add little. */
static bool is_told_roughly(const struct reprise_turns *turns)
{
	return turns->told.count < REPRISE_PAIRS_MOST / 2 &&
	       reprise_pairs_are_rough(&turns->told,
	                               reprise_log2_of_thousandths(1000 + REPRISE_TUNE_TURNS_ROUGH));
}

/* The pause before the next test, in `arm`: from the least for this verdict, twice as long each
 * time that it stays, but not while a gain is told roughly. A test that shows nothing is a long
 * one: so its pause is. */
static void end_test(struct reprise_turns *turns, enum reprise_verdict verdict,
                     enum reprise_arm arm, uint64_t now)
{
	struct reprise_turns_result *result = &turns->result;
	uint64_t least =
		arm == REPRISE_ARM_REPLAY ? REPRISE_TUNE_TURNS_REPLAY_NS : REPRISE_TUNE_TURNS_EAGER_NS;
	uint64_t tested = REPRISE_TUNE_TURNS_UNCLEAR_PAUSE * (now - turns->first_pair_ns);

	if (verdict == REPRISE_VERDICT_UNCLEAR && tested > least)
		least = tested;
	if (verdict != result->verdict || turns->pause_ns < least ||
	    (verdict == REPRISE_VERDICT_REPLAY && is_told_roughly(turns)))
		turns->pause_ns = least;
	else if (turns->pause_ns < least << REPRISE_TUNE_TURNS_DOUBLED)
		turns->pause_ns *= 2;
	turns->rest_until_ns = reprise_in_step_rest(&turns->step, now, turns->pause_ns);
	turns->testing = false;
	result->verdict = verdict;
	result->tests++;
	if (result->decided_ns == 0)
		result->decided_ns = now - turns->regret.begun_ns;
	begin_rest(turns, arm);
}

/* Begins the next pair, or rests in `arm` until it may begin. */
static void go_on(struct reprise_turns *turns, enum reprise_arm arm, uint64_t now)
{
	if (affordable(turns, now) && reprise_in_step_begins(&turns->step, now, 2 * turn_ns(turns)))
		begin_pair(turns);
	else if (turns->phase != REPRISE_TURNS_REST || turns->arm != arm)
		begin_rest(turns, arm);
}

/* What the pairs so far say holds no more: more was learnt since, or graphs are launched
 * otherwise. */
static void begin_anew(struct reprise_turns *turns)
{
	forget_pairs(turns);
	begin_test(turns);
	turns->learnt.first = turns->learnt.last;
}

/* A gain costs too much processor time, or seems to. Without the launch thread it may cost less. */
static bool try_direct(struct reprise_turns *turns)
{
	if (!turns->async || turns->result.direct)
		return false;
	turns->result.direct = true;
	begin_anew(turns);
	return true;
}

/* True if this test's pairs agree with those that were told. */
static bool agree(const struct reprise_turns *turns)
{
	struct reprise_interval now = reprise_pairs_read(&turns->pairs),
							told = reprise_pairs_read(&turns->told);

	return now.low <= told.median && told.median <= now.high;
}

/* What is told of the gain. A test ends when its pairs seem clear, which they do sooner if they
 * tell too much: so it is of all tests in a row that have the verdict. One that does not agree with
 * those before weighs more: the gain may have changed. */
static struct reprise_interval take_pairs(struct reprise_turns *turns, enum reprise_verdict verdict)
{
	if (verdict != turns->result.verdict)
		reprise_pairs_begin(&turns->told);
	else if (!agree(turns))
		reprise_pairs_halve(&turns->told);
	reprise_pairs_join(&turns->told, &turns->pairs);
	return reprise_pairs_read(&turns->told);
}

/* Besides what pairs lose. */
static void lose(struct reprise_turns *turns, uint64_t ns)
{
	reprise_regret_add(&turns->regret, ns);
	turns->result.lost_ns = turns->regret.lost_ns;
}

/* How long a lesson lasts. *may_lose: what it loses if replays go on as in the test. */
static uint64_t lesson_ns(const struct reprise_turns *turns, uint64_t *may_lose)
{
	uint32_t gain = reprise_thousandths(reprise_pairs_read(&turns->pairs).median);
	uint64_t lost = gain < 1000 ? 1000 - gain : 0, /* in a thousand */
		ns = REPRISE_TUNE_LESSON_PERIODS * turns->period_ns;

	if (ns < REPRISE_TUNE_LESSON_NS)
		ns = REPRISE_TUNE_LESSON_NS;
	if (ns / 1000 * lost > REPRISE_TUNE_LESSON_LOSES_NS)
		ns = REPRISE_TUNE_LESSON_LOSES_NS * UINT64_C(1000) / lost;
	*may_lose = ns / 1000 * lost;
	return ns;
}

/* So little is replayed in replaying turns that the test says what watching costs. Turns are too
 * short to learn in where little is known: a rest of replays comes, and then another test. Where
 * the one before has taught nothing, there is none. */
static bool try_lesson(struct reprise_turns *turns, uint64_t now)
{
	uint64_t may_lose, ns;

	if (!reprise_learnt_is_little(&turns->learnt) ||
	    (turns->taught && !reprise_learnt_since(&turns->learnt, turns->before_lesson)))
		return false;
	ns = lesson_ns(turns, &may_lose);
	if (!reprise_regret_has_room(&turns->regret, may_lose, now))
		return false;
	lose(turns, may_lose);
	turns->taught = true;
	turns->before_lesson = turns->learnt.last;
	turns->testing = false;
	turns->rest_until_ns = now + ns;
	forget_pairs(turns);
	begin_rest(turns, REPRISE_ARM_REPLAY);
	return true;
}

static void decide(struct reprise_turns *turns, enum reprise_verdict verdict, uint64_t now)
{
	struct reprise_turns_result *result = &turns->result;
	struct reprise_interval interval;

	if ((verdict == REPRISE_VERDICT_EAGER || verdict == REPRISE_VERDICT_UNCLEAR) &&
	    try_lesson(turns, now))
		return;
	if (verdict == REPRISE_VERDICT_UNCLEAR && result->verdict == REPRISE_VERDICT_REPLAY &&
	    agree(turns))
		verdict = REPRISE_VERDICT_REPLAY; /* a small gain, which earlier tests have shown */
	if (verdict == REPRISE_VERDICT_REPLAY && reprise_verdict_seems_costly(&turns->processor) &&
	    try_direct(turns)) {
		go_on(turns, better(turns), now);
		return;
	}
	if (verdict == REPRISE_VERDICT_REPLAY && reprise_verdict_is_costly(&turns->processor))
		verdict = REPRISE_VERDICT_COSTLY;
	interval = take_pairs(turns, verdict);
	result->gain = reprise_thousandths(interval.median);
	result->low = reprise_thousandths(interval.low);
	result->high = reprise_thousandths(interval.high);
	result->processor = turns->processor.count > 0
	                        ? reprise_thousandths(reprise_pairs_read(&turns->processor).median)
	                        : 0;
	end_test(turns, verdict,
	         verdict == REPRISE_VERDICT_REPLAY ? REPRISE_ARM_REPLAY : REPRISE_ARM_EAGER, now);
}

/* The GPU is behind in both arms. Where a gain was seen, that says nothing against it: what the
 * replays of a rest have given the GPU may be more than can be waited for. */
static void decide_bound(struct reprise_turns *turns, uint64_t now)
{
	struct reprise_turns_result *result = &turns->result;

	if (better(turns) == REPRISE_ARM_REPLAY) {
		end_test(turns, result->verdict, REPRISE_ARM_REPLAY, now);
		return;
	}
	forget_gain(result);
	end_test(turns, REPRISE_VERDICT_BOUND, REPRISE_ARM_EAGER, now);
}

/* What a turn counts for in what was lost. The program may do something else in it: where it is a
 * single period, no median shows that. */
static uint64_t cut(const struct reprise_turns *turns, uint64_t took, uint64_t other)
{
	uint64_t most = REPRISE_TUNE_TURN_SINGLE_MOST * other;

	return turns->wanted == 1 && took > most ? most : took;
}

/* `took`: what a period of the pair's second turn takes. */
static void end_pair(struct reprise_turns *turns, uint64_t took, uint64_t now)
{
	bool replayed = turns->second == REPRISE_ARM_REPLAY;
	uint64_t eager = replayed ? turns->first_ns : took, replay = replayed ? took : turns->first_ns;
	uint64_t eager_cut = cut(turns, eager, replay), replay_cut = cut(turns, replay, eager);
	enum reprise_verdict verdict;

	if (turns->pairs.count == 0)
		turns->first_pair_ns = now;
	reprise_pairs_add(&turns->pairs, eager, replay);
	if (turns->processor.count == REPRISE_PAIRS_MOST)
		reprise_pairs_begin(&turns->processor);
	reprise_pairs_add(&turns->processor,
	                  replayed ? turns->processor_second_ns : turns->processor_first_ns,
	                  replayed ? turns->processor_first_ns : turns->processor_second_ns);
	reprise_regret_count(&turns->regret, (int64_t)(eager_cut - replay_cut),
	                     turns->wanted + skipped(turns) + turns->before);
	turns->result.lost_ns = turns->regret.lost_ns;
	turns->bound = 0;
	turns->eager_ns = eager;
	turns->replay_ns = replay;
	turns->period_ns = eager_cut > replay_cut ? eager_cut : replay_cut;
	verdict = reprise_verdict_of(&turns->pairs);
	if ((verdict == REPRISE_VERDICT_EAGER || verdict == REPRISE_VERDICT_UNCLEAR) &&
	    reprise_learnt_more(&turns->learnt, REPRISE_TUNE_TURNS_LEARNING)) {
		begin_anew(turns);
	} else if (verdict != REPRISE_VERDICT_UNDECIDED) {
		decide(turns, verdict, now);
		return;
	}
	go_on(turns, better(turns), now);
}

/* The GPU has not caught up in either arm: the pair says nothing. */
static void end_bound_pair(struct reprise_turns *turns, uint64_t now)
{
	if (++turns->bound < REPRISE_TUNE_TURNS_BOUND)
		go_on(turns, better(turns), now);
	else
		decide_bound(turns, now);
}

static enum reprise_arm other_than(enum reprise_arm arm)
{
	return arm == REPRISE_ARM_EAGER ? REPRISE_ARM_REPLAY : REPRISE_ARM_EAGER;
}

static void end_turn(struct reprise_turns *turns, uint64_t took, uint64_t now)
{
	uint64_t used = reprise_used_since(&turns->used);

	if (turns->arm == REPRISE_ARM_REPLAY) {
		reprise_learnt_end_turn(&turns->learnt);
		if (reprise_learnt_more(&turns->learnt, REPRISE_TUNE_TURNS_LEARNT))
			begin_anew(turns);
	}

	turns->result.turns++;
	turns->processor_second_ns = used; /* if it is the first, the second comes */
	if (turns->phase == REPRISE_TURNS_FIRST) {
		turns->processor_first_ns = used;
		turns->first_ns = took;
		turns->first_behind = !turns->idle;
		turns->phase = REPRISE_TURNS_SECOND;
		turns->second = other_than(turns->arm);
		if (turns->idle)
			begin_turn(turns, turns->second);
		else
			begin_drain(turns, turns->second);
	} else if (turns->idle) {
		end_pair(turns, took, now);
	} else {
		turns->second_ns = took;
		turns->phase = REPRISE_TURNS_AFTER;
		/* In an arm in which it had caught up before. */
		begin_drain(turns, turns->first_behind ? turns->second : other_than(turns->second));
	}
}

/* ---- replays that keep the GPU for longer than eager calls ---- */

/* In the long run the host's periods are not shorter than the loop's: once the launch queue is full
 * they show what graphs really take the GPU. */
static bool is_slower_than_eager(const struct reprise_turns *turns, uint64_t took)
{
	return turns->ahead && turns->arm == REPRISE_ARM_REPLAY && took > turns->eager_ns;
}

/* So many periods of replays the launch queue has hidden at most, until it was full: of as many
 * launches as this rest's had, and while it filled the GPU was at work. */
static uint64_t hidden(const struct reprise_turns *turns)
{
	uint64_t launches =
		turns->rested == 0 ? 0 : (turns->launches - turns->launched) / turns->rested;
	uint64_t host = turns->usual.mean_ns, gpu = turns->slow_least_ns;
	uint64_t periods = REPRISE_TUNE_TURNS_QUEUE / (launches == 0 ? 1 : launches);

	return host < gpu ? periods * gpu / (gpu - host) : turns->rested;
}

/* Before the launch queue was full no more periods than fit into it took longer than eager ones. */
static void take_back(struct reprise_turns *turns, uint64_t now)
{
	struct reprise_turns_result *result = &turns->result;
	uint64_t slow = turns->slow + hidden(turns);

	lose(turns,
	     (slow < turns->rested ? slow : turns->rested) * (turns->slow_least_ns - turns->eager_ns));
	forget_gain(result);
	end_test(turns, REPRISE_VERDICT_EAGER, REPRISE_ARM_EAGER, now);
}

/* Of a check: few where they are long. */
static uint64_t check_periods(const struct reprise_turns *turns)
{
	uint64_t periods = REPRISE_TUNE_TURNS_CHECK_NS / turns->slow_least_ns;

	if (periods < REPRISE_TUNE_TURN_PERIODS)
		return REPRISE_TUNE_TURN_PERIODS;
	return periods < REPRISE_TUNE_TURNS_WINDOW ? periods : REPRISE_TUNE_TURNS_WINDOW;
}

/* Replays seem to be slower than the eager calls of the last pair. On a machine that has become
 * slow all calls are: so eager calls are looked at again, once the GPU has caught up. */
static void begin_check(struct reprise_turns *turns, uint64_t now)
{
	uint64_t gain = turns->eager_ns > turns->replay_ns ? turns->eager_ns - turns->replay_ns : 0;
	uint64_t wanted = check_periods(turns);

	if (!reprise_regret_has_room_in_aim(&turns->regret, (wanted + skipped(turns)) * gain, now)) {
		take_back(turns, now);
		return;
	}
	turns->phase = REPRISE_TURNS_CHECK;
	turns->wanted = (unsigned int)wanted;
	turns->parts = 1;
	turns->filled = true;
	begin_drain(turns, REPRISE_ARM_EAGER);
}

/* Eager periods took so long. If that is more than replays did, the gain holds, and the periods of
 * the check have lost it. */
static void end_check(struct reprise_turns *turns, uint64_t took, uint64_t now)
{
	if (turns->idle)
		turns->eager_ns = took;
	if (took < turns->slow_least_ns) {
		take_back(turns, now);
		return;
	}
	lose(turns, (turns->count + skipped(turns)) * (took - turns->slow_least_ns));
	begin_rest(turns, REPRISE_ARM_REPLAY);
}

/* A window of a rest in which replays seem to be slower than eager calls. A machine that stalls for
 * a moment looks the same: so all windows have to be slower for a while. */
static void note_slow(struct reprise_turns *turns, uint64_t took, uint64_t now)
{
	if (!is_slower_than_eager(turns, took)) {
		turns->slow = 0;
		return;
	}
	if (turns->slow == 0)
		turns->slow_ns = 0;
	if (turns->slow == 0 || took < turns->slow_least_ns)
		turns->slow_least_ns = took;
	turns->slow += REPRISE_TUNE_TURNS_WINDOW;
	turns->slow_ns += REPRISE_TUNE_TURNS_WINDOW * took;
	if (turns->slow_ns >= REPRISE_TUNE_TURNS_SLOW_NS)
		begin_check(turns, now);
}

/* ---- a GPU that is behind ---- */

/* What a period of the turn before takes, of which the host took `host_ns`: the GPU has done these
 * periods and those since, in all their time, and the part of the last one until it caught up. If
 * there was only that one, and the moment was not seen, nothing is known but the host's time. */
static uint64_t gpu_takes(const struct reprise_turns *turns, uint64_t host_ns, uint64_t last_ns)
{
	const struct reprise_caught_up *part = &turns->caught_up;
	uint64_t time_ns = turns->behind_ns + turns->drained_ns + last_ns * part->time / 1000;
	uint64_t mean_ns = time_ns * 1000 / ((turns->behind + turns->drained) * 1000 + part->ops);

	return (turns->drained > 0 || part->seen) && mean_ns > host_ns ? mean_ns : host_ns;
}

/* The pair's first turn is complete. */
static bool has_first_turn(const struct reprise_turns *turns)
{
	return turns->phase == REPRISE_TURNS_SECOND || turns->phase == REPRISE_TURNS_AFTER;
}

/* The turn that the GPU catches up with was of replays. */
static bool follows_replays(const struct reprise_turns *turns)
{
	return (turns->phase == REPRISE_TURNS_SECOND) == (turns->second == REPRISE_ARM_EAGER);
}

/* In a period of `last_ns`. */
static void catch_up(struct reprise_turns *turns, uint64_t last_ns, uint64_t now)
{
	if (has_first_turn(turns) && turns->drained > 0 && follows_replays(turns))
		turns->ahead = true;
	if (turns->phase == REPRISE_TURNS_FIRST) {
		begin_first(turns);
	} else if (turns->phase == REPRISE_TURNS_CHECK) {
		begin_turn(turns, REPRISE_ARM_EAGER);
	} else if (turns->phase == REPRISE_TURNS_SECOND) {
		turns->first_ns = gpu_takes(turns, turns->first_ns, last_ns);
		begin_turn(turns, turns->second);
	} else {
		end_pair(turns, gpu_takes(turns, turns->second_ns, last_ns), now);
	}
}

/* Where an arm lasts longer than the GPU takes, it catches up some time. */
static bool has_had_time(const struct reprise_turns *turns)
{
	uint64_t enough = REPRISE_TUNE_TURNS_DRAINED_NS;

	if (!has_first_turn(turns) && turns->filled)
		enough *= REPRISE_TUNE_TURNS_FILLED;
	return turns->drained >= REPRISE_TUNE_TURNS_DRAINED && turns->drained_ns >= enough;
}

/* A period has ended in which the GPU was to catch up. */
static void drain(struct reprise_turns *turns, uint64_t period, uint64_t now)
{
	if (turns->idle) {
		catch_up(turns, period, now);
		return;
	}
	turns->drained++;
	turns->drained_ns += period;
	turns->caught_up = unseen;
	if (!has_had_time(turns))
		return;
	if (turns->phase == REPRISE_TURNS_FIRST && turns->arm == REPRISE_ARM_EAGER)
		begin_drain(turns, REPRISE_ARM_REPLAY);
	else if (turns->phase == REPRISE_TURNS_CHECK)
		take_back(turns, now);
	else
		end_bound_pair(turns, now);
}

/* ---- the launch thread, or none ---- */

/* A gain was seen, and the loop rests in replays. Of a host that is ahead its periods say nothing,
 * and a rank's are those of all ranks. */
static bool may_choose(const struct reprise_turns *turns)
{
	return turns->phase == REPRISE_TURNS_REST && turns->arm == REPRISE_ARM_REPLAY &&
	       !turns->testing && turns->result.verdict == REPRISE_VERDICT_REPLAY && turns->async &&
	       !turns->result.direct && !turns->chosen && !turns->ahead && turns->step.ahead_ns == 0;
}

static bool is_choosing(const struct reprise_turns *turns)
{
	return turns->choosing && may_choose(turns);
}

/* A period of a rest has ended. True if a test has begun: it is known now that the launch thread is
 * not worth what it takes. */
static bool choose(struct reprise_turns *turns, uint64_t period_ns, uint64_t now)
{
	if (!may_choose(turns))
		return false;
	if (!turns->choosing) {
		reprise_choice_begin(&turns->choice, turns->period_ns, next_random(turns));
		turns->choosing = true;
		return false;
	}
	if (!reprise_choice_note(&turns->choice, period_ns, next_random(turns)))
		return false;
	turns->choosing = false;
	turns->chosen = true;
	turns->result.thread_gain = reprise_thousandths(reprise_pairs_read(&turns->choice.time).median);
	if (turns->choice.processor.count > 0)
		turns->result.thread_processor =
			reprise_thousandths(reprise_pairs_read(&turns->choice.processor).median);
	if (!reprise_choice_is_direct(&turns->choice, reprise_verdict_seems_costly(&turns->processor)))
		return false;
	turns->result.direct = true;
	begin_anew(turns);
	go_on(turns, better(turns), now);
	return true;
}

/* ---- a rest ---- */

/* True if the loop is not what it was. Replays that are ahead of the GPU only seem to be faster. */
static bool has_changed(struct reprise_turns *turns, uint64_t took)
{
	if (turns->ahead && turns->arm == REPRISE_ARM_REPLAY && took < turns->replay_ns)
		took = turns->replay_ns;
	return reprise_usual_has_changed(&turns->usual, took);
}

/* Most of an eager rest is not looked at: looking costs. */
static void look_away(struct reprise_turns *turns, uint64_t now)
{
	uint64_t until = turns->testing ? reprise_in_step_next(&turns->step, now, 2 * turn_ns(turns))
	                                : turns->rest_until_ns;

	turns->unseen_until_ns = now + REPRISE_TUNE_UNSEEN_NS;
	if (until < turns->unseen_until_ns)
		turns->unseen_until_ns = until;
}

static void end_window(struct reprise_turns *turns, uint64_t now)
{
	uint64_t took = reprise_periods_mean(turns->periods, turns->count);

	turns->period_ns = took;
	turns->rested += turns->count;
	turns->count = 0;
	if (turns->slow > 0) {
		note_slow(turns, took, now);
		return;
	}
	if (!turns->testing && !is_choosing(turns) && has_changed(turns, took)) {
		if (is_slower_than_eager(turns, took)) {
			note_slow(turns, took, now);
			return;
		}
		reprise_pairs_begin(&turns->processor);
		begin_test(turns);
	} else if (!turns->testing && now >= turns->rest_until_ns) {
		begin_test(turns);
	}
	if (turns->testing)
		go_on(turns, better(turns), now);
	if (turns->phase == REPRISE_TURNS_REST && turns->arm == REPRISE_ARM_EAGER)
		look_away(turns, now);
}

/* A period of the turn that has ended. */
static uint64_t turn_took(struct reprise_turns *turns)
{
	uint64_t parts[REPRISE_TUNE_TURN_PARTS];
	unsigned int count = turns->count / turns->wanted;

	for (unsigned int i = 0; i < count; i++)
		parts[i] = reprise_periods_mean(&turns->periods[i * turns->wanted], turns->wanted);
	return reprise_periods_median(parts, count);
}

static void end_compared(struct reprise_turns *turns, uint64_t now)
{
	uint64_t took = turn_took(turns);

	if (turns->phase == REPRISE_TURNS_CHECK)
		end_check(turns, took, now);
	else
		end_turn(turns, took, now);
}

/* ---- what is called ---- */

void reprise_turns_begin(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns,
                         uint64_t random, uint64_t ahead_ns)
{
	*turns = (struct reprise_turns){.regret.begun_ns = now_ns,
	                                .random = random,
	                                .step.ahead_ns = ahead_ns};
	reprise_turns_begin_loop(turns, now_ns, period_ns);
}

void reprise_turns_begin_loop(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns)
{
	struct reprise_turns_result *result = &turns->result;

	if (result->verdict != REPRISE_VERDICT_UNDECIDED) {
		result->earlier.verdict = result->verdict;
		result->earlier.gain = result->gain;
		result->earlier.low = result->low;
		result->earlier.high = result->high;
	}
	result->verdict = REPRISE_VERDICT_UNDECIDED;
	forget_gain(result);
	result->thread_gain = result->thread_processor = 0;
	result->direct = turns->async = turns->choosing = turns->chosen = false;
	result->loops++;
	turns->period_ns = period_ns;
	turns->idle = true;
	turns->ahead = turns->taught = false;
	forget_pairs(turns);
	begin_test(turns);
	begin_rest(turns, REPRISE_ARM_EAGER);
	go_on(turns, REPRISE_ARM_EAGER, now_ns);
}

void reprise_turns_leave_out(struct reprise_turns *turns, uint64_t ns)
{
	turns->regret.begun_ns += ns;
	turns->first_pair_ns += ns;
	if (turns->step.ahead_ns == 0)
		turns->rest_until_ns += ns;
}

enum reprise_arm reprise_turns_note(struct reprise_turns *turns, uint64_t now_ns,
                                    uint64_t period_ns, bool alike, bool idle)
{
	bool rests = turns->phase == REPRISE_TURNS_REST;

	turns->unseen_until_ns = 0;
	if (!alike) {
		turns->caught_up = unseen;
		return turns->arm;
	}
	turns->idle = idle;
	if (turns->draining) {
		drain(turns, period_ns, now_ns);
		return turns->arm;
	}
	turns->behind_ns += period_ns;
	turns->behind++;
	if (turns->skip > 0) {
		turns->skip--;
		reprise_used_begin(&turns->used);
		reprise_learnt_begin_turn(&turns->learnt);
		return turns->arm;
	}
	turns->periods[turns->count++] = period_ns;
	if (rests && choose(turns, period_ns, now_ns))
		return turns->arm;
	if (rests && (turns->testing || turns->count == REPRISE_TUNE_TURNS_WINDOW))
		end_window(turns, now_ns);
	else if (!rests && turns->count == compared(turns))
		end_compared(turns, now_ns);
	return turns->arm;
}

bool reprise_turns_asks(const struct reprise_turns *turns)
{
	return turns->draining || (turns->phase != REPRISE_TURNS_REST && turns->skip == 0 &&
	                           turns->count + 1 == compared(turns));
}

bool reprise_turns_asks_when(const struct reprise_turns *turns)
{
	return turns->draining && turns->arm == REPRISE_ARM_EAGER && has_first_turn(turns);
}

void reprise_turns_note_caught_up(struct reprise_turns *turns, unsigned int time_thousandths,
                                  unsigned int ops_thousandths)
{
	turns->caught_up = (struct reprise_caught_up){true, time_thousandths, ops_thousandths};
}

bool reprise_turns_asks_processor(const struct reprise_turns *turns)
{
	if (is_choosing(turns))
		return reprise_choice_asks_processor(&turns->choice);
	return turns->phase != REPRISE_TURNS_REST && !turns->draining &&
	       (turns->skip == 1 || turns->count + 1 == compared(turns));
}

void reprise_turns_note_processor(struct reprise_turns *turns, uint64_t ns, uint64_t ops)
{
	reprise_used_note(&turns->used, ns, ops);
	reprise_choice_note_processor(&turns->choice, ns, ops);
}

void reprise_turns_note_replayed(struct reprise_turns *turns, uint64_t replayed, uint64_t ops,
                                 uint64_t launches)
{
	turns->launches = launches;
	turns->learnt.replayed = replayed;
	turns->learnt.ops = ops;
}

void reprise_turns_note_async(struct reprise_turns *turns)
{
	turns->async = true;
}

bool reprise_turns_is_direct(const struct reprise_turns *turns)
{
	return turns->result.direct || (is_choosing(turns) && turns->choice.direct);
}

enum reprise_arm reprise_turns_give_up(struct reprise_turns *turns)
{
	if (turns->testing)
		begin_rest(turns, better(turns));
	else /* a check interrupts a rest of replays */
		begin_rest(turns, turns->phase == REPRISE_TURNS_CHECK ? REPRISE_ARM_REPLAY : turns->arm);
	return turns->arm;
}
