/* Lanes: whose each is, which streams have none, what is counted of them, and what becomes of a
 * lane when its stream ends. */
#include <pthread.h>
#include <semaphore.h>

#include "../../suite.h"
#include "base/ending.h"
#include "driver/driver.h"
#include "lane/registry.h"
#include "lane/group/group.h"
#include "lane/order.h"
#include "lane/threads.h"
#include "program.h"

#define HERE ((CUcontext)1)
#define ELSEWHERE ((CUcontext)2)

static void setup(void)
{
	program_begins(); /* lane_of(1) is there */
	driver.blocking[3] = true;
	driver.contexts[5] = ELSEWHERE;
}

/* ---- whose it is ---- */

static struct reprise_lane *left_by(void *(*thread_does)(void *))
{
	pthread_t thread;
	void *lane;

	ck_assert_int_eq(pthread_create(&thread, NULL, thread_does, NULL), 0);
	pthread_join(thread, &lane);
	ck_assert_ptr_nonnull(lane);
	return lane;
}

START_TEST(each_stream_has_one_lane)
{
	struct reprise_lane *one = lane_of(1), *two = lane_of(2), *legacy = lane_of(0);

	ck_assert_ptr_nonnull(two);
	ck_assert_ptr_ne(one, two);
	ck_assert_ptr_ne(one, legacy);
	for (unsigned int i = 9; i > 5; i--)
		lane_of(i);
	ck_assert_ptr_eq(lane_of(1), one);
	ck_assert_ptr_eq(lane_of(2), two);
	ck_assert_ptr_eq(reprise_lanes_find(NULL, false), legacy);
	ck_assert_uint_ne(one->number, two->number);
	reprise_lanes_look_again();
	ck_assert_ptr_eq(lane_of(1), one);
}
END_TEST

START_TEST(only_an_op_makes_a_lane)
{
	ck_assert_ptr_null(reprise_lanes_known(driver_stream(2), false));
	lane_of(2);
	ck_assert_ptr_eq(reprise_lanes_known(driver_stream(2), false), lane_of(2));
}
END_TEST

static void *uses_stream_2(void *unused)
{
	return lane_of(2);
}

START_TEST(a_stream_that_had_none_has_that_of_its_first_op)
{
	struct reprise_lane *lane;

	for (unsigned int i = 0; i < 3; i++)
		ck_assert_ptr_null(reprise_lanes_known(driver_stream(2), false));
	ck_assert_ptr_null(reprise_lanes_known(driver_stream(4), false));
	lane = left_by(uses_stream_2);
	ck_assert_ptr_eq(reprise_lanes_known(driver_stream(2), false), lane);
	ck_assert_ptr_eq(lane_of(2), lane);
	ck_assert(!reprise_lanes_moved());
	ck_assert_ptr_null(reprise_lanes_known(driver_stream(4), false));
	ck_assert_ptr_nonnull(lane_of(4)); /* by this thread */
	ck_assert(!reprise_lanes_moved());
	ck_assert_ptr_eq(reprise_lanes_known(driver_stream(4), false), lane_of(4));
}
END_TEST

START_TEST(a_default_stream_has_one_in_each_context)
{
	struct reprise_lane *here = lane_of(0);

	driver.current = ELSEWHERE;
	ck_assert_ptr_ne(lane_of(0), here);
	ck_assert_ptr_eq(lane_of(0)->context, ELSEWHERE);
	driver.current = HERE;
	ck_assert_ptr_eq(lane_of(0), here);
}
END_TEST

static void *own_lane(void *unused)
{
	return reprise_lanes_find(NULL, true);
}

START_TEST(a_threads_own_stream_is_its_own)
{
	struct reprise_lane *own = reprise_lanes_find(NULL, true);
	void *others;
	pthread_t thread;

	ck_assert_ptr_ne(own, lane_of(0));
	ck_assert_ptr_eq(reprise_lanes_find(CU_STREAM_PER_THREAD, false), own);
	ck_assert_uint_eq(own->owner, reprise_thread_self());
	ck_assert_int_eq(pthread_create(&thread, NULL, own_lane, NULL), 0);
	pthread_join(thread, &others);
	ck_assert_ptr_nonnull(others);
	ck_assert_ptr_ne(others, own);
}
END_TEST

