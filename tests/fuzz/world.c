#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static struct fuzz_world worlds[WORLDS];
struct fuzz_world *fuzz_current = worlds;
_Thread_local struct fuzz_thread fuzz_thread;
bool fuzz_simulated;
int iteration;

static const char *module_path;
static int devices;

enum { THREADS = 2, ERRORS = 1000, FUNCTIONS = 40 };
static uint64_t results[THREADS] = {1, 1}, seen[THREADS] = {1, 1};
static unsigned long errors[THREADS][ERRORS], changed_states[THREADS];

static uint64_t mixed(uint64_t digest, uint64_t value)
{
	digest = (digest ^ value) * 0x9E3779B97F4A7C15u;
	return digest ^ (digest >> 29);
}

unsigned chance(unsigned salt)
{
	return (unsigned)(mixed(mixed(7, (unsigned)iteration), salt) >> 20);
}

void fuzz_look_at_state(void)
{
	CUstreamCaptureMode mode = fuzz_thread.mode;
	CUcontext current = NULL;

	cuCtxGetCurrent(&current);
	cuThreadExchangeStreamCaptureMode(&mode);
	changed_states[fuzz_thread.number] +=
		current != fuzz_thread.context || mode != fuzz_thread.mode;
}

CUresult fuzz_result(CUresult result)
{
	uint64_t *digest = &results[fuzz_thread.number];

	*digest = mixed(*digest, result);
	if (result == CUDA_SUCCESS)
		return result;
	errors[fuzz_thread.number][(unsigned)result % ERRORS]++;
	fuzz_look_at_state();
	return result;
}

void fuzz_set_context(CUcontext context)
{
	CALL(cuCtxSetCurrent(context));
	fuzz_thread.context = context;
}

void fuzz_see(uint64_t value)
{
	seen[fuzz_thread.number] = mixed(seen[fuzz_thread.number], value);
}

void fuzz_see_words(const unsigned *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fuzz_see(words[i]);
}

/* Host functions of one stream run one after another, of several at once: each stream has a digest
 * of its own. */
struct entry {
	uint64_t *digest;
	unsigned value;
};

void *fuzz_log_entry(int stream, unsigned value)
{
	struct entry *entry = malloc(sizeof(*entry));

	*entry = (struct entry){&world.logged[stream], value};
	return entry;
}

void CUDA_CB fuzz_log(void *data)
{
	struct entry *entry = data;

	*entry->digest = mixed(*entry->digest, entry->value);
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
	CUresult result = cuModuleLoad(&world.module, module_path);
	size_t bytes;

	if (result != CUDA_SUCCESS)
		return result;
	MUST(cuModuleGetFunction(&world.mix, world.module, "mix"));
	MUST(cuModuleGetFunction(&world.turn, world.module, "turn"));
	MUST(cuModuleGetFunction(&world.stir, world.module, "stir"));
	MUST(cuModuleGetFunction(&world.shared_mix, world.module, "shared_mix"));
	MUST(cuModuleGetFunction(&world.spin, world.module, "spin"));
	MUST(cuModuleGetFunction(&world.signal, world.module, "signal"));
	MUST(cuModuleGetFunction(&world.spread, world.module, "spread"));
	MUST(cuModuleGetFunction(&world.wide, world.module, "wide"));
	MUST(cuModuleGetFunction(&world.chain, world.module, "chain"));
	MUST(cuModuleGetGlobal(&world.words, &bytes, world.module, "words"));
	return CUDA_SUCCESS;
}

CUstream fuzz_new_stream(int stream)
{
	CUstream made = NULL;

	if (stream == LEGACY)
		return NULL;
	if (stream == PER_THREAD)
		return CU_STREAM_PER_THREAD;
	MUST(cuStreamCreateWithPriority(&made,
	                                stream >= FREE && stream <= FREE_THREE ? CU_STREAM_NON_BLOCKING
	                                                                       : CU_STREAM_DEFAULT,
	                                stream == URGENT ? -2 : 0));
	return made;
}

static void *pages(size_t count)
{
	void *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	return at;
}

static void start_host_memory(int stream)
{
	world.host[stream].at = world.host[stream].block = pages(1);
	world.host[stream].kind = PAGEABLE;
	world.parts[stream] = pages(PARTS);
	for (unsigned i = 0; i < PARTS * PAGE; i++)
		world.parts[stream][i] = (char)(i * 7u + i / PAGE);
	for (unsigned part = 1; part < PARTS; part += 2)
		MUST(cuMemHostRegister(world.parts[stream] + part * PAGE, PAGE, 0));
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
	MUST(cuMemAlloc(&world.field[stream], FIELD_BYTES));
	MUST(cuMemsetD32(world.field[stream], (unsigned)stream, FIELD_USED / 4));
	MUST(cuMemAlloc(&world.moving[stream].at, WORDS * 4));
	MUST(cuMemsetD32(world.moving[stream].at, 3, WORDS));
	start_host_memory(stream);
}

