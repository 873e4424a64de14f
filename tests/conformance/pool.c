/* Stream-ordered allocation. */
#include "conformance.h"

static CUmemoryPool default_pool(void)
{
	CUmemoryPool pool = NULL;

	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	TRUE(pool != NULL);
	return pool;
}

static void memory_is_there_in_stream_order(void)
{
	CUdeviceptr list = 0, result = words();

	OK(cuMemAllocAsync(&list, 256, stream));
	TRUE(list != 0);
	OK(cuMemsetD32Async(list, 3, 16, stream));
	OK(cuMemcpyDtoDAsync(result, list, 64, stream));
	OK(cuMemFreeAsync(list, stream));
	finish(stream);
	EQUAL(word(result, 15), 3);
}

static void memory_goes_to_another_stream_by_an_event(void)
{
	CUdeviceptr list = 0, result = words();
	CUevent ready = event_new(CU_EVENT_DISABLE_TIMING);

	OK(cuMemAllocAsync(&list, 256, stream));
	OK(cuEventRecord(ready, stream));
	OK(cuStreamWaitEvent(other, ready, 0));
	OK(cuMemsetD32Async(list, 3, 16, other));
	OK(cuMemcpyDtoDAsync(result, list, 64, other));
	OK(cuMemFreeAsync(list, other));
	finish(other);
	EQUAL(word(result, 15), 3);
}

static void a_place_for_the_address_is_needed(void)
{
	EXPECT(cuMemAllocAsync(NULL, 256, stream), CUDA_ERROR_INVALID_VALUE);
}

static void too_many_bytes_in_stream_order_are_out_of_memory(void)
{
	CUdeviceptr address;

	EXPECT(cuMemAllocAsync(&address, (size_t)1 << 46, stream), CUDA_ERROR_OUT_OF_MEMORY);
}

static void memory_of_a_pool_may_be_freed_at_once(void)
{
	CUdeviceptr address;

	OK(cuMemAllocAsync(&address, 256, stream));
	finish(stream);
	OK(cuMemFree(address));
}

static void what_was_never_allocated_is_not_freed(void)
{
	unsigned local;

	EXPECT(cuMemFreeAsync((CUdeviceptr)(uintptr_t)&local, stream), CUDA_ERROR_INVALID_VALUE);
}

static void there_is_one_default_pool(void)
{
	CUmemoryPool current = NULL;

	OK(cuDeviceGetMemPool(&current, 0));
	TRUE(current == default_pool());
	TRUE(default_pool() == default_pool());
}

static void memory_comes_from_a_pool_named(void)
{
	CUdeviceptr address = 0;

	OK(cuMemAllocFromPoolAsync(&address, 256, default_pool(), stream));
	TRUE(address != 0);
	OK(cuMemFreeAsync(address, stream));
}

static void the_release_threshold_is_kept(void)
{
	cuuint64_t before = 9, set = 1 << 20, after = 0;

	OK(cuMemPoolGetAttribute(default_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &before));
	EQUAL(before, 0);
	OK(cuMemPoolSetAttribute(default_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &set));
	OK(cuMemPoolGetAttribute(default_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &after));
	EQUAL(after, set);
	OK(cuMemPoolSetAttribute(default_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &before));
}

static void reuse_is_on(void)
{
	int on = 9;

	OK(cuMemPoolGetAttribute(default_pool(), CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &on));
	EQUAL(on, 1);
	OK(cuMemPoolGetAttribute(default_pool(), CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
	EQUAL(on, 1);
}

static void a_pool_may_be_trimmed(void)
{
	OK(cuMemPoolTrimTo(default_pool(), 0));
}

static void a_pool_may_be_created(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool;
	CUdeviceptr address;

	OK(cuMemPoolCreate(&pool, &props));
	OK(cuMemAllocFromPoolAsync(&address, 256, pool, stream));
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
	OK(cuMemPoolDestroy(pool));
}

static CUmemoryPool pool_of(size_t most)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	                        .maxSize = most};
	CUmemoryPool pool = NULL;

	OK(cuMemPoolCreate(&pool, &props));
	return pool;
}

