/* Functions: attributes, limits, parameters. */
#include "conformance.h"

static int attribute(CUfunction of, CUfunction_attribute which)
{
	int value = -99;

	OK(cuFuncGetAttribute(&value, which, of));
	return value;
}

/* A module of the check's own: attributes outlive it otherwise. */
static CUfunction fresh(CUmodule *loaded, const char *name)
{
	CUfunction found;

	OK(cuModuleLoad(loaded, module_path));
	OK(cuModuleGetFunction(&found, *loaded, name));
	return found;
}

static void attributes_of_a_function(void)
{
	CUfunction nothing = function("nothing");

	EQUAL(attribute(nothing, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
	EQUAL(attribute(nothing, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
	EQUAL(attribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
	EQUAL(attribute(nothing, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
	TRUE(attribute(nothing, CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
	TRUE(attribute(nothing, CU_FUNC_ATTRIBUTE_BINARY_VERSION) >= 75);
}

static void an_attribute_that_no_function_has_is_invalid(void)
{
	CUfunction nothing = function("nothing");
	int value;

	EXPECT(cuFuncGetAttribute(&value, (CUfunction_attribute)1000, nothing),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, nothing), CUDA_ERROR_INVALID_VALUE);
}

static void shared_memory_may_be_raised_to_the_limit(void)
{
	CUmodule own;
	CUfunction shared = fresh(&own, "shared");
	int most = 0;

	OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
	OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
	EQUAL(attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), most);
	EXPECT(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1),
	       CUDA_ERROR_INVALID_VALUE);
	EQUAL(attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), most);
	OK(cuModuleUnload(own));
}

static void a_measured_attribute_cannot_be_set(void)
{
	EXPECT(cuFuncSetAttribute(function("nothing"), CU_FUNC_ATTRIBUTE_NUM_REGS, 10),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetAttribute(function("nothing"), CU_FUNC_ATTRIBUTE_BINARY_VERSION, 10),
	       CUDA_ERROR_INVALID_VALUE);
}

static void the_carveout_is_a_percentage(void)
{
	CUmodule own;
	CUfunction nothing = fresh(&own, "nothing");

	OK(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
	EQUAL(attribute(nothing, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), 50);
	EXPECT(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleUnload(own));
}

static void attributes_belong_to_one_function(void)
{
	CUmodule own;
	CUfunction shared = fresh(&own, "shared"), nothing;

	OK(cuModuleGetFunction(&nothing, own, "nothing"));
	OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
	EQUAL(attribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
	EQUAL(attribute(function("shared"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
	OK(cuModuleUnload(own));
}

static void parameters_have_offsets_and_sizes(void)
{
	static const size_t wanted[][2] = {{0, 1}, {8, 8}, {16, 2004}, {2024, 8}};
	CUfunction mixed = function("mixed");
	size_t i, offset, size;

	for (i = 0; i < 4; i++) {
		offset = size = 99;
		OK(cuFuncGetParamInfo(mixed, i, &offset, &size));
		EQUAL(offset, wanted[i][0]);
		EQUAL(size, wanted[i][1]);
	}
}

static void a_parameter_beyond_the_last_is_invalid(void)
{
	size_t offset, size;

	EXPECT(cuFuncGetParamInfo(function("mixed"), 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncGetParamInfo(function("nothing"), 0, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

static void the_size_of_a_parameter_need_not_be_asked_for(void)
{
	size_t offset = 99;

	OK(cuFuncGetParamInfo(function("append"), 1, &offset, NULL));
	EQUAL(offset, 8);
}

static void kernels_have_parameters_too(void)
{
	CUlibrary loaded;
	CUkernel kernel;
	size_t offset = 99, size = 99;

	OK(cuLibraryLoadFromFile(&loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, loaded, "append"));
	OK(cuKernelGetParamInfo(kernel, 1, &offset, &size));
	EQUAL(offset, 8);
	EQUAL(size, 4);
	EXPECT(cuKernelGetParamInfo(kernel, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	OK(cuLibraryUnload(loaded));
}

/* The caller unloads the library. */
static CUkernel shared_kernel(CUlibrary *loaded)
{
	CUkernel kernel = NULL;

	OK(cuLibraryLoadFromFile(loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, *loaded, "shared"));
	return kernel;
}

static void an_attribute_of_a_kernel_reaches_its_function(void)
{
	CUlibrary loaded;
	CUkernel kernel = shared_kernel(&loaded);
	CUfunction inside;
	int value = 0;

	OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, 0));
	OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
	EQUAL(value, 60000);
	OK(cuKernelGetFunction(&inside, kernel));
	EQUAL(attribute(inside, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 60000);
	OK(cuLibraryUnload(loaded));
}

static void a_function_keeps_an_attribute_of_its_own(void)
{
	CUlibrary loaded;
	CUkernel kernel = shared_kernel(&loaded);
	CUfunction inside;
	int value = 0;

	OK(cuKernelGetFunction(&inside, kernel));
	OK(cuFuncSetAttribute(inside, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
	OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, 0));
	EQUAL(attribute(inside, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 50000);
	OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
	EQUAL(value, 60000);
	OK(cuLibraryUnload(loaded));
}

static void a_function_knows_its_name_and_module(void)
{
	const char *name = NULL;
	CUmodule owner = NULL;

	OK(cuFuncGetName(&name, function("append")));
	TRUE(strcmp(name, "append") == 0);
	OK(cuFuncGetModule(&owner, function("append")));
	TRUE(owner == module);
}

static void a_function_may_be_loaded(void)
{
	CUfunctionLoadingState state = (CUfunctionLoadingState)9;

	OK(cuFuncLoad(function("append")));
	OK(cuFuncIsLoaded(&state, function("append")));
	EQUAL(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

static void occupancy_counts_blocks(void)
{
	CUfunction nothing = function("nothing");
	int blocks = 0;

	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0));
	TRUE(blocks >= 1 && blocks <= 2);
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, nothing, 32, 0),
	       CUDA_ERROR_INVALID_VALUE);
}

static void occupancy_ends_at_the_limits(void)
{
	CUfunction nothing = function("nothing");
	int blocks = 9, threads = 9;

	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 2048, 0));
	EQUAL(blocks, 0);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 60000));
	EQUAL(blocks, 0);
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 32, 0, 8),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0),
	       CUDA_ERROR_INVALID_HANDLE);
	OK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, nothing, NULL, 0, 0));
	TRUE(blocks > 0 && threads > 0 && threads <= 1024);
	OK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, nothing, NULL, 0, 100));
	TRUE(threads > 0 && threads <= 100);
}

static void a_kernels_attributes_are_of_a_device(void)
{
	CUlibrary loaded;
	CUkernel kernel;
	int value;

	OK(cuLibraryLoadFromFile(&loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, loaded, "append"));
	EXPECT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 999),
	       CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuKernelGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL, 0),
	       CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, 0),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuLibraryUnload(loaded));
}

