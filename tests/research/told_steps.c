/* How near what turns tell of a gain is to what it is, in loops whose periods are steps that were
 * recorded on a GPU (steps.py): of each turn, at its place behind the switch, those of a cycle of
 * about that time. 100 runs of each loop, of some seconds of virtual time. Figures are in
 * docs/decisions/0057-tests-that-disagree.md.
 *
 *     gcc -O2 -D_GNU_SOURCE -Isrc tests/research/told_steps.c src/stats/turns.c src/stats/pairs.c \
 *         src/stats/regret.c src/stats/usual.c src/stats/verdict.c src/stats/learnt.c \
 *         src/stats/in_step.c src/stats/choice.c src/base/clock.c -lm -o told_steps
 *     ./told_steps 15 STEPS... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/turns.h"

#define RUNS 100
/* Cycles that a turn's may be from its time's: no two turns have the same steps. */
#define APART 5

struct steps {
	int64_t eager_count, replay_count, cycles;
	double gain;
	double *eager, *replay; /* seconds, cycle by cycle */
};

struct outcome {
	unsigned int told, within_3, within_5;
	double off, squares, turns, eager_ns;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static double *read_steps(FILE *file, int64_t count)
{
	double *steps = malloc((size_t)count * sizeof(*steps));

	if (steps == NULL || fread(steps, sizeof(*steps), (size_t)count, file) != (size_t)count) {
		fprintf(stderr, "told_steps: a file is too short\n");
		exit(1);
	}
	return steps;
}

static struct steps read_file(const char *path)
{
	struct steps steps;
	FILE *file = fopen(path, "rb");

	if (file == NULL || fread(&steps, 1, 32, file) != 32) {
		fprintf(stderr, "told_steps: %s cannot be read\n", path);
		exit(1);
	}
	steps.eager = read_steps(file, steps.eager_count * steps.cycles);
	steps.replay = read_steps(file, steps.replay_count * steps.cycles);
	fclose(file);
	return steps;
}

static double sum(const double *steps, int64_t count)
{
	double all = 0;

	for (int64_t i = 0; i < count; i++)
		all += steps[i];
	return all;
}

static void run(const struct steps *steps, double seconds, uint64_t seed, struct outcome *outcome)
{
	double replay_ns = sum(steps->replay, steps->replay_count * steps->cycles) * 1e9;
	double eager_ns = sum(steps->eager, steps->eager_count * steps->cycles) * 1e9;
	double cycle_ns = (replay_ns + eager_ns) / (double)steps->cycles, off;
	uint64_t random = seed * 0x9e3779b97f4a7c15u, now = 0;
	int64_t first, place = 0, apart = 0;
	struct reprise_turns turns;
	enum reprise_arm arm;

	for (unsigned int i = 0; i < 9; i++)
		next_random(&random);
	first = (int64_t)(next_random(&random) % (uint64_t)steps->cycles);
	reprise_turns_begin(&turns, 0,
	                    (uint64_t)(replay_ns / (double)(steps->replay_count * steps->cycles)), seed,
	                    0);
	arm = turns.arm;
	while ((double)now < seconds * 1e9) {
		bool eager = turns.arm == REPRISE_ARM_EAGER;
		int64_t count = eager ? steps->eager_count : steps->replay_count, cycle, at;
		uint64_t period;

		if (turns.arm != arm) {
			arm = turns.arm;
			place = 0;
			apart = (int64_t)(next_random(&random) % (2 * APART + 1)) - APART;
		}
		cycle = (first + apart + (int64_t)((double)now / cycle_ns) + steps->cycles) % steps->cycles;
		at = place < count ? place
		                   : count / 2 + (int64_t)(next_random(&random) % (uint64_t)(count / 2));
		period = (uint64_t)((eager ? steps->eager : steps->replay)[cycle * count + at] * 1e9);
		place++;
		now += period;
		outcome->eager_ns += eager ? (double)period : 0;
		reprise_turns_note_replayed(&turns, now / 1000, now / 1000, now / 1000000);
		reprise_turns_note(&turns, now, period, true, true);
	}
	outcome->turns += (double)turns.result.turns;
	if (turns.result.verdict != REPRISE_VERDICT_REPLAY)
		return;
	off = log(turns.result.gain / 1000.0 / steps->gain);
	outcome->told++;
	outcome->off += off;
	outcome->squares += off * off;
	outcome->within_3 += fabs(off) < 0.03;
	outcome->within_5 += fabs(off) < 0.05;
}

int main(int count, char **arguments)
{
	printf("steps | gain | told in | within 3 %% | within 5 %% | mean error | root mean square | "
	       "turns | eager ms\n");
	for (int i = 2; i < count; i++) {
		struct steps steps = read_file(arguments[i]);
		struct outcome of = {0};

		for (uint64_t seed = 1; seed <= RUNS; seed++)
			run(&steps, atof(arguments[1]), seed * 7919, &of);
		if (of.told == 0) {
			printf("%s | %.3f | 0\n", arguments[i], steps.gain);
			continue;
		}
		printf("%s | %.3f | %u | %.0f %% | %.0f %% | %+.1f %% | %.1f %% | %.0f | %.0f\n",
		       arguments[i], steps.gain, of.told, 100.0 * of.within_3 / of.told,
		       100.0 * of.within_5 / of.told, 100 * of.off / of.told,
		       100 * sqrt(of.squares / of.told), of.turns / RUNS, of.eager_ns / RUNS / 1e6);
		free(steps.eager);
		free(steps.replay);
	}
	return 0;
}
