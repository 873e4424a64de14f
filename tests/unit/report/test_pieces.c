/* What reports are made of: histograms, text in pieces, symbols, call sites. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "stats/histogram.h"
#include "stats/sites.h"
#include "report/caller.h"
#include "report/inner.h"
#include "report/text.h"

/* ---- histograms ---- */

START_TEST(every_time_falls_into_the_bucket_that_has_it)
{
	for (unsigned int power = 0; power < 40; power++)
		for (unsigned int i = 0; i < 64; i++) {
			uint64_t ticks = ((uint64_t)1 << power) + i * ((uint64_t)1 << power) / 64;
			unsigned int bucket = reprise_bucket_of(ticks);

			ck_assert_uint_le(reprise_bucket_begin(bucket), ticks);
			ck_assert_uint_gt(reprise_bucket_begin(bucket + 1), ticks);
		}
}
END_TEST

START_TEST(buckets_are_a_quarter_wide_at_most)
{
	for (unsigned int bucket = 4; bucket < REPRISE_BUCKETS; bucket++)
		ck_assert_uint_le((reprise_bucket_begin(bucket + 1) - reprise_bucket_begin(bucket)) * 4,
		                  reprise_bucket_begin(bucket));
}
END_TEST

START_TEST(what_is_too_long_counts_as_the_longest)
{
	ck_assert_uint_eq(reprise_bucket_of(UINT64_MAX), REPRISE_BUCKETS - 1);
	ck_assert_uint_eq(reprise_bucket_of(0), 0);
}
END_TEST

START_TEST(the_median_is_not_moved_by_a_few_long_ones)
{
	reprise_histograms_forget();
	ck_assert_uint_eq(reprise_histogram_median(REPRISE_HISTOGRAM_graph), 0);
	for (int i = 0; i < 10; i++)
		reprise_histogram_note(REPRISE_HISTOGRAM_graph, i < 6 ? 1000 : 1000000000);
	ck_assert_uint_ge(reprise_histogram_median(REPRISE_HISTOGRAM_graph), 800);
	ck_assert_uint_le(reprise_histogram_median(REPRISE_HISTOGRAM_graph), 1250);
	reprise_histograms_forget();
}
END_TEST

/* ---- text ---- */

static char content[100000];

static size_t read_back(FILE *file)
{
	rewind(file);
	return fread(content, 1, sizeof(content) - 1, file);
}

START_TEST(text_of_any_length_is_written_in_whole)
{
	FILE *file = tmpfile();
	struct reprise_text text = {.file = fileno(file)};

	for (int i = 0; i < 10000; i++)
		reprise_text_add(&text, "%08d", i);
	ck_assert_int_eq(reprise_text_end(&text), 0);
	ck_assert_uint_eq(read_back(file), 80000);
	for (int i = 0; i < 10000; i++) {
		char wanted[16];

		snprintf(wanted, sizeof(wanted), "%08d", i);
		ck_assert_mem_eq(content + 8 * i, wanted, 8);
	}
	fclose(file);
}
END_TEST

START_TEST(strings_are_plain_ascii)
{
	static const char bytes[] = "a\"\\\n\x7f\xc3\xbc\0z";
	FILE *file = tmpfile();
	struct reprise_text text = {.file = fileno(file)};

	reprise_text_add_string(&text, bytes, sizeof(bytes) - 1);
	ck_assert_int_eq(reprise_text_end(&text), 0);
	content[read_back(file)] = '\0';
	ck_assert_str_eq(content, "\"a\\\"\\\\\\u000a\\u007f\\u00c3\\u00bc\\u0000z\"");
	fclose(file);
}
END_TEST

START_TEST(that_something_was_not_written_is_told)
{
	struct reprise_text full = {.file = open("/dev/full", O_WRONLY | O_CLOEXEC)},
						too_long = {.file = open("/dev/null", O_WRONLY | O_CLOEXEC)};

	for (int i = 0; i < 1000; i++)
		reprise_text_add(&full, "%08d", i);
	ck_assert_int_eq(reprise_text_end(&full), ENOSPC);
	reprise_text_add(&too_long, "%20000d", 1);
	ck_assert_int_eq(reprise_text_end(&too_long), EOVERFLOW);
	close(full.file);
	close(too_long.file);
}
END_TEST

/* ---- symbols ---- */

/* No exported name: only the program's file has it. */
__attribute__((noinline)) static void a_function_of_this_file(void)
{
	__asm__ volatile("nop; nop");
}

/* By a program that has closed its standard files, too: the file that is read has number 0 then. */
START_TEST(a_function_is_found_in_its_file)
{
	struct reprise_symbol symbol;
	int next = _i == 0 ? dup(STDIN_FILENO) : STDIN_FILENO;

	close(next);
	a_function_of_this_file();
	ck_assert(reprise_symbol_find((char *)(void *)a_function_of_this_file + 1, &symbol));
	ck_assert_str_eq(symbol.name, "a_function_of_this_file");
	ck_assert_uint_eq(symbol.into, 1);
	ck_assert_int_eq(fcntl(next, F_GETFD), -1);
}
END_TEST

