/* What cuPointerGetAttribute and cuPointerGetAttributes say of each kind of memory. */
#include "conformance.h"

static unsigned type_at(CUdeviceptr address)
{
	unsigned type = 99;

	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
	return type;
}

static unsigned managed_at(CUdeviceptr address)
{
	unsigned is_managed = 99;

	OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
	return is_managed;
}

static void device_memory_is_told(void)
{
	CUdeviceptr address = words();

	EQUAL(type_at(address), CU_MEMORYTYPE_DEVICE);
	EQUAL(type_at(address + 17), CU_MEMORYTYPE_DEVICE);
	EQUAL(managed_at(address), 0);
}

static void pinned_memory_is_told(void)
{
	CUdeviceptr address = (CUdeviceptr)(uintptr_t)pinned();

	EQUAL(type_at(address), CU_MEMORYTYPE_HOST);
	EQUAL(type_at(address + 17), CU_MEMORYTYPE_HOST);
	EQUAL(managed_at(address), 0);
}

static void managed_memory_is_told(void)
{
	CUdeviceptr address;

	OK(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
	EQUAL(type_at(address), CU_MEMORYTYPE_DEVICE);
	EQUAL(managed_at(address), 1);
	OK(cuMemFree(address));
}

static void registered_memory_is_told(void)
{
	static char own[4096] __attribute__((aligned(4096)));
	CUdeviceptr address = (CUdeviceptr)(uintptr_t)own;
	unsigned type;

	OK(cuMemHostRegister(own, sizeof(own), 0));
	EQUAL(type_at(address), CU_MEMORYTYPE_HOST);
	OK(cuMemHostUnregister(own));
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
	       CUDA_ERROR_INVALID_VALUE);
}

static void pageable_memory_is_invalid(void)
{
	unsigned type;

	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                             (CUdeviceptr)(uintptr_t)&type),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0),
	       CUDA_ERROR_INVALID_VALUE);
}

static void freed_memory_is_invalid(void)
{
	CUdeviceptr address;
	unsigned type;

	OK(cuMemAlloc(&address, 8 << 20));
	OK(cuMemFree(address));
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
	       CUDA_ERROR_INVALID_VALUE);
}

static void several_attributes_of_pageable_memory_are_nothing(void)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                               CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	                               CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_IS_MANAGED};
	unsigned type = 7, is_managed = 7;
	CUcontext owner = (CUcontext)7;
	int device = 7;
	void *values[] = {&type, &device, &owner, &is_managed};

	OK(cuPointerGetAttributes(4, which, values, (CUdeviceptr)(uintptr_t)&type));
	EQUAL(type, 0);
	EQUAL(device, CU_DEVICE_INVALID);
	TRUE(owner == NULL);
	EQUAL(is_managed, 0);
}

static void several_attributes_come_at_once(void)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                               CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	                               CU_POINTER_ATTRIBUTE_CONTEXT};
	CUdeviceptr address = words();
	unsigned type = 7;
	CUcontext owner = NULL;
	int device = 7;
	void *values[] = {&type, &device, &owner};

	OK(cuPointerGetAttributes(3, which, values, address + 4));
	EQUAL(type, CU_MEMORYTYPE_DEVICE);
	EQUAL(device, 0);
	TRUE(owner == context);
}

static void an_attribute_that_does_not_apply_is_nothing_among_several(void)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_HOST_POINTER};
	void *host = &which, *values[] = {&host};

	OK(cuPointerGetAttributes(1, which, values, words()));
	TRUE(host == NULL);
}

static void pointers_of_device_memory(void)
{
	CUdeviceptr address = words(), device = 0;
	void *host;

	OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address + 8));
	EQUAL(device, address + 8);
	EXPECT(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address),
	       CUDA_ERROR_INVALID_VALUE);
}

static void pointers_of_pinned_memory(void)
{
	CUdeviceptr address = (CUdeviceptr)(uintptr_t)pinned(), device = 0;
	void *host = NULL;

	OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
	EQUAL(device, address);
	OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
	EQUAL((uintptr_t)host, address);
}

static void the_range_of_a_pointer(void)
{
	CUdeviceptr address = words(), start = 0;
	size_t size = 0;

	OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 12));
	EQUAL(start, address);
	OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 12));
	EQUAL(size, WORDS * sizeof(unsigned));
}

/* The range must hold all that was given out, and begin where that does. */
static void range_is(CUdeviceptr address, size_t bytes)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	                               CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	CUdeviceptr start = 0;
	size_t size = 0;
	void *values[] = {&start, &size};

	OK(cuPointerGetAttributes(2, which, values, address + bytes / 4));
	EQUAL(start, address);
	EQUAL(size, bytes);
}