START_TEST(a_handle_names_a_stream_by_the_form_of_the_call)
{
	ck_assert_ptr_eq(reprise_stream_resolve(NULL, false), CU_STREAM_LEGACY);
	ck_assert_ptr_eq(reprise_stream_resolve(NULL, true), CU_STREAM_PER_THREAD);
	ck_assert_ptr_eq(reprise_stream_resolve(driver_stream(1), true), driver_stream(1));
}
END_TEST

/* ---- streams without a lane ---- */

static CUresult CUDAAPI refuse_flags(CUstream stream, unsigned int *flags)
{
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult CUDAAPI refuse_context(CUstream stream, CUcontext *context)
{
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUgreenCtx green;
static CUresult green_answer;

static CUresult CUDAAPI green_of(CUstream stream, CUgreenCtx *answer)
{
	*answer = green;
	return green_answer;
}

static CUresult CUDAAPI make_green_stream(CUstream *stream, CUgreenCtx in, unsigned int flags,
                                          int priority)
{
	return CUDA_SUCCESS;
}

START_TEST(a_stream_of_another_context_has_none)
{
	ck_assert_ptr_null(lane_of(5));
	ck_assert_ptr_nonnull(reprise_lanes_known(driver_stream(5), false)); /* it is unusable */
	driver.current = ELSEWHERE;
	ck_assert_ptr_nonnull(lane_of(5));
}
END_TEST

START_TEST(without_a_context_there_is_none)
{
	driver.current = NULL;
	ck_assert_ptr_null(lane_of(1));
	ck_assert_ptr_null(reprise_lanes_known(driver_stream(1), false));
}
END_TEST

START_TEST(a_stream_that_the_driver_does_not_describe_has_none)
{
	reprise_driver.cuStreamGetFlags = refuse_flags;
	ck_assert_ptr_null(lane_of(2));
	setup();
	reprise_driver.cuStreamGetCtx = refuse_context;
	ck_assert_ptr_null(lane_of(4));
	ck_assert_ptr_nonnull(lane_of(0)); /* of a default stream it is not asked */
}
END_TEST

static const struct {
	bool tells, makes, is_green, refuses, usable;
} greens[] = {
	{false, false, false, false, true}, {false, true, false, false, false},
	{true, true, false, false, true},   {true, true, true, false, false},
	{true, true, false, true, false},
};

START_TEST(a_stream_of_a_green_context_has_none)
{
	reprise_driver.cuStreamGetGreenCtx = greens[_i].tells ? green_of : NULL;
	reprise_driver.cuGreenCtxStreamCreate = greens[_i].makes ? make_green_stream : NULL;
	green = greens[_i].is_green ? (CUgreenCtx)0x10 : NULL;
	green_answer = greens[_i].refuses ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
	ck_assert_int_eq(lane_of(2) != NULL, greens[_i].usable);
}
END_TEST

/* ---- order against the legacy stream ---- */

START_TEST(lanes_are_ordered_while_a_legacy_and_a_blocking_one_are_there)
{
	struct reprise_lane *blocking = lane_of(3), *legacy;

	ck_assert(blocking->blocking);
	ck_assert(!lane_of(1)->blocking);
	ck_assert(reprise_lanes_unordered(lane_of(1)));
	ck_assert(reprise_lanes_unordered(blocking));
	legacy = lane_of(0);
	ck_assert(legacy->blocking);
	ck_assert(!reprise_lanes_unordered(blocking));
	ck_assert(!reprise_lanes_unordered(legacy));
	ck_assert(reprise_lanes_unordered(lane_of(1)));
	reprise_lanes_retire(blocking);
	ck_assert(reprise_lanes_unordered(legacy));
	reprise_lanes_retire(blocking); /* it is retired already */
	blocking = lane_of(3);
	ck_assert(!reprise_lanes_unordered(legacy));
	reprise_lanes_retire(legacy);
	ck_assert(reprise_lanes_unordered(blocking));
}
END_TEST

START_TEST(a_threads_own_stream_counts_as_blocking)
{
	struct reprise_lane *own = reprise_lanes_find(NULL, true);

	ck_assert(own->blocking);
	ck_assert(reprise_lanes_unordered(own));
	ck_assert(!reprise_lanes_unordered(lane_of(0)));
	ck_assert(!reprise_lanes_unordered(own));
}
END_TEST

/* ---- the end of a lane ---- */

static unsigned int count_lanes(void)
{
	unsigned int count = 0;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		count++;
	return count;
}

/* Each field of the lane that the registry sets. */
START_TEST(a_retired_lane_is_another_streams_and_begins_anew)
{
	struct reprise_lane *lane = lane_of(2);
	uint32_t epoch = atomic_load(&reprise_lanes_epoch);
	unsigned int before = count_lanes();

	watches_up_to(2);
	calls("2:x 2:y");
	lane->counts.ops += 7;
	atomic_store(&lane->backoff_ops, 7);
	lane->backoff_span = lane->splits = 5;
	lane->pace.visits = 9;
	lane->position.since_wait = 100;
	lane->counts.kinds[REPRISE_OP_HOST] = 40;
	ck_assert(!reprise_lanes_moved());
	reprise_lanes_retire(lane);
	ck_assert_uint_eq(atomic_load(&reprise_lanes_epoch), epoch + 1);
	ck_assert(reprise_lanes_moved());
	ck_assert_ptr_null(reprise_lanes_known(driver_stream(2), false));
	ck_assert_ptr_eq(lane_of(3), lane);
	ck_assert_uint_eq(count_lanes(), before);
	ck_assert(!atomic_load(&lane->retired));
	ck_assert(lane->blocking);
	ck_assert_ptr_eq(lane->stream, driver_stream(3));
	ck_assert_ptr_eq(lane->capture_streams.model, driver_stream(3));
	ck_assert_ptr_eq(lane->capture_streams.context, HERE);
	ck_assert_uint_eq(atomic_load(&lane->backoff_ops), 0);
	ck_assert_uint_eq(lane->counts.ops, 2); /* those that a backoff had counted ahead do not come */
	ck_assert_uint_eq(lane->backoff_span, 0);
	ck_assert_uint_eq(lane->splits, 0);
	ck_assert_uint_eq(lane->pace.visits, 0);
	ck_assert_uint_eq(lane->position.before, REPRISE_BEFORE_NOTHING);
	ck_assert_uint_eq(lane->position.since_wait, 0);
	ck_assert_uint_eq(lane->backlog.functions, 40);
	ck_assert_uint_eq(lane->backoff_at, lane->counts.ops);
	ck_assert(lane->scan_due);
	ck_assert_ptr_ne(lane_of(2), lane);
}
END_TEST

START_TEST(a_lane_that_leads_to_a_group_is_not_reused)
{
	struct reprise_lane *lane = lane_of(2);

	atomic_store(&lane->group_head, lane_of(1));
	reprise_lanes_retire(lane);
	ck_assert_ptr_ne(lane_of(3), lane);
	atomic_store(&lane->group_head, NULL);
	ck_assert_ptr_eq(lane_of(4), lane);
}
END_TEST

START_TEST(lanes_are_numbered_up_to_the_last_number)
{
	struct reprise_lane *lane = NULL;

	for (uintptr_t i = 0; i < REPRISE_LANE_NUMBER_LAST + 5; i++) {
		uint8_t before = lane != NULL ? lane->number : lane_of(1)->number;

		driver.current = (CUcontext)(0x1000 + i);
		lane = lane_of(0);
		ck_assert_uint_eq(lane->number, before < REPRISE_LANE_NUMBER_LAST ? before + 1 : before);
	}
	ck_assert_uint_eq(lane->number, REPRISE_LANE_NUMBER_LAST);
}
END_TEST

START_TEST(a_forked_child_has_no_lanes)
{
	struct reprise_lane *before = lane_of(1), *legacy;

	lane_of(3);
	legacy = lane_of(0);
	calls("x");
	ck_assert(!reprise_lanes_unordered(legacy));
	reprise_lanes_reset();
	ck_assert_ptr_null(reprise_lanes_first());
	ck_assert_uint_eq(reprise_attention, 0);
	ck_assert_ptr_ne(lane_of(1), before);
	ck_assert_uint_eq(lane_of(1)->number, 0);
	ck_assert(reprise_lanes_unordered(lane_of(0)));
	ck_assert(reprise_lanes_unordered(lane_of(3)) == false);
}
END_TEST

/* ---- what lanes have ---- */

START_TEST(lanes_hold_and_have_news)
{
	ck_assert(!reprise_lanes_have_news());
	ck_assert(!reprise_lanes_hold());
	calls("2:x");
	ck_assert(reprise_lanes_have_news());
	learns("a b c |", "[a b c]");
	ck_assert(!reprise_lanes_have_news());
	calls("a");
	ck_assert(reprise_lanes_hold());
	ck_assert(reprise_lanes_have_news());
	calls("|");
	ck_assert(!reprise_lanes_hold());
}
END_TEST

START_TEST(lanes_of_others_are_counted)
{
	calls("x 2:x 4:x");
	ck_assert_uint_eq(reprise_lanes_of_others(), 0);
	atomic_store(&lane_of(2)->thread, reprise_thread_self() + 1);
	ck_assert_uint_eq(reprise_lanes_of_others(), 1);
	atomic_store(&lane_of(4)->thread, reprise_thread_self() + 1);
	ck_assert_uint_eq(reprise_lanes_of_others(), 2);
	reprise_lanes_barrier(true);
	reprise_lanes_barrier(true);
	ck_assert_uint_eq(reprise_lanes_of_others(), 0);
}
END_TEST

/* Which stream is busy, and whether a context is done: 0 none, 1 and 2 not blocking, 3 blocking. */
static CUstream busy;
static unsigned int queries;

static CUresult CUDAAPI query(CUstream stream)
{
	queries++;
	ck_assert_msg(stream == CU_STREAM_LEGACY || stream == driver_stream(1) ||
	                  stream == driver_stream(2),
	              "the legacy stream waits for blocking ones, and others are elsewhere");
	return stream == busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static const struct {
	CUstream busy;
	bool retired, done;
} ends[] = {{NULL, false, true},
            {CU_STREAM_LEGACY, false, false},
            {(CUstream)0x1001, false, false},
            {(CUstream)0x1002, false, false},
            {(CUstream)0x1002, true, true}};

START_TEST(a_context_is_done_if_its_streams_are)
{
	lane_of(2);
	lane_of(3);
	driver.current = ELSEWHERE;
	lane_of(5);
	driver.current = HERE;
	if (ends[_i].retired)
		reprise_lanes_retire(lane_of(2));
	busy = ends[_i].busy;
	reprise_driver.cuStreamQuery = query;
	ck_assert_int_eq(reprise_lanes_are_done(HERE), ends[_i].done);
	ck_assert_uint_ge(queries, 1);
}
END_TEST

/* ---- backoff ---- */

static bool backs_off(unsigned int stream)
{
	const struct reprise_call call = {.kind = REPRISE_OP_KERNEL, .stream = driver_stream(stream)};
	struct reprise_lane *lane = reprise_lanes_remembered(call.stream, false);

	return lane != NULL && reprise_lanes_back_off(lane, &call);
}

/* What an op of a lane in backoff must not pass by. */
START_TEST(in_a_backoff_ops_are_counted_down)
{
	struct reprise_lane *lane = lane_of(3);

	ck_assert(!backs_off(3));
	atomic_store(&lane->backoff_ops, 2);
	ck_assert(!backs_off(7)); /* it has no lane */
	ck_assert(backs_off(3));
	ck_assert_uint_eq(atomic_load(&lane->backoff_ops), 1);
	ck_assert(backs_off(3));
	ck_assert(!backs_off(3));
	ck_assert_uint_eq(atomic_load(&lane->backoff_ops), 0);
}
END_TEST

START_TEST(what_comes_before_an_op_in_a_backoff_is_issued_first)
{
	struct reprise_lane *lane = lane_of(3), *legacy = lane_of(0);

	atomic_store(&lane->backoff_ops, 100);
	lane_of(3);
	ck_assert(backs_off(3));
	reprise_lane_hold_since(legacy, 1);
	ck_assert(!backs_off(3));
	atomic_store(&legacy->deferred_since, 0);
	reprise_lane_hold_since(lane, 1);
	ck_assert(!backs_off(3));
	atomic_store(&lane->deferred_since, 0);
	atomic_store(&lane->group_head, legacy);
	ck_assert(!backs_off(3));
	atomic_store(&lane->group_head, NULL);
	ck_assert(backs_off(3));
	reprise_lanes_look_again(); /* it may be another stream's by now */
	ck_assert(!backs_off(3));
}
END_TEST

START_TEST(an_unordered_lane_backs_off_whatever_others_hold)
{
	struct reprise_lane *lane = lane_of(1);

	lane_of(0);
	lane_of(3);
	lane_of(1);
	reprise_lane_hold_since(lane_of(3), 1);
	atomic_store(&lane->backoff_ops, 5);
	lane_of(1);
	ck_assert(backs_off(1));
}
END_TEST

/* Each case is these bits together, and one of the lanes below. */
enum {
	BACKS_OFF = 1,
	HOLDS = 2,         /* ops of its own are deferred */
	ANOTHER_HOLDS = 4, /* one that is not blocking, so that it orders nothing here */
	IN_GROUP = 8,
	GROUPS_WAIT = 16, /* a group has pending waits */
	LEGACY_IS_THERE = 32,
	CASES = 64,
};

static const unsigned int backing_off[] = {1, 3, 0}; /* not blocking, blocking, legacy */

START_TEST(ops_of_a_backoff_are_eager_at_once_unless_something_comes_before)
{
	unsigned int stream = backing_off[_i / CASES], left;
	bool legacy = stream == 0, ordered = legacy || (stream == 3 && (_i & LEGACY_IS_THERE) != 0);
	bool expected = (_i & BACKS_OFF) != 0 && (_i & (HOLDS | IN_GROUP)) == 0 &&
	                !(ordered && (_i & ANOTHER_HOLDS) != 0) && !(legacy && (_i & GROUPS_WAIT) != 0);
	struct reprise_lane *lane;

	if ((_i & LEGACY_IS_THERE) != 0)
		lane_of(0);
	reprise_lane_hold_since(lane_of(2), (_i & ANOTHER_HOLDS) != 0);
	lane = lane_of(stream);
	reprise_lane_hold_since(lane, (_i & HOLDS) != 0);
	atomic_store(&lane->group_head, (_i & IN_GROUP) != 0 ? lane_of(1) : NULL);
	atomic_store(&reprise_groups_waiting, (_i & GROUPS_WAIT) != 0);
	left = (_i & BACKS_OFF) != 0 ? 5 : 0;
	atomic_store(&lane->backoff_ops, left);
	lane_of(stream); /* the thread's last */
	ck_assert_int_eq(backs_off(stream), expected);
	ck_assert_uint_eq(atomic_load(&lane->backoff_ops), left - expected);
}
END_TEST

/* ---- what a thread leaves ---- */

static void *uses_its_own_stream(void *unused)
{
	return reprise_lanes_find_own(NULL, true);
}

static void *uses_a_stream_of_all(void *unused)
{
	return reprise_lanes_find_own(driver_stream(2), false);
}

static void *calls_on_a_stream(void *unused)
{
	reprise_lanes_order(lane_of(2), driver_stream(2), false, true);
	return lane_of(2);
}

static void *calls_on_any_stream(void *unused)
{
	reprise_lanes_sync(REPRISE_SYNC_UNKNOWN, 0, false);
	return lane_of(2);
}

/* Nothing is deferred, and no proxy has work to do: nothing is left. */
static bool clean_up(void)
{
	bool left, any = reprise_threads_clean_up(&left);

	ck_assert(!left);
	return any;
}

START_TEST(the_lane_of_a_threads_own_stream_is_given_up_after_its_end)
{
	struct reprise_lane *left = left_by(uses_its_own_stream);
	unsigned int lanes = count_lanes();

	ck_assert_uint_eq(left->owner, REPRISE_OWNER_ENDED);
	ck_assert(clean_up());
	ck_assert(!clean_up());
	ck_assert(atomic_load(&left->retired));
	ck_assert_ptr_eq(left_by(uses_its_own_stream), left);
	ck_assert_uint_eq(count_lanes(), lanes);
}
END_TEST

START_TEST(lanes_of_all_threads_stay_when_one_ends)
{
	struct reprise_lane *left = left_by(uses_a_stream_of_all);

	ck_assert_uint_eq(left->owner, 0);
	ck_assert(!clean_up());
	ck_assert_ptr_eq(lane_of(2), left);
}
END_TEST

/* A thread with a stream of its own, which ends when it is told to. */
static struct life {
	pthread_t thread;
	struct reprise_lane *lane;
	uint32_t owner;
	sem_t begun, over;
} lives[3];

static void *lives_on(void *context)
{
	struct life *life = context;

	life->lane = reprise_lanes_find_own(NULL, true);
	sem_post(&life->begun);
	sem_wait(&life->over);
	return NULL;
}

static void begins(struct life *life)
{
	sem_init(&life->begun, 0, 0);
	sem_init(&life->over, 0, 0);
	ck_assert_int_eq(pthread_create(&life->thread, NULL, lives_on, life), 0);
	sem_wait(&life->begun);
	ck_assert_ptr_nonnull(life->lane);
	life->owner = life->lane->owner;
	ck_assert_uint_ne(life->owner, 0);
}

static void is_over(struct life *life)
{
	sem_post(&life->over);
	pthread_join(life->thread, NULL);
}

/* Whichever began first. */
static const unsigned int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

START_TEST(a_thread_that_ends_leaves_the_lanes_of_the_others)
{
	for (unsigned int i = 0; i < 3; i++)
		begins(&lives[i]);
	for (unsigned int i = 0; i < 3; i++) {
		const struct reprise_lane *ended = lives[orders[_i][i]].lane;

		is_over(&lives[orders[_i][i]]);
		ck_assert_uint_eq(ended->owner, REPRISE_OWNER_ENDED);
		ck_assert(clean_up());
		ck_assert(atomic_load(&ended->retired));
		for (unsigned int k = i + 1; k < 3; k++) {
			const struct life *other = &lives[orders[_i][k]];

			ck_assert_uint_eq(other->lane->owner, other->owner);
			ck_assert(!atomic_load(&other->lane->retired));
		}
	}
}
END_TEST

START_TEST(calls_of_a_thread_that_has_ended_are_not_on_their_way)
{
	ck_assert_uint_eq(atomic_load(&left_by(calls_on_a_stream)->foreign_calls), 0);
	left_by(calls_on_any_stream);
	ck_assert_uint_eq(atomic_load(&reprise_group_unknown_calls), 0);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("lane, registry");
	TCase *tests = tcase_create("registry");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, each_stream_has_one_lane);
	tcase_add_test(tests, only_an_op_makes_a_lane);
	tcase_add_test(tests, a_stream_that_had_none_has_that_of_its_first_op);
	tcase_add_test(tests, a_default_stream_has_one_in_each_context);
	tcase_add_test(tests, a_threads_own_stream_is_its_own);
	tcase_add_test(tests, a_handle_names_a_stream_by_the_form_of_the_call);
	tcase_add_test(tests, a_stream_of_another_context_has_none);
	tcase_add_test(tests, without_a_context_there_is_none);
	tcase_add_test(tests, a_stream_that_the_driver_does_not_describe_has_none);
	tcase_add_loop_test(tests, a_stream_of_a_green_context_has_none, 0, ALL(greens));
	tcase_add_test(tests, lanes_are_ordered_while_a_legacy_and_a_blocking_one_are_there);
	tcase_add_test(tests, a_threads_own_stream_counts_as_blocking);
	tcase_add_test(tests, a_retired_lane_is_another_streams_and_begins_anew);
	tcase_add_test(tests, a_lane_that_leads_to_a_group_is_not_reused);
	tcase_add_test(tests, lanes_are_numbered_up_to_the_last_number);
	tcase_add_test(tests, a_forked_child_has_no_lanes);
	tcase_add_test(tests, lanes_hold_and_have_news);
	tcase_add_test(tests, lanes_of_others_are_counted);
	tcase_add_loop_test(tests, a_context_is_done_if_its_streams_are, 0, ALL(ends));
	tcase_add_test(tests, in_a_backoff_ops_are_counted_down);
	tcase_add_test(tests, what_comes_before_an_op_in_a_backoff_is_issued_first);
	tcase_add_test(tests, an_unordered_lane_backs_off_whatever_others_hold);
	tcase_add_loop_test(tests, ops_of_a_backoff_are_eager_at_once_unless_something_comes_before, 0,
	                    CASES * ALL(backing_off));
	tcase_add_test(tests, the_lane_of_a_threads_own_stream_is_given_up_after_its_end);
	tcase_add_test(tests, lanes_of_all_threads_stay_when_one_ends);
	tcase_add_loop_test(tests, a_thread_that_ends_leaves_the_lanes_of_the_others, 0, ALL(orders));
	tcase_add_test(tests, calls_of_a_thread_that_has_ended_are_not_on_their_way);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
