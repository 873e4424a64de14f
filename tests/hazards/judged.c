/* What the driver judges at the call, and a graph does not: memory, dimensions, limits. */
#include <string.h>

#include "hazard.h"

#define ROW (WORDS * 4)
#define ROWS 64u

/* A hot loop with `call` in the middle of its chain. `trap` is true where the loop springs it. */
static void among_hot(void (*call)(unsigned iteration, bool trap, CUstream stream))
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		call(iteration, hazard_springs(iteration), stream);
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static unsigned refused;

static void expect(CUresult result)
{
	refused += result != CUDA_SUCCESS;
}

static void print_refused(void)
{
	printf("refused %u\n", refused);
}

/* ---- memory ---- */

static uint32_t *from, *to;
static uint32_t seen;

static void see(unsigned at, unsigned iteration)
{
	seen = seen * 69069u + to[at] + (to[at] == iteration);
}

static void copy_on_host(unsigned iteration, bool trap, CUstream stream)
{
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                       .srcHost = from,
	                       .srcPitch = 16,
	                       .dstMemoryType = CU_MEMORYTYPE_HOST,
	                       .dstHost = to + 16,
	                       .dstPitch = 16,
	                       .WidthInBytes = 16,
	                       .Height = 2};
	CUDA_MEMCPY3D block = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
	                       .srcDevice = (CUdeviceptr)(uintptr_t)from,
	                       .srcPitch = 16,
	                       .srcHeight = 2,
	                       .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
	                       .dstDevice = (CUdeviceptr)(uintptr_t)(to + 32),
	                       .dstPitch = 16,
	                       .dstHeight = 2,
	                       .WidthInBytes = 16,
	                       .Height = 2,
	                       .Depth = 2};

	from[0] = iteration;
	CHECK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, 64, stream));
	see(0, iteration);
	from[0] = iteration + 1;
	CHECK(cuMemcpyDtoHAsync(to + 8, (CUdeviceptr)(uintptr_t)from, 4, stream));
	see(8, iteration + 1);
	from[0] = iteration + 2;
	CHECK(cuMemcpy2DAsync(&plane, stream));
	see(16, iteration + 2);
	from[0] = iteration + 3;
	CHECK(cuMemcpy3DAsync(&block, stream));
	see(32, iteration + 3);
	if (trap)
		hazard_part_of_chain(hazard_x, 3, stream);
}

/* Copies from pinned to pinned memory, whose target the host reads as soon as the call returns. */
static void host_to_host(void)
{
	CHECK(cuMemAllocHost((void **)&from, 4096));
	CHECK(cuMemAllocHost((void **)&to, 4096));
	memset(from, 0, 4096);
	among_hot(copy_on_host);
	printf("seen %08x\n", (unsigned)seen);
}

static CUdeviceptr rows;
static char *pinned;

/* Where a row begins in this iteration; or half a row before the end. */
static size_t place(unsigned iteration, bool beyond)
{
	return beyond ? ROWS * ROW - ROW / 2 : iteration * 7 % (ROWS - 4) * ROW;
}

static void touch_rows(unsigned iteration, bool trap, CUstream stream)
{
	unsigned which = trap ? iteration % 6 : 6;

	expect(cuMemsetD8Async(rows + place(iteration, which == 0), (unsigned char)iteration, ROW,
	                       stream));
	expect(cuMemcpyDtoDAsync(rows + place(iteration, which == 1), hazard_x, ROW, stream));
	expect(cuMemcpyDtoDAsync(hazard_y, rows + place(iteration, which == 2), ROW, stream));
	expect(cuMemcpyHtoDAsync(hazard_y, pinned + place(iteration, which == 3), ROW, stream));
	expect(cuMemcpyDtoHAsync(pinned + place(iteration, which == 4), hazard_x, ROW, stream));
	/* The first of the two rows is within it. */
	expect(cuMemsetD2D32Async(rows + (which == 5 ? (ROWS - 1) * ROW : place(iteration, false)), ROW,
	                          iteration, WORDS, 2, stream));
}

static void set_up_rows(void)
{
	CHECK(cuMemAlloc(&rows, ROWS * ROW));
	CHECK(cuMemsetD8(rows, 5, ROWS * ROW));
	CHECK(cuMemAllocHost((void **)&pinned, ROWS * ROW));
	memset(pinned, 6, ROWS * ROW);
	CHECK(cuCtxSynchronize());
}

/* Copies and memsets whose addresses move on each time, and now and then would leave their memory:
 * the driver refuses that call, and no other. */
static void beyond_memory(void)
{
	set_up_rows();
	among_hot(touch_rows);
	print_refused();
	hazard_print("rows", rows);
}

static size_t grain;
static CUdeviceptr reserved;
static CUmemGenericAllocationHandle pieces[4];
static bool all_mapped;

static void map(unsigned piece)
{
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
	                                       .id = hazard_device},
	                          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

	CHECK(cuMemMap(reserved + piece * grain, grain, 0, pieces[piece], 0));
	CHECK(cuMemSetAccess(reserved + piece * grain, grain, &access, 1));
}

