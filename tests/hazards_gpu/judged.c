/* What the driver judges at the call, and a graph does not: memory, dimensions, limits. */
#include "hazard.h"

#include <string.h>

enum { BYTES = 8 << 20 };

/* ---- memory ---- */

static volatile uint32_t *from, *to;

static void copy_on_host(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                      .srcHost = (const void *)(uintptr_t)from,
	                      .srcPitch = 16,
	                      .dstMemoryType = CU_MEMORYTYPE_HOST,
	                      .dstHost = (void *)(uintptr_t)(to + 16),
	                      .dstPitch = 16,
	                      .WidthInBytes = 16,
	                      .Height = 2};

	from[0] = i;
	CHECK_DRIVER(
		cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, 32, stream));
	EXPECT(to[0] == i, "iteration %u: the copy was not there on return", i);
	from[0] = i + 1;
	CHECK_DRIVER(cuMemcpy2DAsync(&rows, stream));
	EXPECT(to[16] == i + 1, "iteration %u: the rows were not there on return", i);
	if (trap)
		mirror_mix(mirror, i, stream);
}

/* Copies from pinned to pinned memory, whose target the host reads as soon as the call returns. */
static void host_to_host(void)
{
	from = mapped_words();
	to = mapped_words();
	among_hot(copy_on_host);
}

static CUdeviceptr block;

static void set_up_block(void)
{
	CHECK(cudaFree(NULL)); /* makes the primary context current */
	CHECK_DRIVER(cuMemAlloc(&block, BYTES));
	CHECK_DRIVER(cuMemsetD8(block, 5, BYTES));
	CHECK(cudaDeviceSynchronize());
}

static void touch_block(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	size_t place = i * 7 % 100 * 4096;
	bool set = trap && i % 2 == 0, copy = trap && i % 2 != 0;

	(void)mirror;
	EXPECT((cuMemsetD8Async(block + (set ? BYTES - 32 : place), (unsigned char)i, 64, stream) ==
	        CUDA_SUCCESS) != set,
	       "iteration %u: memset", i);
	EXPECT((cuMemcpyDtoDAsync(block + (copy ? BYTES - 32 : place + 4096), block, 64, stream) ==
	        CUDA_SUCCESS) != copy,
	       "iteration %u: copy", i);
}

/* Copies and memsets whose addresses move on each time, and now and then would leave their memory:
 * the driver refuses that call, and no other. */
static void beyond_memory(void)
{
	set_up_block();
	if (cuMemsetD8Async(block + BYTES - 32, 1, 64, NULL) == CUDA_SUCCESS)
		hazard_skip("a memset may reach a little beyond its memory");
	among_hot(touch_block);
}

static void set_moving(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	size_t place = i * 7 % 100 * 4096 + (trap ? 1 : 0);

	(void)mirror;
	EXPECT((cuMemsetD32Async(block + place, i, 16, stream) == CUDA_SUCCESS) != trap,
	       "iteration %u: 32 bits", i);
	EXPECT((cuMemsetD16Async(block + place, (unsigned short)i, 16, stream) == CUDA_SUCCESS) != trap,
	       "iteration %u: 16 bits", i);
}

/* Memsets whose addresses move on each time, and now and then are not aligned to their element. */
static void misaligned_set(void)
{
	set_up_block();
	among_hot(set_moving);
}

static const uint32_t zeros[WORDS];
static uint32_t *row;
static CUresult plainly;

static void set_no_rows(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	CUresult result = cuMemsetD2D8Async((CUdeviceptr)(uintptr_t)row, 0, 7, WORDS * 4, 0, stream);

	if (i == 0)
		plainly = result;
	EXPECT(result == plainly, "iteration %u: error %d", i, (int)result);
	mirror_absorb(mirror, row, zeros, stream);
	if (trap)
		mirror_mix(mirror, i, stream);
}

/* A 2-D memset of no rows, and without a pitch, sets nothing. */
static void memset_no_pitch(void)
{
	row = device_words();
	among_hot(set_no_rows);
}

/* ---- launches ---- */

static cudaError_t launch_shaped(struct mirror *mirror, dim3 grid, unsigned shared_bytes,
                                 cudaStream_t stream)
{
	cudaError_t result = cudaLaunchKernel(kernel_shaped, grid, (dim3){WORDS, 1, 1},
	                                      (void *[]){&mirror->device}, shared_bytes, stream);

	if (result != cudaSuccess) {
		(void)cudaGetLastError();
		return result;
	}
	for (unsigned word = 0; word < WORDS; word++)
		mirror->host[word] = mirror->host[word] * MIX_FACTOR + grid.x + 31 * grid.y + 977 * grid.z +
		                     7 * shared_bytes;
	return result;
}

