/* Sites: which of them a table keeps, whatever the number of the segment; and what is known of one.
 */
#include "../../suite.h"

#include <stdlib.h>
#include <string.h>

#include "trace/site.h"

static void note(struct reprise_sites *sites, uint32_t key, const struct reprise_visit *visit)
{
	reprise_site_visit(sites, &(struct reprise_site_name){key, 0}, visit);
}

/* The key's place in the table, if it has one. */
static struct reprise_site_name name_of(const struct reprise_sites *sites, uint32_t key)
{
	for (unsigned int place = 0; place < REPRISE_SITE_ROW << REPRISE_SITE_ROW_BITS; place++)
		if (sites->rows[place / REPRISE_SITE_ROW].keys[place % REPRISE_SITE_ROW] == key)
			return (struct reprise_site_name){key, (uint16_t)place};
	return (struct reprise_site_name){key, 0};
}

static struct reprise_judgement judge(const struct reprise_sites *sites,
                                      const uint32_t keys[REPRISE_SITE_BY_COUNT])
{
	struct reprise_site_name names[REPRISE_SITE_BY_COUNT];

	for (unsigned int by = 0; by < REPRISE_SITE_BY_COUNT; by++)
		names[by] = name_of(sites, keys[by]);
	return reprise_site_judge(sites, names);
}

/* Visits so many sites in one segment after the other, and returns how many of them are known. */
static unsigned int known_of(unsigned int keys, uint32_t first_segment)
{
	struct reprise_sites *sites = calloc(1, sizeof(*sites));
	unsigned int known = 0;

	for (uint32_t segment = first_segment; segment != first_segment + 12; segment++)
		for (unsigned int key = 1; key <= keys; key++)
			note(sites, key * 2654435769u | 1,
			     &(struct reprise_visit){.segment = segment, .value = 1, .next = 1});
	for (unsigned int key = 1; key <= keys; key++) {
		const uint32_t of[REPRISE_SITE_BY_COUNT] = {key * 2654435769u | 1, 0, 0};

		known += judge(sites, of).site != NULL;
	}
	free(sites);
	return known;
}

/* After 2^31 segments the difference from a place that was never used looks negative. */
START_TEST(places_that_were_never_used_are_used_first_whatever_the_number_of_the_segment)
{
	static const uint32_t firsts[] = {0, INT32_MAX - 5, 3u << 30, UINT32_MAX - 5};

	ck_assert_uint_ge(known_of(1500, 1), 1400);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(known_of(1500, firsts[i]), known_of(1500, 1));
}
END_TEST

START_TEST(a_full_table_keeps_as_many_whatever_the_number_of_the_segment)
{
	ck_assert_uint_eq(known_of(3500, UINT32_MAX - 5), known_of(3500, 1000));
}
END_TEST

/* Keys of one row, and one more. */
static void find_keys(uint32_t keys[REPRISE_SITE_ROW + 1])
{
	unsigned int count = 0;

	for (uint32_t key = 1; count <= REPRISE_SITE_ROW; key += 2)
		if (key * 0x9e3779b1u >> (32 - REPRISE_SITE_ROW_BITS) == 0x155)
			keys[count++] = key;
}

static bool is_known(struct reprise_sites *sites, uint32_t key)
{
	const uint32_t keys[REPRISE_SITE_BY_COUNT] = {key, 0, 0};

	return judge(sites, keys).site != NULL;
}

