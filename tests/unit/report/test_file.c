/* Where a report may be written, and where it may not. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../suite.h"
#include "../../../src/base/write.h"
#include "../../../src/report/file.h"

#define REPORT "a report\n"

static char folder[64], beside[64];

static void enter_folder(void)
{
	strcpy(folder, "/tmp/report-file-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	snprintf(beside, sizeof(beside), "report.%d", (int)getpid());
	reprise_report_file_begin("report");
}

static void leave_folder(void)
{
	static const char *const left[] = {"report", "other", beside, "folder"};

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		remove(left[i]);
	ck_assert_int_eq(chdir("/"), 0);
	rmdir(folder);
}

static bool report_to(const char *pattern)
{
	int file = reprise_report_file_open(pattern);
	bool whole = file >= 0 && reprise_write(file, REPORT, strlen(REPORT));

	if (file >= 0)
		close(file);
	return whole;
}

static bool report(void)
{
	return report_to("report");
}

static const char *content(const char *path)
{
	static char text[64];
	FILE *file = fopen(path, "r");
	size_t length = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file != NULL)
		fclose(file);
	text[length] = '\0';
	return text;
}

/* As an earlier run, or as somebody else during this one, left it. */
static void make_file(const char *path, bool earlier)
{
	struct timespec times[2] = {{1, 0}, {1, 0}};
	FILE *file = fopen(path, "w");

	fputs("what was there before", file);
	fclose(file);
	if (earlier)
		ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(it_is_created_for_its_user_alone)
{
	struct stat status;

	umask(0);
	ck_assert(report());
	ck_assert_int_eq(stat("report", &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_str_eq(content("report"), REPORT);
}
END_TEST

START_TEST(an_earlier_run_is_written_over)
{
	make_file("report", true);
	ck_assert(report());
	ck_assert_str_eq(content("report"), REPORT);
}
END_TEST

START_TEST(an_earlier_run_of_a_moment_ago_is_written_over)
{
	make_file("report", false);
	reprise_report_file_begin("report");
	ck_assert(report());
	ck_assert_str_eq(content("report"), REPORT);
}
END_TEST

START_TEST(what_another_process_wrote_meanwhile_is_left_alone)
{
	make_file("report", false);
	ck_assert(report());
	ck_assert_str_eq(content("report"), "what was there before");
	ck_assert_str_eq(content(beside), REPORT);
}
END_TEST

START_TEST(percent_p_is_the_process)
{
	ck_assert(report_to("report.%p"));
	ck_assert_str_eq(content(beside), REPORT);
}
END_TEST

START_TEST(every_percent_p_is_the_process)
{
	char twice[64];

	snprintf(twice, sizeof(twice), "%d-%d.json", (int)getpid(), (int)getpid());
	ck_assert(report_to("%p-%p.json"));
	ck_assert_str_eq(content(twice), REPORT);
	remove(twice);
}
END_TEST

static void make_link(void)
{
	make_file("other", true);
	ck_assert_int_eq(symlink("other", "report"), 0);
}

static void make_link_to_nothing(void)
{
	ck_assert_int_eq(symlink("other", "report"), 0);
}

static void make_second_name(void)
{
	make_file("other", true);
	ck_assert_int_eq(link("other", "report"), 0);
}

static void make_fifo(void)
{
	ck_assert_int_eq(mkfifo("report", 0600), 0);
}

static void make_read_fifo(void)
{
	make_fifo();
	ck_assert_int_ge(open("report", O_RDONLY | O_NONBLOCK), 0);
}

static void make_folder(void)
{
	ck_assert_int_eq(mkdir("report", 0700), 0);
}

static void make_foreign(void)
{
	make_file("report", true);
	if (chown("report", 12345, 12345) != 0)
		_exit(0); /* only root can show this */
}

/* What must not be written to, and what would have the bytes if it were. */
static void (*const make_unfit[])(void) = {
	make_link, make_link_to_nothing, make_second_name, make_fifo, make_read_fifo, make_folder, make_foreign,
};

START_TEST(what_is_no_plain_file_of_ours_is_not_touched)
{
	make_unfit[_i]();
	ck_assert(!report());
	ck_assert_str_ne(content("other"), REPORT);
	ck_assert_int_ne(access(beside, F_OK), 0);
	if (make_unfit[_i] == make_link_to_nothing)
		ck_assert_int_ne(access("other", F_OK), 0);
	if (make_unfit[_i] == make_foreign)
		ck_assert_str_eq(content("report"), "what was there before");
}
END_TEST

static const char *const unwritable[] = {"/dev/full", "/proc/report", "nowhere/report", "", "/dev/stdout"};

START_TEST(what_cannot_be_written_is_said_to_be_so)
{
	ck_assert(!report_to(unwritable[_i]));
}
END_TEST

START_TEST(a_name_too_long_is_said_to_be_so)
{
	char name[900];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert(!report_to(name));
}
END_TEST

START_TEST(a_limit_on_the_size_of_files_ends_nobody)
{
	struct rlimit none, before;
	bool written;

	getrlimit(RLIMIT_FSIZE, &before);
	none = (struct rlimit){0, before.rlim_max};
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &none);
	written = report();
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert(!written);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report file");
	TCase *tests = tcase_create("report file");

	tcase_add_checked_fixture(tests, enter_folder, leave_folder);
	tcase_add_test(tests, it_is_created_for_its_user_alone);
	tcase_add_test(tests, an_earlier_run_is_written_over);
	tcase_add_test(tests, an_earlier_run_of_a_moment_ago_is_written_over);
	tcase_add_test(tests, what_another_process_wrote_meanwhile_is_left_alone);
	tcase_add_test(tests, percent_p_is_the_process);
	tcase_add_test(tests, every_percent_p_is_the_process);
	tcase_add_loop_test(tests, what_is_no_plain_file_of_ours_is_not_touched, 0, sizeof(make_unfit) / sizeof(*make_unfit));
	tcase_add_loop_test(tests, what_cannot_be_written_is_said_to_be_so, 0, sizeof(unwritable) / sizeof(*unwritable));
	tcase_add_test(tests, a_name_too_long_is_said_to_be_so);
	tcase_add_test(tests, a_limit_on_the_size_of_files_ends_nobody);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