static void launch_deep(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	CHECK(launch_shaped(mirror, (dim3){1, 1, trap && i % 2 ? 2 : 1}, 0, stream));
	CHECK(launch_shaped(mirror, (dim3){1, trap && i % 2 == 0 ? 2 : 1, 1}, 0, stream));
	CHECK(launch_shaped(mirror, (dim3){1, 1 + i % 3, 1 + i % 11}, 0, stream));
}

/* The grid changes in y and in z alone. */
static void grid_depth(void)
{
	among_hot(launch_deep);
}

static void launch_too_large(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	unsigned which = trap ? i % 3 : 3;

	EXPECT((launch_shaped(mirror, (dim3){which == 0 ? 0x80000000u : 1 + i % 5, 1, 1}, 0, stream) ==
	        cudaSuccess) == (which != 0),
	       "iteration %u: x", i);
	EXPECT((launch_shaped(mirror, (dim3){1, which == 1 ? 70000 : 1 + i % 5, 1}, 0, stream) ==
	        cudaSuccess) == (which != 1),
	       "iteration %u: y", i);
	EXPECT((launch_shaped(mirror, (dim3){1, 1, which == 2 ? 70000 : 1 + i % 5}, 0, stream) ==
	        cudaSuccess) == (which != 2),
	       "iteration %u: z", i);
}

/* Grids that change each time, and now and then are larger than the device allows. */
static void grid_limits(void)
{
	among_hot(launch_too_large);
}

static void launch_smaller(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	unsigned bytes = trap ? 64 << 10 : i < 60 ? (32 << 10) - 16 * i : 16 * (i * 7 % 101);

	EXPECT((launch_shaped(mirror, (dim3){1, 1, 1}, bytes, stream) == cudaSuccess) != trap,
	       "iteration %u", i);
}

/* Dynamic shared memory is another amount each time, always less than while the loop is learnt; and
 * now and then more than a kernel may have unless it is allowed more. */
static void shared_shrinks(void)
{
	among_hot(launch_smaller);
}

#define LIMITS 4

static const unsigned limits[LIMITS] = {80 << 10, 64 << 10, 100 << 10, 56 << 10};
static CUkernel shaped_kernel;
static CUfunction shaped_function;
static CUdevice device;

static void set_limit(unsigned bytes, bool by_kernel)
{
	if (by_kernel)
		CHECK_DRIVER(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		                                  (int)bytes, shaped_kernel, device));
	else
		CHECK_DRIVER(cuFuncSetAttribute(shaped_function,
		                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		                                (int)bytes));
}

static CUresult launch_by(CUfunction handle, struct mirror *mirror, unsigned shared_bytes,
                          cudaStream_t stream)
{
	CUresult result = cuLaunchKernel(handle, 1, 1, 1, WORDS, 1, 1, shared_bytes, stream,
	                                 (void *[]){&mirror->device}, NULL);

	for (unsigned word = 0; result == CUDA_SUCCESS && word < WORDS; word++)
		mirror->host[word] = mirror->host[word] * MIX_FACTOR + 1 + 31 + 977 + 7 * shared_bytes;
	return result;
}

/* Now and then a launch needs what only another limit allows. */
static void launch_within(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream,
                          bool set_by_kernel, bool launched_by_kernel)
{
	CUfunction handle = launched_by_kernel ? (CUfunction)shaped_kernel : shaped_function;

	for (unsigned which = 0; which < LIMITS; which++) {
		set_limit(limits[which], set_by_kernel);
		for (unsigned k = 0; k < 4; k++) {
			unsigned like = trap && k == i / 4 % 3 ? (which + i / 2) % LIMITS : which;

			EXPECT((launch_by(handle, mirror, limits[like] - k % 2 * 512, stream) ==
			        CUDA_SUCCESS) == (limits[like] <= limits[which]),
			       "iteration %u: %u bytes where %u are allowed", i, limits[like], limits[which]);
		}
		mirror_mix(mirror, which, stream);
	}
}

static void launch_functions(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	launch_within(mirror, i, trap, stream, false, false);
}

static void launch_functions_of_kernels(struct mirror *mirror, unsigned i, bool trap,
                                        cudaStream_t stream)
{
	launch_within(mirror, i, trap, stream, true, false);
}

static void launch_kernels(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	launch_within(mirror, i, trap, stream, true, true);
}

static void limits_in_turn(void (*call)(struct mirror *mirror, unsigned i, bool trap,
                                        cudaStream_t stream))
{
	if (device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) < 100 << 10)
		hazard_skip("less than 100 KB of shared memory for a block");
	CHECK(cudaFree(NULL));
	CHECK_DRIVER(cuCtxGetDevice(&device));
	CHECK(cudaGetKernel((cudaKernel_t *)&shaped_kernel, kernel_shaped));
	CHECK_DRIVER(cuKernelGetFunction(&shaped_function, shaped_kernel));
	among_hot(call);
}