/* The context is current. */
static void start_world(void)
{
	MUST(fuzz_load_module());
	MUST(cuLibraryLoadFromFile(&world.library, module_path, NULL, NULL, 0, NULL, NULL, 0));
	MUST(cuLibraryGetKernel(&world.kernel, world.library, "mix"));
	for (int stream = 0; stream < STREAMS; stream++)
		start_stream(stream);
	MUST(cuMemAlloc(&world.flag, 4));
	MUST(cuMemsetD32(world.flag, 0, 1));
	MUST(cuMemAlloc(&world.written, STREAMS * 4));
	MUST(cuMemsetD32(world.written, 0, STREAMS));
	/* Two places whose addresses differ in their higher halves alone. */
	MUST(cuMemAlloc(&world.far, (4ull << 30) + FIELD_USED));
	MUST(cuMemsetD32(world.far, 1, WORDS));
	MUST(cuMemsetD32(world.far + (4ull << 30), 2, WORDS));
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
	world.started = true;
}

static void make_context(int which)
{
	MUST(cuDeviceGet(&world.device, which == 2));
	if (which == 1) {
		MUST(cuCtxCreate(&world.context, NULL, 0, world.device));
		MUST(cuCtxPopCurrent(NULL));
	} else {
		MUST(cuDevicePrimaryCtxRetain(&world.context, world.device));
	}
}

struct fuzz_world *fuzz_world_of(int which)
{
	struct fuzz_world *before = fuzz_current;

	which = (which % WORLDS + WORLDS) % WORLDS;
	if (which == 2 && devices < 2)
		which = 1;
	if (!worlds[which].started) {
		/* Errors of ops that were deferred are told now, and not to what has to succeed. */
		for (unsigned i = 0;
		     fuzz_thread.context != NULL && i < ERRORS && CALL(cuCtxSynchronize()) != CUDA_SUCCESS;
		     i++)
			;
		fuzz_current = &worlds[which];
		make_context(which);
		MUST(cuCtxPushCurrent(world.context));
		start_world();
		MUST(cuCtxPopCurrent(NULL));
		fuzz_current = before;
	}
	return &worlds[which];
}

const char *fuzz_module_path(void)
{
	return module_path;
}

void start(const char *module)
{
	size_t length = strlen(module);

	module_path = module;
	fuzz_simulated = length > 3 && strcmp(module + length - 3, ".so") == 0;
	MUST(cuInit(0));
	MUST(cuDeviceGetCount(&devices));
	fuzz_current = fuzz_world_of(0);
	MUST(cuCtxSetCurrent(world.context));
	fuzz_thread.context = world.context;
}

static uint64_t digest_of_bytes(CUdeviceptr at, size_t bytes)
{
	unsigned words[FIELD_USED / 4];
	uint64_t digest = 1;

	if (cuMemcpyDtoH(words, at, bytes) != CUDA_SUCCESS)
		return 0;
	for (unsigned i = 0; i < bytes / 4; i++)
		digest = mixed(digest, words[i]);
	return digest;
}

static uint64_t digest_of(CUdeviceptr buffer)
{
	return digest_of_bytes(buffer, WORDS * 4);
}

static void print_world(unsigned which)
{
	CUresult result;

	cuCtxPushCurrent(world.context);
	result = cuCtxSynchronize();
	printf("context %u: synchronize %d, far %016lx %016lx\n", which, (int)result,
	       (unsigned long)digest_of(world.far), (unsigned long)digest_of(world.far + (4ull << 30)));
	if (world.mapped[2] > 0)
		printf("%u kernels gave up waiting\n", world.mapped[2]);
	for (int stream = 0; stream < STREAMS; stream++) {
		printf("context %u, stream %d: log %016lx, buffers", which, stream,
		       (unsigned long)world.logged[stream]);
		for (unsigned b = 0; b < BUFFERS; b++)
			printf(" %016lx", (unsigned long)digest_of(world.buffer[stream][b]));
		printf(" %016lx\n", (unsigned long)digest_of_bytes(world.field[stream], FIELD_USED));
	}
	cuCtxPopCurrent(NULL);
}

/* The next program begins in the first context. */
static void go_back(void)
{
	fuzz_look_at_state();
	cuThreadExchangeStreamCaptureMode(&(CUstreamCaptureMode){CU_STREAM_CAPTURE_MODE_GLOBAL});
	fuzz_thread.mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	fuzz_current = worlds;
	cuCtxSetCurrent(world.context);
	fuzz_thread.context = world.context;
}

int finish(void)
{
	CUresult result = cuCtxSynchronize();
	struct fuzz_world *at = fuzz_current;

	for (unsigned thread = 0; thread < THREADS; thread++) {
		printf("thread %u: results %016lx, seen %016lx, state changed %lu times; errors", thread,
		       (unsigned long)results[thread], (unsigned long)seen[thread], changed_states[thread]);
		for (unsigned error = 0; error < ERRORS; error++)
			if (errors[thread][error] > 0)
				printf(" %u:%lu", error, errors[thread][error]);
		printf("\n");
	}
	printf("synchronize %d\n", (int)result);
	for (unsigned which = 0; which < WORLDS; which++) {
		fuzz_current = &worlds[which];
		if (world.started)
			print_world(which);
	}
	fuzz_current = at;
	go_back();
	if (changed_states[0] + changed_states[1] > 0)
		printf("at the end, states changed %lu times\n", changed_states[0] + changed_states[1]);
	return 0;
}

void fuzz_function(int stream)
{
	if (++world.functions[stream] % FUNCTIONS == 0)
		CALL(cuStreamSynchronize(world.stream[stream]));
}

void fuzz_wait_host(unsigned microseconds)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 <
	       (long)microseconds);
}
