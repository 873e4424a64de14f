/* Graphs brought to a visit: nodes set one by one, whatever their kind, and what no update makes of
 * a node (cuGraphExecUpdate, "Limitations"). */
#include "hazard.h"

#include <string.h>

enum { SOURCES = 31, KINDS = 7 };

/* A block of words that copies and memsets write and the mirror absorbs, and where copies come
 * from. */
static struct {
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *y, host_y[WORDS];
	uint32_t *sources, host_sources[SOURCES][WORDS];
	uint32_t *pinned; /* as many words as sources have, the same ones */
} all;

static void set_up(void)
{
	mirror_init(&all.mirror);
	CHECK(cudaStreamCreate(&all.stream));
	all.y = device_words();
	for (unsigned i = 0; i < SOURCES; i++)
		for (unsigned word = 0; word < WORDS; word++)
			all.host_sources[i][word] = scramble(i * WORDS + word + 99);
	CHECK(cudaMalloc((void **)&all.sources, sizeof all.host_sources));
	CHECK(
		cudaMemcpy(all.sources, all.host_sources, sizeof all.host_sources, cudaMemcpyHostToDevice));
	CHECK(cudaHostAlloc((void **)&all.pinned, sizeof all.host_sources, cudaHostAllocDefault));
	memcpy(all.pinned, all.host_sources, sizeof all.host_sources);
	CHECK(cudaDeviceSynchronize());
}

static CUdeviceptr y_address(void)
{
	return (CUdeviceptr)(uintptr_t)all.y;
}

static void absorb(void)
{
	mirror_absorb(&all.mirror, all.y, all.host_y, all.stream);
}

static void copied(unsigned source, unsigned bytes)
{
	memcpy(all.host_y, all.host_sources[source % SOURCES], bytes);
}

static void copy(unsigned source, unsigned bytes)
{
	CHECK(cudaMemcpyAsync(all.y, all.sources + source % SOURCES * WORDS, bytes,
	                      cudaMemcpyDeviceToDevice, all.stream));
	copied(source, bytes);
}

/* Rows of a 2-D copy or memset of y: 64 bytes apart. */
static void copy_rows(unsigned source, unsigned width, unsigned height)
{
	CHECK(cudaMemcpy2DAsync(all.y, 64, all.sources + source % SOURCES * WORDS, 64, width, height,
	                        cudaMemcpyDeviceToDevice, all.stream));
	for (unsigned row = 0; row < height; row++)
		memcpy((char *)all.host_y + 64 * row, (char *)all.host_sources[source % SOURCES] + 64 * row,
		       width);
}

static void set_rows(unsigned value, unsigned width, unsigned height)
{
	CHECK(cudaMemset2DAsync(all.y, 64, (int)value, width, height, all.stream));
	for (unsigned row = 0; row < height; row++)
		memset((char *)all.host_y + 64 * row, (int)(value & 0xff), width);
}

static void set_words(unsigned value, unsigned words)
{
	CHECK_DRIVER(cuMemsetD32Async(y_address(), value, words, all.stream));
	for (unsigned word = 0; word < words; word++)
		all.host_y[word] = value;
}

/* Op `kind` with one of many values. */
static void one_of_all(unsigned kind, unsigned value)
{
	switch (kind) {
	case 0:
		copy(value, sizeof all.host_y);
		break;
	case 1:
		CHECK(cudaMemcpyAsync(all.y, all.pinned + value % SOURCES * WORDS, sizeof all.host_y,
		                      cudaMemcpyHostToDevice, all.stream));
		copied(value, sizeof all.host_y);
		break;
	case 2:
		CHECK(cudaMemsetAsync(all.y, (int)value, sizeof all.host_y, all.stream));
		memset(all.host_y, (int)(value & 0xff), sizeof all.host_y);
		break;
	case 3:
		set_words(value * 65537, WORDS);
		break;
	case 4:
		set_rows(value * 3, 32, 4);
		break;
	case 5:
		copy_rows(3, 32, 4);
		break;
	default:
		mirror_mix(&all.mirror, value, all.stream);
	}
	absorb();
}