/* A library sets the limit of a kernel's shared memory to what the next launches need, and so to a
 * few values in turn, the least last. */
static void shared_limits(void)
{
	limits_in_turn(launch_functions);
}

static void shared_limits_by_kernel(void)
{
	limits_in_turn(launch_functions_of_kernels);
}

/* Launched by the kernel's handle, too. */
static void shared_limits_of_kernel(void)
{
	limits_in_turn(launch_kernels);
}

/* The function has a limit of its own, and what its kernel is given has no effect. */
static void launch_overridden(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	bool high = i < ITERATIONS / 2 && i % 8 != 0;

	if (i <= ITERATIONS / 2)
		set_limit(high ? limits[2] : limits[3], false);
	if (i % 4 == 3)
		set_limit(limits[2] - 16 * (i % 64), true);
	for (unsigned k = 0; k < 8; k++) {
		bool large = k > 0 && (high || trap);

		EXPECT((launch_by(shaped_function, mirror, large ? limits[0] : limits[3], stream) ==
		        CUDA_SUCCESS) == (high || !large),
		       "iteration %u", i);
	}
}

static void shared_limits_overridden(void)
{
	limits_in_turn(launch_overridden);
}

static const size_t apart = (size_t)4 << 30;
static char *far;
static uint32_t low[WORDS], high[WORDS];

static void absorb_apart(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	(void)i;
	mirror_absorb(mirror, (const uint32_t *)(const void *)(trap ? far + apart : far),
	              trap ? high : low, stream);
}

/* Two addresses that differ in their upper halves alone. */
static void four_gib_apart(void)
{
	if (cudaMalloc((void **)&far, apart + 4096) != cudaSuccess)
		hazard_skip("four gigabytes are not there");
	for (unsigned word = 0; word < WORDS; word++) {
		low[word] = scramble(word);
		high[word] = scramble(word + WORDS);
	}
	CHECK(cudaMemcpy(far, low, sizeof low, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(far + apart, high, sizeof high, cudaMemcpyHostToDevice));
	among_hot(absorb_apart);
}

static void launch_without_attributes(struct mirror *mirror, unsigned i, bool trap,
                                      cudaStream_t stream)
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
	uint32_t argument = 3;
	cudaFunction_t function;

	CHECK(cudaGetFuncBySymbol(&function, kernel_mix));
	EXPECT((cuLaunchKernelEx(&config, function, (void *[]){&mirror->device, &argument}, NULL) ==
	        CUDA_SUCCESS) != trap,
	       "iteration %u", i);
	if (!trap)
		mirror_mixed(mirror, argument);
}

/* A launch says that it has an attribute, and has none. */
static void attributes_missing(void)
{
	among_hot(launch_without_attributes);
}

static CUfunction clustered;

static void need_clusters(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	unsigned blocks = trap ? 3 : 2 + 2 * (i % 7);

	if (i == HOT / 2) {
		if (cuFuncSetAttribute(clustered, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2) !=
		    CUDA_SUCCESS)
			hazard_skip("a function cannot be told that it needs clusters");
		CHECK_DRIVER(cuFuncSetAttribute(clustered, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
		CHECK_DRIVER(cuFuncSetAttribute(clustered, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
	}
	EXPECT((launch_shaped(mirror, (dim3){blocks, 1, 1}, 0, stream) == cudaSuccess) != trap,
	       "iteration %u: %u blocks", i, blocks);
}

/* A function is told in mid-loop that it needs clusters of two blocks: grids that these do not
 * divide are refused. */
static void cluster_attribute(void)
{
	cudaFunction_t function;

	CHECK(cudaGetFuncBySymbol(&function, kernel_shaped));
	clustered = (CUfunction)function;
	among_hot(need_clusters);
}

const struct hazard judged_hazards[] = {
	{"host_to_host", host_to_host},
	{"beyond_memory", beyond_memory},
	{"misaligned_set", misaligned_set},
	{"memset_no_pitch", memset_no_pitch},
	{"grid_depth", grid_depth},
	{"grid_limits", grid_limits},
	{"shared_shrinks", shared_shrinks},
	{"shared_limits", shared_limits},
	{"shared_limits_by_kernel", shared_limits_by_kernel},
	{"shared_limits_of_kernel", shared_limits_of_kernel},
	{"shared_limits_overridden", shared_limits_overridden},
	{"four_gib_apart", four_gib_apart},
	{"attributes_missing", attributes_missing},
	{"cluster_attribute", cluster_attribute},
	{NULL, NULL},
};
