/* What an address is, and until when. */
#include "hazard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u
#define PITCH (2 * PAGE)
#define ROW 3u /* the copy begins so many rows behind its base */

/*
 * A copy of one row, whose descriptor names a registered page as its base, begins in pageable
 * memory behind it: that is read when the call returns, and written over then.
 */
static void copy_begins_elsewhere(void)
{
	unsigned char *base =
		mmap(NULL, ROW * PITCH + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *words = (uint32_t *)(base + ROW * PITCH), expected[WORDS],
			 *on_device = device_words();
	CUDA_MEMCPY2D row = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                     .srcHost = base,
	                     .srcPitch = PITCH,
	                     .srcY = ROW,
	                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                     .dstDevice = (CUdeviceptr)(uintptr_t)on_device,
	                     .dstPitch = PITCH,
	                     .WidthInBytes = sizeof expected,
	                     .Height = 1};
	struct mirror mirror;
	cudaStream_t stream;

	EXPECT(base != MAP_FAILED, "no memory");
	CHECK_DRIVER(cuMemHostRegister(base, PAGE, 0));
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned word = 0; word < WORDS; word++)
			expected[word] = words[word] = scramble(i * WORDS + word);
		mirror_body(&mirror, stream);
		if (cuMemcpy2DAsync(&row, stream) != CUDA_SUCCESS && i == 0)
			hazard_skip("a copy may not begin behind the memory of its base");
		memset(words, 0xee, sizeof expected);
		mirror_absorb(&mirror, on_device, expected, stream);
		mirror_body(&mirror, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Memory is given back with work on it deferred, and the same addresses may come again with other
 * contents. */
static void free_pending(void)
{
	uint32_t *y = device_words(), contents[WORDS] = {0};
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < BODY; k++) {
			if (k == BODY / 2 && trap_at(i)) {
				CHECK(cudaFree(y));
				y = device_words();
				for (unsigned word = 0; word < WORDS; word++)
					contents[word] = scramble(i + word);
				CHECK(cudaMemcpy(y, contents, sizeof contents, cudaMemcpyHostToDevice));
			}
			mirror_absorb(&mirror, y, contents, stream);
			mirror_mix(&mirror, k, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

const struct hazard identity_hazards[] = {
	{"copy_begins_elsewhere", copy_begins_elsewhere},
	{"free_pending", free_pending},
	{NULL, NULL},
};
