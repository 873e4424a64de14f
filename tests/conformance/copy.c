/* Copies and memsets. */
#include "conformance.h"

static void bytes_go_there_and_back(void)
{
	unsigned sent[4] = {1, 2, 3, 4}, back[4] = {0};
	CUdeviceptr first = words(), second = words();

	OK(cuMemcpyHtoD(first, sent, sizeof(sent)));
	OK(cuMemcpyDtoD(second, first, sizeof(sent)));
	OK(cuMemcpyDtoH(back, second, sizeof(back)));
	TRUE(memcmp(sent, back, sizeof(sent)) == 0);
}

static void addresses_tell_the_direction(void)
{
	unsigned sent = 42, back = 0;
	CUdeviceptr device = words();

	OK(cuMemcpy(device, (CUdeviceptr)(uintptr_t)&sent, sizeof(sent)));
	OK(cuMemcpy((CUdeviceptr)(uintptr_t)&back, device, sizeof(back)));
	EQUAL(back, 42);
}

static void host_memory_is_copied_to_host_memory(void)
{
	volatile unsigned *first = pinned(), *second = pinned();

	first[0] = 9;
	OK(cuMemcpy((CUdeviceptr)(uintptr_t)second, (CUdeviceptr)(uintptr_t)first, sizeof(unsigned)));
	EQUAL(second[0], 9);
}

static void no_bytes_are_copied_without_error(void)
{
	CUdeviceptr device = words();
	unsigned value = 1;

	OK(cuMemcpyHtoD(device, &value, 0));
	OK(cuMemcpyHtoDAsync(device, &value, 0, stream));
	OK(cuMemsetD32(device, 1, 0));
	finish(stream);
	EQUAL(word(device, 0), 0);
}

static void a_copy_needs_both_ends(void)
{
	CUdeviceptr device = words();
	unsigned value = 1;

	EXPECT(cuMemcpyHtoD(0, &value, sizeof(value)), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyHtoD(device, NULL, sizeof(value)), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoDAsync(device, 0, sizeof(value), stream), CUDA_ERROR_INVALID_VALUE);
}

static void a_copy_beyond_the_end_is_invalid(void)
{
	static char host[16 << 20];
	CUdeviceptr device;

	OK(cuMemAlloc(&device, 8 << 20));
	EXPECT(cuMemcpyHtoD(device, host, sizeof(host)), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoHAsync(host, device, sizeof(host), stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(device));
}

static void a_copy_to_the_host_is_done_when_it_returns(void)
{
	CUdeviceptr device = words();
	unsigned value = 0;

	OK(cuMemsetD32Async(device, 5, 1, stream));
	OK(cuMemcpyDtoHAsync(&value, device, sizeof(value), stream));
	EQUAL(value, 5);
}

static void pageable_memory_is_read_at_the_call(void)
{
	CUdeviceptr device = words();
	unsigned value = 1;

	OK(cuMemcpyHtoDAsync(device, &value, sizeof(value), stream));
	value = 2;
	finish(stream);
	EQUAL(word(device, 0), 1);
}

static void a_copy_to_pinned_memory_waits_its_turn(void)
{
	CUdeviceptr device = words();
	volatile unsigned *host = pinned();

	OK(cuMemsetD32(device, 5, 1));
	OK(cuStreamSynchronize(NULL));
	hold(stream);
	OK(cuMemcpyDtoHAsync((void *)(uintptr_t)host, device, sizeof(unsigned), stream));
	EQUAL(host[0], 0);
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	EQUAL(host[0], 5);
}

static void a_copy_from_pinned_memory_reads_it_in_its_turn(void)
{
	CUdeviceptr device = words();
	volatile unsigned *host = pinned();

	host[0] = 1;
	hold(stream);
	OK(cuMemcpyHtoDAsync(device, (const void *)(uintptr_t)host, sizeof(unsigned), stream));
	host[0] = 2;
	release();
	finish(stream);
	EQUAL(word(device, 0), 2);
}

static void a_synchronous_copy_comes_after_the_legacy_stream(void)
{
	CUdeviceptr list = words();
	CUstream blocking = blocking_stream();
	unsigned value = 0;

	OK(append(list, 1, blocking));
	OK(append(list, 2, NULL));
	OK(cuMemcpyDtoH(&value, list, sizeof(value)));
	EQUAL(value, 2);
}

static void rows_are_copied_and_gaps_are_not(void)
{
	unsigned char source[32], target[64];
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                       .srcHost = source,
	                       .srcPitch = 8,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstPitch = 16,
	                       .dstXInBytes = 2,
	                       .WidthInBytes = 8,
	                       .Height = 4};

	memset(source, 9, sizeof(source));
	plane.dstDevice = words();
	OK(cuMemcpy2D(&plane));
	OK(cuMemcpyDtoH(target, plane.dstDevice, sizeof(target)));
	EQUAL(target[17], 0);
	EQUAL(target[18], 9);
	EQUAL(target[25], 9);
	EQUAL(target[26], 0);
}

