/* Memory that the host reads or writes beside the stream. */
#include <string.h>
#include <sys/mman.h>

#include "hazard.h"

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

/* A copy to pageable memory is there when the call returns. There is no other wait, at which graphs
 * could be awaited. */
static void pageable_d2h(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t target[WORDS], sum = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuMemcpyDtoHAsync(target, hazard_x, sizeof(target), stream));
		if (iteration == 60)
			hazard_await_graphs();
		sum = sum * 69069u + target[iteration % WORDS];
	}
	printf("sum %08x\n", (unsigned)sum);
}

/* Other kinds of memory behind the same call, whose source moves in too long a cycle for a trace of
 * each. */
static void memcpy_kind_change(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr device;
	void *pinned;

	CHECK(cuMemAllocHost(&pinned, WORDS * 4));
	CHECK(cuMemAlloc(&device, 31 * WORDS * 4));
	CHECK(cuMemsetD32(device, 11, 31 * WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < WORDS; i++)
		((uint32_t *)pinned)[i] = i;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		CUdeviceptr source = hazard_springs(iteration) ? (CUdeviceptr)(uintptr_t)pinned
		                                               : device + iteration * 7 % 31 * WORDS * 4;

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
		CHECK(cuMemcpyDtoDAsync(hazard_y, sources + iteration * 7 % 31 * WORDS * 4, WORDS * 4,
		                        stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Managed memory, attached to the stream: a kernel's like any other, and the host's after a wait.
 */
static void managed_touch(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr memory;
	uint32_t *words, sum = 0;

	CHECK(cuMemAllocManaged(&memory, WORDS * 4, CU_MEM_ATTACH_GLOBAL));
	words = (uint32_t *)(uintptr_t)memory;
	memset(words, 0, WORDS * 4);
	CHECK(cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
	CHECK(cuStreamSynchronize(stream));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(memory, stream);
		CHECK(cuStreamSynchronize(stream));
		for (unsigned i = 0; i < WORDS; i++)
			sum = sum * 69069u + words[i]++;
		if (hazard_springs(iteration)) {
			hazard_part_of_chain(memory, iteration % CHAIN, stream);
			CHECK(cuStreamAttachMemAsync(stream, memory, 0,
			                             iteration % 2 ? CU_MEM_ATTACH_GLOBAL
			                                           : CU_MEM_ATTACH_SINGLE));
			hazard_chain(memory, stream);
			CHECK(cuMemcpyDtoDAsync(hazard_y, memory, WORDS * 4, stream));
			CHECK(cuStreamSynchronize(stream));
		}
	}
	printf("sum %08x\n", (unsigned)sum);
	hazard_print("y", hazard_y);
}

/*
 * One address is pinned memory and pageable memory by turns: unregistered, or given back and mapped
 * again. While it is pageable, the source of a copy is overwritten as soon as the call returns.
 */
static void host_free_reuse(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t *source = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(cuMemHostRegister(source, 4096, 0));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool pageable = hazard_springs(iteration);

		if (pageable) {
			CHECK(cuMemHostUnregister(source));
			if (iteration % 2 &&
			    (munmap(source, 4096) != 0 ||
			     mmap(source, 4096, PROT_READ | PROT_WRITE,
			          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != source))
				printf("the address did not come back\n");
		}
		for (unsigned i = 0; i < WORDS; i++)
			source[i] = iteration * 31 + i;
		CHECK(cuMemcpyHtoDAsync(hazard_y, source, WORDS * 4, stream));
		if (pageable)
			memset(source, 0xee, WORDS * 4);
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (pageable)
			CHECK(cuMemHostRegister(source, 4096, 0));
	}
	hazard_print("x", hazard_x);
}

const struct hazard memory_hazards[] = {
	{"pageable_h2d", pageable_h2d},       {"pinned_h2d_reuse", pinned_h2d_reuse},
	{"pageable_d2h", pageable_d2h},       {"managed_touch", managed_touch},
	{"host_free_reuse", host_free_reuse}, {"memcpy_kind_change", memcpy_kind_change},
	{"copy_moves", copy_moves},           {NULL, NULL},
};
