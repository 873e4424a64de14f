/* With the launch thread or without, in virtual time: periods of so many nanoseconds of the
 * program's, and of the process's processor time. */
#include "../../suite.h"
#include "base/tuning.h"
#include "noise.h"
#include "stats/choice.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define OPS 7 /* of a period */

static struct reprise_choice choice;
static uint64_t used, ops;
static uint64_t periods; /* since it was begun */
static uint64_t state;

static uint64_t next_random(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static void begin(uint64_t period, uint64_t seed)
{
	state = seed;
	used = ops = 1000000;
	periods = 0;
	reprise_choice_begin(&choice, period, next_random());
}

/* A period. True if it is decided. */
static bool passes(uint64_t took, uint64_t uses)
{
	used += uses;
	ops += OPS;
	periods++;
	if (reprise_choice_asks_processor(&choice))
		reprise_choice_note_processor(&choice, used, ops);
	return reprise_choice_note(&choice, took, next_random());
}

/* ---- what is decided ---- */

static const struct {
	uint64_t with, with_used, without; /* microseconds; 1,000 of a processor without */
	bool costly, direct;
} ways[] = {
	{1000, 1000, 1040, false, false}, {1000, 1300, 1040, false, false}, /* it gains */
	{1000, 1000, 960, false, true},   {1000, 900, 1000, false, true},   /* nothing */
	{1000, 950, 1004, false, true},                                     /* or too little */
	{1000, 1050, 1040, true, true},   {1000, 950, 1040, true, false},   /* the process takes much */
};

START_TEST(the_thread_is_used_where_it_gains)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct noise noise = {seed * 2654435761u + 1, 0.02, 0};
		bool decided = false;

		begin(MS, seed);
		while (!decided) {
			uint64_t took = choice.direct ? ways[_i].without : ways[_i].with,
					 uses = choice.direct ? 1000 : ways[_i].with_used;

			decided = passes(noise_period(&noise, (double)(took * US)), uses * US);
		}
		ck_assert_int_eq(reprise_choice_is_direct(&choice, ways[_i].costly), ways[_i].direct);
		ck_assert_uint_le(choice.time.count, REPRISE_TUNE_CHOICE_MOST);
	}
}
END_TEST

/* The more it gains, the sooner it is known. What gains as much as is just worth it takes all
 * pairs. */
START_TEST(a_clear_difference_ends_it)
{
	static const struct {
		double without;
		unsigned int most;
	} clear[] = {{1.2e6, 8}, {1.04e6, 20}, {1.01e6, REPRISE_TUNE_CHOICE_MOST}, {0.9e6, 8}};

	for (unsigned int i = 0; i < 4; i++) {
		struct noise noise = {99, 0.02, 0};

		begin(MS, 12345);
		while (!passes(noise_period(&noise, choice.direct ? clear[i].without : 1e6), 0))
			;
		ck_assert_uint_ge(choice.time.count, i == 2 ? clear[i].most : 8);
		ck_assert_uint_le(choice.time.count, clear[i].most);
		ck_assert_uint_eq(choice.processor.count, 0); /* not known */
	}
}
END_TEST

/* ---- turns ---- */

static const struct {
	uint64_t period;
	unsigned int skipped, compared;
} lengths[] = {{60 * US, 42, 166}, {MS, 3, 9}, {6 * MS, 2, 8}, {UINT64_C(1000) * MS, 2, 8}};

/* Each way has a turn in a pair, and the order varies. */
START_TEST(both_ways_have_turns_as_long_as_each_other)
{
	unsigned int first_direct = 0, pairs = 20;

	begin(lengths[_i].period, 7);
	for (unsigned int pair = 0; pair < pairs; pair++) {
		bool direct = choice.direct;

		first_direct += direct;
		for (unsigned int turn = 0; turn < 2; turn++) {
			for (unsigned int i = 0; i < lengths[_i].skipped + lengths[_i].compared; i++) {
				ck_assert_int_eq(choice.direct, direct == (turn == 0));
				ck_assert_uint_eq(choice.time.count, pair);
				passes(lengths[_i].period, US);
			}
		}
	}
	ck_assert_uint_eq(choice.time.count, pairs);
	ck_assert_uint_gt(first_direct, 4);
	ck_assert_uint_lt(first_direct, 16);
}
END_TEST

/* What the other way has left is in the first quarter. */
START_TEST(the_first_quarter_is_not_compared)
{
	begin(MS, 3);
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < 3; i++)
			passes(choice.direct ? 50 * MS : 9 * MS, choice.direct ? 70 * MS : MS);
		for (unsigned int i = 0; i < 9; i++)
			passes(MS, MS);
	}
	ck_assert_uint_eq(choice.time.count, 1);
	ck_assert_int_eq(reprise_pairs_read(&choice.time).median, 0);
	ck_assert_int_eq(reprise_pairs_read(&choice.processor).median, 0);
}
END_TEST

START_TEST(an_interrupted_turn_begins_anew)
{
	bool direct;

	begin(MS, 3);
	direct = choice.direct;
	for (unsigned int i = 0; i < 11; i++)
		passes(40 * MS, MS);
	reprise_choice_interrupt(&choice);
	ck_assert_int_eq(choice.direct, direct);
	for (unsigned int i = 0; i < 12; i++) {
		ck_assert_int_eq(choice.direct, direct);
		passes(MS, MS);
	}
	ck_assert_int_ne(choice.direct, direct);
	ck_assert_uint_eq(choice.first_ns, MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("choice");
	TCase *tests = tcase_create("choice");

	tcase_add_loop_test(tests, the_thread_is_used_where_it_gains, 0, sizeof(ways) / sizeof(*ways));
	tcase_add_test(tests, a_clear_difference_ends_it);
	tcase_add_loop_test(tests, both_ways_have_turns_as_long_as_each_other, 0,
	                    sizeof(lengths) / sizeof(*lengths));
	tcase_add_test(tests, the_first_quarter_is_not_compared);
	tcase_add_test(tests, an_interrupted_turn_begins_anew);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
