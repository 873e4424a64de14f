/* Values that come again: when they are worth a graph of their own. */
#include "../../suite.h"
#include "base/tuning.h"
#include "trace/recurring.h"

static struct reprise_recurring recurring;

static bool notes(uint64_t values, uint64_t price)
{
	return reprise_recurring_note(&recurring, values, 10, price);
}

/* A first visit is no return: only what is spent from then on counts. */
START_TEST(values_are_worth_a_graph_when_as_much_was_spent)
{
	ck_assert(!notes(1, 30));
	ck_assert(!notes(1, 30));
	ck_assert(!notes(2, 30));
	ck_assert(!notes(1, 30));
	ck_assert(!notes(2, 30));
	ck_assert(notes(1, 30));
	ck_assert(!notes(1, 30)); /* from the beginning */
	ck_assert(!notes(2, 30));
	ck_assert(notes(2, 30));
}
END_TEST

START_TEST(the_oldest_values_are_forgotten)
{
	ck_assert(!notes(1, 10));
	for (uint64_t other = 2; other < 2 + REPRISE_RECURRING_VALUES; other++)
		ck_assert(!notes(other, 10));
	ck_assert(!notes(1, 10));
	ck_assert(notes(1 + REPRISE_RECURRING_VALUES, 10));
}
END_TEST

static unsigned int due_of(unsigned int visits)
{
	unsigned int due = 0;

	for (unsigned int i = 0; i < visits; i++)
		due += reprise_recurring_is_due(&recurring);
	return due;
}

START_TEST(where_values_hardly_come_again_few_visits_are_noted)
{
	for (uint64_t visit = 1; visit <= REPRISE_TUNE_RECURRING_MISSES; visit++) {
		ck_assert(reprise_recurring_is_due(&recurring));
		notes(visit, 1000);
	}
	ck_assert_uint_eq(due_of(10 * REPRISE_TUNE_RECURRING_SKIPPED), 10);
	notes(REPRISE_TUNE_RECURRING_MISSES, 1000); /* one came again */
	ck_assert_uint_eq(due_of(100), 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recurring");
	TCase *tests = tcase_create("recurring");

	tcase_add_test(tests, values_are_worth_a_graph_when_as_much_was_spent);
	tcase_add_test(tests, the_oldest_values_are_forgotten);
	tcase_add_test(tests, where_values_hardly_come_again_few_visits_are_noted);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