/* Each of the row by turns, before and after the number of the segment goes round. */
START_TEST(of_a_full_row_the_site_goes_that_was_visited_longest_ago)
{
	static const uint32_t firsts[] = {100, UINT32_MAX - 10};
	struct reprise_sites *sites = calloc(1, sizeof(*sites));
	unsigned int first = (unsigned int)_i % REPRISE_SITE_ROW;
	struct reprise_visit visit = {.segment = firsts[_i / REPRISE_SITE_ROW], .next = 1};
	uint32_t keys[REPRISE_SITE_ROW + 1];

	find_keys(keys);
	for (unsigned int i = 0; i < REPRISE_SITE_ROW; i++)
		for (unsigned int k = 0; k < REPRISE_TUNE_SITE_SEGMENT_KNOWN; k++, visit.segment++)
			note(sites, keys[(first + i) % REPRISE_SITE_ROW], &visit);
	for (unsigned int i = 0; i < REPRISE_SITE_ROW; i++)
		ck_assert(is_known(sites, keys[i]));
	note(sites, keys[REPRISE_SITE_ROW], &visit);
	for (unsigned int i = 0; i < REPRISE_SITE_ROW; i++)
		ck_assert_int_eq(is_known(sites, keys[i]), i != first);
	free(sites);
}
END_TEST

/* ---- what is known of a site ---- */

#define KEY 0x10001u

static struct reprise_sites *sites;
static struct reprise_visit visit; /* the next one */

static void setup(void)
{
	sites = calloc(1, sizeof(*sites));
	ck_assert_ptr_nonnull(sites);
	visit = (struct reprise_visit){.segment = 10, .gap = 100, .value = 1ull << 40, .next = 5};
}

static void teardown(void)
{
	free(sites);
}

/* So many segments with the site, each with a value of its own that is new, if so. */
static void visits(unsigned int count, bool is_new)
{
	for (unsigned int i = 0; i < count; i++) {
		visit.segment += 2;
		visit.value += is_new ? 1ull << 32 : 0;
		visit.is_new = is_new;
		note(sites, KEY, &visit);
	}
}

static struct reprise_judgement judged_by(enum reprise_site_by by)
{
	uint32_t keys[REPRISE_SITE_BY_COUNT] = {0};

	keys[by] = KEY;
	return judge(sites, keys);
}

static const struct {
	enum reprise_site_by by;
	unsigned int known, stable;
} least[] = {
	{REPRISE_SITE_BY_SEGMENT, REPRISE_TUNE_SITE_SEGMENT_KNOWN, REPRISE_TUNE_SITE_SEGMENT_STABLE},
	{REPRISE_SITE_BY_POSITION, REPRISE_TUNE_SITE_POSITION_KNOWN, REPRISE_TUNE_SITE_POSITION_STABLE},
	{REPRISE_SITE_BY_CONTEXT, REPRISE_TUNE_SITE_CONTEXT_KNOWN, REPRISE_TUNE_SITE_CONTEXT_STABLE},
};

START_TEST(a_site_is_known_and_then_stable_after_so_many_segments)
{
	for (unsigned int count = 1; count <= least[_i].stable + 3; count++) {
		visits(1, false);
		ck_assert_int_eq(judged_by(least[_i].by).site != NULL, count >= least[_i].known);
		ck_assert_int_eq(judged_by(least[_i].by).stable, count >= least[_i].stable);
	}
}
END_TEST

START_TEST(a_segment_counts_once)
{
	visits(1, false);
	for (unsigned int i = 0; i < 50; i++)
		note(sites, KEY, &visit);
	ck_assert_ptr_null(judged_by(REPRISE_SITE_BY_SEGMENT).site);
}
END_TEST

START_TEST(the_narrowest_known_site_judges)
{
	const uint32_t keys[REPRISE_SITE_BY_COUNT] = {KEY + 2, KEY, KEY + 4}, first[3] = {KEY + 2},
				   second[3] = {0, KEY}, none[3] = {0};

	visits(4, false);
	for (unsigned int i = 0; i < 2; i++) /* not known yet */
		note(sites, KEY + 2, &visit);
	ck_assert_ptr_eq(judge(sites, keys).site, judge(sites, second).site);
	ck_assert_ptr_null(judge(sites, first).site);
	ck_assert_ptr_null(judge(sites, none).site);
	for (unsigned int i = 0; i < 4; i++) {
		visit.segment += 2;
		note(sites, KEY + 2, &visit);
	}
	ck_assert_ptr_nonnull(judge(sites, first).site);
	ck_assert_ptr_eq(judge(sites, keys).site, judge(sites, first).site);
}
END_TEST