static void a_pool_is_made_of_known_properties(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_INVALID,
	                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool;

	EXPECT(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	EXPECT(cuMemPoolCreate(NULL, &props), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPoolCreate(&pool, NULL), CUDA_ERROR_INVALID_VALUE);
	props.location.id = 99;
	EXPECT(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
	props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
	EXPECT(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
}

static void a_pool_has_a_size(void)
{
	CUmemoryPool pool = pool_of(1 << 20);
	CUdeviceptr address;

	EXPECT(cuMemAllocFromPoolAsync(&address, 64 << 20, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemPoolDestroy(pool));
}

static cuuint64_t figure(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = 77;

	OK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static void a_pool_counts_what_is_used(void)
{
	CUmemoryPool pool = pool_of(0);
	CUdeviceptr address;

	OK(cuMemAllocFromPoolAsync(&address, 1000, pool, stream));
	finish(stream);
	EQUAL(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000);
	TRUE(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 1000);
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
	EQUAL(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	EQUAL(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1000);
	OK(cuMemPoolTrimTo(pool, 0));
	EQUAL(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
	OK(cuMemPoolDestroy(pool));
}

static void watermarks_are_only_reset(void)
{
	CUmemoryPool pool = pool_of(0);
	cuuint64_t zero = 0, one = 1;

	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
	EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)99, &zero), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemPoolDestroy(pool));
}

static void a_pool_may_become_the_devices(void)
{
	CUmemoryPool pool = pool_of(0), found = NULL;
	CUdeviceptr address;

	OK(cuDeviceSetMemPool(0, pool));
	OK(cuDeviceGetMemPool(&found, 0));
	TRUE(found == pool);
	OK(cuMemAllocAsync(&address, 64, stream));
	OK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
	TRUE(found == pool);
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
	OK(cuMemPoolDestroy(pool));
	OK(cuDeviceGetMemPool(&found, 0));
	TRUE(found == default_pool());
}

static void a_default_pool_is_not_destroyed(void)
{
	EXPECT(cuMemPoolDestroy(default_pool()), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPoolDestroy(NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceSetMemPool(0, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void a_pool_is_accessible_from_its_device(void)
{
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	                          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	CUmemoryPool pool = pool_of(0);

	OK(cuMemPoolGetAccess(&flags, pool, &access.location));
	EQUAL(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	OK(cuMemPoolSetAccess(pool, &access, 1));
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	EXPECT(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_DEVICE);
	OK(cuMemPoolDestroy(pool));
}

static void a_pool_without_handle_types_is_not_exported(void)
{
	CUmemoryPool pool = pool_of(0);
	int file;

	EXPECT(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	                                        0),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuMemPoolDestroy(pool));
}

static void a_captured_allocation_becomes_a_node(void)
{
	CUdeviceptr address = 0;
	CUgraphNode all[4];

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemAllocAsync(&address, 256, stream));
	OK(cuMemFreeAsync(address, stream));
	capture_end();
	EQUAL(nodes(graph, all, 4), 2);
	EQUAL(type_of(all[0]), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	EQUAL(type_of(all[1]), CU_GRAPH_NODE_TYPE_MEM_FREE);
}

static void a_pool_may_be_made_to_be_exported(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool made;

	props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	OK(cuMemPoolCreate(&made, &props));
	OK(cuMemPoolDestroy(made));
	props.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
	props.reserved[3] = 1;
	EXPECT(cuMemPoolCreate(&made, &props), CUDA_ERROR_INVALID_VALUE);
}

#define POOL "Stream Ordered Memory Allocator: "

const struct check pool_checks[] = {
	CHECK(memory_is_there_in_stream_order, POOL "cuMemAllocAsync"),
	CHECK(memory_goes_to_another_stream_by_an_event, POOL "cuMemAllocAsync"),
	CHECK(a_place_for_the_address_is_needed, POOL "cuMemAllocAsync"),
	CHECK(too_many_bytes_in_stream_order_are_out_of_memory, POOL "cuMemAllocAsync"),
	CHECK(memory_of_a_pool_may_be_freed_at_once, POOL "cuMemAllocAsync"),
	CHECK(what_was_never_allocated_is_not_freed, POOL "cuMemFreeAsync"),
	CHECK(there_is_one_default_pool, "Device Management: cuDeviceGetDefaultMemPool"),
	CHECK(memory_comes_from_a_pool_named, POOL "cuMemAllocFromPoolAsync"),
	CHECK(the_release_threshold_is_kept, POOL "cuMemPoolSetAttribute"),
	CHECK(reuse_is_on, POOL "cuMemPoolGetAttribute"),
	CHECK(a_pool_may_be_trimmed, POOL "cuMemPoolTrimTo"),
	CHECK(a_pool_may_be_created, POOL "cuMemPoolCreate"),
	CHECK(a_pool_is_made_of_known_properties, POOL "cuMemPoolCreate"),
	CHECK(a_pool_has_a_size, POOL "cuMemPoolCreate"),
	CHECK(a_pool_counts_what_is_used, POOL "cuMemPoolGetAttribute"),
	CHECK(watermarks_are_only_reset, POOL "cuMemPoolSetAttribute"),
	CHECK(a_pool_may_become_the_devices, "Device Management: cuDeviceSetMemPool"),
	CHECK(a_default_pool_is_not_destroyed, POOL "cuMemPoolDestroy"),
	CHECK(a_pool_is_accessible_from_its_device,
          MEASURED(POOL "cuMemPoolSetAccess", "CUDA_ERROR_INVALID_VALUE")),
	CHECK(a_pool_without_handle_types_is_not_exported, POOL "cuMemPoolExportToShareableHandle"),
	CHECK(a_captured_allocation_becomes_a_node,
          "Programming Guide, Graph Memory Nodes, Stream Capture"),
	CHECK(a_pool_may_be_made_to_be_exported, POOL "cuMemPoolCreate"),
	CHECKS_END,
};
