/* Kernels that launch kernels, in a hot loop: none of what follows may begin before what they have
 * launched has ended. */
#include "hazard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LAUNCHERS = 4, DEPTH = 3 };

/* Launches one that launches others with the argument, and does the same to the mirror. */
typedef void (*launcher)(struct mirror *mirror, uint32_t argument, cudaStream_t stream);

static void loop_with(launcher launches)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (uint32_t k = 0; k < LAUNCHERS; k++) {
			uint32_t argument = trap_at(i) && k == 2 ? i : 10 * k;

			launches(&mirror, argument, stream);
			mirror_mix(&mirror, k, stream);
			mirror_mix(&mirror, k + 1, stream);
		}
		if (i % 3)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void behind_and_beside(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_parent, 1, WORDS, (void *[]){&mirror->device, &argument}, stream);
	for (uint32_t mixed = 0; mixed < 3; mixed++)
		mirror_mixed(mirror, argument + mixed);
	mirror_mix(mirror, 7, stream);
	launch(kernel_spawn, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
}

/* Behind themselves, and beside themselves. */
static void dynamic_parallelism(void)
{
	loop_with(behind_and_beside);
}

static void in_streams(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_streams, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
	mirror_mixed(mirror, argument + 1);
}

/* In streams that the kernel makes, with an event between them. */
static void dynamic_parallelism_streams(void)
{
	loop_with(in_streams);
}

static void by_generations(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	uint32_t depth = DEPTH;

	launch(kernel_nested, 1, 1, (void *[]){&mirror->device, &depth, &argument}, stream);
	for (uint32_t left = DEPTH + 1; left-- > 0;)
		mirror_mixed(mirror, argument + left);
}

/* In the default stream, and each its successor. */
static void dynamic_parallelism_nested(void)
{
	loop_with(by_generations);
}

static void by_copies(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t *y;

	if (y == NULL)
		y = device_words();
	launch(kernel_by_copies, 1, 1, (void *[]){&mirror->device, &y, &argument}, stream);
	mirror_mixed(mirror, argument);
}

/* Copies that a kernel asks for. */
static void dynamic_parallelism_copies(void)
{
	loop_with(by_copies);
}

/* ---- in the midst of hot launches, which are replayed ---- */

static launcher launches_among;

static void launch_among(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	launches_among(mirror, trap ? i : 10, stream);
}

static void among_with(launcher launches)
{
	launches_among = launches;
	among_hot(launch_among);
}

static void by_memsets(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t *y;

	if (y == NULL)
		y = device_words();
	launch(kernel_by_memsets, 1, 1, (void *[]){&mirror->device, &y, &argument}, stream);
	memset(mirror->host + 8, 0, 16 * sizeof *mirror->host);
	mirror_mixed(mirror, argument);
	memset(mirror->host + 16, 0, 16 * sizeof *mirror->host);
}

/* Memsets that a kernel asks for. */
static void dynamic_parallelism_memsets(void)
{
	among_with(by_memsets);
}

static void by_rows(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t *y;

	if (y == NULL)
		CHECK(cudaMalloc((void **)&y, 2 * WORDS * sizeof *y));
	launch(kernel_by_rows, 1, 1, (void *[]){&mirror->device, &y, &argument}, stream);
	for (uint32_t *row = mirror->host; row < mirror->host + WORDS; row += WORDS / ROWS) {
		memset(row + 1, 0, 2 * sizeof *row);
		memset(row + 5, 0, 2 * sizeof *row);
	}
	mirror_mixed(mirror, argument);
}

/* Copies and memsets of rows and slices. */
static void dynamic_parallelism_rows(void)
{
	among_with(by_rows);
}

static void halved(uint32_t *x, uint32_t words, uint32_t more)
{
	uint32_t before[WORDS];

	memcpy(before, x, words * sizeof *x);
	for (uint32_t i = 0; i < words; i++)
		x[i] = before[words - 1 - i] * MIX_FACTOR + more + i;
	if (words > HALVES_LEAST) {
		halved(x, words / 2, more);
		halved(x + words / 2, words / 2, more);
	}
}

static void by_halves(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	uint32_t words = WORDS, more = 1000 * (1 + argument % 10); /* 40 KB at most */

	CHECK(cudaLaunchKernel(kernel_halves, (dim3){1, 1, 1}, (dim3){WORDS, 1, 1},
	                       (void *[]){&mirror->device, &words, &more},
	                       (more + words) * sizeof(uint32_t), stream));
	halved(mirror->host, words, more);
}

/* Each launch from the device says how much shared memory its kernel has. */
static void dynamic_parallelism_shared(void)
{
	among_with(by_halves);
}

