/* The name that was probably meant: by the errors that people make, and no other. */
#include <string.h>

#include "../../suite.h"
#include "base/text.h"

static const char *const names[] = {"run", "observe", "report",      "doctor", "verify",
                                    "ctl", "HOLD",    "STREAM_MOST", "on",     "a"};

static const struct {
	const char *word, *meant; /* NULL: none */
} cases[] = {
	{"run", "run"},
	{"runn", "run"},
	{"rn", "run"},
	{"rub", "run"},
	{"urn", "run"},
	{"Run", "run"},
	{"obsevre", "observe"},
	{"obsrv", "observe"},
	{"HODL", "HOLD"},
	{"hold", "HOLD"},
	{"STREAM_MOTS", "STREAM_MOST"},
	{"STREAMMOST", "STREAM_MOST"},
	{"o", "on"},
	{"no", "on"},
	{"", NULL},
	{"zzz", NULL},
	{"unrelated", NULL},
	{"obs", NULL},
	{"b", NULL},
};

START_TEST(the_nearest_is_found_and_none_where_all_are_far)
{
	const char *found = reprise_nearest(cases[_i].word, names, sizeof(names) / sizeof(*names));

	ck_assert_pstr_eq(found, cases[_i].meant);
}
END_TEST

START_TEST(of_two_that_are_equally_near_the_first)
{
	static const char *const both[] = {"card", "cart"};

	ck_assert_str_eq(reprise_nearest("carx", both, 2), "card");
}
END_TEST

START_TEST(words_of_any_length_and_bytes)
{
	static const char *const longest[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	char word[70000];

	for (size_t length = 0; length < 130; length++) {
		memset(word, 'a', length);
		word[length] = '\0';
		ck_assert_int_eq(reprise_nearest(word, longest, 1) != NULL, length >= 42 && length <= 63);
	}
	memset(word, '\xff', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	ck_assert_ptr_null(reprise_nearest(word, names, sizeof(names) / sizeof(*names)));
	ck_assert_ptr_null(reprise_nearest("run", names, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nearest");
	TCase *tests = tcase_create("nearest");

	tcase_add_loop_test(tests, the_nearest_is_found_and_none_where_all_are_far, 0,
	                    sizeof(cases) / sizeof(*cases));
	tcase_add_test(tests, of_two_that_are_equally_near_the_first);
	tcase_add_test(tests, words_of_any_length_and_bytes);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
