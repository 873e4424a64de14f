/* What an address, a handle or an attribute is: asked where it counts, and asked again when it has ended or changed. */
#include <string.h>
#include <sys/mman.h>

#include "hazard.h"

#define PAGE 4096u
#define WITHIN (8 * PAGE) /* where the copies begin, beyond what is registered */

static void *pages(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* To hazard_y, from `base` and WITHIN bytes behind it. */
static void copy_rows(bool deep, void *base, CUstream stream)
{
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = base, .srcPitch = 2 * PAGE, .srcY = WITHIN / PAGE / 2 - 1,
	                      .srcXInBytes = 2 * PAGE,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = hazard_y, .dstPitch = PAGE, .WidthInBytes = WORDS * 4, .Height = 1};
	CUDA_MEMCPY3D slices = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = base, .srcPitch = PAGE, .srcHeight = 2, .srcZ = WITHIN / PAGE / 2 - 1, .srcY = 2,
	                        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = hazard_y, .dstPitch = PAGE, .dstHeight = 1, .WidthInBytes = WORDS * 4,
	                        .Height = 1, .Depth = 1};

	if (deep)
		CHECK(cuMemcpy3DAsync(&slices, stream));
	else
		CHECK(cuMemcpy2DAsync(&rows, stream));
}

/*
 * Copies of rows and slices whose descriptors name a registered page as their base, or none at all, but begin in pageable memory: it is read when the call
 * returns.
 */
static void copy_begins_elsewhere(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned char *base = pages(WITHIN + PAGE);
	uint32_t *words = (uint32_t *)(base + WITHIN);

	CHECK(cuMemHostRegister(base, PAGE, 0));
	for (unsigned iteration = 0; iteration < 2 * ITERATIONS; iteration++) {
		for (unsigned i = 0; i < WORDS; i++)
			words[i] = iteration * 31 + i;
		hazard_part_of_chain(hazard_x, 6, stream);
		copy_rows(iteration > ITERATIONS, base, stream);
		memset(words, 0xee, WORDS * 4);
		hazard_part_of_chain(hazard_x, 6, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* The same without a base: only the offset says where the copy begins. */
static void copy_without_base(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t *words = pages(PAGE);
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcXInBytes = (uintptr_t)words, .srcPitch = PAGE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = hazard_y, .dstPitch = PAGE, .WidthInBytes = WORDS * 4, .Height = 1};

	printf("%d\n", (int)cuMemcpy2DAsync(&rows, stream));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < WORDS; i++)
			words[i] = iteration * 31 + i;
		hazard_part_of_chain(hazard_x, 6, stream);
		(void)cuMemcpy2DAsync(&rows, stream);
		memset(words, 0xee, WORDS * 4);
		hazard_part_of_chain(hazard_x, 6, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

const struct hazard identity_hazards[] = {
	{"copy_begins_elsewhere", copy_begins_elsewhere},
	{"copy_without_base", copy_without_base},
	{NULL, NULL},
};
