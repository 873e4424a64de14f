#include "cli/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/files.h"

#define NARROW 1.05 /* as wide may the interval be of what is called no difference */

enum verdict { FASTER, SLOWER, NO_DIFFERENCE, NOISE, TOO_FEW };

static const char *const verdict_words[] = {
	[FASTER] = "faster", [SLOWER] = "slower",        [NO_DIFFERENCE] = "no difference",
	[NOISE] = "noise",   [TOO_FEW] = "too few runs",
};

static const char *const output_words[] = {
	[REPRISE_BENCH_SAME] = "same",
	[REPRISE_BENCH_DIFFERS] = "differs",
	[REPRISE_BENCH_VARIES] = "varies",
};

static const char *const output_names[REPRISE_BENCH_OUTPUTS] = {"stdout", "stderr"};
static const char *const side_names[REPRISE_BENCH_SIDES] = {"without", "with"};

const char *reprise_bench_output(const struct reprise_bench *bench, const char *which,
                                 unsigned int output)
{
	char name[32];

	snprintf(name, sizeof(name), "%s.%s", which, output == 0 ? "out" : "err");
	return reprise_kept_path(&bench->kept, name);
}

/* ---- of one side ---- */

struct sums {
	double mean, median, spread, least, greatest; /* spread: the standard deviation */
};

static int by_size(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static struct sums sums_of(const double *values, size_t count)
{
	double sorted[REPRISE_PAIRS_MOST], squares = 0;
	struct sums sums = {0};

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), by_size);
	for (size_t i = 0; i < count; i++)
		sums.mean += sorted[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (sorted[i] - sums.mean) * (sorted[i] - sums.mean);
	sums.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	sums.spread = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	sums.least = sorted[0];
	sums.greatest = sorted[count - 1];
	return sums;
}

static double apart(struct sums sums)
{
	return sums.greatest / sums.least - 1;
}

/* ---- of both ---- */

static enum verdict verdict_of(const struct reprise_paired *wall)
{
	if (!wall->bounded)
		return TOO_FEW;
	if (wall->least > 1)
		return FASTER;
	if (wall->greatest < 1)
		return SLOWER;
	return wall->greatest / wall->least <= NARROW ? NO_DIFFERENCE : NOISE;
}

/* The runs that may make the interval narrow: its width falls with their square root. */
static size_t runs_wanted(size_t count, const struct reprise_paired *wall)
{
	double wide = log(wall->greatest / wall->least) / log(NARROW);
	double wanted = ceil((double)count * wide * wide);

	return wanted < REPRISE_PAIRS_MOST ? (size_t)wanted : REPRISE_PAIRS_MOST;
}

static void tell_row(const char *name, struct sums wall, struct sums processor)
{
	const double shown[] = {wall.mean,  wall.median,   wall.spread,
	                        wall.least, wall.greatest, processor.mean};
	char text[REPRISE_AMOUNT_MOST];

	printf("%-8s", name);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		printf("  %10s", reprise_amount_duration(shown[i] * 1e9, text));
	putchar('\n');
}

static void tell_output(const struct reprise_bench *bench, unsigned int output)
{
	if (bench->outputs[output] == REPRISE_BENCH_VARIES)
		printf("%s: varies from run to run without Reprise, too\n", output_names[output]);
	else
		reprise_cli_same_files(output_names[output],
		                       reprise_bench_output(bench, REPRISE_BENCH_FIRST, output),
		                       reprise_bench_output(bench,
		                                            bench->outputs[output] == REPRISE_BENCH_SAME
		                                                ? REPRISE_BENCH_FIRST
		                                                : REPRISE_BENCH_OTHER,
		                                            output));
}

static void tell_verdict(size_t count, const struct reprise_paired *wall, double most_apart)
{
	switch (verdict_of(wall)) {
	case FASTER:
		printf("reprise: %.2f x faster, measured in %zu pairs of runs, %.2f to %.2f", wall->ratio,
		       count, wall->least, wall->greatest);
		break;
	case SLOWER:
		printf("reprise: %.2f x slower, measured in %zu pairs of runs, %.2f to %.2f",
		       1 / wall->ratio, count, 1 / wall->greatest, 1 / wall->least);
		break;
	case NO_DIFFERENCE:
		printf("reprise: no difference that %zu pairs of runs can show: %.2f to %.2f x", count,
		       wall->least, wall->greatest);
		break;
	case NOISE:
		printf(
			"reprise: the noise forbids a verdict: runs of one side differ by %.0f %%, %.2f to %.2f x; more runs: --runs %zu",
			100 * most_apart, wall->least, wall->greatest, runs_wanted(count, wall));
		break;
	case TOO_FEW:
		printf(
			"reprise: too few runs for a verdict: %zu of each side, of %d that it takes: --runs %d",
			count, REPRISE_PAIRS_LEAST, REPRISE_PAIRS_LEAST);
		break;
	}
}