/* In a long run without a wait segments look alike: the next one is no return. */
static const struct {
	unsigned int since_wait;
	bool apart, returns;
} places[] = {
	{0, false, true},
	{REPRISE_TUNE_NEAR_WAIT - 1, false, true},
	{REPRISE_TUNE_NEAR_WAIT, false, false},
	{REPRISE_TUNE_NEAR_WAIT, true, true},
	{REPRISE_TUNE_SITE_FAR - 1, false, false},
	{REPRISE_TUNE_SITE_FAR, false, true},
};

START_TEST(a_visit_in_the_midst_of_segments_that_look_alike_is_no_return)
{
	visit.since_wait = places[_i].since_wait;
	for (unsigned int i = 0; i < 20; i++) {
		visit.segment += places[_i].apart ? 2 : 1;
		note(sites, KEY, &visit);
	}
	ck_assert_ptr_nonnull(judged_by(REPRISE_SITE_BY_SEGMENT).site);
	ck_assert_int_eq(judged_by(REPRISE_SITE_BY_SEGMENT).stable, places[_i].returns);
}
END_TEST

/* From the first visit on, however far the wait is. */
START_TEST(where_visits_return_a_site_is_stable_after_as_many_wherever_it_is)
{
	visit.since_wait = places[_i].since_wait;
	if (!places[_i].returns)
		return;
	for (unsigned int count = 1; count <= REPRISE_TUNE_SITE_SEGMENT_STABLE + 1; count++) {
		visit.segment += places[_i].apart ? 2 : 1;
		note(sites, KEY, &visit);
		ck_assert_int_eq(judged_by(REPRISE_SITE_BY_SEGMENT).stable,
		                 count >= REPRISE_TUNE_SITE_SEGMENT_STABLE);
	}
}
END_TEST

/* Of the last eight. */
START_TEST(a_site_where_other_shapes_come_next_is_not_stable)
{
	visits(20, false);
	for (unsigned int surprises = 1; surprises <= REPRISE_TUNE_SITE_RANDOM; surprises++) {
		visit.next++;
		visits(1, false);
		ck_assert_int_eq(judged_by(REPRISE_SITE_BY_SEGMENT).stable,
		                 surprises < REPRISE_TUNE_SITE_RANDOM);
	}
	visits(7, false);
	ck_assert(judged_by(REPRISE_SITE_BY_SEGMENT).stable);
	visit.next = 0; /* none came yet */
	visits(3, false);
	ck_assert(judged_by(REPRISE_SITE_BY_SEGMENT).stable);
}
END_TEST

START_TEST(where_values_are_new_again_and_again_any_value_matches)
{
	struct reprise_judgement judgement;

	visits(20, false);
	for (unsigned int news = 1; news <= 8; news++) {
		visits(1, true);
		judgement = judged_by(REPRISE_SITE_BY_SEGMENT);
		ck_assert(judgement.stable);
		ck_assert_int_eq(reprise_site_is_any_value(&judgement), news >= REPRISE_TUNE_SITE_NEWS);
	}
	visits(8 - REPRISE_TUNE_SITE_NEWS, false);
	judgement = judged_by(REPRISE_SITE_BY_SEGMENT);
	ck_assert(reprise_site_is_any_value(&judgement));
	visits(1, false);
	judgement = judged_by(REPRISE_SITE_BY_SEGMENT);
	ck_assert(!reprise_site_is_any_value(&judgement));
}
END_TEST