static void rows_are_copied_in_a_stream(void)
{
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcPitch = 16,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstPitch = 8,
	                       .WidthInBytes = 4,
	                       .Height = 4};

	plane.srcDevice = words();
	plane.dstDevice = words();
	OK(cuMemsetD2D32Async(plane.srcDevice, 16, 7, 1, 4, stream));
	OK(cuMemcpy2DAsync(&plane, stream));
	finish(stream);
	EQUAL(word(plane.dstDevice, 0), 7);
	EQUAL(word(plane.dstDevice, 1), 0);
	EQUAL(word(plane.dstDevice, 6), 7);
}

static void a_pitch_below_the_width_is_invalid(void)
{
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcPitch = 4,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstPitch = 16,
	                       .WidthInBytes = 8,
	                       .Height = 4};

	plane.srcDevice = words();
	plane.dstDevice = words();
	EXPECT(cuMemcpy2D(&plane), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy2DAsync(&plane, stream), CUDA_ERROR_INVALID_VALUE);
}

static void slices_are_copied(void)
{
	CUDA_MEMCPY3D solid = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcPitch = 8,
	                       .srcHeight = 2,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstPitch = 16,
	                       .dstHeight = 2,
	                       .WidthInBytes = 8,
	                       .Height = 2,
	                       .Depth = 2};

	solid.srcDevice = words();
	solid.dstDevice = words();
	OK(cuMemsetD32(solid.srcDevice, 3, 8));
	OK(cuStreamSynchronize(NULL));
	OK(cuMemcpy3DAsync(&solid, stream));
	finish(stream);
	EQUAL(word(solid.dstDevice, 1), 3);
	EQUAL(word(solid.dstDevice, 2), 0);
	EQUAL(word(solid.dstDevice, 13), 3);
	EQUAL(word(solid.dstDevice, 16), 0);
}

