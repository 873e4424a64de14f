/* Green contexts, as far as streams in them tell. */
#include "conformance.h"

static CUdevResource all_of_the_device(void)
{
	CUdevResource all;
	CUdevice device;

	OK(cuCtxGetDevice(&device));
	OK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
	return all;
}

static CUgreenCtx green_of(unsigned multiprocessors)
{
	CUdevResource all = all_of_the_device(), part;
	CUdevResourceDesc description;
	unsigned count = 1;
	CUgreenCtx green;
	CUdevice device;

	OK(cuCtxGetDevice(&device));
	OK(cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, multiprocessors));
	EQUAL(count, 1);
	TRUE(part.sm.smCount >= multiprocessors);
	OK(cuDevResourceGenerateDesc(&description, &part, 1));
	OK(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
	return green;
}

static void a_device_tells_its_multiprocessors(void)
{
	CUdevResource all = all_of_the_device();
	CUdevice device;
	int wanted;

	OK(cuCtxGetDevice(&device));
	OK(cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
	EQUAL(all.type, CU_DEV_RESOURCE_TYPE_SM);
	EQUAL(all.sm.smCount, wanted);
	EXPECT(cuDeviceGetDevResource(device, &all, (CUdevResourceType)77),
	       CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

static void a_split_without_a_place_counts_the_groups(void)
{
	CUdevResource all = all_of_the_device();
	unsigned count = 0;

	OK(cuDevSmResourceSplitByCount(NULL, &count, &all, NULL, 0, 16));
	TRUE(count > 1 && count <= all.sm.smCount / 16);
}

static void a_stream_names_its_green_context(void)
{
	CUgreenCtx green = green_of(16), told = NULL;
	CUcontext its;
	CUstream in;

	OK(cuGreenCtxStreamCreate(&in, green, CU_STREAM_NON_BLOCKING, 0));
	OK(cuStreamGetGreenCtx(in, &told));
	TRUE(told == green);
	OK(cuStreamGetCtx_v2(in, &its, &told));
	TRUE(told == green);
	OK(cuStreamGetGreenCtx(stream, &told));
	TRUE(told == NULL);
	OK(cuStreamDestroy(in));
	OK(cuGreenCtxDestroy(green));
}

static void a_green_contexts_stream_has_to_be_non_blocking(void)
{
	CUgreenCtx green = green_of(16);
	CUstream in;

	EXPECT(cuGreenCtxStreamCreate(&in, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGreenCtxDestroy(green));
}

static void a_green_context_needs_its_flag(void)
{
	CUdevResource all = all_of_the_device(), part;
	CUdevResourceDesc description;
	unsigned count = 1;
	CUgreenCtx green;
	CUdevice device;

	OK(cuCtxGetDevice(&device));
	OK(cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, 16));
	OK(cuDevResourceGenerateDesc(&description, &part, 1));
	EXPECT(cuGreenCtxCreate(&green, description, device, 0), CUDA_ERROR_INVALID_VALUE);
}

/* The primary context is current, and the function is its own. */
static void kernels_of_the_primary_context_run_in_a_green_ones_stream(void)
{
	CUgreenCtx green = green_of(16);
	CUdeviceptr list = words();
	CUstream in;

	OK(cuGreenCtxStreamCreate(&in, green, CU_STREAM_NON_BLOCKING, 0));
	OK(append(list, 1, in));
	OK(append(list, 2, in));
	finish(in);
	is_list(list, 2);
	OK(cuStreamDestroy(in));
	OK(cuGreenCtxDestroy(green));
}

#define GREEN "Green Contexts: "

const struct check green_checks[] = {
	CHECK(a_device_tells_its_multiprocessors, GREEN "cuDeviceGetDevResource"),
	CHECK(a_split_without_a_place_counts_the_groups, GREEN "cuDevSmResourceSplitByCount"),
	CHECK(a_stream_names_its_green_context,
          GREEN "cuGreenCtxStreamCreate; Stream Management: cuStreamGetGreenCtx, cuStreamGetCtx"),
	CHECK(a_green_contexts_stream_has_to_be_non_blocking, GREEN "cuGreenCtxStreamCreate"),
	CHECK(a_green_context_needs_its_flag, GREEN "cuGreenCtxCreate"),
	CHECK(kernels_of_the_primary_context_run_in_a_green_ones_stream,
          MEASURED(GREEN "cuCtxFromGreenCtx", "a normal primary context with other resources")),
	CHECKS_END,
};
