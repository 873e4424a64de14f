/* Memory that the host reads or writes beside the stream. */
#include <string.h>
#include <time.h>

#include "hazard.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The host spins, with no CUDA call, on mapped memory that the middle of a hot chain writes. */
static void mapped_poll(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	volatile uint32_t *host;
	CUdeviceptr mapped;
	uint32_t expected = 0;
	void *memory;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, memory, 0));
	memset(memory, 0, WORDS * 4);
	host = memory;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);
		double limit = now() + 10;

		for (unsigned i = 0; i < CHAIN; i++) {
			hazard_launch(hazard_mix, mapped, i, stream);
			expected = hazard_mixed(expected, 5, i);
			if (trap && i == CHAIN / 2)
				while (host[WORDS - 1] != expected)
					if (now() > limit) {
						printf("iteration %u: never came\n", iteration);
						return;
					}
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("mapped %08x, expected %08x\n", (unsigned)host[0], (unsigned)expected);
}

/* One buffer on the stack holds the parameters of every launch, and is overwritten after each. */
static void params_reused(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct {
		CUdeviceptr x, y;
		unsigned argument;
	} values;
	void *params[] = {&values.x, &values.y, &values.argument};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			values.x = hazard_x;
			values.y = hazard_y;
			values.argument = hazard_springs(iteration) ? i * iteration : i;
			CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
			memset(&values, 0xee, sizeof(values));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Parameters come packed in a buffer that is reused. */
static void extra_buffer(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct {
		CUdeviceptr x, y;
		unsigned argument;
	} packed;
	size_t size = 20;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			packed.x = hazard_x;
			packed.y = hazard_y;
			packed.argument = hazard_springs(iteration) ? i + iteration : i;
			CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 0, stream, NULL, extra));
			memset(&packed, 0xee, sizeof(packed));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static void copies(uint32_t *source, bool overwrite_at_once)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < WORDS; i++)
			source[i] = iteration * 31 + i;
		CHECK(cuMemcpyHtoDAsync(hazard_y, source, WORDS * 4, stream));
		if (overwrite_at_once)
			memset(source, 0xee, WORDS * 4);
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static void pageable_h2d(void)
{
	uint32_t source[WORDS];

	copies(source, true);
}

static void pinned_h2d_reuse(void)
{
	void *source;

	CHECK(cuMemAllocHost(&source, WORDS * 4));
	copies(source, false);
}

/* A copy to pageable memory is there when the call returns. */
static void pageable_d2h(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t target[WORDS], sum = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuMemcpyDtoHAsync(target, hazard_x, sizeof(target), stream));
		sum = sum * 69069u + target[iteration % WORDS];
	}
	printf("sum %08x\n", (unsigned)sum);
}

/* Other kinds of memory behind the same call. */
static void memcpy_kind_change(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr device;
	void *pinned;

	CHECK(cuMemAllocHost(&pinned, WORDS * 4));
	CHECK(cuMemAlloc(&device, WORDS * 4));
	CHECK(cuMemsetD32(device, 11, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < WORDS; i++)
		((uint32_t *)pinned)[i] = i;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUdeviceptr source = hazard_springs(iteration) ? (CUdeviceptr)(uintptr_t)pinned : device;

		CHECK(cuMemcpyAsync(hazard_y, source, WORDS * 4, stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* A copy whose source is another one each time, in too long a cycle for a trace of each. */
static void copy_moves(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr sources;

	CHECK(cuMemAlloc(&sources, 31 * WORDS * 4));
	CHECK(cuMemsetD32(sources, 77, 31 * WORDS));
	for (unsigned i = 0; i < 31; i++)
		CHECK(cuMemsetD32(sources + i * WORDS * 4, i * i, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CHECK(cuMemcpyDtoDAsync(hazard_y, sources + iteration * 7 % 31 * WORDS * 4, WORDS * 4, stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

const struct hazard memory_hazards[] = {
	{"mapped_poll", mapped_poll},     {"params_reused", params_reused},       {"extra_buffer", extra_buffer},
	{"pageable_h2d", pageable_h2d},   {"pinned_h2d_reuse", pinned_h2d_reuse}, {"pageable_d2h", pageable_d2h},
	{"memcpy_kind_change", memcpy_kind_change},
	{"copy_moves", copy_moves},
	{NULL, NULL},
};
