/*
 * Calls that wait for all work of a context, or that give a context something which waits for what
 * is yet to come, beside the making of graphs. Shapes change now and then, so that there always are
 * graphs to be made; kernels wait for one another in memory, and host functions for a mutex.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cuStreamAddCallback */

#define STEPS 400u
#define SHAPES 64u
#define LATER 100u /* steps, or iterations, until loops are hot */

/* A program that does something else for a while. */
static void rest(unsigned us)
{
	struct timespec pause = {.tv_nsec = us * 1000L};

	nanosleep(&pause, NULL);
}

/* `publish` or `await`, on a word. */
static void launch_flag(CUfunction function, CUdeviceptr flag, uint32_t value, CUstream stream)
{
	CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag, &value}, NULL));
}

/* Blocks of a size that changes with `shape`, up to SHAPES. */
static void launch_shaped(CUfunction function, CUdeviceptr x, CUdeviceptr y, unsigned shape,
                          unsigned argument, CUstream stream)
{
	CHECK(cuLaunchKernel(function, 1, 1, 1, 1 + shape % SHAPES, 1, 1, 0, stream,
	                     (void *[]){&x, &y, &argument}, NULL));
}

static CUdeviceptr words(uint32_t value)
{
	CUdeviceptr block;

	CHECK(cuMemAlloc(&block, SHAPES * 4));
	CHECK(cuMemsetD32(block, value, SHAPES));
	CHECK(cuCtxSynchronize());
	return block;
}

/* ---- host functions that want what a launching thread holds ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;
static atomic_uint called, ran;

static void take_mutex(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	ran++;
	pthread_mutex_unlock(&mutex);
}

static void CUDA_CB called_back(CUstream stream, CUresult result, void *data)
{
	(void)stream;
	(void)result;
	take_mutex(data);
}

static void add_callback(CUstream stream)
{
	CHECK(cuStreamAddCallback(stream, called_back, NULL, 0));
	rest(30);
	if (called % 8 != 7)
		return;
	CHECK(cuStreamSynchronize(stream)); /* graphs are made where nothing is under way */
	rest(300);
}

static void launch_function(CUstream stream)
{
	CHECK(cuLaunchHostFunc(stream, take_mutex, NULL));
	if (called % 3 == 2)
		CHECK(cuStreamSynchronize(stream));
}

static void *go_on_until_over(void *add)
{
	CUstream stream;

	CHECK(cuCtxSetCurrent(hazard_context));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (; !over; called++)
		((void (*)(CUstream))add)(stream);
	CHECK(cuStreamSynchronize(stream));
	return NULL;
}

/* One thread launches with a mutex held, which is wanted by what another thread adds to a stream.
 * Each loop's graph is awaited: on a busy machine it comes late. */
static void wants_mutex(void (*add)(CUstream))
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr x = words(1), y = words(3);
	pthread_t thread;

	pthread_create(&thread, NULL, go_on_until_over, (void *)add);
	for (unsigned shape = 0; shape < 20; shape++)
		for (unsigned iteration = 0; iteration < 60; iteration++) {
			pthread_mutex_lock(&mutex);
			for (unsigned i = 0; i < 12; i++)
				launch_shaped((shape + i) % 3 ? hazard_mix : hazard_turn, x, y, shape + i,
				              shape * 100 + i, stream);
			rest(20);
			pthread_mutex_unlock(&mutex);
			CHECK(cuStreamSynchronize(stream));
			if (iteration == 20)
				hazard_await_graphs();
		}
	over = true;
	pthread_join(thread, NULL);
	printf("functions %s\n", called == ran ? "all ran" : "are missing");
	hazard_print("x", x);
}

static void callback_wants_mutex(void)
{
	wants_mutex(add_callback);
}

static void function_wants_mutex(void)
{
	wants_mutex(launch_function);
}

/* ---- host functions that fill their stream ---- */

enum { BEHIND_LOOPS = 240, BEHIND_FROM = 160, BEHIND_FUNCTIONS = 3 };

static unsigned slow_us;     /* what a function takes */
static bool launches_itself; /* the thread that holds the mutex: what it launches is no op, and so
                                left to nobody */