/* Values are new at each iteration, of all kinds of nodes. */
static void patch_mixed(void)
{
	set_up();
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned kind = 0; kind < KINDS; kind++)
			one_of_all(kind, i * KINDS + kind);
		if (trap_at(i))
			mirror_mix(&all.mirror, i, all.stream);
		CHECK(cudaStreamSynchronize(all.stream));
	}
	mirror_verify(&all.mirror, ITERATIONS);
}

/* ---- limits: loops that sometimes do another thing in the place of the usual one ---- */

static void by_turns(void (*usual)(unsigned number), void (*other)(unsigned number))
{
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 6; k++)
			mirror_mix(&all.mirror, k, all.stream);
		(trap_at(i) ? other : usual)(i);
		absorb();
		mirror_body(&all.mirror, all.stream);
		CHECK(cudaStreamSynchronize(all.stream));
	}
	mirror_verify(&all.mirror, ITERATIONS);
}

static void mix(unsigned number)
{
	mirror_mix(&all.mirror, number, all.stream);
}

/* The same by another function, with the same parameters. */
static void mix_by_itself(unsigned number)
{
	uint32_t argument = number;

	launch(kernel_dependent, 1, WORDS, (void *[]){&all.mirror.device, &argument}, all.stream);
	mirror_mixed(&all.mirror, argument);
}

static void function_change(void)
{
	int major = 0;

	CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	if (major < 9)
		hazard_skip("no programmatic launches before compute capability 9");
	set_up();
	by_turns(mix, mix_by_itself);
}

/* One CUkernel in two contexts: there it is a function of another context. */
static void function_elsewhere(void)
{
	uint32_t there_words[WORDS], expected[WORDS] = {0};
	CUcontext there, popped;
	CUstream stream_there;
	CUdeviceptr x_there;
	cudaKernel_t kernel;

	set_up();
	CHECK(cudaGetKernel(&kernel, kernel_mix));
	CHECK_DRIVER(cuCtxCreate(&there, NULL, 0, 0));
	CHECK_DRIVER(cuMemAlloc(&x_there, sizeof there_words));
	CHECK_DRIVER(cuMemsetD32(x_there, 0, WORDS));
	CHECK_DRIVER(cuCtxSynchronize());
	CHECK_DRIVER(cuStreamCreate(&stream_there, CU_STREAM_NON_BLOCKING));
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	for (uint32_t i = 0; i < ITERATIONS; i++) {
		CHECK_DRIVER(cuCtxPushCurrent(there));
		for (uint32_t k = 0; k < BODY; k++) {
			uint32_t argument = k == 4 ? i : k;

			CHECK_DRIVER(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, WORDS, 1, 1, 0, stream_there,
			                            (void *[]){&x_there, &argument}, NULL));
			for (unsigned word = 0; word < WORDS; word++)
				expected[word] = expected[word] * MIX_FACTOR + argument + word;
		}
		CHECK_DRIVER(cuStreamSynchronize(stream_there));
		CHECK_DRIVER(cuCtxPopCurrent(&popped));
		mirror_body(&all.mirror, all.stream);
		mirror_mix(&all.mirror, i, all.stream);
		CHECK(cudaStreamSynchronize(all.stream));
	}
	CHECK_DRIVER(cuCtxPushCurrent(there));
	CHECK_DRIVER(cuMemcpyDtoH(there_words, x_there, sizeof there_words));
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	EXPECT(!memcmp(there_words, expected, sizeof expected), "the other context has other words");
	mirror_verify(&all.mirror, ITERATIONS);
}

static void launch_in_domain(unsigned number, cudaLaunchMemSyncDomain domain)
{
	cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeMemSyncDomain};
	cudaLaunchConfig_t config = {.gridDim = {1, 1, 1},
	                             .blockDim = {WORDS, 1, 1},
	                             .stream = all.stream,
	                             .attrs = &attribute,
	                             .numAttrs = 1};
	uint32_t argument = number;

	attribute.val.memSyncDomain = domain;
	CHECK(cudaLaunchKernelExC(&config, kernel_mix, (void *[]){&all.mirror.device, &argument}));
	mirror_mixed(&all.mirror, argument);
}

