/* Options: what is usable is used, what is not is named once and ignored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/log.h"
#include "base/options.h"

/* Reads the options with stderr going into `said`. */
static char said[4096];

static void read_options(void)
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);
	size_t length;

	dup2(fileno(file), STDERR_FILENO);
	reprise_log_open(); /* as when the library is loaded */
	reprise_options_read();
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	length = fread(said, 1, sizeof(said) - 1, file);
	said[length] = '\0';
	fclose(file);
}

static unsigned int lines(void)
{
	unsigned int count = 0;

	for (const char *at = said; *at != '\0'; at++)
		count += *at == '\n';
	return count;
}

static void setup(void)
{
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		unsetenv(reprise_option_rows[i].variable);
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		if (reprise_option_old_name(i) != NULL)
			unsetenv(reprise_option_old_name(i));
}

START_TEST(without_an_environment_all_are_default)
{
	read_options();
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		ck_assert(!reprise_option_given(i));
		ck_assert_str_eq(reprise_option_origin(i), "default");
		ck_assert_uint_eq(reprise_option(i), reprise_option_rows[i].standard);
	}
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(words_have_the_value_of_their_place)
{
	setenv("REPRISE", "observe", 1);
	setenv("REPRISE_LOG", "silent", 1);
	read_options();
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_MODE), 1);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_LOG), 0);
	ck_assert(reprise_option_given(REPRISE_OPTION_MODE));
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(numbers_may_stand_at_their_limits)
{
	setenv("REPRISE_HOLD", "0", 1);
	setenv("REPRISE_MEMORY", "65536", 1);
	setenv("REPRISE_SMALLEST", "0128", 1);
	read_options();
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 0);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_MEMORY), 65536);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_SMALLEST), 128);
	ck_assert_str_eq(said, "");
}
END_TEST

static const char *const absurd[] = {
	"",
	" ",
	"-1",
	"+5",
	"5 ",
	" 5",
	"5us",
	"0x10",
	"1e3",
	"100001",
	"18446744073709551616",
	"99999999999999999999999999",
	"many",
	"\n",
	"\xff\xfe",
};

START_TEST(absurd_numbers_are_named_once_and_the_default_used)
{
	setenv("REPRISE_HOLD", absurd[_i], 1);
	read_options();
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 400);
	ck_assert(!reprise_option_given(REPRISE_OPTION_HOLD));
	ck_assert_uint_eq(lines(), 1);
	ck_assert_ptr_nonnull(strstr(said, "REPRISE_HOLD: \""));
	ck_assert_ptr_nonnull(
		strstr(said, "\" is not a number from 0 to 100000 (microseconds); the default is used\n"));
}
END_TEST

static const char *const no_words[] = {"", "o", "onn", "ON", "on|off", "|", "off ", "observ"};

START_TEST(words_that_are_none_are_named_once_and_the_default_used)
{
	setenv("REPRISE", no_words[_i], 1);
	read_options();
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_MODE), 2);
	ck_assert_uint_eq(lines(), 1);
}
END_TEST

static const enum reprise_option texts[] = {REPRISE_OPTION_REPORT, REPRISE_OPTION_DENY};

START_TEST(a_text_too_long_is_named_briefly)
{
	char text[9000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	setenv(reprise_option_rows[texts[_i]].variable, text, 1);
	read_options();
	ck_assert_str_eq(reprise_option_text(texts[_i]), reprise_option_rows[texts[_i]].words);
	ck_assert_uint_eq(lines(), 1);
	ck_assert_uint_lt(strlen(said), 1024);
}
END_TEST

START_TEST(what_is_accepted_is_what_would_be_used)
{
	ck_assert(reprise_option_accepts(REPRISE_OPTION_HOLD, "100000"));
	ck_assert(reprise_option_accepts(REPRISE_OPTION_MODE, "verify"));
	ck_assert(reprise_option_accepts(REPRISE_OPTION_REPORT, ""));
	ck_assert(!reprise_option_accepts(REPRISE_OPTION_MODE, "verif"));
	for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++)
		ck_assert(!reprise_option_accepts(REPRISE_OPTION_HOLD, absurd[i]));
}
END_TEST

static const char *const unknown[][2] = {
	{"REPRISE_HODL", "reprise: REPRISE_HODL is no option; did you mean REPRISE_HOLD?\n"},
	{"REPRISE_MODE", "reprise: REPRISE_MODE is no option; did you mean REPRISE?\n"},
	{"REPRISE_RECORD_MAX",
     "reprise: REPRISE_RECORD_MAX is no option; did you mean REPRISE_RECORD_MOST?\n"},
	{"REPRISE_SOMETHING_ELSE", "reprise: REPRISE_SOMETHING_ELSE is no option\n"},
	{"REPRISE_", "reprise: REPRISE_ is no option\n"},
	{"REPRISE_\033[2J\xff", "reprise: REPRISE_?[2J? is no option\n"},
	{"REPRISE_HOLD_", "reprise: REPRISE_HOLD_ is no option; did you mean REPRISE_HOLD?\n"},
};

