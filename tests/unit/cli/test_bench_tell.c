/* What `reprise bench` makes of times: with made-up ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "cli/bench.h"

#define NEAR(a, b) ck_assert_double_eq_tol(a, b, 1e-9)

static struct reprise_bench bench;
static char said[8192];

/* Pairs of runs: without Reprise a second each, with it `with[i]`. */
static void made_up(const double *with, size_t count)
{
	bench = (struct reprise_bench){.count = count};
	for (size_t i = 0; i < count; i++) {
		bench.wall[REPRISE_BENCH_WITHOUT][i] = 1;
		bench.wall[REPRISE_BENCH_WITH][i] = with[i];
		bench.processor[REPRISE_BENCH_WITHOUT][i] = 0.5;
		bench.processor[REPRISE_BENCH_WITH][i] = 0.5 * with[i];
	}
}

/* What it prints; returns the exit status. */
static int told(bool json)
{
	static char program[] = "program", *command[] = {program, NULL};
	FILE *file = tmpfile();
	int before = dup(STDOUT_FILENO), status;

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	status = reprise_bench_tell(&bench, command, json);
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	return status;
}

static void assert_says(const char *words)
{
	ck_assert_msg(strstr(said, words) != NULL, "\"%s\" is not in:\n%s", words, said);
}

START_TEST(the_interval_is_that_of_the_signed_ranks)
{
	/* The critical values of Wilcoxon's test, two-sided, 0.05: 0 of 6, 8 of 10, 52 of 20. */
	static const size_t counts[] = {6, 10, 20}, critical[] = {0, 8, 52};
	double over[20], under[20], means[210];
	struct reprise_paired paired;

	for (size_t c = 0; c < 3; c++) {
		size_t count = counts[c], at = 0;

		for (size_t i = 0; i < count; i++) {
			over[i] = exp2((double)(i * i)); /* no two means are equal but those of squares' sums */
			under[i] = 1;
		}
		for (size_t i = 0; i < count; i++)
			for (size_t j = i; j < count; j++)
				means[at++] = (double)(i * i + j * j) / 2;
		for (size_t i = 0; i < at; i++)
			for (size_t j = i + 1; j < at; j++)
				if (means[j] < means[i]) {
					double mean = means[i];

					means[i] = means[j];
					means[j] = mean;
				}
		ck_assert(reprise_paired_of(over, under, count, &paired));
		ck_assert(paired.bounded);
		NEAR(log2(paired.least), means[critical[c]]);
		NEAR(log2(paired.greatest), means[at - 1 - critical[c]]);
	}
}
END_TEST

START_TEST(fewer_than_six_pairs_have_no_interval)
{
	static const double with[5] = {0.5, 0.5, 0.5, 0.5, 0.5};
	struct reprise_paired paired;

	for (size_t count = 1; count <= 5; count++) {
		made_up(with, count);
		ck_assert(reprise_paired_of(bench.wall[0], bench.wall[1], count, &paired));
		ck_assert(!paired.bounded);
		NEAR(paired.ratio, 2);
		told(false);
		assert_says("reprise: too few runs for a verdict: ");
		assert_says("--runs 6;");
	}
}
END_TEST

START_TEST(one_disturbed_run_moves_little)
{
	static const double with[12] = {0.5, 0.51, 0.5, 0.49, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 50};

	made_up(with, 12);
	told(false);
	assert_says("reprise: 2.00 x faster, measured in 12 pairs of runs, ");
}
END_TEST

START_TEST(verdicts)
{
	static const struct {
		double with[8];
		const char *words, *word;
		int status;
	} cases[] = {
		{{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
	     "reprise: 2.00 x faster, measured in 8 pairs of runs, 2.00 to 2.00",
	     "\"verdict\": \"faster\"",
	     3},
		{{1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25},
	     "reprise: 1.25 x slower, measured in 8 pairs of runs, 1.25 to 1.25",
	     "\"verdict\": \"slower\"",
	     1},
		{{1.01, 0.99, 1.01, 0.99, 1.01, 0.99, 1.01, 0.99},
	     "reprise: no difference that 8 pairs of runs can show: 0.99 to 1.01 x",
	     "\"verdict\": \"no difference\"",
	     3},
		{{1.4, 0.7, 1.4, 0.7, 1.4, 0.7, 1.4, 0.7},
	     "reprise: the noise forbids a verdict: runs of one side differ by 100 %, 0.71 to 1.43 x; "
	     "more runs: --runs 500",
	     "\"verdict\": \"noise\"",
	     3},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		made_up(cases[i].with, 8);
		ck_assert_int_eq(told(false), cases[i].status); /* 3: no reports, so nothing replayed */
		assert_says(cases[i].words);
		ck_assert_int_eq(told(true), cases[i].status);
		assert_says(cases[i].word);
	}
}
END_TEST

START_TEST(a_side_is_summed_up)
{
	static const double with[6] = {1, 2, 3, 4, 5, 9};

	made_up(with, 6);
	told(false);
	/* mean, median, standard deviation, least, greatest, and the mean of the CPU time */
	assert_says(
		"with             4 s       3.5 s      2.83 s         1 s         9 s         2 s\n");
}
END_TEST

START_TEST(an_output_that_differs_is_worse_and_one_that_varies_is_not)
{
	static const double with[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};

	made_up(with, 6);
	bench.outputs[0] = REPRISE_BENCH_VARIES;
	ck_assert_int_eq(told(true), 3);
	assert_says("\"stdout\": \"varies\"");
	assert_says("\"stderr\": \"same\"");
	bench.outputs[1] = REPRISE_BENCH_DIFFERS;
	ck_assert_int_eq(told(true), 1);
	assert_says("\"stderr\": \"differs\"");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_verdicts");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, the_interval_is_that_of_the_signed_ranks);
	tcase_add_test(tests, fewer_than_six_pairs_have_no_interval);
	tcase_add_test(tests, one_disturbed_run_moves_little);
	tcase_add_test(tests, verdicts);
	tcase_add_test(tests, a_side_is_summed_up);
	tcase_add_test(tests, an_output_that_differs_is_worse_and_one_that_varies_is_not);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
