/* How near what turns tell of a gain is to what it is, in made-up loops that run for some seconds
 * of virtual time, 300 of each. A period varies by itself, and with a drift that lasts for some
 * 20 ms, as on a machine whose speed others share; in the second half of the rows one in ten takes
 * three times as long. docs/decisions/0054-told-from-more.md has the
 * figures.
 *
 *     gcc -O2 -D_GNU_SOURCE -Isrc -Itests/unit/stats tests/research/told.c src/stats/turns.c \
 *         src/stats/pairs.c src/stats/regret.c src/stats/usual.c src/stats/verdict.c \
 *         src/stats/learnt.c src/stats/in_step.c src/stats/choice.c src/base/clock.c -lm -o told && ./told */
#include <stdio.h>

#include "base/tuning.h"
#include "noise.h"
#include "stats/turns.h"

#define RUNS 300
#define DRIFT_NS 20e6

struct loop {
	double period, gain;          /* of replays, nanoseconds; eager time over that */
	double spread, stalls, drift; /* parts of a period; the share of longer ones; parts */
	double seconds;
};

static const struct loop loops[] = {
	{1e6, 1.4, 0.3, 0.01, 0, 7},       {1e6, 1.4, 0.3, 0.01, 0, 20},
	{1e6, 1.4, 0.15, 0.01, 0.1, 20},   {6e6, 1.2, 0.15, 0.01, 0.1, 20},
	{6e4, 1.15, 0.3, 0.01, 0.1, 20},   {1e5, 2.1, 0.3, 0.01, 0.1, 20},
	{1e6, 1.07, 0.15, 0.01, 0.05, 20}, {2e7, 1.2, 0.1, 0.01, 0.05, 20},
};

struct outcome {
	unsigned int told, within_3, within_5;
	double off, squares, turns, eager_ns;
};

static void run(const struct loop *loop, double long_ones, uint64_t seed, struct outcome *outcome)
{
	struct noise noise = {seed * 2654435761u + 1, loop->spread, loop->stalls},
				 slow = {seed * 7919 + 5, 0, 0};
	struct reprise_turns turns;
	double drift = 0, off;
	uint64_t now = 0;

	reprise_turns_begin(&turns, 0, (uint64_t)loop->period, seed * 0x9e3779b97f4a7c15u, 0);
	while ((double)now < loop->seconds * 1e9) {
		bool eager = turns.arm == REPRISE_ARM_EAGER;
		double mean = loop->period * (eager ? loop->gain : 1), keeps = exp(-mean / DRIFT_NS);
		uint64_t period;

		drift = keeps * drift + sqrt(1 - keeps * keeps) * noise_normal(&slow);
		if (noise_uniform(&noise) < long_ones)
			mean *= 3;
		period = noise_period(&noise, mean * exp(loop->drift * drift));
		now += period;
		outcome->eager_ns += eager ? (double)period : 0;
		reprise_turns_note(&turns, now, period, true, true);
	}
	outcome->turns += (double)turns.result.turns;
	if (turns.result.verdict != REPRISE_VERDICT_REPLAY)
		return;
	off = log(turns.result.gain / 1000.0 / loop->gain);
	outcome->told++;
	outcome->off += off;
	outcome->squares += off * off;
	outcome->within_3 += fabs(off) < 0.03;
	outcome->within_5 += fabs(off) < 0.05;
}

int main(void)
{
	const unsigned int count = sizeof(loops) / sizeof(*loops);

	printf(
		"period us | gain | varies | drift | long ones | seconds | within 3 %% | within 5 %% | mean "
		"error | root mean square | turns | eager ms\n");
	for (unsigned int i = 0; i < 2 * count; i++) {
		const struct loop *loop = &loops[i % count];
		double long_ones = i < count ? 0 : 0.1;
		struct outcome of = {0};

		for (uint64_t seed = 1; seed <= RUNS; seed++)
			run(loop, long_ones, seed, &of);
		printf("%.0f | %.2f | %.0f %% | %.0f %% | %.0f %% | %.0f | %.0f %% | %.0f %% | %+.1f %% | "
		       "%.1f %% | %.0f | %.0f\n",
		       loop->period / 1e3, loop->gain, 100 * loop->spread, 100 * loop->drift,
		       100 * long_ones, loop->seconds, 100.0 * of.within_3 / of.told,
		       100.0 * of.within_5 / of.told, 100 * of.off / of.told,
		       100 * sqrt(of.squares / of.told), of.turns / RUNS, of.eager_ns / RUNS / 1e6);
	}
	return 0;
}