static void default_domain(unsigned number)
{
	launch_in_domain(number, cudaLaunchMemSyncDomainDefault);
}

static void remote_domain(unsigned number)
{
	launch_in_domain(number, cudaLaunchMemSyncDomainRemote);
}

static void attribute_change(void)
{
	set_up();
	by_turns(default_domain, remote_domain);
}

static void set_usually(unsigned number)
{
	set_words(number, WORDS / 2);
	absorb();
	set_rows(number, 16, 4);
}

static void set_otherwise(unsigned number)
{
	set_words(number, number % 2 ? WORDS / 4 : WORDS);
	absorb();
	set_rows(number, number % 2 ? 8 : 16, number % 2 ? 4 : 3);
}

static void memset_dimensions(void)
{
	set_up();
	by_turns(set_usually, set_otherwise);
}

static void copy_usually(unsigned number)
{
	copy(number, sizeof all.host_y);
	absorb();
	copy_rows(1, 32, 3);
}

static void copy_otherwise(unsigned number)
{
	copy(number, number % 2 ? sizeof all.host_y / 2 : sizeof all.host_y);
	absorb();
	copy_rows(number, number % 2 ? 16 : 32, number % 3 + 1);
}

static void copy_dimensions(void)
{
	set_up();
	by_turns(copy_usually, copy_otherwise);
}

/* Memory that only the copies of a hazard below know. */
static uint32_t *managed;
static CUdeviceptr elsewhere;
static cudaArray_t array; /* SOURCES rows of WORDS words, as the sources have */

static void copy_default(unsigned number)
{
	CHECK(cudaMemcpyAsync(all.y, all.sources + number % SOURCES * WORDS, sizeof all.host_y,
	                      cudaMemcpyDefault, all.stream));
	copied(number, sizeof all.host_y);
}

static void copy_managed(unsigned number)
{
	CHECK(cudaMemcpyAsync(all.y, managed + number % SOURCES * WORDS, sizeof all.host_y,
	                      cudaMemcpyDefault, all.stream));
	copied(number, sizeof all.host_y);
}

static void managed_copy(void)
{
	set_up();
	CHECK(cudaMallocManaged((void **)&managed, sizeof all.host_sources, cudaMemAttachGlobal));
	memcpy(managed, all.host_sources, sizeof all.host_sources);
	by_turns(copy_default, copy_managed);
}

static void copy_row(unsigned number)
{
	(void)number;
	CHECK(cudaMemcpy2DAsync(all.y, sizeof all.host_y, all.sources, sizeof all.host_y,
	                        sizeof all.host_y, 1, cudaMemcpyDeviceToDevice, all.stream));
	copied(0, sizeof all.host_y);
}

static void copy_array_row(unsigned number)
{
	CHECK(cudaMemcpy2DFromArrayAsync(all.y, sizeof all.host_y, array, 0, number % SOURCES,
	                                 sizeof all.host_y, 1, cudaMemcpyDeviceToDevice, all.stream));
	copied(number, sizeof all.host_y);
}

static void copy_memory_type(void)
{
	struct cudaChannelFormatDesc word = {.x = 32, .f = cudaChannelFormatKindUnsigned};

	set_up();
	CHECK(cudaMallocArray(&array, &word, WORDS, SOURCES, cudaArrayDefault));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, all.host_sources, sizeof all.host_y, sizeof all.host_y,
	                          SOURCES, cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	by_turns(copy_row, copy_array_row);
}

/* Memory of another context: `elsewhere` has the sources' words. */
static void set_up_elsewhere(void)
{
	CUcontext there, popped;

	CHECK_DRIVER(cuCtxCreate(&there, NULL, 0, 0));
	CHECK_DRIVER(cuMemAlloc(&elsewhere, sizeof all.host_sources));
	CHECK_DRIVER(cuMemcpyHtoD(elsewhere, all.host_sources, sizeof all.host_sources));
	CHECK_DRIVER(cuCtxSynchronize());
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	if (cuMemcpyDtoDAsync(y_address(), elsewhere, sizeof all.host_y, all.stream) != CUDA_SUCCESS)
		hazard_skip("memory of another context cannot be copied");
	CHECK(cudaStreamSynchronize(all.stream));
}