static void *launch_with_mutex(void *unused)
{
	CUdeviceptr x;
	CUstream stream;

	(void)unused;
	CHECK(cuCtxSetCurrent(hazard_context));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	x = words(5);
	while (!over) {
		pthread_mutex_lock(&mutex);
		if (launches_itself)
			CHECK(cuLaunchCooperativeKernel(hazard_turn, 1, 1, 1, WORDS, 1, 1, 0, stream,
			                                (void *[]){&x, &x, &(unsigned){1}}));
		else
			CHECK(cuMemsetD32Async(x, 1, 1, stream));
		pthread_mutex_unlock(&mutex);
		CHECK(cuStreamSynchronize(stream));
		rest(100); /* a mutex is not fair */
	}
	return NULL;
}

static void CUDA_CB take_mutex_slowly(void *unused)
{
	rest(slow_us);
	take_mutex(unused);
}

static void CUDA_CB called_back_slowly(CUstream stream, CUresult result, void *data)
{
	(void)stream;
	(void)result;
	take_mutex_slowly(data);
}

static void launch_slow_function(CUstream stream)
{
	CHECK(cuLaunchHostFunc(stream, take_mutex_slowly, NULL));
}

static void add_slow_callback(CUstream stream)
{
	CHECK(cuStreamAddCallback(stream, called_back_slowly, NULL, 0));
}

/*
 * A stream has room for few host functions with work behind them (SIM_FUNCTIONS). A graph's launch
 * that finds none keeps others from launching: also the thread that holds the mutex which they
 * want. The program alone is slower than its functions. What must not be is that they are behind
 * because launches cost less.
 */
static void functions_fill(void (*add)(CUstream), unsigned us, unsigned kernels)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr x = words(1), y = words(3);
	pthread_t thread;

	slow_us = us;
	pthread_create(&thread, NULL, launch_with_mutex, NULL);
	for (unsigned iteration = 0; iteration < BEHIND_LOOPS; iteration++) {
		for (unsigned i = 0; i < BEHIND_FUNCTIONS; i++) {
			add(stream);
			for (unsigned k = 0; k < kernels; k++)
				launch_shaped(hazard_mix, x, y, i + k, i, stream);
		}
		called += BEHIND_FUNCTIONS;
		if (iteration < BEHIND_FROM)
			rest(6 * slow_us); /* its functions are done, and graphs can be built */
	}
	while (launches_itself && ran != called)
		rest(slow_us); /* it goes on launching meanwhile */
	over = true;
	pthread_join(thread, NULL);
	CHECK(cuStreamSynchronize(stream));
	printf("functions %s\n", called == ran ? "all ran" : "are missing");
	hazard_print("x", x);
}

static void functions_behind(void)
{
	functions_fill(launch_slow_function, 250, 1);
}

/*
 * A graph's launch takes long (SIM_SLOW), and is left to the launch thread: until it has
 * launched the first, nothing is pending in the stream, and all of it in the queue.
 */
static void functions_queued(void)
{
	launches_itself = true;
	functions_fill(launch_slow_function, 2000, 1);
}

static void callbacks_behind(void)
{
	functions_fill(add_slow_callback, 1000,
	               6); /* it is a barrier, so only what comes between costs less */
}

/* ---- a context that waits for another's event ---- */

/* All of a context waits for an event behind a kernel of another context, and the next launch is
 * what lets that kernel end. */
static void context_waits_for_event(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING), waiting, setting;
	CUfunction await, publish;
	CUcontext other;
	CUmodule module;
	CUdeviceptr x = words(1), y = words(3), flag;
	CUevent event;
	uint32_t count = 0;

	CHECK(cuCtxCreate(&other, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&await, module, "await"));
	CHECK(cuModuleGetFunction(&publish, module, "publish"));
	flag = words(0);
	waiting = hazard_stream(CU_STREAM_NON_BLOCKING);
	setting = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (unsigned step = 0; step < 2 * STEPS; step++) {
		CHECK(cuCtxSetCurrent(hazard_context));
		for (unsigned i = 0; i < 20; i++)
			launch_shaped(i % 2 ? hazard_mix : hazard_turn, x, y, step / 20 * 7 + i * 3, i, stream);
		CHECK(cuStreamSynchronize(stream));
		CHECK(cuCtxSetCurrent(other));
		launch_flag(await, flag, ++count, waiting);
		CHECK(cuEventRecord(event, waiting));
		rest(1500); /* most of the time that the making of a graph may begin in */
		CHECK(cuCtxWaitEvent(hazard_context, event));
		CHECK(cuLaunchCooperativeKernel(publish, 1, 1, 1, 1, 1, 1, 0, setting,
		                                (void *[]){&flag, &count})); /* an op of no lane's */
		CHECK(cuStreamSynchronize(waiting));
	}
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("x", x);
}