START_TEST(a_variable_that_is_none_is_named_with_the_nearest)
{
	setenv(unknown[_i][0], "5", 1);
	read_options();
	unsetenv(unknown[_i][0]);
	ck_assert_str_eq(said, unknown[_i][1]);
}
END_TEST

START_TEST(an_old_name_counts_like_the_new_one)
{
	setenv("REPRISE_STREAM", "old", 1);
	setenv("REPRISE_STREAM_MOST", "5", 1);
	read_options();
	ck_assert_str_eq(reprise_option_text(REPRISE_OPTION_RECORD), "old");
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_RECORD_MOST), 5);
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_RECORD), "environment");
	ck_assert_str_eq(said, "");
	setenv("REPRISE_STREAM_MOST", "many", 1);
	read_options();
	ck_assert_str_eq(said, "reprise: REPRISE_STREAM_MOST: \"many\" is not a number from 1 to 4096 "
	                       "(MiB); the default is used\n");
}
END_TEST

START_TEST(of_an_old_and_a_new_name_the_new_one_counts)
{
	setenv("REPRISE_STREAM", "same", 1);
	setenv("REPRISE_RECORD", "same", 1);
	read_options();
	ck_assert_str_eq(reprise_option_text(REPRISE_OPTION_RECORD), "same");
	ck_assert_str_eq(said, "");
	setenv("REPRISE_RECORD", "new", 1);
	read_options();
	ck_assert_str_eq(reprise_option_text(REPRISE_OPTION_RECORD), "new");
	ck_assert_str_eq(said, "reprise: REPRISE_STREAM has no effect: it is the old name of "
	                       "REPRISE_RECORD, which is set and counts\n");
	setenv(REPRISE_OPTIONS_NAMED, "REPRISE_STREAM=same;", 1); /* the command has said it */
	read_options();
	ck_assert_str_eq(said, "");
	unsetenv(REPRISE_OPTIONS_NAMED);
}
END_TEST

static const char *const foreign[] = {"REPRISE_LIBRARY", "REPRISE_PRELOAD", "REPRISES",
                                      "_REPRISE_RUN", "MY_REPRISE_HODL"};

START_TEST(variables_that_are_nobodys_mistake_are_not)
{
	setenv(foreign[_i], "5", 1);
	read_options();
	unsetenv(foreign[_i]);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(who_wants_silence_hears_of_no_variable)
{
	setenv("REPRISE_HODL", "5", 1);
	setenv("REPRISE_LOG", "silent", 1);
	read_options();
	unsetenv("REPRISE_HODL");
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(what_the_command_has_set_or_named_is_known_by_its_value)
{
	setenv(REPRISE_OPTIONS_SET, "REPRISE_HOLD=7;REPRISE_HOLD=9;REPRISE_MEMORY=25;REPRISE_PAYS=", 1);
	setenv(REPRISE_OPTIONS_NAMED, "REPRISE_HODL=5;REPRISE_SMALLEST=abc;REPRISE_TOOLS=as;", 1);
	setenv("REPRISE_HOLD", "9", 1);
	setenv("REPRISE_MEMORY", "256", 1);
	setenv("REPRISE_PAYS", "assumed", 1);
	setenv("REPRISE_SMALLEST", "abc", 1);
	setenv("REPRISE_HODL", "5", 1);
	read_options();
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_HOLD), "command");
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_MEMORY), "environment");
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_PAYS), "environment");
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_SMALLEST), "default");
	ck_assert_str_eq(said, "");
	setenv("REPRISE_HODL", "", 1);
	setenv("REPRISE_SMALLEST", "ab", 1);
	read_options();
	ck_assert_uint_eq(lines(), 2);
	unsetenv("REPRISE_HODL");
	unsetenv(REPRISE_OPTIONS_SET);
	unsetenv(REPRISE_OPTIONS_NAMED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tests = tcase_create("options");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, without_an_environment_all_are_default);
	tcase_add_test(tests, words_have_the_value_of_their_place);
	tcase_add_test(tests, an_old_name_counts_like_the_new_one);
	tcase_add_test(tests, of_an_old_and_a_new_name_the_new_one_counts);
	tcase_add_test(tests, numbers_may_stand_at_their_limits);
	tcase_add_loop_test(tests, absurd_numbers_are_named_once_and_the_default_used, 0,
	                    sizeof(absurd) / sizeof(*absurd));
	tcase_add_loop_test(tests, words_that_are_none_are_named_once_and_the_default_used, 0,
	                    sizeof(no_words) / sizeof(*no_words));
	tcase_add_loop_test(tests, a_text_too_long_is_named_briefly, 0, sizeof(texts) / sizeof(*texts));
	tcase_add_test(tests, what_is_accepted_is_what_would_be_used);
	tcase_add_loop_test(tests, a_variable_that_is_none_is_named_with_the_nearest, 0,
	                    sizeof(unknown) / sizeof(*unknown));
	tcase_add_loop_test(tests, variables_that_are_nobodys_mistake_are_not, 0,
	                    sizeof(foreign) / sizeof(*foreign));
	tcase_add_test(tests, who_wants_silence_hears_of_no_variable);
	tcase_add_test(tests, what_the_command_has_set_or_named_is_known_by_its_value);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
