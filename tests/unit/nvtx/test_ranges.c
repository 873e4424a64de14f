/* The program's NVTX ranges that REPRISE_NVTX_OFF names: which names those are, and when a thread
 * is within one. Each test has a process of its own, in which the option is read once. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/log.h"
#include "base/options.h"
#include "nvtx/ranges.h"

static char words[64];
#define HANDLE(number) ((const void *)&words[number])

static void begin(const char *names)
{
	setenv("REPRISE_NVTX_OFF", names, 1);
	reprise_options_read();
	reprise_ranges_begin();
}

/* A range of this text in a domain of that name begins; true if it makes the thread's calls
 * eager. */
static bool begins(const char *names, const char *domain, const char *text)
{
	begin(names);
	return reprise_ranges_push(domain != NULL ? reprise_ranges_note_domain(HANDLE(0), domain)
	                                          : NULL,
	                           reprise_ranges_named(text));
}

static const struct {
	const char *names, *domain, *text;
	bool begins;
} cases[] = {
	{"", NULL, "", false},
	{"step", NULL, "step", true},
	{"step", "any", "step", true},
	{"step", NULL, "steps", false},
	{"ste", NULL, "step", false},
	{"st*", NULL, "step", true},
	{"[a-c]?", NULL, "b1", true},
	{"[a-c]?", NULL, "d1", false},
	{"a,b,step", NULL, "step", true},
	{",,step,", NULL, "step", true},
	{",,step,", NULL, "", false},
	{"io@step", "io", "step", true},
	{"io@step", "ui", "step", false},
	{"io@step", NULL, "step", false},
	{"i*@s*", "io", "step", true},
	{"@step", NULL, "step", true},
	{"@step", "io", "step", false},
	{"*@step", NULL, "step", true},
	{"a@step,io@b", "io", "step", false}, /* the domain of one, the name of another */
	{"a@step,io@b,io@step", "io", "step", true},
	{"a?b", NULL, "a,b", true},
	{"a@b@c", "a", "b@c", true}, /* the first one separates */
};

START_TEST(a_range_is_named_by_its_own_name_and_its_domains)
{
	ck_assert_int_eq(begins(cases[_i].names, cases[_i].domain, cases[_i].text), cases[_i].begins);
	ck_assert_int_eq(reprise_ranges_wanted, cases[_i].names[0] != '\0');
}
END_TEST

START_TEST(texts_may_be_missing)
{
	begin("*");
	ck_assert_uint_eq(reprise_ranges_named(NULL), 0);
	ck_assert_uint_eq(reprise_ranges_named_wide(NULL), 0);
	ck_assert_ptr_eq(reprise_ranges_note_domain(HANDLE(0), NULL), HANDLE(0));
	ck_assert_uint_eq(reprise_ranges_registered(NULL), 0);
	ck_assert(!reprise_ranges_push(NULL, 0));
}
END_TEST

START_TEST(a_wide_text_is_compared_in_utf8)
{
	begin("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z,?");
	ck_assert_uint_eq(reprise_ranges_named_wide(L"\u00e9\u20ac\U0001f600z"), 1);
	ck_assert_uint_eq(reprise_ranges_named_wide((const wchar_t[]){0x110000, 0}), 2);
	ck_assert_uint_eq(reprise_ranges_named_wide((const wchar_t[]){-1, 0}), 2);
}
END_TEST

START_TEST(a_long_wide_text_is_cut_between_characters)
{
	wchar_t wide[64];
	char text[16];

	for (unsigned int i = 0; i < 63; i++)
		wide[i] = L'\u20ac';
	wide[63] = L'\0';
	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		reprise_ranges_narrow(wide, text, size);
		ck_assert_uint_lt(strlen(text), size);
		ck_assert_uint_eq(strlen(text) % 3, 0);
	}
}
END_TEST

START_TEST(of_more_names_than_bits_the_first_count)
{
	char names[3 * 70 + 1] = "", line[256];
	int pipes[2], before = dup(STDERR_FILENO);
	ssize_t length;

	for (int i = 0; i < 70; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%02d,", i);
	ck_assert_int_eq(pipe2(pipes, O_NONBLOCK), 0);
	dup2(pipes[1], STDERR_FILENO);
	reprise_log_open();
	begin(names);
	dup2(before, STDERR_FILENO);
	ck_assert_uint_eq(reprise_ranges_named("63"), UINT64_C(1) << 63);
	ck_assert_uint_eq(reprise_ranges_named("64"), 0);
	length = read(pipes[0], line, sizeof(line) - 1);
	ck_assert_int_gt(length, 0);
	line[length] = '\0';
	ck_assert_ptr_nonnull(strstr(line, "only the first 64 names count, not \"64\""));
}
END_TEST

/* ---- handles ---- */

START_TEST(a_registered_string_has_the_names_that_it_was_registered_with)
{
	begin("a,b");
	ck_assert_ptr_eq(reprise_ranges_note_string(HANDLE(1), 1), HANDLE(1));
	ck_assert_ptr_eq(reprise_ranges_note_string(HANDLE(2), 2), HANDLE(2));
	ck_assert_ptr_eq(reprise_ranges_note_string(HANDLE(3), 0), HANDLE(3));
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(1)), 1);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(2)), 2);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(3)), 0);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(4)), 0);
}
END_TEST

START_TEST(a_handle_that_is_given_again_has_its_new_name)
{
	begin("a,b");
	reprise_ranges_note_string(HANDLE(1), 1);
	reprise_ranges_note_string(HANDLE(1), 0);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(1)), 0);
	reprise_ranges_note_string(HANDLE(1), 2);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(1)), 2);
	/* Its place is free again: any number of such come and go. */
	for (unsigned int i = 0; i < 1000; i++) {
		reprise_ranges_note_string(HANDLE(i % 64), 1);
		reprise_ranges_note_string(HANDLE(i % 64), 0);
	}
	reprise_ranges_note_string(HANDLE(5), 1);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(5)), 1);
}
END_TEST