static void from_host(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t *mapped, value, last;

	if (mapped == NULL)
		mapped = mapped_words();
	else
		EXPECT(*(volatile uint32_t *)mapped == last, "a kernel wrote %u, and the host reads %u",
		       last, *(volatile uint32_t *)mapped);
	for (unsigned i = 1; i < WORDS; i++) /* whoever launches has waited */
		mapped[i] = scramble(++value);
	last = argument;
	launch(kernel_from_host, 1, 1, (void *[]){&mirror->device, &mapped, &argument}, stream);

	uint32_t seen[WORDS];

	memcpy(seen, mapped, sizeof seen);
	seen[0] = argument;
	mirror_absorbed(mirror, seen);
}

/* The host changes mapped memory after each wait. The kernel writes there, and its child reads. */
static void dynamic_parallelism_mapped(void)
{
	among_with(from_host);
}

static void by_constants(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t constants[WORDS];
	uint32_t depth = 2;

	if (argument % 3) { /* from pageable memory, which may change as soon as the call returns */
		for (unsigned i = 0; i < WORDS; i++)
			constants[i] = scramble(argument + i);
		CHECK(cudaMemcpyToSymbolAsync(symbol_constants, constants, sizeof constants, 0,
		                              cudaMemcpyHostToDevice, stream));
	} else {
		memcpy(constants, mirror->host, sizeof constants);
		CHECK(cudaMemcpyToSymbolAsync(symbol_constants, mirror->device, sizeof constants, 0,
		                              cudaMemcpyDeviceToDevice, stream));
	}
	launch(kernel_absorb_constants, 1, WORDS, (void *[]){&mirror->device, &depth}, stream);
	for (unsigned i = 0; i <= depth; i++)
		mirror_absorbed(mirror, constants);
	mirror_mix(mirror, argument, stream);
	memset(constants, 0xa5, sizeof constants); /* nobody reads it later */
}

static void change_constants(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	for (uint32_t k = 0; k < 3; k++) /* one of three is the same each time */
		by_constants(mirror, k == 0 ? 30 : trap ? i : i % 5, stream);
}

/* Constants that the host changes in stream order, from its own memory and from the device's. */
static void dynamic_parallelism_constants(void)
{
	among_hot(change_constants);
}

static void by_texture(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static cudaTextureObject_t texture;
	static uint32_t *y, host_y[WORDS];

	if (y == NULL) {
		struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
		struct cudaTextureDesc description = {.readMode = cudaReadModeElementType};

		y = device_words();
		resource.res.linear.devPtr = y;
		resource.res.linear.desc =
			(struct cudaChannelFormatDesc){.x = 32, .f = cudaChannelFormatKindUnsigned};
		resource.res.linear.sizeInBytes = sizeof host_y;
		CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
	}

	uint32_t depth = 1 + argument % 2;

	launch(kernel_write_for_texture, 1, WORDS, (void *[]){&mirror->device, &y, &texture, &depth},
	       stream);
	for (uint32_t left = depth + 1; left-- > 0;) {
		mirror_absorbed(mirror, host_y);
		if (left > 0)
			memcpy(host_y, mirror->host, sizeof host_y);
	}
}

/* A texture object of the host's, of memory that the kernel writes before its child reads it. */
static void dynamic_parallelism_textures(void)
{
	among_with(by_texture);
}

static void by_heap(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_by_heap, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
	mirror_mixed(mirror, argument + 1);
}

/* Memory that the kernel allocates, that its children use, and that the last of them gives back. */
static void dynamic_parallelism_heap(void)
{
	among_with(by_heap);
}

static void mixed_by_halves(struct mirror *mirror, uint32_t argument)
{
	for (uint32_t i = 0; i < WORDS; i++)
		mirror->host[i] = mirror->host[i] * MIX_FACTOR + argument + i % (WORDS / 2);
}

static void in_order(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_in_order, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	mixed_by_halves(mirror, argument);
	mixed_by_halves(mirror, argument + 1);
	mirror_mixed(mirror, argument + 2);
}

/* In streams of all kinds at once. What is launched first, into the tail, begins last. */
static void dynamic_parallelism_order(void)
{
	among_with(in_order);
}

static void of_other_blocks(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t *arrived;
	static void **streams;

	if (arrived == NULL) {
		arrived = device_words();
		CHECK(cudaMalloc((void **)&streams, 2 * sizeof *streams));
	}
	launch(kernel_of_other_blocks, 2, 1, (void *[]){&mirror->device, &streams, &arrived, &argument},
	       stream);
	mixed_by_halves(mirror, argument);
	mixed_by_halves(mirror, argument + 1);
}