static void the_range_of_memory_of_every_kind(void)
{
	static char own[8192] __attribute__((aligned(4096)));
	CUdeviceptr managed, pooled;
	void *host;

	range_is(words(), WORDS * sizeof(unsigned));
	OK(cuMemAllocHost(&host, 4096));
	range_is((CUdeviceptr)(uintptr_t)host, 4096);
	OK(cuMemFreeHost(host));
	OK(cuMemHostRegister(own, sizeof(own), 0));
	range_is((CUdeviceptr)(uintptr_t)own, sizeof(own));
	OK(cuMemHostUnregister(own));
	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	range_is(managed, 4096);
	OK(cuMemFree(managed));
	OK(cuMemAllocAsync(&pooled, 4096, stream));
	range_is(pooled, 4096);
	OK(cuMemFreeAsync(pooled, stream));
	finish(stream);
}

static void the_range_of_a_modules_variable(void)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	                               CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	CUdeviceptr address, start = 0;
	size_t bytes, size = 0;
	void *values[] = {&start, &size};

	OK(cuModuleGetGlobal(&address, &bytes, module, "counter"));
	OK(cuPointerGetAttributes(2, which, values, address));
	TRUE(start <= address);
	TRUE(address + bytes <= start + size);
}

static void of_unknown_memory_no_range_is_told(void)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
	CUdeviceptr start = 7;
	void *values[] = {&start};

	OK(cuPointerGetAttributes(1, which, values, (CUdeviceptr)(uintptr_t)&start));
	EQUAL(start, 7);
}

/* Also of memory of another context than is current. */
static void the_address_range_is_the_same(void)
{
	CUdeviceptr address = words(), base = 0;
	CUcontext elsewhere;
	size_t bytes = 0;

	OK(cuMemGetAddressRange(&base, &bytes, address + 8));
	EQUAL(base, address);
	EQUAL(bytes, WORDS * sizeof(unsigned));
	OK(cuCtxCreate(&elsewhere, NULL, 0, 0));
	base = 0;
	OK(cuMemGetAddressRange(&base, &bytes, address + 8));
	EQUAL(base, address);
	EQUAL(bytes, WORDS * sizeof(unsigned));
	OK(cuCtxDestroy(elsewhere));
	OK(cuCtxSetCurrent(context));
}

/* The range of memory that is mapped by hand is what was reserved; its address range is what is
 * mapped there. */
