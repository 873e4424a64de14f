/* Memory, copies, memsets, parameters: what they do and when the call returns. */
#include "sim_test.h"

START_TEST(device_memory_is_told_from_pageable)
{
	unsigned type, on_stack;
	CUdeviceptr device;

	start();
	device = words();
	CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 8));
	ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
	ck_assert_int_eq(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                                       (CUdeviceptr)(uintptr_t)&on_stack),
	                 CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(attributes_of_pageable_memory_are_zero)
{
	CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	unsigned type = 7;
	int device = 7;
	void *values[] = {&type, &device};

	start();
	CU(cuPointerGetAttributes(2, attributes, values, (CUdeviceptr)(uintptr_t)&type));
	ck_assert_uint_eq(type, 0);
	ck_assert_int_eq(device, -2);
}
END_TEST

START_TEST(an_address_freed_comes_back_with_the_next_allocation_of_its_size)
{
	CUdeviceptr first, second;

	start();
	CU(cuMemAlloc(&first, 1000));
	CU(cuMemFree(first));
	CU(cuMemAlloc(&second, 1000));
	ck_assert_uint_eq(first, second);
	CU(cuMemFree(second));
	ck_assert_int_eq(cuMemFree(second), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(memory_has_an_end)
{
	CUdeviceptr address;

	setenv("SIM_MEMORY", "1M", 1);
	start();
	CU(cuMemAlloc(&address, 600 << 10));
	ck_assert_int_eq(cuMemAlloc(&address, 600 << 10), CUDA_ERROR_OUT_OF_MEMORY);
}
END_TEST

START_TEST(an_asynchronous_copy_from_pageable_memory_reads_it_at_the_call)
{
	unsigned source = 1;
	CUdeviceptr target;

	start();
	target = words();
	CU(cuMemcpyHtoDAsync(target, &source, sizeof(source), stream));
	source = 2;
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(word(target, 0), 1);
}
END_TEST

START_TEST(an_asynchronous_copy_to_pageable_memory_is_done_when_it_returns)
{
	unsigned target = 0;
	CUdeviceptr source;

	start();
	source = words();
	CU(cuMemsetD32Async(source, 5, 1, stream));
	CU(cuMemcpyDtoHAsync(&target, source, sizeof(target), stream));
	ck_assert_uint_eq(target, 5);
}
END_TEST

START_TEST(copies_in_two_dimensions_leave_gaps_alone)
{
	unsigned char source[4 * 8], target[4 * 16];
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                       .srcHost = source,
	                       .srcPitch = 8,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstPitch = 16,
	                       .dstXInBytes = 2,
	                       .WidthInBytes = 8,
	                       .Height = 4};

	start();
	memset(source, 9, sizeof(source));
	plane.dstDevice = words();
	CU(cuMemcpy2D(&plane));
	CU(cuMemcpyDtoH(target, plane.dstDevice, sizeof(target)));
	ck_assert_uint_eq(target[16 + 1], 0);
	ck_assert_uint_eq(target[16 + 2], 9);
	ck_assert_uint_eq(target[16 + 9], 9);
	ck_assert_uint_eq(target[16 + 10], 0);
}
END_TEST

START_TEST(memsets_of_each_size_write_their_elements)
{
	CUdeviceptr target;

	start();
	target = words();
	CU(cuMemsetD8(target, 0x11, 3));
	CU(cuMemsetD16(target + 4, 0x2222, 1));
	CU(cuMemsetD2D32(target + 8, 8, 0x33333333, 1, 2));
	ck_assert_uint_eq(word(target, 0), 0x111111);
	ck_assert_uint_eq(word(target, 1), 0x2222);
	ck_assert_uint_eq(word(target, 2), 0x33333333);
	ck_assert_uint_eq(word(target, 3), 0);
	ck_assert_uint_eq(word(target, 4), 0x33333333);
}
END_TEST

struct weights {
	unsigned add, multiply, table[1100];
};

START_TEST(parameters_of_mixed_sizes_reach_the_kernel)
{
	static struct weights weights = {.add = 100, .multiply = 3};
	unsigned char small = 7;
	double wide = 1000;
	CUdeviceptr result;
	void *params[] = {&small, &wide, &weights, &result};
	size_t offset, size;

	start();
	result = words();
	weights.table[1099] = 10000;
	CU(launch("mixed", stream, params));
	small = 0;
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(word(result, 0), 11107);
	CU(cuFuncGetParamInfo(function("mixed"), 1, &offset, &size));
	ck_assert_uint_eq(offset, 8);
	ck_assert_uint_eq(size, 8);
	ck_assert_int_eq(cuFuncGetParamInfo(function("mixed"), 4, &offset, &size),
	                 CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(parameters_may_come_as_a_buffer)
{
	struct {
		CUdeviceptr list;
		unsigned value;
	} packed = {.value = 1};
	size_t size = 12;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
	                 CU_LAUNCH_PARAM_END};

	start();
	packed.list = words();
	CU(cuLaunchKernel(function("append"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra));
	CU(cuStreamSynchronize(stream));
	assert_list(packed.list, 1);
}
END_TEST

START_TEST(each_load_of_a_module_has_variables_of_its_own)
{
	CUdeviceptr first, second;
	CUmodule again;
	CUfunction count;
	size_t bytes;

	start();
	CU(cuModuleLoad(&again, module_path));
	CU(cuModuleGetGlobal(&first, &bytes, module, "launches"));
	CU(cuModuleGetGlobal(&second, &bytes, again, "launches"));
	ck_assert_uint_eq(bytes, 4);
	CU(cuModuleGetFunction(&count, again, "count_launch"));
	CU(cuLaunchKernel(count, 3, 1, 1, 2, 1, 1, 0, stream, NULL, NULL));
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(word(first, 0), 0);
	ck_assert_uint_eq(word(second, 0), 6);
}
END_TEST

START_TEST(a_kernel_of_a_library_may_be_launched_by_its_handle)
{
	CUdeviceptr list;
	unsigned value = 1;
	void *params[] = {&list, &value};
	CUlibrary library;
	CUkernel kernel;

	start();
	list = words();
	CU(cuLibraryLoadFromFile(&library, module_path, NULL, NULL, 0, NULL, NULL, 0));
	CU(cuLibraryGetKernel(&kernel, library, "append"));
	CU(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	CU(cuStreamSynchronize(stream));
	assert_list(list, 1);
}
END_TEST

START_TEST(shared_memory_has_the_limit_that_was_set)
{
	unsigned count = 4;
	CUdeviceptr result;
	void *params[] = {&result, &count};
	CUfunction fill;

	start();
	result = words();
	fill = function("fill_shared");
	ck_assert_int_eq(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 65536, stream, params, NULL),
	                 CUDA_ERROR_INVALID_VALUE);
	CU(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
	CU(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 65536, stream, params, NULL));
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(word(result, 0), 9);
	ck_assert_int_eq(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	                                    1 << 20),
	                 CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(memory_freed_in_stream_order_outlives_the_work_before_it)
{
	CUdeviceptr list, result;

	start();
	result = words();
	CU(cuMemAllocAsync(&list, 64, stream));
	CU(cuMemsetD32Async(list, 3, 16, stream));
	CU(cuMemcpyDtoDAsync(result, list, 64, stream));
	CU(cuMemFreeAsync(list, stream));
	ck_assert_int_eq(cuMemFreeAsync(list, stream), CUDA_ERROR_INVALID_VALUE);
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(word(result, 15), 3);
}
END_TEST

RUN("memory", device_memory_is_told_from_pageable, attributes_of_pageable_memory_are_zero,
    an_address_freed_comes_back_with_the_next_allocation_of_its_size, memory_has_an_end,
    an_asynchronous_copy_from_pageable_memory_reads_it_at_the_call,
    an_asynchronous_copy_to_pageable_memory_is_done_when_it_returns,
    copies_in_two_dimensions_leave_gaps_alone, memsets_of_each_size_write_their_elements,
    parameters_of_mixed_sizes_reach_the_kernel, parameters_may_come_as_a_buffer,
    each_load_of_a_module_has_variables_of_its_own,
    a_kernel_of_a_library_may_be_launched_by_its_handle, shared_memory_has_the_limit_that_was_set,
    memory_freed_in_stream_order_outlives_the_work_before_it)
