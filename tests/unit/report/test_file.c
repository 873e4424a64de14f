/* Where a report may be written, and where it may not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/keep.h"
#include "base/output.h"

#define REPORT "a report\n"

static char folder[64], beside[64];

static void enter_folder(void)
{
	strcpy(folder, "/tmp/report-file-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	snprintf(beside, sizeof(beside), "report.%d", (int)getpid());
	reprise_output_begin("report");
}

static void leave_folder(void)
{
	static const char *const left[] = {"report", "other", beside, "folder"};

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		remove(left[i]);
	ck_assert_int_eq(chdir("/"), 0);
	rmdir(folder);
}

static int write_report(int file, const void *what)
{
	return reprise_write(file, REPORT, strlen(REPORT));
}

static bool report(void)
{
	return reprise_output_write(write_report, NULL, NULL) == 0;
}

static bool report_to(const char *pattern)
{
	reprise_output_begin(pattern);
	return report();
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
	reprise_output_begin("report");
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

START_TEST(what_this_process_wrote_is_written_again)
{
	struct stat first, second;

	ck_assert(report());
	ck_assert_int_eq(stat("report", &first), 0);
	ck_assert(report());
	ck_assert_int_eq(stat("report", &second), 0);
	ck_assert_uint_ne(first.st_ino, second.st_ino); /* who has the first one open reads all of it */
	ck_assert_int_ne(access(beside, F_OK), 0);
}
END_TEST

START_TEST(what_is_gone_is_made_again)
{
	ck_assert(report());
	remove("report");
	ck_assert(report());
	ck_assert_str_eq(content("report"), REPORT);
}
END_TEST

/* An earlier process's by its time, and still written. */
START_TEST(what_another_process_has_locked_is_left_alone)
{
	int file;

	make_file("report", true);
	file = open("report", O_RDONLY);
	ck_assert_int_eq(flock(file, LOCK_EX), 0);
	ck_assert(report());
	close(file);
	ck_assert_str_eq(content("report"), "what was there before");
	ck_assert_str_eq(content(beside), REPORT);
	ck_assert(report());
	ck_assert_str_eq(content("report"), "what was there before");
}
END_TEST

START_TEST(what_is_kept_is_locked)
{
	int kept = -1, file;

	ck_assert_int_eq(reprise_output_write(write_report, NULL, &kept), 0);
	file = open("report", O_RDONLY);
	ck_assert_int_ne(flock(file, LOCK_EX | LOCK_NB), 0);
	close(kept);
	ck_assert_int_eq(flock(file, LOCK_EX | LOCK_NB), 0);
	close(file);
}
END_TEST

static int write_half(int file, const void *what)
{
	write_report(file, what);
	return ENOSPC;
}

START_TEST(what_could_not_be_written_leaves_what_was_there)
{
	ck_assert(report());
	ck_assert_int_eq(reprise_output_write(write_half, NULL, NULL), ENOSPC);
	ck_assert_str_eq(content("report"), REPORT);
	ck_assert_int_ne(access(beside, F_OK), 0);
}
END_TEST