static void tell_words(const struct reprise_bench *bench, const struct reprise_paired *wall,
                       const struct reprise_paired *processor)
{
	double most_apart = 0;

	printf("%-8s  %10s  %10s  %10s  %10s  %10s  %10s\n", "", "mean", "median", "spread", "fastest",
	       "slowest", "CPU, mean");
	for (unsigned int side = 0; side < REPRISE_BENCH_SIDES; side++) {
		struct sums sums = sums_of(bench->wall[side], bench->count);

		tell_row(side_names[side], sums, sums_of(bench->processor[side], bench->count));
		most_apart = fmax(most_apart, apart(sums));
	}
	printf("CPU time: %.2f x as much with Reprise", processor->ratio);
	if (processor->bounded)
		printf(", %.2f to %.2f", processor->least, processor->greatest);
	putchar('\n');
	for (unsigned int i = 0; i < REPRISE_BENCH_OUTPUTS; i++)
		tell_output(bench, i);
	tell_verdict(bench->count, wall, most_apart);
}

/* ---- as JSON ---- */

static void print_numbers(const char *name, const double *values, size_t count)
{
	printf("    \"%s\": [", name);
	for (size_t i = 0; i < count; i++)
		printf("%s%.6f", i > 0 ? ", " : "", values[i]);
	putchar(']');
}

static void print_ratio(const char *name, const struct reprise_paired *paired)
{
	printf("  \"%s\": {\"ratio\": %.5f", name, paired->ratio);
	if (paired->bounded)
		printf(", \"least\": %.5f, \"greatest\": %.5f", paired->least, paired->greatest);
	puts("},");
}

static void print_json(const struct reprise_bench *bench, const struct reprise_paired *wall,
                       const struct reprise_paired *processor,
                       const struct reprise_summary *summary)
{
	puts("{");
	for (unsigned int side = 0; side < REPRISE_BENCH_SIDES; side++) {
		printf("  \"%s\": {\n", side_names[side]);
		print_numbers("wall_s", bench->wall[side], bench->count);
		puts(",");
		print_numbers("cpu_s", bench->processor[side], bench->count);
		puts("\n  },");
	}
	print_ratio("gain", wall);
	print_ratio("cpu", processor);
	for (unsigned int i = 0; i < REPRISE_BENCH_OUTPUTS; i++)
		printf("  \"%s\": \"%s\",\n", output_names[i], output_words[bench->outputs[i]]);
	printf("  \"ops\": %llu,\n  \"replayed\": %llu,\n  \"verdict\": \"%s\"\n}\n", summary->ops,
	       summary->replayed, verdict_words[verdict_of(wall)]);
}

/* ---- all of it ---- */

static void tell_share(const struct reprise_bench *bench, const struct reprise_found *found,
                       const struct reprise_summary *summary, char **command)
{
	char why[REPRISE_KEPT_WHY_MOST], ops[REPRISE_AMOUNT_MOST], others[256];

	if (summary->replayed > 0) {
		printf("; %.1f %% of %s launches replayed%s%s\n", reprise_summary_share(summary),
		       reprise_amount_count(summary->ops, ops),
		       reprise_summary_others(summary, others, sizeof(others)) ? "; " : "", others);
		return;
	}
	reprise_kept_why_none(&bench->kept, found, summary, command, 0, why);
	printf("; nothing %s replayed (%s)\n", summary->processes > 0 ? "was" : "is known to have been",
	       why);
}

int reprise_bench_tell(const struct reprise_bench *bench, char **command, bool json)
{
	struct reprise_found found;
	struct reprise_summary summary;
	struct reprise_paired wall, processor;
	bool worse;

	if (!reprise_paired_of(bench->wall[REPRISE_BENCH_WITHOUT], bench->wall[REPRISE_BENCH_WITH],
	                       bench->count, &wall) ||
	    !reprise_paired_of(bench->processor[REPRISE_BENCH_WITH],
	                       bench->processor[REPRISE_BENCH_WITHOUT], bench->count, &processor)) {
		fputs("reprise: out of memory\n", stderr);
		return REPRISE_KEPT_UNSEEN;
	}
	reprise_outcome_look(&bench->kept.outcome, &found, &summary, REPRISE_SUMMARY_REPLAYED);
	if (json) {
		print_json(bench, &wall, &processor, &summary);
	} else {
		tell_words(bench, &wall, &processor);
		tell_share(bench, &found, &summary, command);
	}
	reprise_found_free(&found);
	worse = verdict_of(&wall) == SLOWER;
	for (unsigned int i = 0; i < REPRISE_BENCH_OUTPUTS; i++)
		worse |= bench->outputs[i] == REPRISE_BENCH_DIFFERS;
	return worse ? 1 : summary.replayed > 0 ? 0 : REPRISE_KEPT_PROVES_NOTHING;
}
