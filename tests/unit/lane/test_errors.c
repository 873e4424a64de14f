/* Errors of deferred ops: each is told once, in order, to who waits for its op, also when more are
 * kept than there are rows. */
#include "../../suite.h"
#include "base/ending.h"
#include "lane/errors.h"
#include "program.h"

#define CONTEXT ((CUcontext)0x100)
#define OTHER_CONTEXT ((CUcontext)0x200)
#define STREAM ((CUstream)0x1000)
#define OTHER_STREAM ((CUstream)0x2000)

/* More than there are rows. */
#define MANY 200

/* Two codes that no context is ruined by. */
#define ONE CUDA_ERROR_INVALID_VALUE
#define TWO CUDA_ERROR_NOT_SUPPORTED

/* Of another thread: this one is told by what it waits for, not as the caller of the op. */
static struct reprise_lane lane;

static void setup(void)
{
	program_begins();
	lane.context = CONTEXT;
	lane.thread = reprise_thread_self() + 1;
	lane.blocking = false;
}

static void keeps(CUstream stream, CUresult error)
{
	reprise_errors_keep(&lane, stream, error);
}

static CUresult wait_for_stream(CUstream stream, CUcontext context, bool blocking)
{
	struct reprise_errors_wait wait = {REPRISE_SYNC_STREAM, stream, context, blocking};

	return reprise_errors_take(&wait);
}

static CUresult wait_for_context(CUcontext context)
{
	struct reprise_errors_wait wait = {REPRISE_SYNC_CONTEXT, NULL, context, false};

	return reprise_errors_take(&wait);
}

START_TEST(each_is_told_once_and_in_order)
{
	keeps(STREAM, ONE);
	keeps(STREAM, TWO);
	keeps(STREAM, TWO);
	keeps(STREAM, ONE);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), ONE);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), TWO);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), TWO);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), ONE);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), CUDA_SUCCESS);
	ck_assert_uint_eq(reprise_errors_count, 0);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_errors_kept), 4);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_errors_told), 4);
}
END_TEST

START_TEST(success_is_not_kept)
{
	keeps(STREAM, CUDA_SUCCESS);
	ck_assert_uint_eq(reprise_errors_count, 0);
	ck_assert_int_eq(wait_for_context(CONTEXT), CUDA_SUCCESS);
}
END_TEST

/* Two codes by turns take a row each. The last row has all that come after. */
START_TEST(none_is_lost_where_the_rows_are_used_up)
{
	unsigned int told = 0;

	for (unsigned int i = 0; i < MANY; i++)
		keeps(STREAM, i % 2 == 0 ? ONE : TWO);
	ck_assert_uint_eq(reprise_errors_count, MANY);
	for (; wait_for_stream(STREAM, CONTEXT, false) != CUDA_SUCCESS; told++)
		ck_assert_uint_lt(told, MANY);
	ck_assert_uint_eq(told, MANY);
	ck_assert_uint_eq(reprise_errors_count, 0);
	keeps(STREAM, ONE);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), ONE);
}
END_TEST

static const struct {
	CUstream stream; /* of the op */
	bool lane_blocking;
	CUstream waited_for;
	bool blocking; /* the stream that is waited for */
	bool told;
} waits[] = {
	{STREAM, false, STREAM, false, true},
	{STREAM, false, OTHER_STREAM, false, false},
	{STREAM, true, OTHER_STREAM, true, false},
	{STREAM, true, CU_STREAM_LEGACY, false, true},
	{STREAM, false, CU_STREAM_LEGACY, false, false},
	{CU_STREAM_LEGACY, true, STREAM, true, true},
	{CU_STREAM_LEGACY, true, STREAM, false, false},
	{CU_STREAM_LEGACY, true, CU_STREAM_LEGACY, false, true},
};

START_TEST(a_wait_is_told_of_the_streams_that_it_waits_for)
{
	lane.blocking = waits[_i].lane_blocking;
	keeps(waits[_i].stream, ONE);
	ck_assert_int_eq(wait_for_stream(waits[_i].waited_for, CONTEXT, waits[_i].blocking),
	                 waits[_i].told ? ONE : CUDA_SUCCESS);
	ck_assert_uint_eq(reprise_errors_count, waits[_i].told ? 0 : 1);
}
END_TEST