/* In a stream that another block of the grid has made. */
static void dynamic_parallelism_blocks(void)
{
	among_with(of_other_blocks);
}

static void printing(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	(void)mirror;
	(void)trap;
	launch(kernel_prints, 1, 1, (void *[]){&i}, stream);
}

/* What a kernel, its child and its tail print is compared with the run without Reprise. */
static void dynamic_parallelism_prints(void)
{
	among_hot(printing);
}

static void trap_in_child(struct mirror *mirror, bool trap, cudaStream_t stream)
{
	uint32_t argument = trap ? TRAP : 5;

	mirror_body(mirror, stream);
	launch(kernel_child_traps, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	for (uint32_t k = 0; k < BODY; k++) /* these may see the fault already */
		(void)cudaLaunchKernel(kernel_mix, (dim3){1, 1, 1}, (dim3){WORDS, 1, 1},
		                       (void *[]){&mirror->device, &k}, 0, stream);
}

static void dynamic_parallelism_traps(void)
{
	hot_until_fault(trap_in_child);
}

/* ---- what the device runtime refuses, and what it says ---- */

enum { PENDING = 64, LAUNCHES = 5000, EVENTS = 10000, SELDOM = 16 };

/* In memory that the host sees. */
struct exhausted_twice {
	struct exhausted launches, events;
	uint32_t ran; /* of the launches that were accepted */
};

static struct exhausted_twice *exhausted, exhausted_first;
static void **events;

/* The host has waited. */
static void look_at_exhausted(unsigned i)
{
	EXPECT(exhausted->ran == exhausted->launches.accepted, "iteration %u: %u were accepted, %u ran",
	       i, exhausted->launches.accepted, exhausted->ran);
	if (i == SELDOM)
		exhausted_first = *exhausted;
	EXPECT(!memcmp(exhausted, &exhausted_first, sizeof exhausted_first),
	       "iteration %u: %u launches until %u and %u events until %u, not %u until %u and %u "
	       "until %u",
	       i, exhausted->launches.accepted, exhausted->launches.error, exhausted->events.accepted,
	       exhausted->events.error, exhausted_first.launches.accepted,
	       exhausted_first.launches.error, exhausted_first.events.accepted,
	       exhausted_first.events.error);
}

static void exhaust(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	uint32_t attempts[] = {LAUNCHES, EVENTS}, *ran = &exhausted->ran;
	struct exhausted *seen[] = {&exhausted->launches, &exhausted->events};

	(void)mirror;
	(void)trap;
	if (i % SELDOM)
		return;
	if (i > 0)
		look_at_exhausted(i);
	memset(exhausted, 0, sizeof *exhausted);
	launch(kernel_exhaust_launches, 1, 1, (void *[]){&ran, &attempts[0], &seen[0]}, stream);
	launch(kernel_exhaust_events, 1, 1, (void *[]){&events, &attempts[1], &seen[1]}, stream);
}

/*
 * More launches are pending than the limit allows, and more events exist. The kernel is told so,
 * the host is not. CUDA's pages differ in which error it is, and do not say how far the limit is
 * rounded up. So what the kernel sees is compared with the first time, and printed, which compares
 * it with the run without Reprise. Where a GPU refuses none, it is the line that says so.
 */
static void dynamic_parallelism_exhausted(void)
{
	size_t limit = 0;

	CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, PENDING));
	CHECK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
	exhausted = (void *)mapped_words();
	CHECK(cudaMalloc((void **)&events, EVENTS * sizeof *events));
	among_hot(exhaust);
	look_at_exhausted(ITERATIONS);
	printf("limit %zu: %u launches until %s, %u events until %s\n", limit,
	       exhausted->launches.accepted, cudaGetErrorName(exhausted->launches.error),
	       exhausted->events.accepted, cudaGetErrorName(exhausted->events.error));
}

static uint32_t *seen, seen_first[WORDS];

/* What the kernel saw is what it saw the first time, when it was not yet hot. */
static void note_seen(struct mirror *mirror, uint32_t argument, const void *kernel,
                      cudaStream_t stream)
{
	static unsigned launches; /* before this one; whoever launches has waited for them */

	if (seen == NULL)
		seen = mapped_words();
	if (launches == 1)
		memcpy(seen_first, seen, sizeof seen_first);
	for (unsigned word = 0; launches > 0 && word < WORDS; word++)
		EXPECT(seen[word] == seen_first[word], "launch %u: word %u was %u, not %u", launches, word,
		       seen[word], seen_first[word]);
	launches++;
	memset(seen, 0xff, sizeof seen_first);
	launch(kernel, 1, 1, (void *[]){&mirror->device, &argument, &seen}, stream);
	mirror_mixed(mirror, argument);
}