/* Across the borders of pieces; where the loop springs it, into the last one, which is mapped by
 * turns. */
static void touch_pieces(unsigned iteration, bool trap, CUstream stream)
{
	CUdeviceptr border = reserved + (trap ? 3 : 1 + iteration % 2) * grain,
				place = border - 4 * (1 + iteration % (WORDS - 1));

	expect(cuMemsetD32Async(place, iteration, WORDS, stream));
	expect(cuMemcpyDtoDAsync(hazard_y, place, ROW, stream));
	expect(cuMemcpyDtoDAsync(border - grain + 64, place, ROW, stream));
	if (!trap)
		return;
	if (all_mapped)
		CHECK(cuMemUnmap(reserved + 3 * grain, grain));
	else
		map(3);
	all_mapped = !all_mapped;
}

/* Memory that is mapped piece by piece: ops that reach over several pieces, and now and then beyond
 * the last. */
static void mapped_by_hand(void)
{
	CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
	                                               .id = hazard_device}};

	CHECK(cuMemGetAllocationGranularity(&grain, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(cuMemAddressReserve(&reserved, 8 * grain, 0, 0, 0));
	for (unsigned piece = 0; piece < 4; piece++)
		CHECK(cuMemCreate(&pieces[piece], grain, &properties, 0));
	for (unsigned piece = 0; piece < 3; piece++)
		map(piece);
	CHECK(cuMemsetD8(reserved, 3, 3 * grain));
	CHECK(cuCtxSynchronize());
	among_hot(touch_pieces);
	print_refused();
	hazard_print("pieces", reserved + grain);
}

static void copy_rows(unsigned iteration, bool trap, CUstream stream)
{
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcPitch = ROW,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstDevice = hazard_y,
	                       .dstPitch = 32,
	                       .WidthInBytes = 16,
	                       .Height = 2};

	if (trap) {
		CHECK(cuMemFree(rows));
		CHECK(cuMemAlloc(&rows, iteration % 2 ? ROW + 8 : 2 * ROW));
		CHECK(cuMemsetD8(rows, (unsigned char)iteration, ROW));
		CHECK(cuCtxSynchronize());
	}
	plane.srcDevice = rows;
	expect(cuMemcpy2DAsync(&plane, stream));
}

/* The memory of a copy of rows is given back, and comes again at the same address, but may be too
 * small. */
static void smaller_again(void)
{
	CHECK(cuMemAlloc(&rows, 2 * ROW));
	CHECK(cuMemsetD8(rows, 1, 2 * ROW));
	CHECK(cuCtxSynchronize());
	among_hot(copy_rows);
	print_refused();
}

static void set_moving(unsigned iteration, bool trap, CUstream stream)
{
	size_t off = trap ? 1 + iteration % 3 : 0;

	expect(cuMemsetD32Async(rows + place(iteration, false) + off, iteration, WORDS, stream));
	expect(cuMemsetD16Async(rows + place(iteration + 1, false) + off % 2,
	                        (unsigned short)(iteration * 31), WORDS, stream));
	expect(
		cuMemsetD2D32Async(rows + place(iteration + 2, false) + off, ROW, iteration, 2, 2, stream));
}

/* Memsets whose addresses move on each time, and now and then are not aligned to their element. */
static void misaligned_set(void)
{
	set_up_rows();
	among_hot(set_moving);
	print_refused();
	hazard_print("rows", rows);
}

static void set_without_pitch(unsigned iteration, bool trap, CUstream stream)
{
	expect(cuMemsetD2D8Async(rows + ROW, 0, (unsigned char)(iteration | 1), ROW, 0, stream));
	expect(cuMemsetD2D8Async(rows + 3 * ROW, 0, trap ? 3 : 7, ROW, 1, stream));
}

/* Rows without a pitch are rows all the same: none of them is none. */
static void memset_no_pitch(void)
{
	set_up_rows();
	among_hot(set_without_pitch);
	print_refused();
	hazard_print("rows", rows + ROW);
	hazard_print("one row", rows + 3 * ROW);
}

static void set_other_pitch(unsigned iteration, bool trap, CUstream stream)
{
	CHECK(cuMemsetD8Async(rows, 0, 8 * ROW, stream));
	CHECK(cuMemsetD2D8Async(rows, trap ? 16 : 24, 7, 12, 4, stream));
	CHECK(cuMemcpyDtoDAsync(hazard_y, rows, ROW, stream));
	CHECK(cuMemsetD16Async(rows, (unsigned short)(iteration * 769), WORDS, stream));
	CHECK(cuMemcpyDtoDAsync(hazard_y, rows + 16, 8, stream));
}

/* Only the pitch of a memset changes; and the value of one whose elements are of 16 bits. */
static void memset_pitch(void)
{
	set_up_rows();
	among_hot(set_other_pitch);
}

/* ---- launches ---- */

