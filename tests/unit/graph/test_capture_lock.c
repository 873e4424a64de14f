/* Captures of ours and calls for a whole context: apart in one context, and only there. */
#include <pthread.h>
#include <stdatomic.h>

#include "../../suite.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/lock.h"
#include "base/tuning.h"
#include "graph/capture_lock.h"

#define ONE ((CUcontext)0x1000)

static atomic_uint returned;

static CUcontext another(void)
{
	uintptr_t at = 0x2000;

	/* One that does not share its place, which is seen by whether a capture may be opened there. */
	reprise_context_sync_begin(ONE);
	while (!reprise_capture_lock_enter((CUcontext)at))
		at += 0x1000;
	reprise_capture_lock_leave((CUcontext)at);
	reprise_context_sync_end(ONE);
	return (CUcontext)at;
}

static void *synchronise(void *context)
{
	reprise_context_sync_begin(context);
	atomic_fetch_add(&returned, 1);
	reprise_context_sync_end(context);
	return NULL;
}

static void a_while(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

START_TEST(a_capture_and_a_call_for_its_context_wait_for_each_other)
{
	pthread_t same, any;

	ck_assert(reprise_capture_lock_enter(ONE));
	ck_assert_int_eq(pthread_create(&same, NULL, synchronise, ONE), 0);
	ck_assert_int_eq(pthread_create(&any, NULL, synchronise, NULL), 0);
	a_while();
	ck_assert_uint_eq(atomic_load(&returned), 0);
	reprise_capture_lock_leave(ONE);
	pthread_join(same, NULL);
	pthread_join(any, NULL);
	reprise_context_sync_begin(ONE);
	ck_assert(!reprise_capture_lock_enter(ONE));
	reprise_context_sync_end(ONE);
	reprise_context_sync_begin(NULL);
	ck_assert(!reprise_capture_lock_enter(ONE));
	reprise_context_sync_end(NULL);
	ck_assert(reprise_capture_lock_enter(ONE));
	reprise_capture_lock_leave(ONE);
}
END_TEST

START_TEST(another_context_is_left_alone)
{
	CUcontext other = another();

	ck_assert(reprise_capture_lock_enter(ONE));
	synchronise(other); /* this returns */
	ck_assert_uint_eq(atomic_load(&returned), 1);
	reprise_capture_lock_leave(ONE);
}
END_TEST

static atomic_bool made, over;

static void *call_what_nobody_knows(void *unused)
{
	(void)unused;
	reprise_gate_doubt();
	atomic_store(&made, true);
	while (!atomic_load(&over))
		a_while();
	reprise_gate_doubt_no_more();
	return NULL;
}

/* Another thread's. Of its own call a thread knows that it has returned. */
START_TEST(no_capture_is_opened_beside_a_call_that_nobody_knows)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, call_what_nobody_knows, NULL), 0);
	while (!atomic_load(&made))
		a_while();
	ck_assert(!reprise_capture_lock_enter(ONE));
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	ck_assert(reprise_capture_lock_enter(ONE));
	reprise_capture_lock_leave(ONE);
	reprise_gate_doubt();
	ck_assert(reprise_capture_lock_enter(ONE));
	reprise_capture_lock_leave(ONE);
}
END_TEST

/* ---- the builder waits for calls that come one after the other ---- */

static void *build(void *entered)
{
	atomic_store((atomic_bool *)entered,
	             reprise_capture_lock_enter_soon(ONE, UINT64_C(60000000000)));
	return NULL;
}

static uint64_t sync_takes(void)
{
	uint64_t begin = reprise_clock_ns();

	reprise_context_sync_begin(ONE);
	begin = reprise_clock_ns() - begin;
	reprise_context_sync_end(ONE);
	return begin;
}

/* Each call that comes while it waits lets it go first, for so long: another one keeps it. */
START_TEST(a_call_is_courteous_to_who_builds_and_goes_on_in_time)
{
	static atomic_bool entered;
	pthread_t builder;

	reprise_context_sync_begin(ONE); /* is under way all the time */
	atomic_store(&reprise_wait_longest_ns, 0);
	ck_assert_int_eq(pthread_create(&builder, NULL, build, &entered), 0);
	while (sync_takes() < REPRISE_TUNE_CAPTURE_COURTESY_NS)
		a_while(); /* it does not wait yet */
	for (unsigned int call = 0; call < 20; call++)
		ck_assert_uint_ge(sync_takes(), REPRISE_TUNE_CAPTURE_COURTESY_NS);
	ck_assert_uint_ge(atomic_load(&reprise_wait_longest_ns), REPRISE_TUNE_CAPTURE_COURTESY_NS);
	ck_assert(!atomic_load(&entered));
	reprise_context_sync_end(ONE);
	pthread_join(builder, NULL);
	ck_assert(atomic_load(&entered));
	reprise_capture_lock_leave(ONE);
	reprise_context_sync_begin(ONE); /* nobody waits any more */
	reprise_context_sync_end(ONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exclusion");
	TCase *tests = tcase_create("exclusion");

	tcase_add_test(tests, a_capture_and_a_call_for_its_context_wait_for_each_other);
	tcase_add_test(tests, another_context_is_left_alone);
	tcase_add_test(tests, no_capture_is_opened_beside_a_call_that_nobody_knows);
	tcase_add_test(tests, a_call_is_courteous_to_who_builds_and_goes_on_in_time);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