static void clusters_of_eight_blocks_fit(void)
{
	CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	                             .value.clusterDim = {2, 1, 1}};
	CUlaunchConfig config = {.gridDimX = 132,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 128,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream};
	int count = 0;

	OK(cuOccupancyMaxPotentialClusterSize(&count, function("nothing"), &config));
	EQUAL(count, 8);
	config.attrs = &cluster;
	config.numAttrs = 1;
	OK(cuOccupancyMaxActiveClusters(&count, function("nothing"), &config));
	TRUE(count > 0);
}

#define EXECUTION "Execution Control: "

/* Launches take a CUkernel cast to CUfunction, and so do questions of occupancy; nothing else says
 * so of itself, and nothing else does. */
static void a_kernel_is_no_function_but_to_launch(void)
{
	CUfunctionLoadingState state;
	CUlibrary loaded;
	CUkernel kernel;
	CUfunction cast;
	CUmodule owner;
	const char *name;
	size_t offset, size;
	int value = 0;

	OK(cuLibraryLoadFromFile(&loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, loaded, "mixed"));
	cast = (CUfunction)kernel;
	EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, cast), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncSetAttribute(cast, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024),
	       CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncSetCacheConfig(cast, CU_FUNC_CACHE_PREFER_L1), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncGetModule(&owner, cast), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncGetName(&name, cast), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncGetParamInfo(cast, 1, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncIsLoaded(&state, cast), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuFuncLoad(cast), CUDA_ERROR_INVALID_HANDLE);
	OK(cuLibraryUnload(loaded));
}