static CUresult launch(unsigned x, unsigned y, unsigned z, unsigned threads, unsigned shared_bytes,
                       unsigned argument, CUstream stream)
{
	return cuLaunchKernel(hazard_mix, x, y, z, threads, 1, 1, shared_bytes, stream,
	                      (void *[]){&hazard_x, &hazard_y, &argument}, NULL);
}

static void launch_deep(unsigned iteration, bool trap, CUstream stream)
{
	CHECK(launch(1, 1, trap && iteration % 2 ? 2 : 1, WORDS, 0, 7, stream));
	CHECK(launch(1, trap && iteration % 2 == 0 ? 2 : 1, 1, WORDS, 0, 9, stream));
	CHECK(launch(1, 1 + iteration % 3, 1 + iteration % 11, WORDS, 0, iteration, stream));
}

/* The grid changes in y and in z alone. */
static void grid_depth(void)
{
	among_hot(launch_deep);
}

static CUresult launch_together(unsigned x, unsigned argument, CUstream stream)
{
	CUlaunchAttribute together = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
	CUlaunchConfig config = {.gridDimX = x,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 1,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = &together,
	                         .numAttrs = 1};

	return cuLaunchKernelEx(&config, hazard_mix, (void *[]){&hazard_x, &hazard_y, &argument}, NULL);
}

static void launch_too_large(unsigned iteration, bool trap, CUstream stream)
{
	unsigned which = trap ? iteration % 4 : 4;

	expect(launch(which == 0 ? 0x80000000u : 1 + iteration % 5, 1, 1, 1, 0, iteration, stream));
	expect(launch(1, which == 1 ? 70000 : 1 + iteration % 5, 1, 1, 0, iteration, stream));
	expect(launch(1, 1, which == 2 ? 70000 : 1 + iteration % 5, 1, 0, iteration, stream));
	expect(launch_together(which == 3 ? 1000000 : 1 + iteration % 2, iteration, stream));
}

/* Grids that change each time, and now and then are larger than the device allows, or than runs at
 * once. */
static void grid_limits(void)
{
	among_hot(launch_too_large);
	print_refused();
}

static void launch_smaller(unsigned iteration, bool trap, CUstream stream)
{
	expect(launch(1, 1, 1, WORDS,
	              trap             ? 9000
	              : iteration < 60 ? 8192 - 16 * iteration
	                               : 16 * (iteration * 7 % 101),
	              iteration, stream));
}

/* Dynamic shared memory is another amount each time, always less than while the loop is learnt; and
 * now and then more than the function may have. */
static void shared_shrinks(void)
{
	CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8192));
	among_hot(launch_smaller);
	print_refused();
}

#define APART (UINT64_C(1) << 32)

static void launch_apart(unsigned iteration, bool trap, CUstream stream)
{
	hazard_launch(hazard_mix, trap ? rows + APART : rows, 5, stream);
	hazard_launch(hazard_turn, rows, 6, stream);
}

/* Two addresses that differ in their upper halves alone. */
static void four_gib_apart(void)
{
	CHECK(cuMemAlloc(&rows, APART + 4096));
	CHECK(cuMemsetD32(rows, 1, WORDS));
	CHECK(cuMemsetD32(rows + APART, 2, WORDS));
	CHECK(cuCtxSynchronize());
	among_hot(launch_apart);
	hazard_print("low", rows);
	hazard_print("high", rows + APART);
}

static void launch_without_attributes(unsigned iteration, bool trap, CUstream stream)
{
	CUlaunchAttribute one = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
	CUlaunchConfig config = {.gridDimX = 1,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = WORDS,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = trap ? NULL : &one,
	                         .numAttrs = 1};

	expect(cuLaunchKernelEx(&config, hazard_mix, (void *[]){&hazard_x, &hazard_y, &(unsigned){3}},
	                        NULL));
}

/* A launch says that it has an attribute, and has none. */
static void attributes_missing(void)
{
	among_hot(launch_without_attributes);
	print_refused();
}

/* In the midst of what is hot comes a launch that the driver never takes. */
static void refused_always(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned argument = 7;

	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		refused +=
			cuLaunchKernel(hazard_mix, 1, 1, 1, 4096, 1, 1, 0, stream,
		                   (void *[]){&hazard_x, &hazard_y, &argument}, NULL) != CUDA_SUCCESS;
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	print_refused();
	hazard_print("x", hazard_x);
}

const struct hazard judged_hazards[] = {
	{"host_to_host", host_to_host},     {"beyond_memory", beyond_memory},
	{"smaller_again", smaller_again},   {"mapped_by_hand", mapped_by_hand},
	{"misaligned_set", misaligned_set}, {"memset_no_pitch", memset_no_pitch},
	{"memset_pitch", memset_pitch},     {"grid_depth", grid_depth},
	{"grid_limits", grid_limits},       {"shared_shrinks", shared_shrinks},
	{"four_gib_apart", four_gib_apart}, {"attributes_missing", attributes_missing},
	{"refused_always", refused_always}, {NULL, NULL},
};
