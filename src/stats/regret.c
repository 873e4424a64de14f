#include "stats/regret.h"

#include "base/tuning.h"

unsigned int reprise_regret_periods(unsigned int pairs, uint64_t period_ns)
{
	unsigned int doubled = pairs / REPRISE_TUNE_TURN_LENGTHENED;
	uint64_t period = period_ns + 1, least = REPRISE_TUNE_TURN_NS / period + 1,
			 most = REPRISE_TUNE_TURN_LONG_NS / period + 1,
			 first = period_ns > REPRISE_TUNE_TURN_SINGLE_NS ? 1 : REPRISE_TUNE_TURN_PERIODS,
			 wanted = doubled < 6 ? first << doubled : REPRISE_TURN_PERIODS_MOST;

	wanted = wanted > most ? most : wanted;
	wanted = wanted < least ? least : wanted;
	wanted = wanted < first ? first : wanted;
	return wanted < REPRISE_TURN_PERIODS_MOST ? (unsigned int)wanted : REPRISE_TURN_PERIODS_MOST;
}

static uint64_t difference(const struct reprise_regret *regret)
{
	return regret->difference_ns < 0 ? (uint64_t)-regret->difference_ns
	                                 : (uint64_t)regret->difference_ns;
}

/* What this test has lost that counts. */
static uint64_t counts(const struct reprise_regret *regret)
{
	return regret->otherwise_eager && regret->difference_ns > 0 ? 0 : difference(regret);
}

void reprise_regret_begin_test(struct reprise_regret *regret, bool otherwise_eager)
{
	regret->before_ns = regret->lost_ns;
	regret->counted_ns += counts(regret);
	regret->otherwise_eager = otherwise_eager;
	regret->difference_ns = 0;
	regret->compared = 0;
}

void reprise_regret_count(struct reprise_regret *regret, int64_t difference_ns,
                          unsigned int periods)
{
	regret->difference_ns += difference_ns * (int64_t)periods;
	regret->compared += periods;
	regret->lost_ns = regret->before_ns + difference(regret);
}

void reprise_regret_add(struct reprise_regret *regret, uint64_t ns)
{
	regret->before_ns += ns;
	regret->counted_ns += ns;
	regret->lost_ns += ns;
}

static bool fits(const struct reprise_regret *regret, uint64_t ns, uint64_t most)
{
	return regret->counted_ns + counts(regret) + ns <= most;
}

bool reprise_regret_has_room(const struct reprise_regret *regret, uint64_t ns, uint64_t now_ns)
{
	uint64_t passed = now_ns - regret->begun_ns;

	return fits(regret, ns, REPRISE_TUNE_TURNS_FREE_NS + passed / REPRISE_TUNE_TURNS_SHARE);
}

bool reprise_regret_has_room_in_aim(const struct reprise_regret *regret, uint64_t ns,
                                    uint64_t now_ns)
{
	uint64_t passed = now_ns - regret->begun_ns;

	return fits(regret, ns, REPRISE_TUNE_TURNS_AIM_FREE_NS + passed / REPRISE_TUNE_TURNS_AIM_SHARE);
}

bool reprise_regret_affords(const struct reprise_regret *regret, uint64_t periods, uint64_t turn_ns,
                            uint64_t now_ns)
{
	uint64_t may_lose = regret->compared == 0 ? turn_ns / REPRISE_TUNE_TURNS_FIRST
	                                          : counts(regret) * periods / regret->compared;

	return reprise_regret_has_room(regret, may_lose, now_ns);
}