/* ---- calls that give a context work, while a graph is made there ---- */

static uint32_t *shared_word;

enum { KEPT_NS = 200000000 }; /* an instantiation takes longer (SIM_SLOW) */
#define ENOUGH_NS 5000000000u

static CUstream giving;
static CUevent passed;
static CUgreenCtx green;
static CUmemoryPool pool;
static CUgraphExec own;
static CUdeviceptr giving_flag;
static CUfunction giving_publish;

static void give_memory(void)
{
	CUdeviceptr block;

	CHECK(cuMemAllocAsync(&block, 256, giving));
	CHECK(cuMemFreeAsync(block, giving));
}

static void give_memory_of_pool(void)
{
	CUdeviceptr block;

	CHECK(cuMemAllocFromPoolAsync(&block, 256, pool, giving));
	CHECK(cuMemFreeAsync(block, giving));
}

static void give_wait_for_event(void)
{
	CHECK(cuCtxWaitEvent(hazard_context, passed));
}

static void give_green_wait_for_event(void)
{
	CHECK(cuGreenCtxWaitEvent(green, passed));
}

static void give_wait_for_value(void)
{
	CHECK(cuStreamWaitValue32(giving, giving_flag, 0, CU_STREAM_WAIT_VALUE_GEQ));
}

static void give_value(void)
{
	CHECK(cuStreamWriteValue32(giving, giving_flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
}

static void give_batch(void)
{
	CUstreamBatchMemOpParams write = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
	                                                 .address = giving_flag,
	                                                 .value = 1}};

	CHECK(cuStreamBatchMemOp(giving, 1, &write, 0));
}

static void give_cooperative_launch(void)
{
	CHECK(cuLaunchCooperativeKernel(giving_publish, 1, 1, 1, 1, 1, 1, 0, giving,
	                                (void *[]){&giving_flag, &(uint32_t){1}}));
}

static void give_launch(void)
{
	launch_flag(giving_publish, giving_flag, 1, giving);
}

static void CUDA_CB count_call(CUstream stream, CUresult result, void *unused)
{
	(void)stream;
	(void)result;
	(void)unused;
	called++;
}

static void give_callback(void)
{
	CHECK(cuStreamAddCallback(giving, count_call, NULL, 0));
}

static void give_graph(void)
{
	CHECK(cuGraphLaunch(own, giving));
}

static void give_capture(void)
{
	CUgraph captured;

	CHECK(cuStreamBeginCapture(giving, CU_STREAM_CAPTURE_MODE_RELAXED));
	CHECK(cuStreamEndCapture(giving, &captured));
	CHECK(cuGraphDestroy(captured));
}

static const struct {
	const char *name;
	void (*call)(void);
} givings[] = {
	{"an allocation", give_memory},
	{"an allocation from a pool", give_memory_of_pool},
	{"a context's wait for an event", give_wait_for_event},
	{"a green context's wait for an event", give_green_wait_for_event},
	{"a wait for a value", give_wait_for_value},
	{"a value", give_value},
	{"a batch", give_batch},
	{"a cooperative launch", give_cooperative_launch},
	{"a launch", give_launch},
	{"a callback", give_callback},
	{"a graph's launch", give_graph},
	{"a capture", give_capture},
};

/* True without Reprise, too. */
static bool is_kept_back(void (*call)(void))
{
	uint64_t begin = hazard_now_ns(), longest = 0;
	struct reprise_counts counts;

	if (reprise_read_counts(&counts, sizeof(counts)) == 0) {
		call();
		return true;
	}
	while (longest < KEPT_NS && hazard_now_ns() - begin < ENOUGH_NS) {
		uint64_t before = hazard_now_ns();

		call();
		longest = hazard_now_ns() - before > longest ? hazard_now_ns() - before : longest;
		rest(2000); /* so that the context has nothing to do */
	}
	return longest >= KEPT_NS;
}

