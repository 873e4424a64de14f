/* Allocating and freeing. */
#include "conformance.h"

static void device_memory_is_aligned(void)
{
	CUdeviceptr address = 0;

	OK(cuMemAlloc(&address, 1));
	TRUE(address != 0 && address % 256 == 0);
	OK(cuMemFree(address));
}

static void no_bytes_are_invalid(void)
{
	CUdeviceptr address;

	EXPECT(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAlloc(NULL, 64), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
}

static void too_many_bytes_are_out_of_memory(void)
{
	CUdeviceptr address;

	EXPECT(cuMemAlloc(&address, (size_t)1 << 46), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc(&address, 64));
	OK(cuMemFree(address));
}

static void freeing_null_is_nothing(void)
{
	OK(cuMemFree(0));
}

static void memory_is_freed_once_by_its_beginning(void)
{
	CUdeviceptr address;

	OK(cuMemAlloc(&address, 4096));
	EXPECT(cuMemFree(address + 256), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(address));
	EXPECT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

static void freeing_does_not_take_host_memory(void)
{
	volatile unsigned *host = pinned();
	unsigned local = 0;

	EXPECT(cuMemFree((CUdeviceptr)(uintptr_t)&local), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeHost(&local), CUDA_ERROR_INVALID_VALUE);
	EQUAL(host[0], 0);
}

static void freeing_waits_for_the_work_before(void)
{
	CUdeviceptr list = words(), own;

	OK(cuMemAlloc(&own, 256));
	OK(append(list, 1, stream));
	OK(cuMemFree(own));
	finish(stream);
	is_list(list, 1);
}

static void a_pitch_holds_a_row(void)
{
	CUdeviceptr address = 0;
	size_t pitch = 0;

	OK(cuMemAllocPitch(&address, &pitch, 1000, 10, 4));
	TRUE(pitch >= 1000 && pitch % 16 == 0);
	OK(cuMemFree(address));
	EXPECT(cuMemAllocPitch(&address, &pitch, 1000, 10, 3), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocPitch(&address, &pitch, 0, 10, 4), CUDA_ERROR_INVALID_VALUE);
}

static void managed_memory_is_seen_by_both(void)
{
	CUdeviceptr list = 0;
	volatile unsigned *words;

	OK(cuMemAllocManaged(&list, 256, CU_MEM_ATTACH_GLOBAL));
	words = (volatile unsigned *)(uintptr_t)list;
	words[0] = 0;
	OK(append(list, 5, stream));
	finish(stream);
	EQUAL(words[0], 1);
	EQUAL(words[1], 5);
	OK(cuMemFree(list));
}

static void managed_memory_needs_one_attachment(void)
{
	CUdeviceptr address;

	EXPECT(cuMemAllocManaged(&address, 64, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
}

static void pinned_memory_is_seen_by_kernels(void)
{
	volatile unsigned *list = pinned();

	OK(append((CUdeviceptr)(uintptr_t)list, 5, stream));
	finish(stream);
	EQUAL(list[0], 1);
	EQUAL(list[1], 5);
}

static void pinned_memory_has_one_address(void)
{
	volatile unsigned *host = pinned();
	CUdeviceptr device = 0;

	OK(cuMemHostGetDevicePointer(&device, (void *)(uintptr_t)host, 0));
	EQUAL(device, (uintptr_t)host);
	EXPECT(cuMemHostGetDevicePointer(&device, (void *)(uintptr_t)host, 1),
	       CUDA_ERROR_INVALID_VALUE);
}

static void portable_pinned_memory_does_not_say_so(void)
{
	unsigned int flags = ~0u;
	void *host;

	OK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_PORTABLE));
	OK(cuMemHostGetFlags(&flags, host));
	EQUAL(flags & CU_MEMHOSTALLOC_PORTABLE, 0);
	OK(cuMemFreeHost(host));
}

static void pinned_memory_takes_known_flags(void)
{
	void *host;

	EXPECT(cuMemHostAlloc(&host, 64, 0x100), CUDA_ERROR_INVALID_VALUE);
}

static void pinned_memory_is_mapped(void)
{
	static char own[16384] __attribute__((aligned(4096)));
	unsigned int flags = 0;
	void *host;

	OK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_WRITECOMBINED));
	OK(cuMemHostGetFlags(&flags, host));
	EQUAL(flags, CU_MEMHOSTALLOC_WRITECOMBINED | CU_MEMHOSTALLOC_DEVICEMAP);
	OK(cuMemFreeHost(host));
	OK(cuMemHostRegister(own, sizeof(own), CU_MEMHOSTREGISTER_PORTABLE));
	OK(cuMemHostGetFlags(&flags, own));
	EQUAL(flags, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
	OK(cuMemHostUnregister(own));
	EXPECT(cuMemHostRegister(own, sizeof(own), 0x100), CUDA_ERROR_INVALID_VALUE);
}

static void flags_of_pageable_memory_are_invalid(void)
{
	unsigned int flags;
	int local;

	EXPECT(cuMemHostGetFlags(&flags, &local), CUDA_ERROR_INVALID_VALUE);
}

static void memory_is_registered_once(void)
{
	static char own[16384] __attribute__((aligned(4096)));

	OK(cuMemHostRegister(own, sizeof(own), 0));
	EXPECT(cuMemHostRegister(own, sizeof(own), 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostUnregister(own));
	EXPECT(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	EXPECT(cuMemHostRegister(own, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemHostRegister(NULL, 64, 0), CUDA_ERROR_INVALID_VALUE);
}

static void registered_memory_is_seen_by_kernels(void)
{
	static unsigned own[4096] __attribute__((aligned(4096)));
	CUdeviceptr device;

	OK(cuMemHostRegister(own, sizeof(own), CU_MEMHOSTREGISTER_DEVICEMAP));
	OK(cuMemHostGetDevicePointer(&device, own, 0));
	OK(append(device, 5, stream));
	finish(stream);
	EQUAL(((volatile unsigned *)own)[1], 5);
	OK(cuMemHostUnregister(own));
}

static void a_range_is_found_from_inside(void)
{
	CUdeviceptr address = words(), base = 0;
	size_t bytes = 0;

	OK(cuMemGetAddressRange(&base, &bytes, address + 100));
	EQUAL(base, address);
	EQUAL(bytes, WORDS * sizeof(unsigned));
	OK(cuMemGetAddressRange(NULL, &bytes, address));
	OK(cuMemGetAddressRange(&base, NULL, address));
}

static void pageable_memory_has_no_range(void)
{
	CUdeviceptr base;
	size_t bytes;

	EXPECT(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)&base),
	       CUDA_ERROR_NOT_FOUND);
}

#define MEMORY "Memory Management: "

const struct check memory_checks[] = {
	CHECK(device_memory_is_aligned, MEMORY "cuMemAlloc"),
	CHECK(no_bytes_are_invalid, MEMORY "cuMemAlloc, cuMemAllocManaged"),
	CHECK(too_many_bytes_are_out_of_memory, MEMORY "cuMemAlloc"),
	CHECK(freeing_null_is_nothing, MEMORY "cuMemFree"),
	CHECK(memory_is_freed_once_by_its_beginning, MEMORY "cuMemFree"),
	CHECK(freeing_does_not_take_host_memory, MEMORY "cuMemFree, cuMemFreeHost"),
	CHECK(freeing_waits_for_the_work_before, MEMORY "cuMemFree"),
	CHECK(a_pitch_holds_a_row, MEMORY "cuMemAllocPitch"),
	CHECK(managed_memory_is_seen_by_both, MEMORY "cuMemAllocManaged"),
	CHECK(managed_memory_needs_one_attachment, MEMORY "cuMemAllocManaged"),
	CHECK(pinned_memory_is_seen_by_kernels, MEMORY "cuMemAllocHost"),
	CHECK(pinned_memory_has_one_address,
          "Unified Addressing: Automatic Mapping of Host Allocated Host Memory"),
	CHECK(portable_pinned_memory_does_not_say_so,
          MEASURED(MEMORY "cuMemHostGetFlags", "passes back the flags that were specified")),
	CHECK(pinned_memory_is_mapped,
          MEASURED(MEMORY "cuMemHostGetFlags", "passes back the flags that were specified")),
	CHECK(pinned_memory_takes_known_flags, MEMORY "cuMemHostAlloc"),
	CHECK(flags_of_pageable_memory_are_invalid, MEMORY "cuMemHostGetFlags"),
	CHECK(memory_is_registered_once, MEMORY "cuMemHostRegister"),
	CHECK(registered_memory_is_seen_by_kernels, MEMORY "cuMemHostRegister"),
	CHECK(a_range_is_found_from_inside, MEMORY "cuMemGetAddressRange"),
	CHECK(pageable_memory_has_no_range, MEMORY "cuMemGetAddressRange"),
	CHECKS_END,
};
