/* What an address, a handle or an attribute is: asked where it counts, and asked again when it has
 * ended or changed. */
#include <pthread.h>
#include <stdatomic.h>
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
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                      .srcHost = base,
	                      .srcPitch = 2 * PAGE,
	                      .srcY = WITHIN / PAGE / 2 - 1,
	                      .srcXInBytes = 2 * PAGE,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = hazard_y,
	                      .dstPitch = PAGE,
	                      .WidthInBytes = WORDS * 4,
	                      .Height = 1};
	CUDA_MEMCPY3D slices = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                        .srcHost = base,
	                        .srcPitch = PAGE,
	                        .srcHeight = 2,
	                        .srcZ = WITHIN / PAGE / 2 - 1,
	                        .srcY = 2,
	                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .dstDevice = hazard_y,
	                        .dstPitch = PAGE,
	                        .dstHeight = 1,
	                        .WidthInBytes = WORDS * 4,
	                        .Height = 1,
	                        .Depth = 1};

	if (deep)
		CHECK(cuMemcpy3DAsync(&slices, stream));
	else
		CHECK(cuMemcpy2DAsync(&rows, stream));
}

/*
 * Copies of rows and slices whose descriptors name a registered page as their base, or none at all,
 * but begin in pageable memory: it is read when the call returns.
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
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                      .srcXInBytes = (uintptr_t)words,
	                      .srcPitch = PAGE,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = hazard_y,
	                      .dstPitch = PAGE,
	                      .WidthInBytes = WORDS * 4,
	                      .Height = 1};

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

/* A hot body in whose middle WORDS words come from `source`. If it is pageable, they are
 * overwritten as soon as the copy returns. */
static void copy_in_body(uint32_t *source, unsigned seed, bool pageable, CUstream stream)
{
	for (unsigned i = 0; i < WORDS; i++)
		source[i] = seed * 31 + i;
	hazard_part_of_chain(hazard_x, 6, stream);
	CHECK(cuMemcpyAsync(hazard_y, (CUdeviceptr)(uintptr_t)source, WORDS * 4, stream));
	if (pageable)
		memset(source, 0xee, WORDS * 4);
	hazard_part_of_chain(hazard_x, 6, stream);
	CHECK(cuStreamSynchronize(stream));
}

/* ---- by another thread, while this one's loop is hot ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_bool is_calling;
static bool may_call;
static uint32_t *registered;

static void wait_for_turn(void)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	pthread_mutex_lock(&mutex);
	while (!may_call)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	atomic_store(&is_calling, true);
}

static void *unregister(void *unused)
{
	wait_for_turn();
	CHECK(cuMemHostUnregister(registered));
	return NULL;
}

static void *lower_limit(void *unused)
{
	wait_for_turn();
	CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000));
	return NULL;
}

/* Returns when the other thread is about to make its call, which takes long (SIM_SLOW). */
static void let_call(void)
{
	pthread_mutex_lock(&mutex);
	may_call = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	while (!atomic_load(&is_calling))
		continue;
}

/* At the beginning of each iteration: the other thread's call begins at the 300th, and has returned
 * at the 700th. Graphs are awaited before and behind it. */
static void go_on_beside(pthread_t thread, unsigned iteration, CUstream stream)
{
	if (iteration % 60 == 0 && (iteration < 300 || iteration > 700))
		hazard_settle(stream);
	if (iteration == 300)
		let_call();
	if (iteration == 700)
		pthread_join(thread, NULL);
}

/* Memory is unregistered by another thread, while this one goes on with copies from it. When that
 * has returned, it is pageable. */
static void unregister_beside(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_t thread;

	registered = pages(PAGE);
	CHECK(cuMemHostRegister(registered, PAGE, 0));
	pthread_create(&thread, NULL, unregister, NULL);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		go_on_beside(thread, iteration, stream);
		copy_in_body(registered, iteration, iteration >= 700, stream);
	}
	hazard_print("x", hazard_x);
}

/* A limit of shared memory is lowered by another thread, while this one goes on with launches above
 * it. When that has returned, they are refused. */
static void attribute_beside(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned argument = 7, accepted = 0;
	pthread_t thread;

	CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
	pthread_create(&thread, NULL, lower_limit, NULL);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		go_on_beside(thread, iteration, stream);
		for (unsigned i = 0; i < CHAIN; i++) {
			CUresult result = cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 60000, stream,
			                                 (void *[]){&hazard_x, &hazard_y, &argument}, NULL);

			accepted += iteration >= 700 && result == CUDA_SUCCESS;
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("accepted %u\n", accepted);
}

/* ---- with what it belongs to ---- */

/* Pages of a module's variable, unloaded with it; then other memory is mapped there. */
static void module_variable(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr variable;
	CUmodule module;
	size_t bytes;
	uint32_t *page;

	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetGlobal(&variable, &bytes, module, "pages"));
	page = (uint32_t *)(((uintptr_t)variable + PAGE - 1) / PAGE * PAGE);
	for (unsigned iteration = 0; iteration < 300; iteration++) {
		hazard_part_of_chain(hazard_x, 6, stream);
		CHECK(cuMemcpyAsync(hazard_y, (CUdeviceptr)(uintptr_t)page, WORDS * 4, stream));
		hazard_part_of_chain(hazard_x, 6, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	CHECK(cuModuleUnload(module));
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	         -1, 0) != page)
		printf("the address did not come back\n");
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++)
		copy_in_body(page, iteration, true, stream);
	hazard_print("x", hazard_x);
}