static CUgraphExec make_empty_graph(void)
{
	CUgraphExec executable;
	CUgraph graph;

	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphInstantiate(&executable, graph, 0));
	return executable;
}

/*
 * While a kernel runs for good, a loop gets hot and no graph is made. Then the kernel ends, and of
 * each kind of call that gives a context work, the one that comes while the graph is made is kept
 * back, until it is there.
 */
static void kept_back(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 resident = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUfunction await = hazard_function("await");
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                        .location = {CU_MEM_LOCATION_TYPE_DEVICE, hazard_device}};
	CUdeviceptr x = words(1), y = words(3);

	giving = hazard_stream(CU_STREAM_NON_BLOCKING);
	giving_publish = hazard_function("publish");
	giving_flag = words(0);
	green = hazard_green_context();
	own = make_empty_graph();
	CHECK(cuMemPoolCreate(&pool, &props));
	CHECK(cuEventCreate(&passed, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventRecord(passed, giving));
	CHECK(cuMemHostAlloc((void **)&shared_word, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
	*shared_word = 0;
	for (uint32_t kind = 0; kind < sizeof(givings) / sizeof(givings[0]); kind++) {
		givings[kind].call();
		launch_flag(await, (CUdeviceptr)(uintptr_t)shared_word, kind + 1, resident);
		for (unsigned step = 0; step < 40; step++) {
			for (unsigned i = 0; i < 20; i++)
				launch_shaped(i % 2 ? hazard_mix : hazard_turn, x, y, kind * 5 + i * 3, i, stream);
			CHECK(cuStreamSynchronize(stream));
		}
		*(volatile uint32_t *)shared_word = kind + 1;
		printf("%s is %s\n", givings[kind].name,
		       is_kept_back(givings[kind].call) ? "kept back" : "not kept back");
		hazard_settle(stream);
	}
	CHECK(cuCtxSynchronize());
}

/* ---- a call that waits beside launches elsewhere ---- */

static pthread_barrier_t step_begins;
static uint32_t ends[2];

/* In each step the first device has a kernel that waits for one of the second, and its thread then
 * frees memory. */
static void *work_on_device(void *which)
{
	CUfunction mix, turn, await, publish;
	unsigned number = which != NULL;
	uint32_t end[SHAPES];
	CUdeviceptr x, y, freed;
	CUcontext context;
	CUdevice device;
	CUmodule module;
	CUstream stream;

	CHECK(cuDeviceGet(&device, (int)number));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuModuleGetFunction(&turn, module, "turn"));
	CHECK(cuModuleGetFunction(&await, module, "await"));
	CHECK(cuModuleGetFunction(&publish, module, "publish"));
	x = words(1);
	y = words(3);
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (uint32_t step = 1; step <= STEPS; step++) {
		pthread_barrier_wait(&step_begins);
		for (unsigned i = 0; i < 20; i++)
			launch_shaped(i % 2 ? mix : turn, x, y, step / 40 * 2 + i % 3, i, stream);
		if (number == 1) {
			rest(200 + step % 7 * 100);
			launch_flag(publish, (CUdeviceptr)(uintptr_t)shared_word, step, stream);
		} else {
			launch_flag(await, (CUdeviceptr)(uintptr_t)shared_word, step, stream);
			CHECK(cuMemAlloc(&freed, 256));
			CHECK(cuMemFree(freed));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	CHECK(cuMemcpyDtoH(end, x, sizeof(end)));
	for (unsigned i = 0; i < SHAPES; i++)
		ends[number] = ends[number] * 69069u + end[i];
	return NULL;
}

static void free_beside_device(void)
{
	pthread_t thread;

	pthread_barrier_init(&step_begins, NULL, 2);
	CHECK(cuMemHostAlloc((void **)&shared_word, 4096,
	                     CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	*shared_word = 0;
	pthread_create(&thread, NULL, work_on_device, (void *)1);
	work_on_device(NULL);
	pthread_join(thread, NULL);
	printf("%08x %08x\n", (unsigned)ends[0], (unsigned)ends[1]);
}

static sem_t may_free, may_launch, freed_it, launched_it;
static CUdeviceptr to_free;
static CUstream stream_beside;

static void *free_when_asked(void *unused)
{
	(void)unused;
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		sem_wait(&may_free);
		if (over)
			return NULL;
		CHECK(cuMemFree(to_free));
		sem_post(&freed_it);
	}
}

static void launch_some(unsigned begin, unsigned end)
{
	for (unsigned i = begin; i < end; i++)
		launch_shaped(hazard_mix, hazard_x, hazard_y, WORDS - 1, i, stream_beside);
}

static void *launch_when_asked(void *unused)
{
	(void)unused;
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		sem_wait(&may_launch);
		if (over)
			return NULL;
		launch_some(0, 5);
		sem_wait(&may_launch);
		launch_some(5, 12);
		CHECK(cuStreamSynchronize(stream_beside));
		sem_post(&launched_it);
	}
}

/*
 * A kernel of one context waits for a kernel of another. One thread frees memory of the first
 * context, and so waits for the kernel; one launches there meanwhile; and a third makes a call that
 * waits for nobody, launches in the other context, in the midst of what is hot, what the kernel
 * waits for, and makes no call until all is freed. What it launched before has shapes that change,
 * so that graphs of the first context are always to be made.
 */
static void live_beside_context(bool (*springs)(uint32_t step), void (*prepare)(void),
                                void (*meanwhile)(void))
{
	CUfunction await = hazard_function("await"), publish, mix;
	CUstream resident = hazard_stream(CU_STREAM_NON_BLOCKING),
			 changing = hazard_stream(CU_STREAM_NON_BLOCKING), stream;
	CUdeviceptr wide = words(1);
	CUcontext other;
	CUmodule module;
	CUdeviceptr x, flag;
	pthread_t threads[2];

	stream_beside = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemHostAlloc((void **)&shared_word, 4096,
	                     CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	*shared_word = 0;
	flag = (CUdeviceptr)(uintptr_t)shared_word;
	CHECK(cuCtxCreate(&other, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&publish, module, "publish"));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	x = words(0);
	sem_init(&may_free, 0, 0);
	sem_init(&may_launch, 0, 0);
	sem_init(&freed_it, 0, 0);
	sem_init(&launched_it, 0, 0);
	pthread_create(&threads[0], NULL, free_when_asked, NULL);
	pthread_create(&threads[1], NULL, launch_when_asked, NULL);
	for (uint32_t step = 1; step <= STEPS; step++) {
		bool trap = springs(step);

		CHECK(cuCtxSetCurrent(hazard_context));
		for (unsigned i = 0; i < 20; i++)
			launch_shaped(hazard_turn, wide, wide, step / 12 * 7 + i * 3, i, changing);
		CHECK(cuStreamSynchronize(changing));
		CHECK(cuCtxSetCurrent(other));
		if (trap) {
			prepare();
			CHECK(cuCtxSetCurrent(hazard_context));
			CHECK(cuMemAlloc(&to_free, 256));
			launch_flag(await, flag, step, resident);
			CHECK(cuCtxSetCurrent(other));
			sem_post(&may_free);
			rest(3000);
		}
		sem_post(&may_launch);
		if (trap) {
			rest(3000);
			meanwhile();
		}
		for (unsigned i = 0; i < 5; i++)
			launch_shaped(mix, x, x, WORDS - 1, i, stream);
		launch_flag(publish, flag, step, stream);
		if (trap)
			sem_wait(&freed_it);
		for (unsigned i = 0; i < 5; i++)
			launch_shaped(mix, x, x, WORDS - 1, i, stream);
		CHECK(cuStreamSynchronize(stream));
		sem_post(&may_launch);
		sem_wait(&launched_it);
		if (step < LATER)
			rest(200);
	}
	over = true;
	sem_post(&may_free);
	sem_post(&may_launch);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("x", hazard_x);
}

static bool often(uint32_t step)
{
	return step > LATER && step % 20 == 7;
}

/* Reprise waits for two seconds before it gives up. */
static bool once(uint32_t step)
{
	return step == 3 * LATER + 7;
}

static CUdeviceptr freed_here;

static void allocate_here(void)
{
	CHECK(cuMemAlloc(&freed_here, 256));
}

static void free_here(void)
{
	CHECK(cuMemFree(freed_here));
}

static void free_beside_context(void)
{
	live_beside_context(often, allocate_here, free_here);
}

/* There is no memory. */
static void allocate_too_much(void)
{
	CUdeviceptr never;

	printf("allocating returns %d\n", (int)cuMemAlloc(&never, (size_t)1 << 60));
}

static void nothing(void)
{
}

static void room_beside_context(void)
{
	live_beside_context(once, nothing, allocate_too_much);
}

/* The graphs are another context's, and no call waits. */
static void room_elsewhere(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUcontext elsewhere, current;

	CHECK(cuCtxCreate(&elsewhere, NULL, 0, hazard_device));
	for (unsigned iteration = 0; iteration < STEPS; iteration++) {
		CHECK(cuCtxSetCurrent(hazard_context));
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (!hazard_springs(iteration))
			continue;
		CHECK(cuCtxSetCurrent(elsewhere));
		allocate_too_much();
		CHECK(cuCtxGetCurrent(&current));
		printf("current is %s\n", current == elsewhere ? "what it was" : "another");
	}
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("x", hazard_x);
}

static void retain(void)
{
	CUcontext context;

	CHECK(cuDevicePrimaryCtxRetain(&context, hazard_device));
}

/* Not for the last time: the context stays, and others work in it. */
static void let_go(void)
{
	CHECK(cuDevicePrimaryCtxRelease(hazard_device));
}

static void release_beside_context(void)
{
	live_beside_context(once, retain, let_go);
}

/* On the second device: a call that waits until the host has set the word. */
static void *free_elsewhere(void *unused)
{
	CUfunction await;
	CUcontext other;
	CUmodule module;
	CUdeviceptr freed;
	CUstream stream;

	CHECK(cuCtxCreate(&other, NULL, 0, 1));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&await, module, "await"));
	CHECK(cuMemHostAlloc((void **)&shared_word, 4096,
	                     CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	*shared_word = 0;
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc(&freed, 256));
	sem_post(&launched_it);
	sem_wait(&may_free);
	launch_flag(await, (CUdeviceptr)(uintptr_t)shared_word, 1, stream);
	sem_post(&launched_it);
	CHECK(cuMemFree(freed));
	return unused;
}

static void make_hot(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < 200; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (iteration % 50 == 49)
			hazard_settle(stream);
	}
	hazard_print("x", hazard_x);
}

/*
 * A primary context is released for the last time while another device's thread is in a call that
 * waits for a long time, so that its graphs are left. It has ended with them, and nobody may touch
 * them when graphs are made in the next one of its handle.
 */
static void release_ends_beside(void)
{
	pthread_t thread;

	sem_init(&may_free, 0, 0);
	sem_init(&launched_it, 0, 0);
	pthread_create(&thread, NULL, free_elsewhere, NULL);
	sem_wait(&launched_it);
	make_hot();
	sem_post(&may_free);
	sem_wait(&launched_it);
	rest(3000);
	CHECK(cuDevicePrimaryCtxRelease(hazard_device));
	*(volatile uint32_t *)shared_word = 1;
	pthread_join(thread, NULL);
	hazard_set_up();
	make_hot();
}

/* ---- a signal in the midst of the first call that waits ---- */

/* What comes afterwards: a loop that is replayed. */
static void go_on(CUstream stream)
{
	for (unsigned i = 0; i < 120; i++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (i % 20 == 19)
			hazard_await_graphs();
	}
	hazard_print("x", hazard_x);
}

static volatile sig_atomic_t handled;

static void retain_in_handler(int unused)
{
	CUcontext context;

	(void)unused;
	if (cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS)
		handled++;
}

/*
 * Its handler makes such a call, too. keysignal.c sends it when Reprise makes what a thread's end
 * is told by; without Reprise nobody does, and it comes afterwards.
 */
static void handler_at_first_call(void)
{
	CHECK(cuInit(0));
	signal(SIGUSR1, retain_in_handler);
	hazard_set_up();
	if (handled == 0)
		raise(SIGUSR1);
	printf("handled %s\n", handled > 0 ? "at least once" : "never");
	go_on(NULL);
}

/* ---- a signal in the midst of what a thread does for the first time ---- */

static void (*in_handler)(void);

static void handle(int unused)
{
	(void)unused;
	in_handler();
	handled++;
}

/* Makes the call; in the midst of it the handler makes another, where Reprise makes what a thread's
 * end is told by, else afterwards. */
static void interrupted(void (*call)(void), void (*other)(void))
{
	in_handler = other;
	handled = 0;
	signal(SIGUSR1, handle);
	call();
	if (handled == 0)
		raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	printf("handled %s\n", handled > 0 ? "at least once" : "never");
}

static CUdeviceptr one_word, other_word;

static void set_word(void)
{
	CHECK(cuMemsetD32Async(one_word, 2, 1, NULL));
}

static void set_other_word(void)
{
	CHECK(cuMemsetD32Async(other_word, 3, 1, NULL));
}

static void *do_set_word(void *context)
{
	CHECK(cuCtxSetCurrent(context));
	set_word();
	return NULL;
}

/* A thread's first op, before any call of it that waits for a device. Another has made the first of
 * all. */
static void handler_at_first_op(void)
{
	CUcontext context;
	pthread_t thread;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&hazard_device, 0));
	CHECK(cuCtxCreate(&context, NULL, 0, hazard_device));
	CHECK(cuMemAlloc(&one_word, 4));
	CHECK(cuMemAlloc(&other_word, 4));
	pthread_create(&thread, NULL, do_set_word, context);
	pthread_join(thread, NULL);
	CHECK(cuCtxSynchronize());
	interrupted(set_word, set_other_word);
	hazard_set_up();
	go_on(NULL);
}