static void the_range_of_mapped_memory_is_what_was_reserved(void)
{
	CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	                          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle first, second;
	CUdeviceptr address, base;
	size_t grain, bytes;

	OK(cuMemGetAllocationGranularity(&grain, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	OK(cuMemAddressReserve(&address, 2 * grain, 0, 0, 0));
	OK(cuMemCreate(&first, grain, &properties, 0));
	OK(cuMemCreate(&second, grain, &properties, 0));
	OK(cuMemMap(address, grain, 0, first, 0));
	OK(cuMemSetAccess(address, grain, &access, 1));
	range_is(address, 2 * grain);
	OK(cuMemGetAddressRange(&base, &bytes, address + 8));
	EQUAL(base, address);
	EQUAL(bytes, grain);
	EXPECT(cuMemsetD8Async(address + grain - 8, 1, 16, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(address + grain, grain, 0, second, 0));
	OK(cuMemSetAccess(address + grain, grain, &access, 1));
	OK(cuMemGetAddressRange(&base, &bytes, address + 8));
	EQUAL(bytes, grain);
	OK(cuMemGetAddressRange(&base, &bytes, address + grain));
	EQUAL(base, address + grain);
	OK(cuMemsetD8Async(address + grain - 8, 1, 16, stream));
	finish(stream);
	OK(cuMemUnmap(address, 2 * grain));
	OK(cuMemRelease(first));
	OK(cuMemRelease(second));
	OK(cuMemAddressFree(address, 2 * grain));
}

static void the_context_and_device_of_a_pointer(void)
{
	CUdeviceptr address = words(), host = (CUdeviceptr)(uintptr_t)pinned();
	CUcontext owner = NULL;
	int device = 7;

	OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
	TRUE(owner == context);
	OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, host));
	TRUE(owner == context);
	OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
	EQUAL(device, 0);
}

static unsigned long long id_at(CUdeviceptr address)
{
	unsigned long long id = 0;

	OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
	return id;
}

static void each_allocation_has_an_id(void)
{
	CUdeviceptr first = words(), second = words();

	TRUE(id_at(first) != id_at(second));
	EQUAL(id_at(first + 8), id_at(first));
}

static void variables_of_modules_are_device_memory(void)
{
	CUdeviceptr address;
	size_t bytes;

	OK(cuModuleGetGlobal(&address, &bytes, module, "counter"));
	EQUAL(type_at(address), CU_MEMORYTYPE_DEVICE);
	EXPECT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

static void memory_of_a_pool_says_so(void)
{
	CUmemoryPool pool, wanted;
	CUdeviceptr address;

	OK(cuDeviceGetDefaultMemPool(&wanted, 0));
	OK(cuMemAllocAsync(&address, 256, stream));
	EQUAL(type_at(address), CU_MEMORYTYPE_DEVICE);
	OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
	TRUE(pool == wanted);
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
}

static void synchronous_operations_may_be_asked_for(void)
{
	CUdeviceptr address = words();
	unsigned on = 1;

	OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
	on = 0;
	OK(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
	EQUAL(on, 1);
}

static void synchronous_operations_need_not_be_asked_for(void)
{
	CUdeviceptr address = words();
	unsigned on = 9;

	OK(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
	EQUAL(on, 0);
	on = 1;
	OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
	on = 0;
	OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
	on = 9;
	OK(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
	EQUAL(on, 0);
}

static void synchronous_operations_are_done_when_they_return(void)
{
	CUdeviceptr source = words(), target = words();
	unsigned on = 1;

	OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, source));
	OK(cuMemsetD32(source, 7, WORDS));
	EQUAL(word(source, WORDS - 1), 7);
	OK(cuMemcpyDtoD(target, source, WORDS * sizeof(unsigned)));
	EQUAL(word(target, WORDS - 1), 7);
}

static void operations_of_unknown_memory_are_not_made_synchronous(void)
{
	unsigned local = 1;

	EXPECT(cuPointerSetAttribute(&local, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
	                             (CUdeviceptr)(uintptr_t)&local),
	       CUDA_ERROR_INVALID_VALUE);
}

#define UNIFIED "Unified Addressing: cuPointerGetAttribute"

const struct check pointer_checks[] = {
	CHECK(device_memory_is_told, UNIFIED ", CU_POINTER_ATTRIBUTE_MEMORY_TYPE"),
	CHECK(pinned_memory_is_told, UNIFIED ", CU_POINTER_ATTRIBUTE_MEMORY_TYPE"),
	CHECK(managed_memory_is_told, UNIFIED ", CU_POINTER_ATTRIBUTE_IS_MANAGED"),
	CHECK(registered_memory_is_told, UNIFIED ", CU_POINTER_ATTRIBUTE_MEMORY_TYPE"),
	CHECK(pageable_memory_is_invalid, UNIFIED),
	CHECK(freed_memory_is_invalid, UNIFIED),
	CHECK(several_attributes_of_pageable_memory_are_nothing, UNIFIED "s"),
	CHECK(several_attributes_come_at_once, UNIFIED "s"),
	CHECK(an_attribute_that_does_not_apply_is_nothing_among_several, UNIFIED "s"),
	CHECK(pointers_of_device_memory, UNIFIED ", CU_POINTER_ATTRIBUTE_HOST_POINTER"),
	CHECK(pointers_of_pinned_memory, UNIFIED ", CU_POINTER_ATTRIBUTE_DEVICE_POINTER"),
	CHECK(the_range_of_a_pointer, UNIFIED ", CU_POINTER_ATTRIBUTE_RANGE_SIZE"),
	CHECK(the_range_of_memory_of_every_kind, UNIFIED "s, CU_POINTER_ATTRIBUTE_RANGE_SIZE"),
	CHECK(the_range_of_a_modules_variable, UNIFIED "s, CU_POINTER_ATTRIBUTE_RANGE_SIZE"),
	CHECK(of_unknown_memory_no_range_is_told, "measured on an H200, driver 580; not documented"),
	CHECK_ALONE(the_address_range_is_the_same, "Memory Management: cuMemGetAddressRange", 0),
	CHECK(the_range_of_mapped_memory_is_what_was_reserved,
          UNIFIED ", CU_POINTER_ATTRIBUTE_RANGE_SIZE"),
	CHECK(the_context_and_device_of_a_pointer, UNIFIED ", CU_POINTER_ATTRIBUTE_CONTEXT"),
	CHECK(each_allocation_has_an_id, UNIFIED ", CU_POINTER_ATTRIBUTE_BUFFER_ID"),
	CHECK(variables_of_modules_are_device_memory, UNIFIED),
	CHECK(memory_of_a_pool_says_so, UNIFIED ", CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE"),
	CHECK(synchronous_operations_may_be_asked_for, "Unified Addressing: cuPointerSetAttribute"),
	CHECK(synchronous_operations_need_not_be_asked_for,
          "Unified Addressing: cuPointerSetAttribute"),
	CHECK(synchronous_operations_are_done_when_they_return,
          "Unified Addressing: cuPointerSetAttribute, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS"),
	CHECK(operations_of_unknown_memory_are_not_made_synchronous,
          "Unified Addressing: cuPointerSetAttribute"),
	CHECKS_END,
};