/* Memory that is registered in a context ends to be so with it. */
static void context_memory(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t *page = pages(PAGE);
	CUcontext elsewhere;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		if (iteration % 100 == 0) {
			CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
			CHECK(cuMemHostRegister(page, PAGE, CU_MEMHOSTREGISTER_PORTABLE));
			CHECK(cuCtxSetCurrent(hazard_context));
		} else if (iteration % 100 == 50) {
			CHECK(cuCtxDestroy(elsewhere));
		}
		copy_in_body(page, iteration, iteration % 100 >= 50, stream);
	}
	hazard_print("x", hazard_x);
}

/* Memory is given back with work on it deferred, and the same addresses come again with other
 * contents. */
static void free_pending(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	uint32_t words[WORDS];

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (!hazard_springs(iteration))
			continue;
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		CHECK(cuMemFree(hazard_y));
		CHECK(cuMemAlloc(&hazard_y, WORDS * 4));
		for (unsigned i = 0; i < WORDS; i++)
			words[i] = iteration + i;
		CHECK(cuMemcpyHtoD(hazard_y, words, sizeof(words)));
	}
	hazard_print("x", hazard_x);
}

/* Of no concern to the loop, memory is given back again and again: what it does is found again, and
 * not made anew. One body begins with a memset. */
static void memory_ends_often(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr memory, other;

	CHECK(cuMemAlloc(&memory, WORDS * 4));
	for (unsigned iteration = 0; iteration < 3 * ITERATIONS; iteration++) {
		CHECK(cuMemsetD32Async(memory, 5, WORDS, stream));
		hazard_part_of_chain(hazard_x, 12, stream);
		CHECK(cuStreamSynchronize(stream));
		if (iteration % 3 != 0)
			continue;
		CHECK(cuMemAlloc(&other, 512));
		CHECK(cuMemFree(other));
	}
	hazard_print("x", hazard_x);
}

/* ---- functions ---- */

/* A module is unloaded, another loaded, and the same handle comes back as a function of other
 * parameters. */
static void function_other_parameters(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUfunction function;
	CUdeviceptr sum;
	CUmodule module;

	CHECK(cuMemAlloc(&sum, WORDS * 4));
	CHECK(cuMemsetD32(sum, 0, WORDS));
	for (unsigned round = 0; round < 8; round++) {
		CHECK(cuModuleLoad(&module, hazard_module_path));
		CHECK(cuModuleGetFunction(&function, module, round % 2 == 0 ? "mix" : "fold"));
		for (unsigned iteration = 0; iteration < 150; iteration++) {
			if (iteration == 40)
				hazard_await_graphs();
			for (unsigned i = 0; i < CHAIN; i++) {
				struct {
					unsigned number, beside;
				} argument = {WORDS, 0xeeeeeeee};
				void *mix[] = {&hazard_x, &hazard_y, &argument},
					 *fold[] = {&hazard_x, &argument, &sum};

				CHECK(cuLaunchKernel(function, 1, 1, 1, round % 2 == 0 ? WORDS : 1, 1, 1, 0, stream,
				                     round % 2 == 0 ? mix : fold, NULL));
			}
			CHECK(cuStreamSynchronize(stream));
		}
		CHECK(cuModuleUnload(module));
	}
	hazard_print("x", hazard_x);
	hazard_print("sum", sum);
}

/* A function is told in mid-loop that it needs clusters of two blocks: grids that these do not
 * divide are refused. */
static void cluster_attribute(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned refused = 0;
	CUdeviceptr x;

	CHECK(cuMemAlloc(&x, 16 * WORDS * 4));
	CHECK(cuMemsetD32(x, 3, 16 * WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		if (iteration == 100) {
			CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
			CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
			CHECK(cuFuncSetAttribute(hazard_mix, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
		}
		for (unsigned i = 0; i < CHAIN; i++) {
			unsigned blocks = iteration > 600 && hazard_springs(iteration) && i == CHAIN / 2
			                      ? 3
			                      : 2 + 2 * (iteration % 7),
					 argument = iteration * CHAIN + i;

			refused += cuLaunchKernel(hazard_mix, blocks, 1, 1, 8, 1, 1, 0, stream,
			                          (void *[]){&x, &x, &argument}, NULL) != CUDA_SUCCESS;
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("refused %u\n", refused);
	hazard_print("x", x);
}

const struct hazard identity_hazards[] = {
	{"unregister_beside", unregister_beside},
	{"attribute_beside", attribute_beside},
	{"module_variable", module_variable},
	{"context_memory", context_memory},
	{"free_pending", free_pending},
	{"memory_ends_often", memory_ends_often},
	{"function_other_parameters", function_other_parameters},
	{"cluster_attribute", cluster_attribute},
	{"copy_begins_elsewhere", copy_begins_elsewhere},
	{"copy_without_base", copy_without_base},
	{NULL, NULL},
};