static void allocate_and_free(void)
{
	CUdeviceptr memory;

	CHECK(cuMemAlloc(&memory, 256));
	CHECK(cuMemFree(memory));
}

/* The first call that ends something. */
static void handler_at_first_end(void)
{
	interrupted(allocate_and_free, allocate_and_free);
	go_on(NULL);
}

static void launch_on_own_stream(void)
{
	hazard_launch(hazard_mix, hazard_x, 7, CU_STREAM_PER_THREAD);
}

static void write_beside(void)
{
	CHECK(cuStreamWriteValue32(stream_beside, hazard_y + 8, 5, 0)); /* what is there */
}

/* A thread's first op on its own stream, and a call on a stream that has a lane. */
static void handler_at_own_stream(void)
{
	stream_beside = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; i < 40; i++)
		hazard_chain(hazard_x, stream_beside);
	CHECK(cuStreamSynchronize(stream_beside));
	interrupted(launch_on_own_stream, write_beside);
	CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	go_on(stream_beside);
}

/* ---- a call that waits behind what is deferred ---- */

static void load_module(void)
{
	CUmodule module;

	CHECK(cuModuleLoad(&module, hazard_module_path));
}

static void make_streams(void)
{
	for (unsigned i = 0; i < 10; i++)
		hazard_stream(CU_STREAM_NON_BLOCKING);
}