static void a_shape_is_needed(void)
{
	EXPECT(cuMemcpy2D(NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy3DAsync(NULL, stream), CUDA_ERROR_INVALID_VALUE);
}

static void contexts_copy_between_them(void)
{
	CUdeviceptr first = words(), second = words();

	OK(cuMemsetD32(first, 4, 1));
	OK(cuMemcpyPeer(second, context, first, context, sizeof(unsigned)));
	OK(cuCtxSynchronize());
	EQUAL(word(second, 0), 4);
}

static void memsets_write_their_elements(void)
{
	CUdeviceptr target = words();

	OK(cuMemsetD8(target, 0x11, 3));
	OK(cuMemsetD16(target + 4, 0x2222, 1));
	OK(cuMemsetD2D32(target + 8, 8, 0x33333333, 1, 2));
	OK(cuMemsetD2D8(target + 32, 4, 0x44, 2, 2));
	OK(cuCtxSynchronize());
	EQUAL(word(target, 0), 0x111111);
	EQUAL(word(target, 1), 0x2222);
	EQUAL(word(target, 2), 0x33333333);
	EQUAL(word(target, 3), 0);
	EQUAL(word(target, 4), 0x33333333);
	EQUAL(word(target, 8), 0x4444);
	EQUAL(word(target, 9), 0x4444);
}

static void memsets_take_their_turn(void)
{
	CUdeviceptr list = words();

	OK(cuMemsetD32Async(list, 0, WORDS, stream));
	OK(append(list, 1, stream));
	OK(append(list, 9, stream));
	OK(cuMemsetD32Async(list + 8, 2, 1, stream));
	finish(stream);
	is_list(list, 2);
}

static void an_element_is_aligned(void)
{
	CUdeviceptr target = words();

	EXPECT(cuMemsetD32(target + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD16Async(target + 1, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
}

static void a_memset_beyond_the_end_is_invalid(void)
{
	CUdeviceptr device;

	OK(cuMemAlloc(&device, 8 << 20));
	EXPECT(cuMemsetD8(device, 0, 16 << 20), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD8Async(device, 0, 16 << 20, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(device));
}

static void pageable_memory_is_not_set(void)
{
	unsigned local[4] = {0};

	EXPECT(cuMemsetD32((CUdeviceptr)(uintptr_t)local, 1, 4), CUDA_ERROR_INVALID_VALUE);
	EQUAL(local[0], 0);
}

static void pinned_memory_is_set_when_the_call_returns(void)
{
	volatile unsigned *host = pinned();

	OK(cuMemsetD32((CUdeviceptr)(uintptr_t)host, 6, 2));
	EQUAL(host[1], 6);
}

/* "For transfers from any host memory to any host memory, the function is fully synchronous with
 * respect to the host." */
static void a_copy_between_pinned_memory_is_done_when_it_returns(void)
{
	volatile unsigned *source = pinned(), *target = pinned();
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                      .srcHost = (const void *)(uintptr_t)source,
	                      .srcPitch = 16,
	                      .dstMemoryType = CU_MEMORYTYPE_HOST,
	                      .dstHost = (void *)(uintptr_t)(target + 16),
	                      .dstPitch = 16,
	                      .WidthInBytes = 16,
	                      .Height = 2};

	for (unsigned i = 1; i < 200; i++) {
		source[0] = i;
		OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)target, (CUdeviceptr)(uintptr_t)source, 64,
		                 stream));
		EQUAL(target[0], i);
		source[0] = i + 1;
		OK(cuMemcpy2DAsync(&rows, stream));
		EQUAL(target[16], i + 1);
	}
}

/* Nor do they begin behind what their stream holds. */
static void copies_of_no_bytes_wait_for_nothing(void)
{
	CUdeviceptr first = words(), second = words();
	void *host = (void *)(uintptr_t)pinned();

	hold(stream);
	OK(cuMemcpyDtoDAsync(first, second, 0, stream));
	OK(cuMemcpyHtoDAsync(first, host, 0, stream));
	OK(cuMemcpyDtoHAsync(host, first, 0, stream));
	OK(cuMemcpyAsync(first, second, 0, stream));
	OK(cuMemsetD8Async(first, 1, 0, stream));
	OK(cuMemsetD2D32Async(first, 16, 1, 4, 0, stream));
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	EQUAL(word(first, 0), 0);
}

static void copies_of_rows_beyond_the_end_are_invalid(void)
{
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcPitch = 4 << 20,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstPitch = 16,
	                      .WidthInBytes = 16,
	                      .Height = 4};

	OK(cuMemAlloc(&rows.srcDevice, 8 << 20));
	rows.dstDevice = words();
	EXPECT(cuMemcpy2DAsync(&rows, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD2D8Async(rows.srcDevice, 4 << 20, 1, 16, 4, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoDAsync(rows.dstDevice, rows.srcDevice + (8 << 20) - 16, 64, stream),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoDAsync(rows.srcDevice + (8 << 20) - 16, rows.dstDevice, 64, stream),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD32Async(rows.srcDevice + (8 << 20) - 16, 1, 16, stream),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(rows.srcDevice));
}

static void memsets_without_a_pitch_set_a_row_or_none(void)
{
	CUdeviceptr target = words();

	OK(cuMemsetD2D8Async(target, 0, 7, 16, 0, stream));
	finish(stream);
	EQUAL(word(target, 0), 0);
	OK(cuMemsetD2D8Async(target, 0, 7, 16, 1, stream));
	finish(stream);
	EQUAL(word(target, 3), 0x07070707);
}

static CUmemcpyAttributes in_stream_order(void)
{
	return (CUmemcpyAttributes){.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
}

static void copies_come_in_batches(void)
{
	CUdeviceptr first = words(), second = words(), targets[] = {words(), words()},
				sources[] = {first, second};
	CUmemcpyAttributes attributes = in_stream_order();
	size_t sizes[] = {16, 32}, from = 0;

	OK(cuMemsetD32Async(first, 3, WORDS, stream));
	OK(cuMemsetD32Async(second, 4, WORDS, stream));
	OK(cuMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &from, 1, stream));
	finish(stream);
	EQUAL(word(targets[0], 3), 3);
	EQUAL(word(targets[0], 4), 0);
	EQUAL(word(targets[1], 7), 4);
	EQUAL(word(targets[1], 8), 0);
}

static void each_copy_of_a_batch_has_attributes(void)
{
	CUdeviceptr targets[] = {words(), words()}, sources[] = {words(), words()};
	CUmemcpyAttributes attributes[] = {in_stream_order(), in_stream_order()};
	size_t sizes[] = {16, 16}, from[] = {0, 1};

	OK(cuMemcpyBatchAsync(targets, sources, sizes, 2, attributes, from, 2, stream));
	finish(stream);
	from[0] = 1;
	EXPECT(cuMemcpyBatchAsync(targets, sources, sizes, 2, attributes, from, 1, stream),
	       CUDA_ERROR_INVALID_VALUE);
	from[0] = 0;
	attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
	EXPECT(cuMemcpyBatchAsync(targets, sources, sizes, 2, attributes, from, 1, stream),
	       CUDA_ERROR_INVALID_VALUE);
}

static void a_peer_copy_takes_its_turn(void)
{
	CUdeviceptr source = words(), target = words();

	hold(stream);
	OK(cuMemsetD32Async(source, 5, WORDS, stream));
	OK(cuMemcpyPeerAsync(target, context, source, context, 64, stream));
	EQUAL(word(target, 0), 0);
	release();
	finish(stream);
	EQUAL(word(target, 15), 5);
}

#define MEMORY "Memory Management: "
#define SYNC "API synchronization behavior: "

const struct check copy_checks[] = {
	CHECK(bytes_go_there_and_back, MEMORY "cuMemcpyHtoD, cuMemcpyDtoD, cuMemcpyDtoH"),
	CHECK(addresses_tell_the_direction, MEMORY "cuMemcpy"),
	CHECK(host_memory_is_copied_to_host_memory, MEMORY "cuMemcpy"),
	CHECK(no_bytes_are_copied_without_error, MEMORY "cuMemcpyHtoD, cuMemsetD32"),
	CHECK(a_copy_needs_both_ends, MEMORY "cuMemcpyHtoD"),
	CHECK(a_copy_beyond_the_end_is_invalid, MEMORY "cuMemcpyHtoD"),
	CHECK(a_copy_to_the_host_is_done_when_it_returns, SYNC "Asynchronous, 2"),
	CHECK(pageable_memory_is_read_at_the_call, SYNC "Asynchronous, 1"),
	CHECK(a_copy_to_pinned_memory_waits_its_turn, SYNC "Asynchronous, 4"),
	CHECK(a_copy_from_pinned_memory_reads_it_in_its_turn, SYNC "Asynchronous, 4"),
	CHECK(a_synchronous_copy_comes_after_the_legacy_stream, SYNC "Synchronous, 3"),
	CHECK(rows_are_copied_and_gaps_are_not, MEMORY "cuMemcpy2D"),
	CHECK(rows_are_copied_in_a_stream, MEMORY "cuMemcpy2DAsync"),
	CHECK(a_pitch_below_the_width_is_invalid, MEMORY "cuMemcpy2D"),
	CHECK(slices_are_copied, MEMORY "cuMemcpy3DAsync"),
	CHECK(a_shape_is_needed, MEMORY "cuMemcpy2D"),
	CHECK(contexts_copy_between_them, MEMORY "cuMemcpyPeer"),
	CHECK(memsets_write_their_elements, MEMORY "cuMemsetD8, cuMemsetD16, cuMemsetD2D32"),
	CHECK(memsets_take_their_turn, MEMORY "cuMemsetD32Async"),
	CHECK(an_element_is_aligned, MEMORY "cuMemsetD32"),
	CHECK(a_memset_beyond_the_end_is_invalid, MEMORY "cuMemsetD8"),
	CHECK(pageable_memory_is_not_set, MEMORY "cuMemsetD32"),
	CHECK(pinned_memory_is_set_when_the_call_returns, SYNC "Memset"),
	CHECK(a_copy_between_pinned_memory_is_done_when_it_returns, SYNC "Asynchronous, 3"),
	CHECK(copies_of_no_bytes_wait_for_nothing, MEMORY "cuMemcpyAsync, cuMemsetD8Async"),
	CHECK(copies_of_rows_beyond_the_end_are_invalid, MEMORY "cuMemcpy2DAsync, cuMemsetD2D8Async"),
	CHECK(memsets_without_a_pitch_set_a_row_or_none, MEMORY "cuMemsetD2D8Async"),
	CHECK(copies_come_in_batches, MEMORY "cuMemcpyBatchAsync"),
	CHECK(each_copy_of_a_batch_has_attributes, MEMORY "cuMemcpyBatchAsync"),
	CHECK(a_peer_copy_takes_its_turn, MEMORY "cuMemcpyPeerAsync"),
	CHECKS_END,
};
