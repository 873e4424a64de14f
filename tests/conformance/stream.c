/* Streams: flags, priorities, attributes, identity, query. */
#include "conformance.h"

static void streams_take_known_flags(void)
{
	CUstream made;

	EXPECT(cuStreamCreate(&made, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void flags_of_a_stream_are_kept(void)
{
	unsigned int flags = 9;

	OK(cuStreamGetFlags(stream, &flags));
	EQUAL(flags, CU_STREAM_NON_BLOCKING);
	OK(cuStreamGetFlags(blocking_stream(), &flags));
	EQUAL(flags, CU_STREAM_DEFAULT);
	OK(cuStreamGetFlags(NULL, &flags));
	EQUAL(flags, CU_STREAM_DEFAULT);
}

static void priorities_have_a_range(void)
{
	int least = 9, greatest = 9;

	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	EQUAL(least, 0);
	TRUE(greatest < 0);
}

static int priority_of(CUstream of)
{
	int priority = 99;

	OK(cuStreamGetPriority(of, &priority));
	return priority;
}

static void a_priority_outside_the_range_is_clamped(void)
{
	int least, greatest;
	CUstream low, high;

	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	OK(cuStreamCreateWithPriority(&low, CU_STREAM_NON_BLOCKING, least + 10));
	OK(cuStreamCreateWithPriority(&high, CU_STREAM_NON_BLOCKING, greatest - 10));
	EQUAL(priority_of(low), least);
	EQUAL(priority_of(high), greatest);
	OK(cuStreamDestroy(low));
	OK(cuStreamDestroy(high));
}

static void a_stream_without_priority_has_zero(void)
{
	EQUAL(priority_of(stream), 0);
	EQUAL(priority_of(NULL), 0);
}

static void a_stream_knows_its_context(void)
{
	CUcontext owner = NULL;

	OK(cuStreamGetCtx(stream, &owner));
	TRUE(owner == context);
	OK(cuStreamGetCtx(NULL, &owner));
	TRUE(owner == context);
}

static void a_stream_knows_its_device(void)
{
	CUdevice device = 9;

	OK(cuStreamGetDevice(stream, &device));
	EQUAL(device, 0);
}

static unsigned long long id_of(CUstream of)
{
	unsigned long long id = 0;

	OK(cuStreamGetId(of, &id));
	return id;
}

static void streams_have_ids_of_their_own(void)
{
	TRUE(id_of(stream) != id_of(other));
	EQUAL(id_of(stream), id_of(stream));
	EQUAL(id_of(NULL), id_of(CU_STREAM_LEGACY));
	TRUE(id_of(CU_STREAM_PER_THREAD) != id_of(CU_STREAM_LEGACY));
}

static unsigned long long theirs;

static void ask_for_per_thread_id(void)
{
	cuStreamGetId(CU_STREAM_PER_THREAD, &theirs);
}

static void each_thread_has_a_per_thread_stream(void)
{
	theirs = id_of(CU_STREAM_PER_THREAD);
	in_thread(ask_for_per_thread_id);
	TRUE(theirs != id_of(CU_STREAM_PER_THREAD));
}

static void an_empty_stream_is_ready(void)
{
	OK(cuStreamQuery(stream));
	OK(cuStreamSynchronize(stream));
	OK(cuStreamQuery(NULL));
}

static void a_busy_stream_is_not_ready(void)
{
	hold(stream);
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(other));
	release();
	finish(stream);
	OK(cuStreamQuery(stream));
}

static void the_legacy_stream_is_busy_as_long_as(CUstream waits)
{
	hold(waits);
	EXPECT(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	release();
	finish(waits);
	OK(cuStreamQuery(NULL));
}

static void a_blocking_stream_keeps_the_legacy_stream_busy(void)
{
	the_legacy_stream_is_busy_as_long_as(blocking_stream());
}
static void a_per_thread_stream_keeps_the_legacy_stream_busy(void)
{
	the_legacy_stream_is_busy_as_long_as(CU_STREAM_PER_THREAD);
}

static void a_non_blocking_stream_leaves_the_legacy_stream_ready(void)
{
	hold(stream);
	OK(cuStreamQuery(NULL));
	release();
	finish(stream);
}

static void hold_per_thread(void)
{
	hold(CU_STREAM_PER_THREAD);
}

static void the_work_of_other_threads_leaves_a_per_thread_stream_ready(void)
{
	in_thread(hold_per_thread);
	OK(cuStreamQuery(CU_STREAM_PER_THREAD));
	release();
	OK(cuCtxSynchronize());
}

static void destroying_a_stream_lets_its_work_finish(void)
{
	CUdeviceptr list = words();
	CUstream made;

	OK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
	OK(append(list, 1, made));
	OK(append(list, 2, made));
	OK(cuStreamDestroy(made));
	OK(cuCtxSynchronize());
	is_list(list, 2);
}

static void destroying_returns_at_once(void)
{
	CUstream made;

	OK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
	hold(made);
	OK(cuStreamDestroy(made));
	release();
	OK(cuCtxSynchronize());
}

static void default_streams_are_not_destroyed(void)
{
	EXPECT(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuStreamDestroy(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
}

static void attributes_of_a_stream_are_kept(void)
{
	CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_SPIN};

	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	memset(&value, 0, sizeof(value));
	OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	EQUAL(value.syncPolicy, CU_SYNC_POLICY_SPIN);
}

static void the_priority_is_an_attribute(void)
{
	CUstreamAttrValue value = {.priority = 99};
	CUstream made;

	OK(cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, -1));
	OK(cuStreamGetAttribute(made, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
	EQUAL(value.priority, priority_of(made));
	OK(cuStreamDestroy(made));
}

static void attributes_of_launches_are_not_of_streams(void)
{
	CUstreamAttrValue value = {.cooperative = 1};

	EXPECT(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
	       CUDA_ERROR_INVALID_VALUE);
}

static void attributes_are_copied_between_streams(void)
{
	CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_YIELD};

	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	OK(cuStreamCopyAttributes(other, stream));
	memset(&value, 0, sizeof(value));
	OK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	EQUAL(value.syncPolicy, CU_SYNC_POLICY_YIELD);
}

static void places_for_answers_are_needed(void)
{
	EXPECT(cuStreamGetFlags(stream, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamGetPriority(stream, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamGetCtx(stream, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamGetId(stream, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_of_a_stream_that_nobody_set(void)
{
	CUstreamAttrValue value = {0};

	OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	EQUAL((int)value.syncPolicy, -1);
	EXPECT(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
	EQUAL(value.memSyncDomainMap.default_, 0);
	EQUAL(value.memSyncDomainMap.remote, 1);
	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
	OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
	EQUAL(value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
}

#define STREAM "Stream Management: "
#define LEGACY_QUERY MEASURED(STREAM "cuStreamQuery", "tells of the operations in the stream")

const struct check stream_checks[] = {
	CHECK(streams_take_known_flags, STREAM "cuStreamCreate"),
	CHECK(flags_of_a_stream_are_kept, STREAM "cuStreamGetFlags"),
	CHECK(priorities_have_a_range, "Context Management: cuCtxGetStreamPriorityRange"),
	CHECK(a_priority_outside_the_range_is_clamped, STREAM "cuStreamCreateWithPriority"),
	CHECK(a_stream_without_priority_has_zero, STREAM "cuStreamGetPriority"),
	CHECK(a_stream_knows_its_context, STREAM "cuStreamGetCtx"),
	CHECK(a_stream_knows_its_device, STREAM "cuStreamGetDevice"),
	CHECK(streams_have_ids_of_their_own, STREAM "cuStreamGetId"),
	CHECK(each_thread_has_a_per_thread_stream,
          "Stream synchronization behavior: Per-thread default stream"),
	CHECK(an_empty_stream_is_ready, STREAM "cuStreamQuery"),
	CHECK(a_busy_stream_is_not_ready, STREAM "cuStreamQuery"),
	CHECK(a_blocking_stream_keeps_the_legacy_stream_busy, LEGACY_QUERY),
	CHECK(a_per_thread_stream_keeps_the_legacy_stream_busy, LEGACY_QUERY),
	CHECK(a_non_blocking_stream_leaves_the_legacy_stream_ready, STREAM "cuStreamQuery"),
	CHECK(the_work_of_other_threads_leaves_a_per_thread_stream_ready, STREAM "cuStreamQuery"),
	CHECK(destroying_a_stream_lets_its_work_finish, STREAM "cuStreamDestroy"),
	CHECK(destroying_returns_at_once, STREAM "cuStreamDestroy"),
	CHECK(default_streams_are_not_destroyed, STREAM "cuStreamDestroy"),
	CHECK(attributes_of_a_stream_are_kept, STREAM "cuStreamSetAttribute"),
	CHECK(the_priority_is_an_attribute, STREAM "cuStreamGetAttribute"),
	CHECK(attributes_of_launches_are_not_of_streams, "Data types: CUlaunchAttributeID"),
	CHECK(attributes_are_copied_between_streams, STREAM "cuStreamCopyAttributes"),
	CHECK(places_for_answers_are_needed, STREAM "cuStreamGetFlags"),
	CHECK(attributes_of_a_stream_that_nobody_set,
          MEASURED("Data types: CUsynchronizationPolicy", "CU_SYNC_POLICY_AUTO is no -1")),
	CHECKS_END,
};
