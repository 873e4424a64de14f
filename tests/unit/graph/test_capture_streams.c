/* Capture streams: the priority and the attributes of the program's stream, events for edges, and
 * what is given back. */
#include <string.h>

#include "../../suite.h"
#include "driver/driver.h"
#include "graph/carried.h"
#include "graph/graph.h"
#include "stats/counters.h"

#define MODEL ((CUstream)0x1000)
#define OTHER_MODEL ((CUstream)0x2000)
#define OWN ((uintptr_t)0x10000) /* streams and events of Reprise's, from here on */

/* The driver: attributes by id of each stream that has some of its own, and what it makes. */
static unsigned int told;    /* ids that cuStreamGetAttribute knows: 1 to this */
static unsigned char theirs; /* the value of each, of threads' own streams */
static unsigned char ours;   /* of capture streams */
static unsigned int set_ids; /* a bit for each that was set */
static int refuses_set;      /* this id */
static CUresult copy_answer, priority_answer;
static CUstream copied_from;
static int priority, made_with;
static unsigned int streams_left, events_left, made, destroyed;
static unsigned int makes_most; /* streams and events, until it refuses */

static CUresult CUDAAPI get_attribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value)
{
	if ((unsigned int)id > told)
		return CUDA_ERROR_INVALID_VALUE;
	memset(value, stream == CU_STREAM_PER_THREAD ? theirs : ours, 1);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_attribute(CUstream stream, CUstreamAttrID id,
                                      const CUstreamAttrValue *value)
{
	ck_assert_uint_ge((uintptr_t)stream, OWN);
	ck_assert_int_eq(*(const unsigned char *)value, theirs);
	if ((int)id == refuses_set)
		return CUDA_ERROR_INVALID_VALUE;
	set_ids |= 1u << id;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_attributes(CUstream to, CUstream from)
{
	ck_assert_uint_ge((uintptr_t)to, OWN);
	copied_from = from;
	return copy_answer;
}

static CUresult CUDAAPI get_priority(CUstream stream, int *answer)
{
	ck_assert_ptr_ne(stream, CU_STREAM_PER_THREAD);
	*answer = stream == MODEL ? priority : -7;
	return priority_answer;
}

static CUresult CUDAAPI create_stream(CUstream *stream, unsigned int flags, int with)
{
	ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
	*stream = (CUstream)(OWN + made);
	if (made == makes_most)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made++;
	streams_left++;
	made_with = with;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_stream(CUstream stream)
{
	ck_assert_uint_ge((uintptr_t)stream, OWN);
	streams_left--;
	destroyed++;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI create_event(CUevent *event, unsigned int flags)
{
	ck_assert_uint_eq(flags, CU_EVENT_DISABLE_TIMING);
	*event = (CUevent)(OWN + made);
	if (made == makes_most)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made++;
	events_left++;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_event(CUevent event)
{
	ck_assert_uint_ge((uintptr_t)event, OWN);
	events_left--;
	return CUDA_SUCCESS;
}

static struct reprise_capture_streams streams;
static struct reprise_forks forks;
static struct reprise_graph graph;

static void setup(void)
{
	reprise_driver.cuStreamGetAttribute = get_attribute;
	reprise_driver.cuStreamSetAttribute = set_attribute;
	reprise_driver.cuStreamCopyAttributes = copy_attributes;
	reprise_driver.cuStreamGetPriority = get_priority;
	reprise_driver.cuStreamCreateWithPriority = create_stream;
	reprise_driver.cuStreamDestroy_v2 = destroy_stream;
	reprise_driver.cuEventCreate = create_event;
	reprise_driver.cuEventDestroy_v2 = destroy_event;
	makes_most = UINT32_MAX;
	told = 4;
	theirs = 3;
	streams.model = MODEL;
	graph = (struct reprise_graph){.capture_streams = &streams, .members = 1};
}

static uint64_t count_of(enum reprise_counter counter)
{
	return atomic_load(&reprise_counters[counter]);
}

/* ---- opening and closing ---- */

START_TEST(there_is_one_for_each_side_with_the_models_priority)
{
	priority = -3;
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_uint_eq(streams_left, REPRISE_SIDES);
	ck_assert_int_eq(made_with, -3);
	ck_assert_ptr_eq(copied_from, MODEL);
	ck_assert_ptr_ne(reprise_capture_streams_of(&streams, REPRISE_FOR_BUILDING, 0),
	                 reprise_capture_streams_of(&streams, REPRISE_FOR_PATCHING, 0));
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_uint_eq(streams_left, REPRISE_SIDES); /* they are there */
	ck_assert_uint_eq(events_left, 0);
	reprise_capture_streams_close(&streams);
	ck_assert_uint_eq(streams_left, 0);
	reprise_capture_streams_close(&streams);
	ck_assert_uint_eq(destroyed, REPRISE_SIDES);
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_uint_eq(streams_left, REPRISE_SIDES);
}
END_TEST

START_TEST(a_priority_that_the_driver_does_not_tell_is_none)
{
	priority = -3;
	priority_answer = CUDA_ERROR_UNKNOWN;
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_int_eq(made_with, 0);
}
END_TEST

START_TEST(without_a_stream_nothing_is_left_half_open)
{
	for (makes_most = 0; makes_most < REPRISE_SIDES; makes_most++) {
		made = 0;
		ck_assert(!reprise_capture_streams_open(&graph));
		ck_assert_uint_eq(count_of(REPRISE_COUNT_private_streams_failed), makes_most + 1);
		reprise_capture_streams_close(&streams);
		ck_assert_uint_eq(streams_left, 0);
	}
}
END_TEST

static void of_two_members(void)
{
	streams.forks = &forks;
	forks.models[1] = OTHER_MODEL;
	graph.members = 3;
}

START_TEST(each_member_has_its_own_and_edges_have_events)
{
	of_two_members();
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_uint_eq(streams_left, 2 * REPRISE_SIDES);
	ck_assert_uint_eq(events_left, REPRISE_SIDES * (REPRISE_FORK_EVENTS_MOST + 1));
	ck_assert_ptr_eq(copied_from, OTHER_MODEL);
	ck_assert_int_eq(made_with, -7);
	ck_assert_ptr_eq(reprise_capture_streams_of(&streams, REPRISE_FOR_PATCHING, 1),
	                 forks.streams[REPRISE_FOR_PATCHING][1]);
	ck_assert_ptr_null(forks.streams[REPRISE_FOR_BUILDING][2]);
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_uint_eq(events_left, REPRISE_SIDES * (REPRISE_FORK_EVENTS_MOST + 1));
	reprise_forks_close(&forks);
	ck_assert_uint_eq(events_left, 0);
	ck_assert_uint_eq(streams_left, REPRISE_SIDES);
}
END_TEST

START_TEST(a_graph_of_one_side_member_needs_no_other_stream)
{
	of_two_members();
	graph.members = 2;
	ck_assert(reprise_capture_streams_open(&graph));
	ck_assert_uint_eq(streams_left, REPRISE_SIDES);
	ck_assert_ptr_null(streams.streams[REPRISE_FOR_BUILDING]);
}
END_TEST

START_TEST(whatever_cannot_be_made_leaves_nothing_behind)
{
	const unsigned int all = REPRISE_SIDES * (2 + REPRISE_FORK_EVENTS_MOST + 1);

	of_two_members();
	for (makes_most = 0; makes_most < all; makes_most++) {
		made = 0;
		forks = (struct reprise_forks){.models = {[1] = OTHER_MODEL}};
		ck_assert(!reprise_capture_streams_open(&graph));
		reprise_capture_streams_close(&streams);
		reprise_forks_close(&forks);
		ck_assert_uint_eq(streams_left, 0);
		ck_assert_uint_eq(events_left, 0);
	}
	made = 0;
	forks = (struct reprise_forks){.models = {[1] = OTHER_MODEL}};
	ck_assert(reprise_capture_streams_open(&graph));
}
END_TEST

/* ---- attributes ---- */

/* Streams: whether the driver copies attributes, whether the program has set some, what follows. */
static const struct {
	CUstream model;
	bool noted, copies, has_call, brought, is_copied;
} copies[] = {
	{MODEL, false, true, true, true, true},
	{MODEL, true, true, true, true, true},
	{MODEL, false, false, true, true, true}, /* both have those of a new stream */
	{MODEL, true, false, true, false, true},
	{MODEL, false, false, false, true, false},
	{MODEL, true, false, false, false, false},
	{CU_STREAM_LEGACY, false, true, true, true, false},
	{CU_STREAM_LEGACY, false, false, true, true, false},
	{CU_STREAM_LEGACY, true, true, true, true, true},
	{CU_STREAM_LEGACY, true, false, true, false, true},
};

START_TEST(attributes_are_copied_or_those_of_a_new_stream)
{
	if (copies[_i].noted)
		reprise_carried_note(copies[_i].model);
	copy_answer = copies[_i].copies ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (!copies[_i].has_call)
		reprise_driver.cuStreamCopyAttributes = NULL;
	ck_assert_int_eq(reprise_carried_bring((CUstream)OWN, copies[_i].model, NULL),
	                 copies[_i].brought);
	ck_assert_ptr_eq(copied_from, copies[_i].is_copied ? copies[_i].model : NULL);
	streams.model = copies[_i].model;
	ck_assert_int_eq(reprise_capture_streams_open(&graph), copies[_i].brought);
	ck_assert_uint_eq(streams_left, copies[_i].brought ? REPRISE_SIDES : 0);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_build_failed_attributes), !copies[_i].brought);
}
END_TEST

/* Of each kind of stream by itself. */
START_TEST(what_the_program_set_is_noted_by_kind)
{
	copy_answer = CUDA_ERROR_INVALID_VALUE;
	ck_assert(!reprise_carried_noted_per_thread());
	reprise_carried_note(CU_STREAM_PER_THREAD);
	ck_assert(reprise_carried_noted_per_thread());
	ck_assert(reprise_carried_bring((CUstream)OWN, MODEL, NULL));
	reprise_carried_note(CU_STREAM_LEGACY);
	ck_assert(reprise_carried_bring((CUstream)OWN, MODEL, NULL));
	reprise_carried_note(OTHER_MODEL);
	ck_assert(!reprise_carried_bring((CUstream)OWN, MODEL, NULL));
}
END_TEST

static bool brings(const struct reprise_carried *carried)
{
	set_ids = 0;
	return reprise_carried_bring((CUstream)OWN, CU_STREAM_PER_THREAD, carried);
}

START_TEST(a_threads_own_are_written_down_and_set)
{
	struct reprise_carried carried;

	reprise_carried_read(&carried);
	ck_assert(!carried.unknown);
	ck_assert_uint_eq(carried.count, 4);
	ck_assert(brings(&carried));
	ck_assert_uint_eq(set_ids, 0x1e);
	ours = theirs; /* equal already: some defaults cannot be set */
	ck_assert(brings(&carried));
	ck_assert_uint_eq(set_ids, 0);
	ours = 0;
	refuses_set = 4;
	ck_assert(!brings(&carried));
	refuses_set = 1;
	ck_assert(!brings(&carried));
	reprise_driver.cuStreamSetAttribute = NULL;
	ck_assert(!brings(&carried));
	carried.unknown = true;
	ours = theirs;
	ck_assert(!brings(&carried));
}
END_TEST

START_TEST(attributes_of_a_new_stream_need_not_be_set)
{
	static const struct reprise_carried none;

	ck_assert(brings(&none));
	ck_assert_uint_eq(set_ids, 0);
}
END_TEST

/* How many the driver tells, and whether they are known then. */
static const struct {
	unsigned int told, count;
	bool unknown;
} tellings[] = {{0, 0, true}, {1, 1, false}, {REPRISE_CARRIED_MOST, REPRISE_CARRIED_MOST, false}};

START_TEST(attributes_are_known_if_there_are_some_and_room)
{
	struct reprise_carried carried = {.unknown = true, .count = 5};

	told = tellings[_i].told;
	reprise_carried_read(&carried);
	ck_assert_int_eq(carried.unknown, tellings[_i].unknown);
	ck_assert_uint_eq(carried.count, tellings[_i].count);
	for (unsigned int i = 0; i < carried.count; i++)
		ck_assert_int_eq((int)carried.rows[i].id, (int)i + 1);
	told = REPRISE_CARRIED_MOST + 1;
	reprise_carried_read(&carried);
	ck_assert(carried.unknown);
	reprise_driver.cuStreamGetAttribute = NULL;
	carried = (struct reprise_carried){0};
	reprise_carried_read(&carried);
	ck_assert(carried.unknown);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("capture streams");
	TCase *tests = tcase_create("capture streams");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, there_is_one_for_each_side_with_the_models_priority);
	tcase_add_test(tests, a_priority_that_the_driver_does_not_tell_is_none);
	tcase_add_test(tests, without_a_stream_nothing_is_left_half_open);
	tcase_add_test(tests, each_member_has_its_own_and_edges_have_events);
	tcase_add_test(tests, a_graph_of_one_side_member_needs_no_other_stream);
	tcase_add_test(tests, whatever_cannot_be_made_leaves_nothing_behind);
	tcase_add_loop_test(tests, attributes_are_copied_or_those_of_a_new_stream, 0, ALL(copies));
	tcase_add_test(tests, what_the_program_set_is_noted_by_kind);
	tcase_add_test(tests, a_threads_own_are_written_down_and_set);
	tcase_add_test(tests, attributes_of_a_new_stream_need_not_be_set);
	tcase_add_loop_test(tests, attributes_are_known_if_there_are_some_and_room, 0, ALL(tellings));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
