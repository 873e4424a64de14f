#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct fuzz_world world;
int iteration;

static uint64_t results = 1, seen = 1, logged[STREAMS];
static unsigned long failures;

static uint64_t mixed(uint64_t digest, uint64_t value)
{
	digest = (digest ^ value) * 0x9E3779B97F4A7C15u;
	return digest ^ (digest >> 29);
}

unsigned chance(unsigned salt)
{
	return (unsigned)(mixed(mixed(7, (unsigned)iteration), salt) >> 20);
}

CUresult fuzz_result(CUresult result)
{
	results = mixed(results, result);
	failures += result != CUDA_SUCCESS;
	return result;
}

void fuzz_see(uint64_t value)
{
	seen = mixed(seen, value);
}

void fuzz_see_words(const unsigned *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fuzz_see(words[i]);
}

/* Host functions of one stream run one after another, of several at once: each stream has a digest of its own. */
struct entry {
	int stream;
	unsigned value;
};

void *fuzz_log_entry(int stream, unsigned value)
{
	struct entry *entry = malloc(sizeof(*entry));

	*entry = (struct entry){stream, value};
	return entry;
}

void CUDA_CB fuzz_log(void *data)
{
	struct entry *entry = data;

	logged[entry->stream] = mixed(logged[entry->stream], entry->value);
	/* Graphs call it again with the same entry, so it is not freed. */
}

static void must(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "fuzz-program: %s: error %d\n", what, (int)result);
	exit(3);
}
#define MUST(call) must((call), #call)

CUresult fuzz_load_module(void)
{
	CUresult result = cuModuleLoad(&world.module, world.module_path);

	if (result != CUDA_SUCCESS)
		return result;
	MUST(cuModuleGetFunction(&world.mix, world.module, "mix"));
	MUST(cuModuleGetFunction(&world.turn, world.module, "turn"));
	MUST(cuModuleGetFunction(&world.stir, world.module, "stir"));
	MUST(cuModuleGetFunction(&world.shared_mix, world.module, "shared_mix"));
	MUST(cuModuleGetFunction(&world.spin, world.module, "spin"));
	MUST(cuModuleGetFunction(&world.signal, world.module, "signal"));
	return CUDA_SUCCESS;
}

CUstream fuzz_new_stream(int stream)
{
	CUstream made = NULL;

	if (stream == LEGACY)
		return NULL;
	if (stream == PER_THREAD)
		return CU_STREAM_PER_THREAD;
	MUST(cuStreamCreateWithPriority(&made, stream >= FREE && stream <= FREE_THREE ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT,
		stream == URGENT ? -2 : 0));
	return made;
}

static void start_stream(int stream)
{
	world.stream[stream] = fuzz_new_stream(stream);
	MUST(cuEventCreate(&world.edge[stream], CU_EVENT_DISABLE_TIMING));
	for (unsigned b = 0; b < BUFFERS; b++) {
		MUST(cuMemAlloc(&world.buffer[stream][b], WORDS * 4));
		MUST(cuMemsetD32(world.buffer[stream][b], 1000u * (unsigned)stream + b + 1, WORDS));
	}
	MUST(cuMemAllocManaged(&world.managed[stream], WORDS * 4, CU_MEM_ATTACH_GLOBAL));
	MUST(cuMemsetD32(world.managed[stream], 7, WORDS));
	MUST(cuMemAllocHost((void **)&world.pinned[stream], WORDS * 4));
	MUST(cuMemAllocHost((void **)&world.landing[stream], WORDS * 4));
	for (unsigned i = 0; i < WORDS; i++) {
		world.pinned[stream][i] = 17u * i + (unsigned)stream;
		world.landing[stream][i] = 0;
	}
}

static void start_other_context(void)
{
	MUST(cuCtxCreate(&world.other_context, NULL, 0, world.device));
	MUST(cuModuleLoad(&world.other_module, world.module_path));
	MUST(cuModuleGetFunction(&world.other_mix, world.other_module, "mix"));
	MUST(cuStreamCreate(&world.other_stream, CU_STREAM_NON_BLOCKING));
	for (unsigned b = 0; b < 2; b++) {
		MUST(cuMemAlloc(&world.other_buffer[b], WORDS * 4));
		MUST(cuMemsetD32(world.other_buffer[b], 99, WORDS));
	}
	MUST(cuCtxSynchronize());
	MUST(cuCtxPopCurrent(NULL));
}

void start(const char *module)
{
	world.module_path = module;
	MUST(cuInit(0));
	MUST(cuDeviceGet(&world.device, 0));
	MUST(cuDevicePrimaryCtxRetain(&world.context, world.device));
	MUST(cuCtxSetCurrent(world.context));
	MUST(fuzz_load_module());
	MUST(cuLibraryLoadFromFile(&world.library, module, NULL, NULL, 0, NULL, NULL, 0));
	MUST(cuLibraryGetKernel(&world.kernel, world.library, "mix"));
	for (int stream = 0; stream < STREAMS; stream++)
		start_stream(stream);
	MUST(cuMemAlloc(&world.flag, 4));
	MUST(cuMemsetD32(world.flag, 0, 1));
	MUST(cuMemHostAlloc((void **)&world.mapped, 3 * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer(&world.mapped_device, (void *)world.mapped, 0));
	world.mapped[0] = world.mapped[1] = world.mapped[2] = 0;
	for (unsigned e = 0; e < EVENTS; e++)
		MUST(cuEventCreate(&world.event[e], e % 2 ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING));
	for (unsigned e = 0; e < 2; e++) {
		MUST(cuEventCreate(&world.handing[e], CU_EVENT_DISABLE_TIMING));
		MUST(cuEventCreate(&world.timing[e], CU_EVENT_DEFAULT));
	}
	MUST(cuCtxSynchronize());
	start_other_context();
}

static uint64_t digest_of(CUdeviceptr buffer)
{
	unsigned words[WORDS];
	uint64_t digest = 1;

	if (cuMemcpyDtoH(words, buffer, sizeof(words)) != CUDA_SUCCESS)
		return 0;
	for (unsigned i = 0; i < WORDS; i++)
		digest = mixed(digest, words[i]);
	return digest;
}

int finish(void)
{
	CUresult result = cuCtxSynchronize();

	printf("results %016lx, %lu failures; synchronize %d\nseen %016lx\n", (unsigned long)results, failures, (int)result,
		(unsigned long)seen);
	if (world.mapped[2] > 0)
		printf("%u kernels gave up waiting\n", world.mapped[2]);
	for (int stream = 0; stream < STREAMS; stream++) {
		printf("stream %d: log %016lx, buffers", stream, (unsigned long)logged[stream]);
		for (unsigned b = 0; b < BUFFERS; b++)
			printf(" %016lx", (unsigned long)digest_of(world.buffer[stream][b]));
		printf("\n");
	}
	cuCtxPushCurrent(world.other_context);
	result = cuCtxSynchronize();
	printf("other context: %016lx %016lx; synchronize %d\n", (unsigned long)digest_of(world.other_buffer[0]),
		(unsigned long)digest_of(world.other_buffer[1]), (int)result);
	cuCtxPopCurrent(NULL);
	return 0;
}

void fuzz_wait_host(unsigned microseconds)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < (long)microseconds);
}