/* ---- call sites ---- */

static uint64_t count_at(const char *what, const void *address)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < REPRISE_CALL_SITES_MOST; i++) {
		struct reprise_call_site site = reprise_call_site_at(i);

		if (site.count > 0 && site.what == what && site.frames[0] == address)
			count += site.count;
	}
	return count;
}

static uint64_t count_everywhere(void)
{
	uint64_t count = reprise_call_sites_left_out();

	for (unsigned int i = 0; i < REPRISE_CALL_SITES_MOST; i++)
		count += reprise_call_site_at(i).count;
	return count;
}

START_TEST(call_sites_are_told_apart_by_call_and_address)
{
	static const char wait[] = "wait", other[] = "free";

	reprise_call_sites_forget();
	for (int i = 0; i < 5; i++)
		reprise_call_site_count(REPRISE_CALL_SITE_waits, wait,
		                        (const void *)(uintptr_t)(100 + i % 2));
	reprise_call_site_count(REPRISE_CALL_SITE_ends, other, (const void *)100);
	ck_assert_uint_eq(count_at(wait, (const void *)100), 3);
	ck_assert_uint_eq(count_at(wait, (const void *)101), 2);
	ck_assert_uint_eq(count_at(other, (const void *)100), 1);
}
END_TEST

START_TEST(call_sites_without_room_are_counted_all_the_same)
{
	static const char wait[] = "wait";

	reprise_call_sites_forget();
	for (uintptr_t i = 1; i <= 1000; i++)
		reprise_call_site_count(REPRISE_CALL_SITE_waits, wait, (const void *)(i * 16));
	ck_assert_uint_gt(reprise_call_sites_left_out(), 0);
	ck_assert_uint_eq(count_everywhere(), 1000);
	reprise_call_sites_forget();
	ck_assert_uint_eq(count_everywhere(), 0);
}
END_TEST

START_TEST(allocations_count_from_the_first_op_on)
{
	static const char allocate[] = "allocate";

	reprise_call_sites_forget();
	reprise_call_site_count(REPRISE_CALL_SITE_allocates, allocate, (const void *)100);
	ck_assert_uint_eq(count_everywhere(), 0);
	reprise_call_sites_begin();
	reprise_call_site_count(REPRISE_CALL_SITE_allocates, allocate, (const void *)100);
	ck_assert_uint_eq(count_at(allocate, (const void *)100), 1);
}
END_TEST

START_TEST(nothing_is_noted_where_nobody_reads_it)
{
	reprise_call_sites_forget();
	reprise_call_site_note(REPRISE_CALL_SITE_waits, "wait", (const void *)100);
	ck_assert_uint_eq(count_everywhere(), 0);
}
END_TEST

/* ---- turns ---- */

static const struct {
	struct reprise_turns_result result;
	const char *words;
} results[] = {
	{{.verdict = REPRISE_VERDICT_REPLAY, .gain = 1312, .low = 1268, .high = 1350, .turns = 42},
     "1.31 x faster, measured in 42 turns, 1.27 to 1.35"},
	{{.verdict = REPRISE_VERDICT_REPLAY, .gain = 800, .low = 500, .high = 1250, .turns = 1},
     "1.25 x slower, measured in 1 turn, 0.80 to 2.00"},
	{{.verdict = REPRISE_VERDICT_REPLAY, .gain = 1000, .low = 990, .high = 1010, .turns = 8},
     "neither faster nor slower, measured in 8 turns, 0.99 to 1.01"},
	{{.verdict = REPRISE_VERDICT_EAGER,
      .gain = 870,
      .turns = 16,
      .decided_ns = 400000000,
      .lost_ns = 3000000},
     "no gain: left eager after 400 ms, cost 3 ms"},
	{{.verdict = REPRISE_VERDICT_COSTLY,
      .gain = 1050,
      .processor = 1083,
      .turns = 16,
      .decided_ns = 400000000,
      .lost_ns = 3000000},
     "1.05 x faster, but for 1.08 x the processor time: left eager after 400 ms, cost 3 ms"},
	{{.verdict = REPRISE_VERDICT_UNCLEAR,
      .gain = 1010,
      .low = 980,
      .high = 1040,
      .turns = 96,
      .decided_ns = 1200000000,
      .lost_ns = 3000000},
     "no clear gain, at most 1.04 x faster: left eager after 1.2 s, cost 3 ms"},
	{{.verdict = REPRISE_VERDICT_UNCLEAR,
      .gain = 960,
      .low = 920,
      .high = 990,
      .turns = 96,
      .decided_ns = 1200000000,
      .lost_ns = 3000000},
     "no clear gain: left eager after 1.2 s, cost 3 ms"},
	{{.verdict = REPRISE_VERDICT_BOUND, .turns = 2, .decided_ns = 2000000000, .lost_ns = 3000000},
     "GPU-bound: nothing to gain; left eager after 2 s, cost 3 ms"},
	{{.turns = 1, .lost_ns = 2000000}, "too short to measure: no verdict in 1 turn, cost 2 ms"},
	{{.turns = 1}, "too short to measure: no verdict in 1 turn"},
	{{.verdict = REPRISE_VERDICT_BOUND, .turns = 2, .decided_ns = 2000000000},
     "GPU-bound: nothing to gain; left eager after 2 s"},
	{{.turns = 6, .lost_ns = 2000000}, "too short to measure: no verdict in 6 turns, cost 2 ms"},
	{{.turns = 0}, "too short to measure"},
	/* A loop that had a verdict, and then one that has none. */
	{{.turns = 44, .lost_ns = 3000000, .earlier = {REPRISE_VERDICT_REPLAY, 1310, 1270, 1350}},
     "1.31 x faster in an earlier loop, 1.27 to 1.35, cost 3 ms; the last loop was too short to "
     "measure"},
	{{.turns = 44, .lost_ns = 3000000, .earlier = {REPRISE_VERDICT_REPLAY, 800, 500, 1250}},
     "1.25 x slower in an earlier loop, 0.80 to 2.00, cost 3 ms; the last loop was too short to "
     "measure"},
	{{.turns = 44, .lost_ns = 3000000, .earlier.verdict = REPRISE_VERDICT_EAGER},
     "no gain: an earlier loop was left eager, cost 3 ms; the last loop was too short to measure"},
	{{.turns = 44, .lost_ns = 3000000, .earlier.verdict = REPRISE_VERDICT_COSTLY},
     "an earlier loop was left eager for its processor time, cost 3 ms; the last loop was too "
     "short to measure"},
	{{.turns = 44, .lost_ns = 3000000, .earlier.verdict = REPRISE_VERDICT_UNCLEAR},
     "no clear gain: an earlier loop was left eager, cost 3 ms; the last loop was too short to "
     "measure"},
	{{.turns = 44, .lost_ns = 3000000, .earlier.verdict = REPRISE_VERDICT_BOUND},
     "GPU-bound: an earlier loop had nothing to gain, cost 3 ms; the last loop was too short to "
     "measure"},
};

