/* Whether the GPU is behind: when a stream is queried, by whom and how often, and when it is not.
 */
#include "../../suite.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "lane/behind.h"
#include "program.h"

static unsigned int asked, not_ready; /* queries; so many of them find work */
static unsigned int launches;         /* when it was queried last */
static CUresult answer;
static CUstream stream;

static CUresult CUDAAPI query(CUstream which)
{
	asked++;
	launches = driver.launches;
	stream = which;
	if (not_ready > 0) {
		not_ready--;
		return CUDA_ERROR_NOT_READY;
	}
	return answer;
}

static struct reprise_lane *lane;

static void setup(void)
{
	static const char *const options[] = {"REPRISE_SUBMIT=never", NULL};

	program_begins_with(options);
	learns("a b c |", "[a b c]");
	lane = lane_of(1);
	asked = not_ready = 0;
	answer = CUDA_SUCCESS;
	reprise_driver.cuStreamQuery = query;
}

START_TEST(a_stream_is_queried_once_and_before_the_launch)
{
	unsigned int before = driver.launches;

	calls("a b c");
	ck_assert_uint_eq(asked, 0);
	reprise_behind_want(lane, 0);
	calls("a b");
	ck_assert_uint_eq(asked, 0);
	calls("c");
	ck_assert_uint_eq(asked, 1);
	ck_assert_ptr_eq(stream, driver_stream(1));
	ck_assert_uint_eq(launches, before + 1);
	ck_assert_uint_eq(driver.launches, before + 2);
	calls("a b c");
	ck_assert_uint_eq(asked, 1);
	ck_assert(reprise_behind_take(lane));
	ck_assert(!reprise_behind_take(lane)); /* nothing was wanted */
	ck_assert_uint_eq(asked, 1);
}
END_TEST

START_TEST(another_lane_is_not_asked)
{
	learns("2:a 2:b 2:c |", "2:[a b c]");
	reprise_behind_want(lane, 0);
	calls("2:a 2:b 2:c");
	ck_assert_uint_eq(asked, 0);
	ck_assert(!reprise_behind_take(lane_of(2)));
	ck_assert_uint_eq(asked, 0);
}
END_TEST

START_TEST(without_a_launch_it_is_asked_in_the_end)
{
	reprise_behind_want(lane, 0);
	ck_assert(reprise_behind_take(lane));
	ck_assert_uint_eq(asked, 1);
}
END_TEST

/* What the host gave last may be under way. */
static const struct {
	unsigned int not_ready;
	CUresult answer;
	unsigned int asked;
	bool idle;
} answers[] = {
	{0, CUDA_SUCCESS, 1, true},
	{REPRISE_TUNE_TURNS_QUERIES - 1, CUDA_SUCCESS, REPRISE_TUNE_TURNS_QUERIES, true},
	{REPRISE_TUNE_TURNS_QUERIES, CUDA_SUCCESS, REPRISE_TUNE_TURNS_QUERIES, false},
	{1, CUDA_ERROR_LAUNCH_FAILED, 2, false},
	{0, CUDA_ERROR_INVALID_HANDLE, 1, false},
};

START_TEST(it_is_given_a_moment)
{
	not_ready = answers[_i].not_ready;
	answer = answers[_i].answer;
	reprise_behind_want(lane, 0);
	calls("a b c");
	ck_assert_uint_eq(asked, answers[_i].asked);
	ck_assert_int_eq(reprise_behind_take(lane), answers[_i].idle);
	IS_SEEN("[a b c]");
}
END_TEST

START_TEST(while_the_program_captures_no_stream_is_queried)
{
	ck_assert(reprise_program_captures_begin(driver_stream(2), lane->context));
	reprise_behind_want(lane, 0);
	ck_assert(!reprise_behind_take(lane));
	ck_assert_uint_eq(asked, 0);
	reprise_program_captures_end(driver_stream(2), lane->context);
	reprise_behind_want(lane, 0);
	ck_assert(reprise_behind_take(lane));
}
END_TEST

START_TEST(a_child_wants_nothing)
{
	reprise_behind_want(lane, 0);
	reprise_behind_reset();
	calls("a b c");
	ck_assert(!reprise_behind_take(lane));
	ck_assert_uint_eq(asked, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, behind");
	TCase *tests = tcase_create("behind");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_stream_is_queried_once_and_before_the_launch);
	tcase_add_test(tests, another_lane_is_not_asked);
	tcase_add_test(tests, without_a_launch_it_is_asked_in_the_end);
	tcase_add_loop_test(tests, it_is_given_a_moment, 0, sizeof(answers) / sizeof(*answers));
	tcase_add_test(tests, while_the_program_captures_no_stream_is_queried);
	tcase_add_test(tests, a_child_wants_nothing);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
