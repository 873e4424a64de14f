/* The driver's release, as its kernel modules tell it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "driver/search.h"

static const struct {
	const char *line, *release;
} cases[] = {
	{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Fri Sep  5 20:01:50 UTC 2025\nGCC version:  gcc version 13.3.0\n",
     "580.82.07"},
	{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs-builder@U22)\n",
     "580.159.04"},
	{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.82  Release Build\n", "580.82"},
	{"NVRM version: none\nGCC version:  gcc version 13.3.0\n", ""},
	{"580.82", "580.82"},
	{"1.2345678901234567890", ""},
	{"", ""},
	{"\n", ""},
	{"   580.1", "580.1"},
};

START_TEST(it_is_the_word_of_digits_and_dots)
{
	char release[16];

	reprise_release_of(cases[_i].line, release, sizeof(release));
	ck_assert_str_eq(release, cases[_i].release);
}
END_TEST

START_TEST(it_is_read_from_a_file)
{
	char path[] = "/tmp/release-XXXXXX", release[16];
	int file = mkstemp(path);

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(write(file, cases[_i].line, strlen(cases[_i].line)),
	                 (int)strlen(cases[_i].line));
	close(file);
	reprise_release_read(path, release, sizeof(release));
	unlink(path);
	ck_assert_str_eq(release, cases[_i].release);
	reprise_release_read(path, release, sizeof(release));
	ck_assert_str_eq(release, "");
}
END_TEST

/* As the first file that is open, where the program has closed its own. */
START_TEST(it_is_read_by_a_program_without_files)
{
	char path[] = "/tmp/release-XXXXXX", release[16];
	int file = mkstemp(path);

	ck_assert_int_eq(write(file, "580.82\n", 7), 7);
	close(file);
	for (unsigned int i = 0; i < 2; i++) {
		close(STDIN_FILENO);
		reprise_release_read(path, release, sizeof(release));
		ck_assert_str_eq(release, "580.82");
		ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	}
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("release");
	TCase *tests = tcase_create("release");

	tcase_add_loop_test(tests, it_is_the_word_of_digits_and_dots, 0,
	                    sizeof(cases) / sizeof(*cases));
	tcase_add_loop_test(tests, it_is_read_from_a_file, 0, sizeof(cases) / sizeof(*cases));
	tcase_add_test(tests, it_is_read_by_a_program_without_files);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
