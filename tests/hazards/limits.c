/*
 * What no update makes of a node (cuGraphExecUpdate, "Limitations"; cuGraphExecKernelNodeSetParams
 * and its like): each changes now and then in a hot loop. Most is an op's shape, so that another
 * trace is followed and no update is ever refused.
 */
#include "hazard.h"

/* Loops that sometimes do `other` in the place of `usual`, both with a number that is seldom the
 * same. */
static void by_turns(void (*usual)(unsigned number, CUstream stream),
                     void (*other)(unsigned number, CUstream stream))
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		(hazard_springs(iteration) ? other : usual)(iteration, stream);
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	hazard_print("y", hazard_y);
}

/* ---- kernels ---- */

static void mix(unsigned number, CUstream stream)
{
	hazard_launch(hazard_mix, hazard_x, number, stream);
}

static void turn(unsigned number, CUstream stream)
{
	hazard_launch(hazard_turn, hazard_x, number, stream);
}

/* Another function with the same parameters. */
static void function_change(void)
{
	by_turns(mix, turn);
}

/* One CUkernel, launched in two contexts: there it is a function of another context. */
static void function_elsewhere(void)
{
	CUstream here = hazard_stream(CU_STREAM_NON_BLOCKING), there;
	CUdeviceptr x_there, y_there;
	CUcontext elsewhere;
	CUkernel kernel = hazard_kernel("mix");

	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuMemAlloc(&x_there, WORDS * 4));
	CHECK(cuMemAlloc(&y_there, WORDS * 4));
	CHECK(cuMemsetD32(x_there, 1, WORDS));
	CHECK(cuMemsetD32(y_there, 2, WORDS));
	CHECK(cuCtxSynchronize());
	there = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool swap = hazard_springs(iteration);

		for (unsigned turn_of = 0; turn_of < 2; turn_of++) {
			bool is_there = (turn_of == 1) != swap;

			CHECK(cuCtxSetCurrent(is_there ? elsewhere : hazard_context));
			for (unsigned i = 0; i < CHAIN; i++) {
				unsigned argument = i == 4 ? iteration : i;

				CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, WORDS, 1, 1, 0,
				                     is_there ? there : here,
				                     (void *[]){is_there ? &x_there : &hazard_x,
				                                is_there ? &y_there : &hazard_y, &argument},
				                     NULL));
			}
			CHECK(cuStreamSynchronize(is_there ? there : here));
		}
	}
	CHECK(cuCtxSetCurrent(elsewhere));
	hazard_print("there", x_there);
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("here", hazard_x);
}

static void launch_with(CUlaunchAttribute attribute, unsigned argument, CUstream stream)
{
	CUlaunchConfig config = {.gridDimX = 4,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = WORDS / 4,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = &attribute,
	                         .numAttrs = 1};

	CHECK(cuLaunchKernelEx(&config, hazard_mix, (void *[]){&hazard_x, &hazard_y, &argument}, NULL));
}

static void default_domain(unsigned number, CUstream stream)
{
	launch_with((CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	                                .value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT},
	            number, stream);
}

static void remote_domain(unsigned number, CUstream stream)
{
	launch_with((CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	                                .value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE},
	            number, stream);
}

/* A launch attribute that is neither a cluster, a priority nor cooperation. */
static void attribute_change(void)
{
	by_turns(default_domain, remote_domain);
}

/* ---- memsets ---- */

static CUdeviceptr plane; /* 16 rows of 64 bytes */

static void set_row(unsigned number, CUstream stream)
{
	CHECK(cuMemsetD32Async(plane + number % 5 * 4, number, WORDS / 2, stream));
	CHECK(cuMemsetD2D8Async(plane + 128, 64, (unsigned char)number, 16, 4, stream));
	CHECK(cuMemcpyDtoDAsync(hazard_y, plane + number % 3 * 64, WORDS * 4, stream));
}

/* Another width, element, height and pitch, by turns. */
static void set_otherwise(unsigned number, CUstream stream)
{
	bool odd = number % 2;

	CHECK(cuMemsetD32Async(plane + number % 5 * 4, number, odd ? WORDS / 4 : WORDS / 2, stream));
	if (!odd)
		CHECK(cuMemsetD16Async(plane, (unsigned short)number, WORDS, stream));
	CHECK(cuMemsetD2D8Async(plane + 128, odd ? 64 : 128, (unsigned char)number, odd ? 8 : 16,
	                        odd ? 8 : 4, stream));
	CHECK(cuMemcpyDtoDAsync(hazard_y, plane + number % 3 * 64, WORDS * 4, stream));
}