START_TEST(default_streams_are_of_one_context)
{
	keeps(CU_STREAM_LEGACY, ONE);
	ck_assert_int_eq(wait_for_stream(CU_STREAM_LEGACY, OTHER_CONTEXT, false), CUDA_SUCCESS);
	ck_assert_int_eq(wait_for_context(OTHER_CONTEXT), CUDA_SUCCESS);
	ck_assert_int_eq(wait_for_context(CONTEXT), ONE);
}
END_TEST

START_TEST(the_caller_is_told_by_any_wait)
{
	lane.thread = reprise_thread_self();
	keeps(STREAM, ONE);
	ck_assert_int_eq(wait_for_stream(OTHER_STREAM, OTHER_CONTEXT, false), ONE);
}
END_TEST

START_TEST(equal_errors_of_two_callers_are_told_apart)
{
	keeps(STREAM, ONE);
	lane.thread = reprise_thread_self();
	keeps(STREAM, ONE);
	ck_assert_int_eq(wait_for_stream(OTHER_STREAM, OTHER_CONTEXT, false), ONE);
	ck_assert_int_eq(wait_for_stream(OTHER_STREAM, OTHER_CONTEXT, false), CUDA_SUCCESS);
	ck_assert_int_eq(wait_for_stream(STREAM, CONTEXT, false), ONE);
}
END_TEST

START_TEST(of_an_ended_stream_its_context_is_told_and_not_the_next_stream_of_its_handle_elsewhere)
{
	keeps(STREAM, ONE);
	reprise_errors_stream_ended(STREAM);
	ck_assert_int_eq(wait_for_stream(STREAM, OTHER_CONTEXT, false), CUDA_SUCCESS);
	ck_assert_int_eq(wait_for_stream(OTHER_STREAM, CONTEXT, false), ONE);
}
END_TEST

START_TEST(of_an_ended_context_nobody_is_told)
{
	keeps(STREAM, ONE);
	keeps(STREAM, ONE);
	keeps(OTHER_STREAM, TWO);
	lane.context = OTHER_CONTEXT;
	keeps(STREAM, TWO);
	reprise_errors_context_ended(CONTEXT);
	ck_assert_uint_eq(reprise_errors_count, 1);
	ck_assert_int_eq(wait_for_context(CONTEXT), CUDA_SUCCESS);
	ck_assert_int_eq(wait_for_context(OTHER_CONTEXT), TWO);
}
END_TEST

/* Doors call Reprise while an error is kept, and not after. */
START_TEST(doors_look_while_an_error_is_kept)
{
	uint32_t before = reprise_attention;

	keeps(STREAM, ONE);
	keeps(STREAM, TWO);
	ck_assert_uint_eq(reprise_attention, before + 1);
	wait_for_context(CONTEXT);
	ck_assert_uint_eq(reprise_attention, before + 1);
	wait_for_context(CONTEXT);
	ck_assert_uint_eq(reprise_attention, before);
	keeps(STREAM, ONE);
	reprise_errors_context_ended(CONTEXT);
	ck_assert_uint_eq(reprise_attention, before);
}
END_TEST

/* ---- against a model: a list of errors, one entry each ---- */

static const CUstream model_streams[] = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, STREAM,
                                         OTHER_STREAM};
static const CUcontext model_contexts[] = {CONTEXT, OTHER_CONTEXT};
static const enum reprise_sync model_waits[] = {REPRISE_SYNC_STREAM,    REPRISE_SYNC_QUERY,
                                                REPRISE_SYNC_DEFAULT,   REPRISE_SYNC_CONTEXT,
                                                REPRISE_SYNC_EVENT,     REPRISE_SYNC_EVENT_QUERY,
                                                REPRISE_SYNC_EVENT_END, REPRISE_SYNC_ALL,
                                                REPRISE_SYNC_UNKNOWN};

#define MODEL_MOST 48 /* no more than there are rows */
#define PICK(table) (table)[any_of(sizeof(table) / sizeof(table[0]))]

static struct model {
	CUstream stream; /* NULL: it has ended */
	CUcontext context;
	bool blocking, own;
	CUresult error;
} model[MODEL_MOST];
static unsigned int model_count;

