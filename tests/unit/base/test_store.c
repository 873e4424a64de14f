/* Host memory that Reprise keeps, and its limit. */
#include <stdlib.h>

#include "../../suite.h"
#include "base/options.h"
#include "base/store.h"

#define PIECE (1 << 20)

static void *taken[4096];

static void setup(void)
{
	setenv("REPRISE_MEMORY", "1", 1);
	reprise_options_read();
}

/* Takes all that there is; returns how many pieces there were. */
static unsigned int take_all(enum reprise_store store, unsigned int from)
{
	unsigned int count = from;

	while (count < 4096 && (taken[count] = reprise_store_take(store, PIECE)) != NULL)
		count++;
	return count - from;
}

START_TEST(there_is_memory_up_to_the_limit_and_again_when_it_was_given_back)
{
	unsigned int pieces = take_all(REPRISE_STORE_TRACES, 0);

	ck_assert_uint_ge(pieces, 16);
	ck_assert_uint_le((uint64_t)pieces * PIECE, reprise_store_limit());
	ck_assert_uint_le(reprise_store_most(), reprise_store_limit());
	ck_assert(reprise_store_is_short());
	for (unsigned int i = 0; i < pieces; i++)
		reprise_store_give(taken[i]);
	ck_assert_uint_eq(reprise_store_used(), 0);
	ck_assert(!reprise_store_is_short());
	ck_assert_uint_eq(take_all(REPRISE_STORE_TRACES, 0), pieces);
}
END_TEST

START_TEST(what_is_watched_leaves_half_of_it)
{
	unsigned int watched = take_all(REPRISE_STORE_WATCHED, 0), traces;

	ck_assert_uint_le((uint64_t)watched * PIECE, reprise_store_limit() / 2);
	ck_assert(reprise_store_is_short());
	ck_assert(!reprise_store_wants_traces());
	traces = take_all(REPRISE_STORE_TRACES, watched);
	ck_assert_uint_ge(traces, watched - 1);
	ck_assert(reprise_store_wants_traces());
}
END_TEST

/* A child has none of its parent's lanes, which nobody gives back there. */
START_TEST(after_a_fork_there_is_all_of_it_again)
{
	unsigned int pieces = take_all(REPRISE_STORE_TRACES, 0);

	ck_assert(reprise_store_is_short());
	reprise_store_reset();
	ck_assert_uint_eq(reprise_store_used(), 0);
	ck_assert_uint_eq(reprise_store_most(), 0);
	ck_assert(!reprise_store_is_short());
	ck_assert_uint_eq(take_all(REPRISE_STORE_TRACES, pieces), pieces);
}
END_TEST

START_TEST(memory_is_zero)
{
	unsigned char *bytes = reprise_store_take(REPRISE_STORE_TRACES, 4096);

	for (unsigned int i = 0; i < 4096; i++)
		ck_assert_uint_eq(bytes[i], 0);
	reprise_store_give(bytes);
	reprise_store_give(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tests = tcase_create("store");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, there_is_memory_up_to_the_limit_and_again_when_it_was_given_back);
	tcase_add_test(tests, what_is_watched_leaves_half_of_it);
	tcase_add_test(tests, after_a_fork_there_is_all_of_it_again);
	tcase_add_test(tests, memory_is_zero);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