static void make_graph(void)
{
	unsigned argument = 1;
	void *params[] = {&hazard_x, &hazard_y, &argument};
	CUDA_KERNEL_NODE_PARAMS node = {.func = hazard_mix,
	                                .gridDimX = 1,
	                                .gridDimY = 1,
	                                .gridDimZ = 1,
	                                .blockDimX = 1,
	                                .blockDimY = 1,
	                                .blockDimZ = 1,
	                                .kernelParams = params};
	CUgraphExec executable;
	CUgraphNode added;
	CUgraph graph;

	CHECK(cuGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 200; i++)
		CHECK(cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
	CHECK(cuGraphInstantiate(&executable, graph, 0));
}

static void load_library(void)
{
	CUlibrary library;

	CHECK(cuLibraryLoadFromFile(&library, hazard_module_path, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cuLibraryUnload(library));
}

static void set_limit(void)
{
	CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
}

static void end_context(void)
{
	CUcontext ending;

	CHECK(cuCtxCreate(&ending, NULL, 0, hazard_device));
	CHECK(cuCtxDestroy(ending));
}

static void end_memory(void)
{
	static unsigned char page[4096] __attribute__((aligned(4096)));
	CUDA_ARRAY_DESCRIPTOR wanted = {.Width = 16,
	                                .Height = 16,
	                                .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                                .NumChannels = 1};
	CUarray array;

	CHECK(cuArrayCreate(&array, &wanted));
	CHECK(cuArrayDestroy(array));
	CHECK(cuMemHostRegister(page, sizeof(page), CU_MEMHOSTREGISTER_DEVICEMAP));
	CHECK(cuMemHostUnregister(page));
}

static sem_t asked, answered;
static void (*asked_for)(void);

static void *call_when_asked(void *unused)
{
	(void)unused;
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		sem_wait(&asked);
		if (over)
			return NULL;
		asked_for();
		sem_post(&answered);
	}
}

/* Another thread makes the call, and this one waits for it without a CUDA call. */
static void ask_for(void (*call)(void))
{
	asked_for = call;
	sem_post(&asked);
	while (sem_wait(&answered) != 0)
		;
}

/*
 * A kernel waits, on one stream, for a kernel on another, whose launch has returned in the midst of
 * what is hot. Then comes a call that waits for both, of this thread's or of another.
 */
static void wait_behind_deferred(void (*call)(void))
{
	CUfunction await = hazard_function("await"), publish = hazard_function("publish");
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 resident = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr flag = words(0);
	pthread_t thread;

	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_create(&thread, NULL, call_when_asked, NULL);
	for (uint32_t step = 1; step <= STEPS; step++) {
		launch_flag(await, flag, step, resident);
		hazard_part_of_chain(hazard_x, 4, stream);
		launch_flag(publish, flag, step, stream);
		if (step > LATER && step % 37 == 7)
			call();
		if (step > LATER && step % 37 == 26)
			ask_for(call);
		hazard_part_of_chain(hazard_x, 4, stream);
		CHECK(cuStreamSynchronize(stream));
		CHECK(cuStreamSynchronize(resident));
		if (step < LATER || step % 2 == 0)
			hazard_await_graphs();
	}
	over = true;
	sem_post(&asked);
	pthread_join(thread, NULL);
	hazard_print("x", hazard_x);
}

static void module_loaded_behind(void)
{
	wait_behind_deferred(load_module);
}

static void streams_made_behind(void)
{
	wait_behind_deferred(make_streams);
}

static void graph_made_behind(void)
{
	wait_behind_deferred(make_graph);
}

static void library_loaded_behind(void)
{
	wait_behind_deferred(load_library);
}

static void limit_set_behind(void)
{
	wait_behind_deferred(set_limit);
}

static void context_ended_behind(void)
{
	wait_behind_deferred(end_context);
}

static void memory_ended_behind(void)
{
	wait_behind_deferred(end_memory);
}

const struct hazard gated_hazards[] = {
	{"callback_wants_mutex", callback_wants_mutex},
	{"function_wants_mutex", function_wants_mutex},
	{"functions_behind", functions_behind},
	{"functions_queued", functions_queued},
	{"callbacks_behind", callbacks_behind},
	{"kept_back", kept_back},
	{"context_waits_for_event", context_waits_for_event},
	{"free_beside_device", free_beside_device},
	{"free_beside_context", free_beside_context},
	{"room_beside_context", room_beside_context},
	{"room_elsewhere", room_elsewhere},
	{"release_beside_context", release_beside_context},
	{"release_ends_beside", release_ends_beside},
	{"handler_at_first_call", handler_at_first_call},
	{"handler_at_first_op", handler_at_first_op},
	{"handler_at_first_end", handler_at_first_end},
	{"handler_at_own_stream", handler_at_own_stream},
	{"module_loaded_behind", module_loaded_behind},
	{"streams_made_behind", streams_made_behind},
	{"library_loaded_behind", library_loaded_behind},
	{"limit_set_behind", limit_set_behind},
	{"context_ended_behind", context_ended_behind},
	{"memory_ended_behind", memory_ended_behind},
	{"graph_made_behind", graph_made_behind},
	{NULL, NULL},
};
