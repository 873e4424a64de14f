/* The handles that a lane may name: each is known from when it is learnt until it is unlearnt,
 * whatever others come and go. */
#include <stdlib.h>

#include "../../suite.h"
#include "lane/known.h"

#define HANDLES 63 /* as many as have room with one place left */

static struct reprise_known known;

static const void *handle(unsigned int number)
{
	return (const void *)(uintptr_t)(0x1000 + 64 * number);
}

/* Handle 1 and those up to `last`, and none behind. */
static void are_known_up_to(unsigned int last)
{
	for (unsigned int i = 1; i <= 4 * REPRISE_KNOWN_MOST; i++)
		ck_assert_int_eq(reprise_knows(&known, handle(i)), i <= last);
}

START_TEST(nothing_is_known_first)
{
	are_known_up_to(0);
	ck_assert(!atomic_load(&known.all));
}
END_TEST

START_TEST(what_is_learnt_is_known_and_nothing_else)
{
	for (unsigned int i = 1; i <= REPRISE_KNOWN_MOST; i++) {
		reprise_known_learn(&known, handle(i));
		are_known_up_to(i);
		reprise_known_learn(&known, handle(i)); /* takes no second place */
	}
	ck_assert(!atomic_load(&known.all));
}
END_TEST

START_TEST(where_there_is_no_room_all_are_known)
{
	for (unsigned int i = 1; i <= REPRISE_KNOWN_MOST + 1; i++)
		reprise_known_learn(&known, handle(i));
	ck_assert(atomic_load(&known.all));
	ck_assert(reprise_knows(&known, handle(1000)));
	reprise_known_unlearn(&known, handle(1));
	ck_assert(reprise_knows(&known, handle(1000)));
	reprise_known_unlearn_all(&known);
	are_known_up_to(0);
	reprise_known_learn(&known, handle(1));
	are_known_up_to(1);
}
END_TEST

START_TEST(what_was_never_learnt_is_not_unlearnt)
{
	reprise_known_unlearn(&known, handle(5));
	for (unsigned int i = 1; i <= HANDLES; i++)
		reprise_known_learn(&known, handle(i));
	for (unsigned int i = HANDLES + 1; i <= 4 * HANDLES; i++)
		reprise_known_unlearn(&known, handle(i));
	are_known_up_to(HANDLES);
}
END_TEST

/* The place of one that ended is another's, and those behind it are found. */
START_TEST(any_come_and_go)
{
	bool is_known[4 * HANDLES] = {false};
	unsigned int count = 0;

	srand(1);
	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int i = (unsigned int)rand() % (4 * HANDLES);

		if (is_known[i])
			reprise_known_unlearn(&known, handle(i));
		else if (count < HANDLES)
			reprise_known_learn(&known, handle(i));
		else
			continue;
		is_known[i] = !is_known[i];
		count += is_known[i] ? 1 : -1u;
		ck_assert_int_eq(reprise_knows(&known, handle(i)), is_known[i]);
		i = (unsigned int)rand() % (4 * HANDLES);
		ck_assert_int_eq(reprise_knows(&known, handle(i)), is_known[i]);
	}
	ck_assert(!atomic_load(&known.all));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, known");
	TCase *tests = tcase_create("known");

	tcase_add_test(tests, nothing_is_known_first);
	tcase_add_test(tests, what_is_learnt_is_known_and_nothing_else);
	tcase_add_test(tests, where_there_is_no_room_all_are_known);
	tcase_add_test(tests, what_was_never_learnt_is_not_unlearnt);
	tcase_add_test(tests, any_come_and_go);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