static void memset_dimensions(void)
{
	CHECK(cuMemAlloc(&plane, 16 * 64));
	CHECK(cuMemsetD8(plane, 9, 16 * 64));
	CHECK(cuCtxSynchronize());
	by_turns(set_row, set_otherwise);
}

/* Memory of another context, which a memset's node may be set to. */
static CUdeviceptr set_there;

static void set_here(unsigned number, CUstream stream)
{
	CHECK(cuMemsetD32Async(hazard_y, number, WORDS, stream));
	CHECK(cuMemsetD32Async(plane + number % 7 * 4, number, WORDS / 2, stream));
}

static void set_elsewhere(unsigned number, CUstream stream)
{
	CHECK(cuMemsetD32Async(hazard_y, number, WORDS, stream));
	CHECK(cuMemsetD32Async(set_there + number % 7 * 4, number, WORDS / 2, stream));
}

static void memset_elsewhere(void)
{
	CUcontext elsewhere;

	CHECK(cuMemAlloc(&plane, 16 * 64));
	CHECK(cuMemsetD8(plane, 0, 16 * 64));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuMemAlloc(&set_there, 16 * 64));
	CHECK(cuMemsetD8(set_there, 0, 16 * 64));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(hazard_context));
	by_turns(set_here, set_elsewhere);
	hazard_print("there", set_there);
	hazard_print("plane", plane);
}

/* ---- copies ---- */

static CUarray rows; /* 4 rows of WORDS words */

static void copy_plane(CUdeviceptr source, size_t pitch, size_t width, size_t height,
                       CUstream stream)
{
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcDevice = source,
	                      .srcPitch = pitch,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = hazard_y,
	                      .dstPitch = 32,
	                      .WidthInBytes = width,
	                      .Height = height};

	CHECK(cuMemcpy2DAsync(&copy, stream));
}

static void copy_row(unsigned number, CUstream stream)
{
	CHECK(cuMemcpyDtoDAsync(hazard_y, plane + number % 11 * 64, WORDS * 4, stream));
	mix(3, stream);
	CHECK(cuMemcpyDtoDAsync(hazard_y, plane + 64, WORDS * 4, stream));
	mix(4, stream);
	copy_plane(plane, 64, 32, 2, stream);
}

/* Another size, or other dimensions; a 2-D copy from elsewhere. */
static void copy_otherwise(unsigned number, CUstream stream)
{
	CHECK(cuMemcpyDtoDAsync(hazard_y, plane + number % 11 * 64, number % 2 ? WORDS * 2 : WORDS * 4,
	                        stream));
	mix(3, stream);
	CHECK(cuMemcpyDtoDAsync(hazard_y, plane + 64, number % 2 ? WORDS * 4 : WORDS * 2,
	                        stream)); /* nothing but the size is another */
	mix(4, stream);
	copy_plane(plane + number % 3 * 64, number % 2 ? 128 : 64, number % 2 ? 16 : 32, 2, stream);
}

static void set_up_planes(void)
{
	CUDA_ARRAY_DESCRIPTOR shape = {.Width = WORDS,
	                               .Height = 4,
	                               .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                               .NumChannels = 1};
	CUDA_MEMCPY2D fill = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcPitch = 64,
	                      .dstMemoryType = CU_MEMORYTYPE_ARRAY,
	                      .WidthInBytes = 64,
	                      .Height = 4};

	CHECK(cuMemAlloc(&plane, 16 * 64));
	for (unsigned i = 0; i < 16 * 16; i++)
		CHECK(cuMemsetD32(plane + i * 4, i * i + 1, 1));
	CHECK(cuArrayCreate(&rows, &shape));
	CHECK(cuCtxSynchronize());
	fill.srcDevice = plane + 8 * 64;
	fill.dstArray = rows;
	CHECK(cuMemcpy2D(&fill));
	CHECK(cuCtxSynchronize());
}

static void copy_dimensions(void)
{
	set_up_planes();
	by_turns(copy_row, copy_otherwise);
}