START_TEST(until_it_is_stable_the_last_value_tells)
{
	struct reprise_judgement judgement;

	for (unsigned int i = 0; i < 4; i++) {
		visits(REPRISE_TUNE_SITE_SEGMENT_KNOWN / 2, i % 2 == 0);
		visits(1, i % 2 == 0);
		judgement = judged_by(REPRISE_SITE_BY_SEGMENT);
		if (judgement.site != NULL && !judgement.stable)
			ck_assert_int_eq(reprise_site_is_any_value(&judgement), i % 2 == 0);
	}
}
END_TEST

/* A cycle of values as long as a site remembers has no news; a longer one has nothing else. */
START_TEST(values_that_come_round_are_not_new)
{
	for (unsigned int length = REPRISE_TUNE_SITE_VALUES; length <= REPRISE_TUNE_SITE_VALUES + 1;
	     length++) {
		struct reprise_judgement judgement;

		memset(sites, 0, sizeof(*sites));
		for (unsigned int i = 0; i < 8 * length; i++) {
			visit.segment += 2;
			visit.value = (uint64_t)(1 + i % length) << 32;
			visit.is_new = true;
			note(sites, KEY, &visit);
		}
		judgement = judged_by(REPRISE_SITE_BY_SEGMENT);
		ck_assert_int_eq(reprise_site_is_any_value(&judgement), length > REPRISE_TUNE_SITE_VALUES);
	}
}
END_TEST

/* The first gap is dropped: something was loaded then. */
START_TEST(the_gap_is_the_least_but_for_the_first)
{
	static const uint32_t gaps[] = {5, 107, 120, 90, 95}, least_gaps[] = {0, 0, 107, 90, 90};

	for (unsigned int i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		visit.gap = gaps[i];
		visits(1, false);
		if (i + 1 >= REPRISE_TUNE_SITE_SEGMENT_KNOWN)
			ck_assert_uint_eq(judged_by(REPRISE_SITE_BY_SEGMENT).site->gap, least_gaps[i]);
	}
}
END_TEST

/* Counts do not go round. */
START_TEST(a_site_stays_known_for_ever)
{
	for (unsigned int i = 0; i < 600; i++) {
		visits(1, false);
		ck_assert_int_eq(judged_by(REPRISE_SITE_BY_CONTEXT).stable,
		                 i + 1 >= REPRISE_TUNE_SITE_CONTEXT_STABLE);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("site");
	TCase *tests = tcase_create("site"), *known = tcase_create("known");

	tcase_add_test(tests,
	               places_that_were_never_used_are_used_first_whatever_the_number_of_the_segment);
	tcase_add_test(tests, a_full_table_keeps_as_many_whatever_the_number_of_the_segment);
	tcase_add_loop_test(tests, of_a_full_row_the_site_goes_that_was_visited_longest_ago, 0,
	                    2 * REPRISE_SITE_ROW);
	tcase_add_checked_fixture(known, setup, teardown);
	tcase_add_loop_test(known, a_site_is_known_and_then_stable_after_so_many_segments, 0, 3);
	tcase_add_test(known, a_segment_counts_once);
	tcase_add_test(known, the_narrowest_known_site_judges);
	tcase_add_loop_test(known, a_visit_in_the_midst_of_segments_that_look_alike_is_no_return, 0,
	                    sizeof(places) / sizeof(places[0]));
	tcase_add_loop_test(known, where_visits_return_a_site_is_stable_after_as_many_wherever_it_is, 0,
	                    sizeof(places) / sizeof(places[0]));
	tcase_add_test(known, a_site_where_other_shapes_come_next_is_not_stable);
	tcase_add_test(known, where_values_are_new_again_and_again_any_value_matches);
	tcase_add_test(known, until_it_is_stable_the_last_value_tells);
	tcase_add_test(known, values_that_come_round_are_not_new);
	tcase_add_test(known, the_gap_is_the_least_but_for_the_first);
	tcase_add_test(known, a_site_stays_known_for_ever);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, known);
	return run_suite(suite);
}
