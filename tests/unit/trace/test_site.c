/* Sites: which of them a table keeps, whatever the number of the segment. */
#include "../../suite.h"

#include <stdlib.h>

#include "trace/site.h"

/* Visits so many sites in one segment after the other, and returns how many of them are known. */
static unsigned int known_of(unsigned int keys, uint32_t first_segment)
{
	struct reprise_sites *sites = calloc(1, sizeof(*sites));
	unsigned int known = 0;

	for (uint32_t segment = first_segment; segment != first_segment + 12; segment++)
		for (unsigned int key = 1; key <= keys; key++)
			reprise_site_visit(sites, key * 2654435769u | 1,
			                   &(struct reprise_visit){.segment = segment, .value = 1, .next = 1});
	for (unsigned int key = 1; key <= keys; key++) {
		const uint32_t of[REPRISE_SITE_BY_COUNT] = {key * 2654435769u | 1, 0, 0};

		known += reprise_site_judge(sites, of).site != NULL;
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

int main(void)
{
	Suite *suite = suite_create("site");
	TCase *tests = tcase_create("site");

	tcase_add_test(tests,
	               places_that_were_never_used_are_used_first_whatever_the_number_of_the_segment);
	tcase_add_test(tests, a_full_table_keeps_as_many_whatever_the_number_of_the_segment);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