/* A long run of copies from each context: what was the exception becomes the rule. */
static void copy_moves_out(void)
{
	set_up();
	set_up_elsewhere();
	for (unsigned i = 0; i < ITERATIONS; i++) {
		CUdeviceptr from = i / 200 % 2 ? elsewhere : (CUdeviceptr)(uintptr_t)all.sources;

		CHECK_DRIVER(cuMemcpyDtoDAsync(y_address(), from + i * 7 % SOURCES * sizeof all.host_y,
		                               sizeof all.host_y, all.stream));
		copied(i * 7, sizeof all.host_y);
		absorb();
		mirror_body(&all.mirror, all.stream);
		CHECK(cudaStreamSynchronize(all.stream));
	}
	mirror_verify(&all.mirror, ITERATIONS);
}

static void set_here(unsigned number)
{
	set_words(number, WORDS);
}

/* The other context's memory is set, and copied back. */
static void set_elsewhere(unsigned number)
{
	CHECK_DRIVER(cuMemsetD32Async(elsewhere, number, WORDS, all.stream));
	CHECK_DRIVER(cuMemcpyDtoDAsync(y_address(), elsewhere, sizeof all.host_y, all.stream));
	for (unsigned word = 0; word < WORDS; word++)
		all.host_y[word] = number;
}

static void memset_elsewhere(void)
{
	set_up();
	set_up_elsewhere();
	by_turns(set_here, set_elsewhere);
}

/* Programmatic edges among others; kernels, memsets and copies have new values each time. */
static void edges_kept(void)
{
	cudaLaunchAttribute early = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
	cudaLaunchConfig_t config = {.gridDim = {1, 1, 1},
	                             .blockDim = {WORDS, 1, 1},
	                             .attrs = &early,
	                             .numAttrs = 1};
	int major = 0;

	CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	if (major < 9)
		hazard_skip("no programmatic launches before compute capability 9");
	set_up();
	config.stream = all.stream;
	early.val.programmaticStreamSerializationAllowed = 1;
	for (uint32_t i = 0; i < ITERATIONS; i++) {
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t argument = i * 3 + k;

			mirror_mix(&all.mirror, i + k, all.stream);
			CHECK(cudaLaunchKernelExC(&config, kernel_dependent,
			                          (void *[]){&all.mirror.device, &argument}));
			mirror_mixed(&all.mirror, argument);
			one_of_all(k, i * 7 + k);
		}
		CHECK(cudaStreamSynchronize(all.stream));
	}
	mirror_verify(&all.mirror, ITERATIONS);
}

static void do_nothing(unsigned number)
{
	CHECK(cudaMemcpyAsync(all.y, all.sources + number % SOURCES * WORDS, 0, cudaMemcpyDefault,
	                      all.stream));
	CHECK_DRIVER(cuMemsetD32Async(y_address(), number, 0, all.stream));
}

/* Ops of no bytes, of which a capture may make no node. */
static void nothing_at_all(void)
{
	set_up();
	by_turns(copy_default, do_nothing);
}

static void nothing_always(void)
{
	set_up();
	by_turns(do_nothing, copy_default);
}

const struct hazard patching_hazards[] = {
	{"patch_mixed", patch_mixed},
	{"function_change", function_change},
	{"function_elsewhere", function_elsewhere},
	{"attribute_change", attribute_change},
	{"memset_dimensions", memset_dimensions},
	{"copy_dimensions", copy_dimensions},
	{"managed_copy", managed_copy},
	{"copy_memory_type", copy_memory_type},
	{"copy_moves_out", copy_moves_out},
	{"memset_elsewhere", memset_elsewhere},
	{"edges_kept", edges_kept},
	{"nothing_at_all", nothing_at_all},
	{"nothing_always", nothing_always},
	{NULL, NULL},
};