START_TEST(what_turns_have_measured_is_told_in_words)
{
	struct reprise_turns_told told = {.on = true, .result = results[_i].result};
	char words[160];

	reprise_report_turns(&told, words, sizeof(words));
	ck_assert_str_eq(words, results[_i].words);
}
END_TEST

START_TEST(a_gpu_that_was_busy_whenever_a_graph_was_to_be_built_is_told)
{
	struct reprise_turns_told told = {.on = true, .result = {.turns = 2, .lost_ns = 3000000}};
	char words[160];

	reprise_count(REPRISE_COUNT_quiescence_missed, 7);
	reprise_report_turns(&told, words, sizeof(words));
	ck_assert_str_eq(words,
	                 "the GPU was busy whenever a graph was to be built, so none was, cost 3 ms");
	reprise_count(REPRISE_COUNT_graphs_built, 2);
	told.result.lost_ns = 0;
	reprise_report_turns(&told, words, sizeof(words));
	ck_assert_str_eq(words, "the GPU was busy 7 of the 9 times that a graph was to be built");
	reprise_count(REPRISE_COUNT_graphs_built, 5);
	reprise_report_turns(&told, words, sizeof(words));
	ck_assert_str_eq(words, "too short to measure: no verdict in 2 turns");
}
END_TEST

START_TEST(in_a_long_run_it_is_said_that_no_loop_was_found)
{
	struct reprise_turns_told told = {.on = true};
	char words[160];

	told.since_ns = 2 * (uint64_t)REPRISE_TUNE_ANCHOR_UNREPLAYED_NS;
	reprise_report_turns(&told, words, sizeof(words));
	ck_assert_str_eq(words, "not measured: no loop was found");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report pieces");
	TCase *tests = tcase_create("pieces");

	tcase_add_test(tests, every_time_falls_into_the_bucket_that_has_it);
	tcase_add_test(tests, buckets_are_a_quarter_wide_at_most);
	tcase_add_test(tests, what_is_too_long_counts_as_the_longest);
	tcase_add_test(tests, the_median_is_not_moved_by_a_few_long_ones);
	tcase_add_test(tests, text_of_any_length_is_written_in_whole);
	tcase_add_test(tests, strings_are_plain_ascii);
	tcase_add_test(tests, that_something_was_not_written_is_told);
	tcase_add_loop_test(tests, a_function_is_found_in_its_file, 0, 2);
	tcase_add_test(tests, call_sites_are_told_apart_by_call_and_address);
	tcase_add_test(tests, call_sites_without_room_are_counted_all_the_same);
	tcase_add_test(tests, allocations_count_from_the_first_op_on);
	tcase_add_test(tests, nothing_is_noted_where_nobody_reads_it);
	tcase_add_loop_test(tests, what_turns_have_measured_is_told_in_words, 0,
	                    sizeof(results) / sizeof(*results));
	tcase_add_test(tests, a_gpu_that_was_busy_whenever_a_graph_was_to_be_built_is_told);
	tcase_add_test(tests, in_a_long_run_it_is_said_that_no_loop_was_found);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