static unsigned int any_of(size_t count)
{
	static uint64_t random = 1;

	random = random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)((random >> 33) % count);
}

static bool is_default(CUstream stream)
{
	return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

static bool model_tells(const struct model *entry, const struct reprise_errors_wait *wait)
{
	bool of_stream = wait->what == REPRISE_SYNC_STREAM || wait->what == REPRISE_SYNC_QUERY ||
	                 wait->what == REPRISE_SYNC_DEFAULT,
		 here = entry->context == wait->context;

	if (entry->own)
		return true;
	if (!of_stream || entry->stream == NULL)
		return here;
	if (entry->stream == wait->stream)
		return here || !is_default(wait->stream); /* other handles are one context's */
	return here && ((wait->stream == CU_STREAM_LEGACY && entry->blocking) ||
	                (entry->stream == CU_STREAM_LEGACY && wait->blocking));
}

static CUresult model_takes(const struct reprise_errors_wait *wait)
{
	for (unsigned int i = 0; i < model_count; i++) {
		CUresult error = model[i].error;

		if (!model_tells(&model[i], wait))
			continue;
		for (model_count--; i < model_count; i++)
			model[i] = model[i + 1];
		return error;
	}
	return CUDA_SUCCESS;
}

static void model_context_ends(CUcontext context)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < model_count; i++)
		if (model[i].context != context)
			model[left++] = model[i];
	model_count = left;
}

static void keeps_any(void)
{
	struct model *entry = &model[model_count++];

	*entry = (struct model){PICK(model_streams), PICK(model_contexts), true, any_of(8) == 0,
	                        any_of(2) == 0 ? ONE : TWO};
	entry->blocking = entry->stream != STREAM;
	lane.context = entry->context;
	lane.blocking = entry->blocking;
	lane.thread = reprise_thread_self() + !entry->own;
	keeps(entry->stream, entry->error);
}

static void waits_for_any(unsigned int step)
{
	struct reprise_errors_wait wait = {PICK(model_waits), PICK(model_streams), PICK(model_contexts),
	                                   any_of(2) == 1};
	CUresult expected = model_takes(&wait), told = reprise_errors_take(&wait);

	if (told != expected)
		ck_abort_msg("step %u: a wait %d is told %d instead of %d", step, wait.what, told,
		             expected);
}

static void ends_any(void)
{
	CUstream stream = PICK(model_streams);
	CUcontext context = PICK(model_contexts);

	if (any_of(4) == 0) {
		reprise_errors_context_ended(context);
		model_context_ends(context);
		return;
	}
	reprise_errors_stream_ended(stream);
	for (unsigned int i = 0; i < model_count; i++)
		if (model[i].stream == stream)
			model[i].stream = NULL;
}

START_TEST(whoever_waits_is_told_as_the_model_says)
{
	uint32_t attention = reprise_attention;

	for (unsigned int step = 0; step < 200000; step++) {
		if (any_of(100) == 0)
			ends_any();
		else if (model_count < MODEL_MOST && any_of(2) == 0)
			keeps_any();
		else
			waits_for_any(step);
		if (reprise_errors_count != model_count ||
		    reprise_attention != attention + (model_count > 0))
			ck_abort_msg("step %u: %u errors are kept instead of %u", step,
			             (unsigned int)reprise_errors_count, model_count);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, errors");
	TCase *tests = tcase_create("errors");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, each_is_told_once_and_in_order);
	tcase_add_test(tests, success_is_not_kept);
	tcase_add_test(tests, none_is_lost_where_the_rows_are_used_up);
	tcase_add_loop_test(tests, a_wait_is_told_of_the_streams_that_it_waits_for, 0,
	                    sizeof(waits) / sizeof(waits[0]));
	tcase_add_test(tests, default_streams_are_of_one_context);
	tcase_add_test(tests, the_caller_is_told_by_any_wait);
	tcase_add_test(tests, equal_errors_of_two_callers_are_told_apart);
	tcase_add_test(
		tests,
		of_an_ended_stream_its_context_is_told_and_not_the_next_stream_of_its_handle_elsewhere);
	tcase_add_test(tests, of_an_ended_context_nobody_is_told);
	tcase_add_test(tests, doors_look_while_an_error_is_kept);
	tcase_add_test(tests, whoever_waits_is_told_as_the_model_says);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
