/* Which hashes a set remembers: the one noted longest ago goes first, and one of this segment does
 * not count as having come before. */
#include <stdlib.h>

#include "../../suite.h"
#include "trace/hash_set.h"

#define OF_ROW (REPRISE_HASH_SET_ROW + 2)

static struct reprise_hash_set *set;
static uint64_t hashes[OF_ROW]; /* all of one row */

static void setup(void)
{
	struct reprise_hash_entry *row;
	unsigned int found = 0;

	set = calloc(1, sizeof(*set));
	ck_assert_ptr_nonnull(set);
	row = reprise_hash_set_find(set, 1, 1);
	for (uint64_t hash = 1; found < OF_ROW; hash++)
		if (reprise_hash_set_find(set, hash, 1) == row)
			hashes[found++] = hash;
}

static void teardown(void)
{
	free(set);
}

START_TEST(a_hash_comes_before_from_the_next_segment_on)
{
	ck_assert(!reprise_hash_set_has(set, 7, 1));
	ck_assert(!reprise_hash_set_note(set, 7, 1));
	ck_assert(!reprise_hash_set_note(set, 7, 1));
	ck_assert(!reprise_hash_set_has(set, 7, 1));
	ck_assert(reprise_hash_set_has(set, 7, 2));
	ck_assert(reprise_hash_set_note(set, 7, 2));
	ck_assert(!reprise_hash_set_has(set, 8, 2));
}
END_TEST

START_TEST(to_ask_is_not_to_note)
{
	ck_assert(!reprise_hash_set_has(set, 7, 1));
	ck_assert(!reprise_hash_set_has(set, 7, 2));
	ck_assert(!reprise_hash_set_note(set, 7, 2));
}
END_TEST

/* The number of the first segment: they go round. */
static const uint32_t firsts[] = {1, 1000, INT32_MAX - 2, UINT32_MAX - 3};

START_TEST(the_one_noted_longest_ago_goes_first)
{
	uint32_t first = firsts[_i], now = first + 20;
	static const unsigned int order[] = {2, 0, 3, 1}; /* in which they are noted */

	for (unsigned int i = 0; i < REPRISE_HASH_SET_ROW; i++)
		ck_assert(!reprise_hash_set_note(set, hashes[order[i]], first + i));
	for (unsigned int i = 0; i < REPRISE_HASH_SET_ROW; i++)
		ck_assert(reprise_hash_set_has(set, hashes[i], now));
	for (unsigned int i = 0; i + REPRISE_HASH_SET_ROW < OF_ROW; i++) {
		reprise_hash_set_note(set, hashes[REPRISE_HASH_SET_ROW + i], first + 10 + i);
		for (unsigned int k = 0; k < REPRISE_HASH_SET_ROW; k++)
			ck_assert_int_eq(reprise_hash_set_has(set, hashes[order[k]], now), k > i);
	}
}
END_TEST

START_TEST(as_many_are_remembered_as_there_is_room_for)
{
	const unsigned int most = REPRISE_HASH_SET_ROW << REPRISE_HASH_SET_ROW_BITS;
	unsigned int known = 0;

	for (uint64_t i = 1; i <= most / 2; i++)
		reprise_hash_set_note(set, i * 0x2545f4914f6cdd1du, 1);
	for (uint64_t i = 1; i <= most / 2; i++)
		known += reprise_hash_set_has(set, i * 0x2545f4914f6cdd1du, 2);
	ck_assert_uint_ge(known, most / 2 * 9 / 10);
	ck_assert_uint_le(known, most / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hash set");
	TCase *tests = tcase_create("hash set");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_hash_comes_before_from_the_next_segment_on);
	tcase_add_test(tests, to_ask_is_not_to_note);
	tcase_add_loop_test(tests, the_one_noted_longest_ago_goes_first, 0,
	                    sizeof(firsts) / sizeof(firsts[0]));
	tcase_add_test(tests, as_many_are_remembered_as_there_is_room_for);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