START_TEST(the_users_mode_stays)
{
	struct stat status;

	make_file("report", true);
	ck_assert_int_eq(chmod("report", 0644), 0);
	ck_assert(report());
	ck_assert_int_eq(stat("report", &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0644);
}
END_TEST

START_TEST(a_name_as_long_as_may_be_is_written_in_its_place)
{
	char name[256];
	int kept = -1;

	memset(name, 'x', 255);
	name[255] = '\0';
	reprise_output_begin(name);
	ck_assert_int_eq(reprise_output_write(write_report, NULL, &kept), ENAMETOOLONG);
	ck_assert(report());
	ck_assert_str_eq(content(name), REPORT);
	remove(name);
}
END_TEST

/* ---- a program may have closed standard files: then files of Reprise's have their numbers ---- */

#define MASKS 8

static void close_standard(int mask)
{
	for (int file = 0; file <= 2; file++)
		if ((mask >> file & 1) != 0)
			close(file);
}

static unsigned int count_open(void)
{
	unsigned int count = 0;

	for (int file = 0; file < 64; file++)
		count += fcntl(file, F_GETFD) >= 0;
	return count;
}

START_TEST(it_is_written_whichever_standard_files_are_closed)
{
	unsigned int open_before;

	close_standard(_i);
	open_before = count_open();
	ck_assert(report());
	errno = EEXIST; /* of an earlier call: it says nothing of this one */
	ck_assert(report());
	ck_assert_str_eq(content("report"), REPORT);
	ck_assert_uint_eq(count_open(), open_before);
}
END_TEST

/* A name as long as may be leaves no room for a draft's. */
START_TEST(it_is_written_in_its_place_whichever_standard_files_are_closed)
{
	char name[256];
	unsigned int open_before;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	close_standard(_i);
	open_before = count_open();
	for (unsigned int i = 0; i < 2; i++) {
		bool made = report_to(name);

		ck_assert(made);
		ck_assert_str_eq(content(name), REPORT);
		ck_assert_uint_eq(count_open(), open_before);
	}
	unlink(name);
}
END_TEST

START_TEST(one_file_is_kept_whichever_standard_files_are_closed)
{
	unsigned int open_before;
	int kept = -1;

	close_standard(_i);
	open_before = count_open();
	for (unsigned int i = 0; i < 4; i++) {
		ck_assert_int_eq(reprise_output_write(write_report, NULL, &kept), 0);
		ck_assert_int_ge(kept, 0);
		ck_assert_uint_eq(count_open(), open_before + 1);
	}
	close(kept);
	ck_assert_uint_eq(count_open(), open_before);
	ck_assert_str_eq(content("report"), REPORT);
}
END_TEST

START_TEST(parts_are_added_whichever_standard_files_are_closed)
{
	struct reprise_output_path output;
	unsigned int open_before;

	close_standard(_i);
	open_before = count_open();
	ck_assert_int_eq(reprise_output_add(reprise_output_make("other", &output), "a", 1), 0);
	ck_assert_int_eq(reprise_output_add(reprise_output_again(&output, O_APPEND), "b", 1), 0);
	ck_assert_str_eq(content("other"), "ab");
	ck_assert_int_eq(rename("other", "report"), 0);
	make_file("other", false);
	ck_assert_int_eq(reprise_output_again(&output, O_APPEND), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(reprise_output_add(-1, "b", 1), ENOENT);
	ck_assert_str_eq(content("other"), "what was there before");
	ck_assert_uint_eq(count_open(), open_before);
}
END_TEST

START_TEST(a_relative_name_is_of_where_it_began)
{
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert(report());
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_str_eq(content("report"), REPORT);
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
	make_link,      make_link_to_nothing, make_second_name, make_fifo,
	make_read_fifo, make_folder,          make_foreign,
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

static const char *const unwritable[] = {"/dev/full", "/proc/report", "nowhere/report", "",
                                         "/dev/stdout"};

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

/* What came from elsewhere before is the program's, though a write that fails raises one of the
 * same kind, or of another. */
START_TEST(signals_of_the_programs_stay_pending)
{
	static const int numbers[] = {SIGPIPE, SIGXFSZ};
	struct rlimit none, before;
	sigset_t blocked, pending;
	int file, refused;

	sigemptyset(&blocked);
	sigaddset(&blocked, numbers[_i]);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	raise(numbers[_i]);
	getrlimit(RLIMIT_FSIZE, &before);
	none = (struct rlimit){0, before.rlim_max};
	file = open("report", O_WRONLY | O_CREAT, 0600);
	setrlimit(RLIMIT_FSIZE, &none);
	refused = reprise_write(file, REPORT, strlen(REPORT));
	setrlimit(RLIMIT_FSIZE, &before);
	ck_assert_int_eq(refused, EFBIG);
	ck_assert_int_eq(reprise_write(file, REPORT, strlen(REPORT)), 0);
	close(file);
	sigpending(&pending);
	ck_assert_int_eq(sigismember(&pending, numbers[_i]), 1);
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
	tcase_add_test(tests, what_this_process_wrote_is_written_again);
	tcase_add_test(tests, what_is_gone_is_made_again);
	tcase_add_test(tests, what_another_process_has_locked_is_left_alone);
	tcase_add_test(tests, what_is_kept_is_locked);
	tcase_add_test(tests, what_could_not_be_written_leaves_what_was_there);
	tcase_add_test(tests, the_users_mode_stays);
	tcase_add_test(tests, a_name_as_long_as_may_be_is_written_in_its_place);
	tcase_add_loop_test(tests, it_is_written_whichever_standard_files_are_closed, 0, MASKS);
	tcase_add_loop_test(tests, it_is_written_in_its_place_whichever_standard_files_are_closed, 0,
	                    MASKS);
	tcase_add_loop_test(tests, one_file_is_kept_whichever_standard_files_are_closed, 0, MASKS);
	tcase_add_loop_test(tests, parts_are_added_whichever_standard_files_are_closed, 0, MASKS);
	tcase_add_test(tests, a_relative_name_is_of_where_it_began);
	tcase_add_test(tests, percent_p_is_the_process);
	tcase_add_test(tests, every_percent_p_is_the_process);
	tcase_add_loop_test(tests, what_is_no_plain_file_of_ours_is_not_touched, 0,
	                    sizeof(make_unfit) / sizeof(*make_unfit));
	tcase_add_loop_test(tests, what_cannot_be_written_is_said_to_be_so, 0,
	                    sizeof(unwritable) / sizeof(*unwritable));
	tcase_add_test(tests, a_name_too_long_is_said_to_be_so);
	tcase_add_test(tests, a_limit_on_the_size_of_files_ends_nobody);
	tcase_add_loop_test(tests, signals_of_the_programs_stay_pending, 0, 2);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