/* A copy of one row by descriptor, from device memory or from an array. */
static void copy_from_device(unsigned number, CUstream stream)
{
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcDevice = plane,
	                      .srcPitch = 64,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = hazard_y,
	                      .dstPitch = 64,
	                      .WidthInBytes = 64,
	                      .Height = 1};

	(void)number;
	CHECK(cuMemcpy2DAsync(&copy, stream));
}

static void copy_from_array(unsigned number, CUstream stream)
{
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
	                      .srcArray = rows,
	                      .srcY = number % 4,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = hazard_y,
	                      .dstPitch = 64,
	                      .WidthInBytes = 64,
	                      .Height = 1};

	CHECK(cuMemcpy2DAsync(&copy, stream));
}

static void copy_memory_type(void)
{
	set_up_planes();
	by_turns(copy_from_device, copy_from_array);
}

static void copy_from_managed(unsigned number, CUstream stream)
{
	static CUdeviceptr managed;

	if (managed == 0) {
		CHECK(cuMemAllocManaged(&managed, 16 * 64, CU_MEM_ATTACH_GLOBAL));
		for (unsigned i = 0; i < 16 * 16; i++)
			((unsigned *)(uintptr_t)managed)[i] = i * 7 + 2;
	}
	CHECK(cuMemcpyAsync(hazard_y, managed + number % 11 * 64, WORDS * 4, stream));
}

static void copy_from_plane(unsigned number, CUstream stream)
{
	CHECK(cuMemcpyAsync(hazard_y, plane + number % 11 * 64, WORDS * 4, stream));
}

/* A source in managed memory: never recorded. */
static void managed_copy(void)
{
	set_up_planes();
	by_turns(copy_from_plane, copy_from_managed);
}

/* Memory of two contexts, a long run of each: what was the exception becomes the rule, and a graph
 * of its own. */
static void copy_moves_out(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUcontext elsewhere;
	CUdeviceptr sources[2];

	CHECK(cuMemAlloc(&sources[0], 31 * WORDS * 4));
	CHECK(cuMemsetD32(sources[0], 3, 31 * WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	CHECK(cuMemAlloc(&sources[1], 31 * WORDS * 4));
	CHECK(cuMemsetD32(sources[1], 4, 31 * WORDS));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 4, stream); /* as in update_refused */
		CHECK(cuMemcpyDtoDAsync(hazard_y,
		                        sources[iteration / 200 % 2] + iteration * 7 % 31 * WORDS * 4,
		                        WORDS * 4, stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (iteration % 200 < 100 && iteration % 20 == 10)
			hazard_settle(stream);
	}
	hazard_print("x", hazard_x);
}

/* ---- nodes and edges ---- */

/* Programmatic edges among others; kernels, memsets and copies have new values each time. */
static void edges_kept(void)
{
	CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	                           .value.programmaticStreamSerializationAllowed = 1};
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	set_up_planes();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN / 4; i++) {
			mix(iteration + i, stream);
			launch_with(early, iteration * 3 + i, stream);
			launch_with(early, iteration * 5 + i, stream);
			if (i % 2)
				CHECK(cuMemsetD32Async(hazard_y, iteration, WORDS, stream));
			else
				copy_from_plane(iteration * 7 + i, stream);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static void copy_nothing(unsigned number, CUstream stream)
{
	CHECK(cuMemcpyAsync(hazard_y, plane + number % 11 * 64, 0, stream));
	CHECK(cuMemsetD32Async(hazard_y, number, 0, stream));
}

/* Ops of no bytes, of which a capture may make no node: the count of nodes would be another. */
static void nothing_at_all(void)
{
	set_up_planes();
	by_turns(copy_from_plane, copy_nothing);
}

/* The same in each iteration. */
static void nothing_always(void)
{
	set_up_planes();
	by_turns(copy_nothing, copy_from_plane);
}

const struct hazard limit_hazards[] = {
	{"function_change", function_change},
	{"function_elsewhere", function_elsewhere},
	{"attribute_change", attribute_change},
	{"memset_dimensions", memset_dimensions},
	{"memset_elsewhere", memset_elsewhere},
	{"copy_dimensions", copy_dimensions},
	{"copy_memory_type", copy_memory_type},
	{"managed_copy", managed_copy},
	{"copy_moves_out", copy_moves_out},
	{"edges_kept", edges_kept},
	{"nothing_at_all", nothing_at_all},
	{"nothing_always", nothing_always},
	{NULL, NULL},
};
