/* Amounts as people read them. */
#include "../../suite.h"
#include "base/text.h"

static const struct {
	long long saved_ns;
	unsigned long long launch_time_ns;
	const char *told;
} expected[] = {
	{430000000, 503000000, "save about 430 ms of 503 ms launch time"},
	{0, 2000, "save about 0 ns of 2 us launch time"},
	{-469000, 12345678, "be about 469 us slower than without (of 12.3 ms launch time)"},
	{-9223372036854775807, 18446744073709551615u,
     "be about 9223372037 s slower than without (of 18446744074 s launch time)"},
};

START_TEST(a_loss_is_told_as_plainly_as_a_saving)
{
	char text[REPRISE_EXPECTED_MOST];

	ck_assert_str_eq(reprise_amount_expected(expected[_i].saved_ns, expected[_i].launch_time_ns,
	                                         text),
	                 expected[_i].told);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("amounts");
	TCase *tests = tcase_create("amounts");

	tcase_add_loop_test(tests, a_loss_is_told_as_plainly_as_a_saving, 0,
	                    sizeof(expected) / sizeof(expected[0]));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
