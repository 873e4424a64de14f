/* Managed memory: prefetching, advice, and what is told of both. */
#include "conformance.h"

enum { BYTES = 1 << 20 };

static const CUmemLocation on_device = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
						   on_host = {.type = CU_MEM_LOCATION_TYPE_HOST};

static CUdeviceptr managed(void)
{
	CUdeviceptr address;

	OK(cuMemAllocManaged(&address, BYTES, CU_MEM_ATTACH_GLOBAL));
	return address;
}

static int told(CUmem_range_attribute attribute, CUdeviceptr address)
{
	int value = 77;

	OK(cuMemRangeGetAttribute(&value, sizeof(value), attribute, address, BYTES));
	return value;
}

static void prefetching_keeps_what_is_there(void)
{
	CUdeviceptr address = managed();

	((volatile unsigned *)(uintptr_t)address)[0] = 6;
	OK(cuMemPrefetchAsync(address, BYTES, on_device, 0, stream));
	OK(cuMemsetD32Async(address + 4, 7, 1, stream));
	OK(cuMemPrefetchAsync(address, BYTES, on_host, 0, stream));
	finish(stream);
	EQUAL(((volatile unsigned *)(uintptr_t)address)[0], 6);
	EQUAL(((volatile unsigned *)(uintptr_t)address)[1], 7);
	OK(cuMemFree(address));
}

static void prefetching_takes_managed_memory(void)
{
	CUdeviceptr address = managed();

	EXPECT(cuMemPrefetchAsync(words(), 64, on_device, 0, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPrefetchAsync(address, BYTES, on_device, 1, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(address));
}

static void prefetching_needs_a_place(void)
{
	CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99};
	CUdeviceptr address = managed();

	EXPECT(cuMemPrefetchAsync(address, BYTES, nowhere, 0, stream), CUDA_ERROR_INVALID_DEVICE);
	nowhere = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
	EXPECT(cuMemPrefetchAsync(address, BYTES, nowhere, 0, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(address));
}

static void the_last_prefetch_is_told(void)
{
	CUdeviceptr address = managed();

	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address), CU_DEVICE_INVALID);
	OK(cuMemPrefetchAsync(address, BYTES, on_device, 0, stream));
	finish(stream);
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address), 0);
	OK(cuMemPrefetchAsync(address, BYTES, on_host, 0, stream));
	finish(stream);
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address), CU_DEVICE_CPU);
	OK(cuMemFree(address));
}

static void advice_is_told(void)
{
	CUdeviceptr address = managed();

	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address), 0);
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address), CU_DEVICE_INVALID);
	OK(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device));
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address), 1);
	OK(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_UNSET_READ_MOSTLY, on_device));
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address), 0);
	OK(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on_device));
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address), 0);
	OK(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host));
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address), CU_DEVICE_CPU);
	OK(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, on_device));
	EQUAL(told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address), CU_DEVICE_INVALID);
	OK(cuMemFree(address));
}

static void advice_is_for_managed_memory(void)
{
	CUdeviceptr address = managed();

	EXPECT(cuMemAdvise(words(), 64, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAdvise(address, BYTES, (CUmem_advise)99, on_device), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(address));
}

#define UNIFIED "Unified Addressing: "

const struct check managed_checks[] = {
	CHECK(prefetching_keeps_what_is_there, UNIFIED "cuMemPrefetchAsync"),
	CHECK(prefetching_takes_managed_memory, UNIFIED "cuMemPrefetchAsync"),
	CHECK(prefetching_needs_a_place, UNIFIED "cuMemPrefetchAsync"),
	CHECK(the_last_prefetch_is_told,
          UNIFIED "cuMemRangeGetAttribute, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION"),
	CHECK(advice_is_told, UNIFIED "cuMemAdvise, cuMemRangeGetAttribute"),
	CHECK(advice_is_for_managed_memory, UNIFIED "cuMemAdvise"),
	CHECKS_END,
};