static void print_seen(unsigned words)
{
	for (unsigned word = 0; word < words; word++)
		printf("%s%u", word ? " " : "seen ", seen[word]);
	putchar('\n');
}

static void by_mistakes(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	note_seen(mirror, argument, kernel_mistakes, stream);
}

/* Launches and uses of streams that CUDA does not allow: only the kernel is told of them. */
static void dynamic_parallelism_mistakes(void)
{
	among_with(by_mistakes);
	print_seen(12);
}

static void by_asking(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	note_seen(mirror, argument, kernel_ask, stream);
}

/* What the device runtime says of the device, of limits and of a kernel. */
static void dynamic_parallelism_asks(void)
{
	among_with(by_asking);
	EXPECT(seen[1] == 0, "device %u is not the host's", seen[1]);
	print_seen(20);
}

/* ---- from PTX ---- */

static CUfunction launching;
/* What no call of CUDA returns: the kernel has not answered. */
#define UNSEEN 0xa5a5a5a5u

static bool launching_is_refused;

/* The module is where the program is. */
static void load_launching(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
	CUmodule module;
	CUresult loaded;

	EXPECT(length > 0, "the program's own path is not to be had");
	path[length] = '\0';
	strcpy(strrchr(path, '/'), "/launching.fatbin");
	loaded = cuModuleLoad(&module, path);
	if (loaded == CUDA_ERROR_NO_BINARY_FOR_GPU)
		hazard_skip("launching.fatbin has nothing for this GPU");
	CHECK_DRIVER(loaded);
	CHECK_DRIVER(cuModuleGetFunction(&launching, module, "launching"));
}

static void by_ptx(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	if (seen == NULL)
		seen = mapped_words();
	seen[0] = UNSEEN;
	CHECK_DRIVER(cuLaunchKernel(launching, 1, 1, 1, 1, 1, 1, 0, stream,
	                            (void *[]){&mirror->device, &argument, &seen}, NULL));
	if (!launching_is_refused)
		mirror_mixed(mirror, argument);
}

static void by_ptx_among(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	if (i > 0)
		EXPECT(seen[0] == seen_first[0], "iteration %u: cudaLaunchDevice returned %u, not %u", i,
		       seen[0], seen_first[0]);
	by_ptx(mirror, trap ? i : 10, stream);
}

/* A kernel whose PTX calls cudaGetParameterBuffer and cudaLaunchDevice. What CUDA answers on this
 * GPU is asked first, and printed. */
static void dynamic_parallelism_ptx(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	load_launching();
	by_ptx(&mirror, 1, cudaStreamLegacy);
	CHECK(cudaDeviceSynchronize());
	seen_first[0] = seen[0];
	if (seen[0] == cudaSuccess)
		mirror_verify(&mirror, 0);
	launching_is_refused = seen[0] != cudaSuccess;
	among_hot(by_ptx_among);
	printf("cudaLaunchDevice returned %d\n", (int)seen[0]);
}

static void plainly(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_linked, 1, WORDS, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
}

/* One that launches none, though others of its module do. */
static void linked_kernel(void)
{
	loop_with(plainly);
}

const struct hazard dynamic_hazards[] = {
	{"dynamic_parallelism", dynamic_parallelism},
	{"dynamic_parallelism_streams", dynamic_parallelism_streams},
	{"dynamic_parallelism_nested", dynamic_parallelism_nested},
	{"dynamic_parallelism_copies", dynamic_parallelism_copies},
	{"dynamic_parallelism_memsets", dynamic_parallelism_memsets},
	{"dynamic_parallelism_rows", dynamic_parallelism_rows},
	{"dynamic_parallelism_shared", dynamic_parallelism_shared},
	{"dynamic_parallelism_mapped", dynamic_parallelism_mapped},
	{"dynamic_parallelism_constants", dynamic_parallelism_constants},
	{"dynamic_parallelism_textures", dynamic_parallelism_textures},
	{"dynamic_parallelism_heap", dynamic_parallelism_heap},
	{"dynamic_parallelism_order", dynamic_parallelism_order},
	{"dynamic_parallelism_blocks", dynamic_parallelism_blocks},
	{"dynamic_parallelism_prints", dynamic_parallelism_prints},
	{"dynamic_parallelism_traps", dynamic_parallelism_traps},
	{"dynamic_parallelism_exhausted", dynamic_parallelism_exhausted},
	{"dynamic_parallelism_mistakes", dynamic_parallelism_mistakes},
	{"dynamic_parallelism_asks", dynamic_parallelism_asks},
	{"dynamic_parallelism_ptx", dynamic_parallelism_ptx},
	{"linked_kernel", linked_kernel},
	{NULL, NULL},
};
