/* cuLaunchKernel and cuLaunchKernelEx: parameters, attributes, what is refused. */
#include "conformance.h"

struct table {
	unsigned add;
	unsigned value[500];
};

static CUresult nothing(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared)
{
	return cuLaunchKernel(function("nothing"), gx, gy, gz, bx, by, bz, shared, stream, NULL, NULL);
}

static void dimensions_reach_the_kernel(void)
{
	static const unsigned wanted[] = {5, 3, 2, 8, 4, 2};
	CUdeviceptr result = words();
	void *params[] = {&result};
	unsigned i;

	OK(cuLaunchKernel(function("shape"), 5, 3, 2, 8, 4, 2, 0, stream, params, NULL));
	finish(stream);
	for (i = 0; i < 6; i++)
		EQUAL(word(result, i), wanted[i]);
}

static void a_dimension_of_zero_is_invalid(void)
{
	EXPECT(nothing(0, 1, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(nothing(1, 1, 0, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(nothing(1, 1, 1, 1, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

static void a_block_beyond_the_limit_is_invalid(void)
{
	EXPECT(nothing(1, 1, 1, 1025, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(nothing(1, 1, 1, 64, 32, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(nothing(1, 1, 1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
	OK(nothing(1, 1, 1, 1024, 1, 1, 0));
}

static void a_grid_beyond_the_limit_is_invalid(void)
{
	EXPECT(nothing(1, 65536, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(nothing(1, 1, 65536, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(nothing(0x80000000u, 1, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

static void shared_memory_beyond_the_limit_is_invalid(void)
{
	OK(nothing(1, 1, 1, 1, 1, 1, 49152));
	EXPECT(nothing(1, 1, 1, 1, 1, 1, 65536), CUDA_ERROR_INVALID_VALUE);
}

static void shared_memory_that_was_allowed_is_there(void)
{
	CUdeviceptr result = words();
	unsigned last = 65536 / 4 - 1;
	void *params[] = {&result, &last};
	CUfunction shared;
	CUmodule own;

	OK(cuModuleLoad(&own, module_path));
	OK(cuModuleGetFunction(&shared, own, "shared"));
	OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
	OK(cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, 65536, stream, params, NULL));
	finish(stream);
	EQUAL(word(result, 0), 7);
	OK(cuModuleUnload(own));
}

static void a_launch_needs_a_function(void)
{
	EXPECT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
	       CUDA_ERROR_INVALID_HANDLE);
}

static void a_launch_needs_its_parameters(void)
{
	EXPECT(launch("append", stream, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void parameters_come_as_an_array_or_a_buffer_not_both(void)
{
	struct {
		CUdeviceptr list;
		unsigned value;
	} packed = {0};
	size_t size = 12;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
	                 CU_LAUNCH_PARAM_END};
	void *params[] = {&packed.list, &packed.value};

	packed.list = words();
	packed.value = 1;
	OK(cuLaunchKernel(function("append"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra));
	EXPECT(cuLaunchKernel(function("append"), 1, 1, 1, 1, 1, 1, 0, stream, params, extra),
	       CUDA_ERROR_INVALID_VALUE);
	finish(stream);
	is_list(packed.list, 1);
}

static void parameters_are_read_at_the_call(void)
{
	static struct table table;
	unsigned char small = 7;
	double wide = 1000;
	CUdeviceptr result = words();
	void *params[] = {&small, &wide, &table, &result};

	table.add = 100;
	table.value[499] = 10000;
	hold(stream);
	OK(launch("mixed", stream, params));
	small = 0;
	wide = 0;
	memset(&table, 0, sizeof(table));
	release();
	finish(stream);
	EQUAL(word(result, 0), 11107);
}

static CUresult launch_with(const CUlaunchAttribute *attributes, unsigned count, unsigned blocks)
{
	CUlaunchConfig config = {.gridDimX = blocks,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 32,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = (CUlaunchAttribute *)attributes,
	                         .numAttrs = count};

	return cuLaunchKernelEx(&config, function("nothing"), NULL, NULL);
}

static void a_launch_by_configuration_runs(void)
{
	CUdeviceptr list = words();
	unsigned value = 1;
	void *params[] = {&list, &value};
	CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, NULL, 0};

	OK(cuLaunchKernelEx(&config, function("append"), params, NULL));
	finish(stream);
	is_list(list, 1);
}

static void a_launch_needs_a_configuration(void)
{
	EXPECT(cuLaunchKernelEx(NULL, function("nothing"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_of_a_launch_are_accepted(void)
{
	CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 0};
	CUlaunchAttribute ignored = {.id = CU_LAUNCH_ATTRIBUTE_IGNORE};
	CUlaunchAttribute serial = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	                            .value.programmaticStreamSerializationAllowed = 1};
	CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};

	OK(launch_with(&priority, 1, 1));
	OK(launch_with(&ignored, 1, 1));
	OK(launch_with(&serial, 1, 1));
	OK(launch_with(&cooperative, 1, 1));
	finish(stream);
}

static CUlaunchAttribute cluster(unsigned x)
{
	return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	                           .value.clusterDim = {x, 1, 1}};
}

static void a_cluster_divides_the_grid(void)
{
	CUlaunchAttribute two = cluster(2);

	OK(launch_with(&two, 1, 4));
	EXPECT(launch_with(&two, 1, 3), CUDA_ERROR_INVALID_CLUSTER_SIZE);
	finish(stream);
}

static void a_cluster_beyond_the_limit_is_refused(void)
{
	CUlaunchAttribute many = cluster(16);

	EXPECT(launch_with(&many, 1, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

static void an_attribute_that_no_launch_has_is_invalid(void)
{
	CUlaunchAttribute unknown = {.id = (CUlaunchAttributeID)1000};

	EXPECT(launch_with(&unknown, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_that_are_not_of_launches_are_invalid(void)
{
	CUlaunchAttribute policy = {.id = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY};
	CUlaunchAttribute updatable = {.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE};

	EXPECT(launch_with(&policy, 1, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(launch_with(&updatable, 1, 1), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(launch_with(NULL, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_with_events_need_them(void)
{
	CUlaunchAttribute programmatic = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
	CUlaunchAttribute completion = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};

	EXPECT(launch_with(&programmatic, 1, 1), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(launch_with(&completion, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

static void a_cluster_of_zeros_is_none(void)
{
	CUlaunchAttribute none = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
					  half = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};

	half.value.clusterDim.y = half.value.clusterDim.z = 1;
	OK(launch_with(&none, 1, 3));
	EXPECT(launch_with(&half, 1, 3), CUDA_ERROR_INVALID_CLUSTER_SIZE);
	finish(stream);
}

static void a_cooperative_launch_fits_the_device(void)
{
	OK(cuLaunchCooperativeKernel(function("nothing"), 1, 1, 1, 32, 1, 1, 0, stream, NULL));
	EXPECT(cuLaunchCooperativeKernel(function("nothing"), 1u << 20, 1, 1, 32, 1, 1, 0, stream,
	                                 NULL),
	       CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	finish(stream);
}

static void a_refused_launch_leaves_the_context_usable(void)
{
	CUdeviceptr list = words();

	EXPECT(nothing(0, 1, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	OK(append(list, 1, stream));
	finish(stream);
	is_list(list, 1);
}

#define LAUNCH "Execution Control: cuLaunchKernel"
#define LAUNCH_EX "Execution Control: cuLaunchKernelEx"

const struct check launch_checks[] = {
	CHECK(dimensions_reach_the_kernel, LAUNCH),
	CHECK(a_dimension_of_zero_is_invalid, LAUNCH),
	CHECK(a_block_beyond_the_limit_is_invalid, LAUNCH),
	CHECK(a_grid_beyond_the_limit_is_invalid, LAUNCH),
	CHECK(shared_memory_beyond_the_limit_is_invalid, LAUNCH),
	CHECK(shared_memory_that_was_allowed_is_there, "Execution Control: cuFuncSetAttribute"),
	CHECK(a_launch_needs_a_function,
          MEASURED(LAUNCH, "lists both CUDA_ERROR_INVALID_VALUE and CUDA_ERROR_INVALID_HANDLE")),
	CHECK(a_launch_needs_its_parameters, LAUNCH),
	CHECK(parameters_come_as_an_array_or_a_buffer_not_both, LAUNCH),
	CHECK(parameters_are_read_at_the_call, LAUNCH),
	CHECK(a_launch_by_configuration_runs, LAUNCH_EX),
	CHECK(a_launch_needs_a_configuration, LAUNCH_EX),
	CHECK(attributes_of_a_launch_are_accepted, "Data types: CUlaunchAttributeID"),
	CHECK(a_cluster_divides_the_grid, MEASURED(LAUNCH_EX ", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
                                               "the grid must be divisible, with no error named")),
	CHECK(a_cluster_beyond_the_limit_is_refused,
          LAUNCH_EX ", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"),
	CHECK(an_attribute_that_no_launch_has_is_invalid, LAUNCH_EX),
	CHECK(attributes_that_are_not_of_launches_are_invalid, "Data types: CUlaunchAttributeID"),
	CHECK(attributes_with_events_need_them, "Data types: CUlaunchAttributeID"),
	CHECK(a_cluster_of_zeros_is_none,
          MEASURED(LAUNCH_EX ", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", "says nothing of zeros")),
	CHECK(a_cooperative_launch_fits_the_device, "Execution Control: cuLaunchCooperativeKernel"),
	CHECK(a_refused_launch_leaves_the_context_usable, LAUNCH),
	CHECKS_END,
};
