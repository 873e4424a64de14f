/* The handles that a lane may name: each is known from when it is learnt until it is unlearnt,
 * whatever others come and go. */
#include <pthread.h>
#include <stdlib.h>

#include "../../suite.h"
#include "base/store.h"
#include "lane/known.h"

#define HANDLES 1000 /* so that tables are grown out of */
#define TOO_MANY REPRISE_KNOWN_MOST

static struct reprise_known known;

static const void *handle(unsigned int number)
{
	return (const void *)(uintptr_t)(0x1000 + 64 * number);
}

/* Handle 1 and those up to `last`, and none behind. */
static void are_known_up_to(unsigned int last)
{
	for (unsigned int i = 1; i <= 4 * HANDLES; i++)
		ck_assert_int_eq(reprise_knows(&known, handle(i)), i <= last);
	ck_assert(!atomic_load(&known.all));
}

static uint32_t places(void)
{
	return known.table == NULL ? REPRISE_KNOWN_FIRST : known.table->places;
}

START_TEST(nothing_is_known_first)
{
	are_known_up_to(0);
}
END_TEST

START_TEST(what_is_learnt_is_known_and_nothing_else)
{
	for (unsigned int i = 1; i <= HANDLES; i++) {
		reprise_known_learn(&known, handle(i));
		if (i % 37 == 0)
			are_known_up_to(i);
	}
	are_known_up_to(HANDLES);
	ck_assert_uint_ge(places(), HANDLES);
	ck_assert_uint_le(places(), 8 * HANDLES);
}
END_TEST

/* Nor does it take another place each time. */
START_TEST(what_is_known_is_not_learnt_again)
{
	for (unsigned int i = 0; i < 10 * REPRISE_KNOWN_FIRST; i++)
		reprise_known_learn(&known, handle(1));
	are_known_up_to(1);
	ck_assert_ptr_null(known.table);
	reprise_known_unlearn(&known, handle(1));
	are_known_up_to(0);
}
END_TEST

START_TEST(without_memory_all_are_known)
{
	void *taken = reprise_store_take(REPRISE_STORE_WATCHED, reprise_store_limit() / 2 - 1000);
	unsigned int count = 0;

	ck_assert_ptr_nonnull(taken);
	while (!atomic_load(&known.all)) {
		reprise_known_learn(&known, handle(++count));
		ck_assert_uint_le(count, REPRISE_KNOWN_FIRST + 1);
	}
	ck_assert(reprise_knows(&known, handle(count)) && reprise_knows(&known, handle(1000)));
	reprise_known_unlearn(&known, handle(1));
	ck_assert(reprise_knows(&known, handle(1000)));
	reprise_known_unlearn_all(&known);
	are_known_up_to(0);
	reprise_store_give(taken);
	for (unsigned int i = 1; i <= HANDLES; i++)
		reprise_known_learn(&known, handle(i));
	are_known_up_to(HANDLES);
}
END_TEST

START_TEST(past_the_most_all_are_known)
{
	unsigned int count = 0;

	while (!atomic_load(&known.all) && count < TOO_MANY)
		reprise_known_learn(&known, handle(++count));
	ck_assert(atomic_load(&known.all));
	ck_assert_uint_ge(count, TOO_MANY / 4);
	ck_assert_uint_eq(places(), REPRISE_KNOWN_MOST);
	for (unsigned int i = 1; i <= count + 1000; i++)
		ck_assert(reprise_knows(&known, handle(i)));
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

/* The tables that were grown out of are used again, and have nothing of before. */
START_TEST(all_are_forgotten_again_and_again)
{
	for (unsigned int round = 1; round <= 8; round++) {
		uint64_t used;

		for (unsigned int i = 1; i <= HANDLES / round; i++)
			reprise_known_learn(&known, handle(i));
		are_known_up_to(HANDLES / round);
		used = reprise_store_used();
		reprise_known_unlearn_all(&known);
		are_known_up_to(0);
		for (unsigned int i = 1; i <= HANDLES / round; i++)
			reprise_known_learn(&known, handle(i));
		are_known_up_to(HANDLES / round);
		ck_assert_uint_eq(reprise_store_used(), used);
		reprise_known_unlearn_all(&known);
	}
}
END_TEST

/* The place of one that ended is another's, and those behind it are found. */
static void come_and_go(unsigned int handles, unsigned int most)
{
	bool is_known[4 * HANDLES] = {false};
	unsigned int count = 0;

	srand(1);
	for (unsigned int step = 0; step < 40000; step++) {
		unsigned int i = (unsigned int)rand() % handles;

		if (is_known[i])
			reprise_known_unlearn(&known, handle(i));
		else if (count < most)
			reprise_known_learn(&known, handle(i));
		else
			continue;
		is_known[i] = !is_known[i];
		count += is_known[i] ? 1 : -1u;
		ck_assert_int_eq(reprise_knows(&known, handle(i)), is_known[i]);
		i = (unsigned int)rand() % handles;
		ck_assert_int_eq(reprise_knows(&known, handle(i)), is_known[i]);
	}
	ck_assert(!atomic_load(&known.all));
}

START_TEST(any_come_and_go)
{
	come_and_go(4 * HANDLES, HANDLES);
}
END_TEST

/* As many names as the program makes, a few of them at a time: no table grows with their number. */
START_TEST(few_of_many_need_little_room)
{
	come_and_go(4 * HANDLES, REPRISE_KNOWN_FIRST / 4);
	ck_assert_uint_le(places(), 2 * REPRISE_KNOWN_FIRST);
}
END_TEST

/* ---- a reader beside who learns ---- */

static atomic_uint learnt;
static atomic_bool ended;

/* What was learnt before the question is known, while tables are grown out of. */
static void *ask(void *unused)
{
	while (!atomic_load(&ended)) {
		unsigned int last = atomic_load(&learnt);

		for (unsigned int i = last > 100 ? last - 100 : 1; i <= last; i++)
			if (!reprise_knows(&known, handle(i)))
				return &ended;
	}
	return NULL;
}

START_TEST(who_asks_beside_sees_what_was_learnt)
{
	pthread_t thread;
	void *failed;

	pthread_create(&thread, NULL, ask, NULL);
	for (unsigned int i = 1; i <= 20000; i++) {
		reprise_known_learn(&known, handle(i));
		atomic_store(&learnt, i);
	}
	atomic_store(&ended, true);
	pthread_join(thread, &failed);
	ck_assert_ptr_null(failed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, known");
	TCase *tests = tcase_create("known");

	tcase_add_test(tests, nothing_is_known_first);
	tcase_add_test(tests, what_is_learnt_is_known_and_nothing_else);
	tcase_add_test(tests, what_is_known_is_not_learnt_again);
	tcase_add_test(tests, without_memory_all_are_known);
	tcase_add_test(tests, past_the_most_all_are_known);
	tcase_add_test(tests, what_was_never_learnt_is_not_unlearnt);
	tcase_add_test(tests, all_are_forgotten_again_and_again);
	tcase_add_test(tests, any_come_and_go);
	tcase_add_test(tests, few_of_many_need_little_room);
	tcase_add_test(tests, who_asks_beside_sees_what_was_learnt);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