START_TEST(where_nobody_listens_strings_of_one_name_have_one_handle)
{
	const void *first, *second;

	begin("a,b");
	first = reprise_ranges_note_string(NULL, 1);
	second = reprise_ranges_note_string(NULL, 2);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_ne(first, second);
	ck_assert_ptr_null(reprise_ranges_note_string(NULL, 0));
	for (unsigned int i = 0; i < 1000; i++)
		ck_assert_ptr_eq(reprise_ranges_note_string(NULL, 1), first);
	ck_assert_uint_eq(reprise_ranges_registered(first), 1);
	ck_assert_uint_eq(reprise_ranges_registered(second), 2);
}
END_TEST

START_TEST(where_nobody_listens_domains_are_told_apart)
{
	const void *io, *ui;

	begin("io@step");
	io = reprise_ranges_note_domain(NULL, "io");
	ui = reprise_ranges_note_domain(NULL, "ui");
	ck_assert_ptr_nonnull(io);
	ck_assert_ptr_nonnull(ui);
	ck_assert_ptr_ne(io, ui);
	ck_assert(!reprise_ranges_push(ui, 1));
	ck_assert(reprise_ranges_push(io, 1));
	for (unsigned int i = 0; i < 1000; i++) /* more than there is room for */
		ck_assert_ptr_nonnull(reprise_ranges_note_domain(NULL, "ui"));
}
END_TEST

/* Another thread of the parent's may have noted something at the fork. */
START_TEST(a_forked_child_has_the_handles_and_not_the_lock)
{
	begin("a,b");
	reprise_ranges_note_string(HANDLE(1), 1);
	ck_assert(reprise_ranges_push(NULL, 1));
	reprise_lock_take(&reprise_ranges_lock);
	reprise_ranges_reset();
	reprise_ranges_note_string(HANDLE(2), 2);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(1)), 1);
	ck_assert_uint_eq(reprise_ranges_registered(HANDLE(2)), 2);
	ck_assert(reprise_ranges_pop(NULL));
}
END_TEST

/* ---- a thread's ranges ---- */

START_TEST(ranges_nest_and_the_outermost_that_is_named_counts)
{
	begin("a");
	ck_assert(!reprise_ranges_push(NULL, 0));
	ck_assert(reprise_ranges_push(NULL, 1));
	ck_assert(!reprise_ranges_push(NULL, 0));
	ck_assert(!reprise_ranges_push(NULL, 1));
	ck_assert(!reprise_ranges_pop(NULL));
	ck_assert(!reprise_ranges_pop(NULL));
	ck_assert(reprise_ranges_pop(NULL));
	ck_assert(!reprise_ranges_pop(NULL));
}
END_TEST

START_TEST(a_pop_without_a_push_does_nothing)
{
	begin("a");
	ck_assert(!reprise_ranges_pop(NULL));
	ck_assert(reprise_ranges_push(NULL, 1));
	ck_assert(!reprise_ranges_pop(HANDLE(1)));
	ck_assert(reprise_ranges_pop(NULL));
	ck_assert(!reprise_ranges_pop(NULL));
}
END_TEST

START_TEST(a_domain_pops_its_own_ranges)
{
	begin("a");
	ck_assert(reprise_ranges_push(HANDLE(1), 1));
	ck_assert(!reprise_ranges_push(HANDLE(2), 1));
	ck_assert(!reprise_ranges_push(HANDLE(2), 0));
	ck_assert(!reprise_ranges_pop(HANDLE(1)));
	ck_assert(!reprise_ranges_pop(HANDLE(2)));
	ck_assert(reprise_ranges_pop(HANDLE(2)));
}
END_TEST

START_TEST(of_more_domains_than_are_kept_the_first_count)
{
	begin("a");
	ck_assert(reprise_ranges_push(HANDLE(1), 1));
	for (unsigned int i = 2; i < 20; i++)
		ck_assert(!reprise_ranges_push(HANDLE(i), 1));
	for (unsigned int i = 19; i >= 2; i--)
		ck_assert(!reprise_ranges_pop(HANDLE(i)));
	ck_assert(reprise_ranges_pop(HANDLE(1)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranges");
	TCase *tests = tcase_create("ranges");

	tcase_add_loop_test(tests, a_range_is_named_by_its_own_name_and_its_domains, 0,
	                    sizeof(cases) / sizeof(*cases));
	tcase_add_test(tests, texts_may_be_missing);
	tcase_add_test(tests, a_wide_text_is_compared_in_utf8);
	tcase_add_test(tests, a_long_wide_text_is_cut_between_characters);
	tcase_add_test(tests, of_more_names_than_bits_the_first_count);
	tcase_add_test(tests, a_registered_string_has_the_names_that_it_was_registered_with);
	tcase_add_test(tests, a_handle_that_is_given_again_has_its_new_name);
	tcase_add_test(tests, where_nobody_listens_strings_of_one_name_have_one_handle);
	tcase_add_test(tests, where_nobody_listens_domains_are_told_apart);
	tcase_add_test(tests, a_forked_child_has_the_handles_and_not_the_lock);
	tcase_add_test(tests, ranges_nest_and_the_outermost_that_is_named_counts);
	tcase_add_test(tests, a_pop_without_a_push_does_nothing);
	tcase_add_test(tests, a_domain_pops_its_own_ranges);
	tcase_add_test(tests, of_more_domains_than_are_kept_the_first_count);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
