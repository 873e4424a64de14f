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
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool;
	CUdeviceptr address;

	OK(cuMemPoolCreate(&pool, &props));
	OK(cuMemAllocFromPoolAsync(&address, 256, pool, stream));
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
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
	CHECK_GPU(a_pool_may_be_created, POOL "cuMemPoolCreate", "only the default pools are modelled"),
	CHECK_GPU(a_captured_allocation_becomes_a_node, "Programming Guide, Graph Memory Nodes, Stream Capture", "memory nodes are not modelled"),
	CHECKS_END,
};
