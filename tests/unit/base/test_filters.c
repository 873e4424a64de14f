/* What a thread does that the program has locked in. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/thread.h"

/* No other thread can be started: who tries is ended. */
static void lock_in(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void *nothing(void *unused)
{
	return NULL;
}

START_TEST(what_came_before_is_no_matter)
{
	reprise_filters_note();
	ck_assert(!reprise_filters_came());
	lock_in();
	reprise_filters_note();
	ck_assert(!reprise_filters_came());
}
END_TEST

static void *lock_in_and_note(void *unused)
{
	lock_in();
	reprise_filters_note();
	return NULL;
}

/* Filters are a thread's own: the one that made the first call may have been locked in, and this
 * one never. */
START_TEST(who_is_under_none_is_not_locked_in)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, lock_in_and_note, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(!reprise_filters_came());
}
END_TEST

START_TEST(who_is_locked_in_starts_no_thread)
{
	reprise_filters_note();
	ck_assert_uint_gt(reprise_processor_ns(), 0);
	ck_assert(reprise_thread_start(nothing, "reprise-test"));
	if (prctl(PR_GET_SECCOMP) != 0)
		return; /* in a container: one more is not seen */
	lock_in();
	errno = 77;
	ck_assert(reprise_filters_came());
	ck_assert_uint_eq(reprise_processor_ns(), 0);
	ck_assert(!reprise_thread_start(nothing, "reprise-test"));
	ck_assert_int_eq(errno, 77);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filters");
	TCase *tests = tcase_create("filters");

	tcase_add_test(tests, what_came_before_is_no_matter);
	tcase_add_test(tests, who_is_under_none_is_not_locked_in);
	tcase_add_test(tests, who_is_locked_in_starts_no_thread);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
