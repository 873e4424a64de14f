/* Words on stderr: how many, and what they may do to the program. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/log.h"

/* A file that is stderr from now on; unbuffered, since Check says what fails on stdout. */
static int make_stderr(void)
{
	char path[] = "/tmp/log-XXXXXX";
	int file = mkstemp(path);

	unlink(path);
	dup2(file, STDERR_FILENO);
	reprise_log_open();
	return file;
}

static long size_of(int file)
{
	struct stat status;

	ck_assert_int_eq(fstat(file, &status), 0);
	return (long)status.st_size;
}

START_TEST(a_failure_repeated_a_million_times_is_told_a_bounded_number_of_times)
{
	int file = make_stderr();

	for (unsigned int i = 0; i < 1000000; i++)
		reprise_log(REPRISE_LOG_WARNING, "it failed");
	ck_assert_int_eq(size_of(file), 200 * (long)strlen("reprise: it failed\n"));
}
END_TEST

START_TEST(a_line_is_never_longer_than_its_room)
{
	int file = make_stderr();
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	reprise_log(REPRISE_LOG_WARNING, "%s", text);
	ck_assert_int_le(size_of(file), 512);
}
END_TEST

START_TEST(a_file_that_took_the_number_of_stderr_gets_no_word)
{
	char path[] = "/tmp/log-XXXXXX";
	int file = mkstemp(path);

	unlink(path);
	make_stderr();
	dup2(file, STDERR_FILENO);
	reprise_log(REPRISE_LOG_WARNING, "a word");
	ck_assert_int_eq(size_of(file), 0);
}
END_TEST

START_TEST(a_reader_that_is_gone_ends_nobody)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	reprise_log_open();
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	reprise_log(REPRISE_LOG_WARNING, "nobody reads this");
}
END_TEST

START_TEST(a_reader_that_sleeps_is_not_waited_for)
{
	char page[4096] = {0};
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], page, sizeof(page)) > 0)
		continue;
	fcntl(ends[1], F_SETFL, 0);
	dup2(ends[1], STDERR_FILENO);
	reprise_log_open();
	alarm(5);
	reprise_log(REPRISE_LOG_WARNING, "nobody reads this now");
	alarm(0);
}
END_TEST

static void *tell_though_cancelled(void *survived)
{
	pthread_cancel(pthread_self());
	reprise_log(REPRISE_LOG_WARNING, "a word");
	*(int *)survived = 1;
	pthread_testcancel();
	return NULL;
}

START_TEST(a_word_is_no_cancellation_point)
{
	int survived = 0;
	pthread_t thread;

	make_stderr();
	ck_assert_int_eq(pthread_create(&thread, NULL, tell_though_cancelled, &survived), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(survived, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tests = tcase_create("log");

	tcase_add_test(tests, a_failure_repeated_a_million_times_is_told_a_bounded_number_of_times);
	tcase_add_test(tests, a_line_is_never_longer_than_its_room);
	tcase_add_test(tests, a_file_that_took_the_number_of_stderr_gets_no_word);
	tcase_add_test(tests, a_reader_that_is_gone_ends_nobody);
	tcase_add_test(tests, a_reader_that_sleeps_is_not_waited_for);
	tcase_add_test(tests, a_word_is_no_cancellation_point);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