static void occupancy_may_be_asked_of_a_kernel(void)
{
	CUlibrary loaded;
	CUkernel kernel;
	size_t bytes = 0;
	int blocks = 0, threads = 0;

	OK(cuLibraryLoadFromFile(&loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, loaded, "nothing"));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (CUfunction)kernel, 128, 0));
	EQUAL(blocks, 16);
	OK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, (CUfunction)kernel, NULL, 0, 0));
	EQUAL(threads, 1024);
	OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, (CUfunction)kernel, 1, 128));
	EQUAL(bytes, 49152);
	OK(cuLibraryUnload(loaded));
}

static void a_function_is_no_kernel(void)
{
	CUkernel cast = (CUkernel)function("mixed");
	CUlibrary loaded;
	CUfunction other_function;
	const char *name;
	size_t offset, size;
	int value;

	EXPECT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, cast, 0),
	       CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50, cast, 0),
	       CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuKernelGetName(&name, cast), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuKernelGetParamInfo(cast, 0, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuKernelGetFunction(&other_function, cast), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuKernelGetLibrary(&loaded, cast), CUDA_ERROR_INVALID_HANDLE);
}

const struct check function_checks[] = {
	CHECK(attributes_of_a_function, EXECUTION "cuFuncGetAttribute"),
	CHECK(an_attribute_that_no_function_has_is_invalid, EXECUTION "cuFuncGetAttribute"),
	CHECK(shared_memory_may_be_raised_to_the_limit, EXECUTION "cuFuncSetAttribute"),
	CHECK(a_measured_attribute_cannot_be_set, EXECUTION "cuFuncSetAttribute"),
	CHECK(the_carveout_is_a_percentage, EXECUTION "cuFuncSetAttribute"),
	CHECK(attributes_belong_to_one_function, EXECUTION "cuFuncSetAttribute"),
	CHECK(parameters_have_offsets_and_sizes, EXECUTION "cuFuncGetParamInfo"),
	CHECK(a_parameter_beyond_the_last_is_invalid, EXECUTION "cuFuncGetParamInfo"),
	CHECK(the_size_of_a_parameter_need_not_be_asked_for, EXECUTION "cuFuncGetParamInfo"),
	CHECK(kernels_have_parameters_too, "Library Management: cuKernelGetParamInfo"),
	CHECK(an_attribute_of_a_kernel_reaches_its_function,
          "Library Management: cuKernelSetAttribute"),
	CHECK(a_function_keeps_an_attribute_of_its_own, "Library Management: cuKernelSetAttribute"),
	CHECK(a_function_knows_its_name_and_module, EXECUTION "cuFuncGetName, cuFuncGetModule"),
	CHECK(a_function_may_be_loaded, EXECUTION "cuFuncLoad, cuFuncIsLoaded"),
	CHECK(occupancy_ends_at_the_limits, "Occupancy: cuOccupancyMaxPotentialBlockSize"),
	CHECK(
		a_kernel_is_no_function_but_to_launch, EXECUTION
		"cuFuncGetAttribute and others; measured on an H200, driver 580, documented only that launches take a CUkernel"),
	CHECK(
		occupancy_may_be_asked_of_a_kernel,
		"Occupancy: cuOccupancyMaxActiveBlocksPerMultiprocessor and others: can also be used with CUkernel"),
	CHECK(a_function_is_no_kernel, "Library Management: cuKernelGetName and others"),
	CHECK(a_kernels_attributes_are_of_a_device, "Library Management: cuKernelGetAttribute"),
	CHECK(occupancy_counts_blocks, "Occupancy: cuOccupancyMaxActiveBlocksPerMultiprocessor"),
	CHECK(
		clusters_of_eight_blocks_fit,
		"Occupancy: cuOccupancyMaxPotentialClusterSize; Programming Guide, Thread Block Clusters"),
	CHECKS_END,
};
