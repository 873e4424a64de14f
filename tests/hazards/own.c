/*
 * Threads' own default streams, to which only their own threads can issue: what is deferred there
 * is issued by others, while the thread sleeps, in its contexts, and when it has ended.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

#define OWN CU_STREAM_PER_THREAD
#define PART (CHAIN / 2 + 1)

/* Each time another part of a chain, so that some end in the midst of a trace. */
static unsigned part(unsigned number)
{
	return 3 + number * 5 % (CHAIN - 4);
}

/* ---- another thread, which does what it is asked to, while the one that asks sleeps ---- */

static sem_t asked, answered;
static void (*asked_for)(unsigned number);
static unsigned asked_number;

static void *serve(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	sem_post(&answered);
	for (;;) {
		while (sem_wait(&asked) != 0)
			;
		if (asked_for == NULL)
			return unused;
		asked_for(asked_number);
		sem_post(&answered);
	}
}

/* Threads are numbered in order of their first call: it is made before this returns. */
static pthread_t begin_serving(void)
{
	pthread_t thread;

	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_create(&thread, NULL, serve, NULL);
	while (sem_wait(&answered) != 0)
		;
	return thread;
}

static void sleep_while(void (*does)(unsigned number), unsigned number)
{
	asked_for = does;
	asked_number = number;
	sem_post(&asked);
	while (does != NULL && sem_wait(&answered) != 0)
		;
}

static void end_serving(pthread_t thread)
{
	sleep_while(NULL, 0);
	pthread_join(thread, NULL);
}

/* ---- what the thread does next ---- */

static void ask(CUstream stream)
{
	CUresult result;

	while ((result = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
		;
	CHECK(result);
}

static CUstream beside;
static CUdeviceptr beside_x;
static unsigned functions_run;

static void CUDA_CB count_function(void *unused)
{
	functions_run++;
}

static void CUDA_CB count_callback(CUstream stream, CUresult status, void *unused)
{
	functions_run++;
}

/* Another stream's work comes behind, and the thread's own behind that. */
static void meet_at_events(unsigned number)
{
	CUevent out, back;

	CHECK(cuEventCreate(&out, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventRecord(out, OWN));
	CHECK(cuStreamWaitEvent(beside, out, CU_EVENT_WAIT_DEFAULT));
	hazard_launch(hazard_mix, hazard_x, number, beside);
	CHECK(cuEventRecord(back, beside));
	CHECK(cuStreamWaitEvent(OWN, back, CU_EVENT_WAIT_DEFAULT));
	CHECK(cuEventDestroy(out));
	CHECK(cuEventDestroy(back));
}

static void capture(unsigned number)
{
	CUgraphExec executable;
	CUgraph graph;

	CHECK(cuStreamBeginCapture(OWN, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	hazard_launch(hazard_mix, hazard_x, number, OWN);
	CHECK(cuStreamEndCapture(OWN, &graph));
	CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
	CHECK(cuGraphLaunch(executable, OWN));
	CHECK(cuGraphExecDestroy(executable));
	CHECK(cuGraphDestroy(graph));
}

static void copy(void)
{
	static __typeof__(&cuMemcpyDtoH) copy_own; /* cuMemcpyDtoH_v2_ptds */
	uint32_t words[WORDS], sum = 0;

	if (copy_own == NULL)
		CHECK(cuGetProcAddress("cuMemcpyDtoH", (void **)&copy_own, CUDA_VERSION,
		                       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	CHECK(copy_own(words, hazard_x, sizeof(words)));
	for (unsigned i = 0; i < WORDS; i++)
		sum = sum * 69069u + words[i];
	printf("copied %08x\n", (unsigned)sum);
}

/* Within the context, in the order of the thread's own stream. */
static void copy_between_contexts(void)
{
	static __typeof__(&cuMemcpyPeer) copy_own; /* cuMemcpyPeer_ptds */

	if (copy_own == NULL)
		CHECK(cuGetProcAddress("cuMemcpyPeer", (void **)&copy_own, CUDA_VERSION,
		                       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	CHECK(copy_own(beside_x, hazard_context, hazard_x, hazard_context, WORDS * 4));
}

#define NEXT 9u

static void go_on(unsigned number)
{
	switch (number % NEXT) {
	case 0: /* with an op that repeats */
		break;
	case 1:
		CHECK(cuStreamSynchronize(OWN));
		break;
	case 2:
		ask(OWN);
		break;
	case 3:
		meet_at_events(number);
		break;
	case 4:
		capture(number);
		break;
	case 5:
		copy();
		break;
	case 6:
		CHECK(cuLaunchHostFunc(OWN, count_function, NULL));
		CHECK(cuStreamAddCallback(OWN, count_callback, NULL, 0));
		break;
	case 7:
		copy_between_contexts();
		break;
	default:
		hazard_set_attribute(OWN, number);
		break;
	}
}

static void prepare_to_go_on(void)
{
	beside = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc(&beside_x, WORDS * 4));
}

/* ---- others issue in the thread's place ---- */

/* Everything by which another thread sees the work, or comes behind it. */
static void look(unsigned number)
{
	uint32_t word;
	CUdeviceptr memory;

	switch (number % 5) {
	case 0: /* until no lane has anything new to be told of */
		for (unsigned i = 0; i < 3; i++)
			CHECK(cuCtxSynchronize());
		break;
	case 1:
		hazard_launch(hazard_mix, hazard_x, number, CU_STREAM_LEGACY);
		break;
	case 2:
		CHECK(cuMemAlloc(&memory, 64));
		CHECK(cuMemFree(memory));
		break;
	case 3:
		ask(CU_STREAM_LEGACY);
		break;
	default:
		CHECK(cuMemcpyDtoH(&word, hazard_x, sizeof(word)));
		printf("seen %08x\n", (unsigned)word);
		break;
	}
}

/* A part of a hot chain, another thread's look, the rest of the chain. */
static void own_stream_elsewhere(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	prepare_to_go_on();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		if (hazard_springs(iteration)) {
			hazard_part_of_chain(hazard_x, part(number), OWN);
			sleep_while(look, number);
			go_on(number++);
		}
		hazard_chain(hazard_x, OWN);
		if (iteration % 3 == 0)
			CHECK(cuStreamSynchronize(OWN));
		hazard_settle_again(iteration, OWN);
	}
	end_serving(thread);
	CHECK(cuStreamSynchronize(OWN));
	printf("functions %u\n", functions_run);
	hazard_print("x", hazard_x);
}

static void pause_all(unsigned number)
{
	reprise_pause();
}

/* Another thread has all calls be eager for a while, which issues what is deferred. */
static void own_stream_paused(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	prepare_to_go_on();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		if (trap) {
			hazard_part_of_chain(hazard_x, part(number), OWN);
			sleep_while(pause_all, number);
			if (number % 2 == 0)
				go_on(number / 2);
			number++;
		}
		hazard_chain(hazard_x, OWN);
		CHECK(cuStreamSynchronize(OWN));
		if (trap)
			reprise_resume();
		hazard_settle_again(iteration, OWN);
	}
	end_serving(thread);
	hazard_print("x", hazard_x);
}

/* ---- the thread sleeps on what others see in memory ---- */

static volatile uint32_t *mapped;
static CUdeviceptr mapped_device;
static CUfunction publish, await;

static void prepare_mapped(void)
{
	CHECK(cuMemHostAlloc((void **)&mapped, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped_device, (void *)mapped, 0));
	memset((void *)mapped, 0, WORDS * 4);
	publish = hazard_function("publish");
	await = hazard_function("await");
}

static void launch_flag(CUfunction function, unsigned word, uint32_t value, CUstream stream)
{
	CUdeviceptr flag = mapped_device + 4 * word;

	CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag, &value}, NULL));
}

static void see(unsigned number)
{
	if (!hazard_reaches(mapped, number))
		printf("never saw %u\n", number);
}

#define WORDS_SEEN 5u

/* At some of the words the thread sleeps, and nobody makes a call of CUDA's until it is seen. */
static void own_stream_sleeps(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	prepare_to_go_on();
	prepare_mapped();
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		for (unsigned i = 0; i < WORDS_SEEN; i++) {
			hazard_part_of_chain(hazard_x, CHAIN / WORDS_SEEN, OWN);
			launch_flag(publish, 0, iteration * WORDS_SEEN + i, OWN);
			if (trap && i == number % WORDS_SEEN) {
				sleep_while(see, iteration * WORDS_SEEN + i);
				go_on(number);
			}
		}
		number += trap;
		CHECK(cuStreamSynchronize(OWN));
		hazard_settle_again(iteration, OWN);
	}
	end_serving(thread);
	hazard_print("x", hazard_x);
}

/* ---- waits for the own stream are not behind what came to the legacy stream ---- */

static void block_legacy(unsigned number)
{
	launch_flag(await, 1, number, CU_STREAM_LEGACY);
}

/* A chain on mapped memory, and what must be there when it has finished. */
static volatile uint32_t *seen;
static CUdeviceptr seen_device;
static uint32_t expected;

static void launch_to_be_seen(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		hazard_launch(hazard_mix, seen_device, i, OWN);
		expected = hazard_mixed(expected, 5, i);
	}
}

static void expect_it(unsigned iteration)
{
	if (seen[0] != expected || seen[WORDS - 1] != expected)
		printf("it was not there in iteration %u\n", iteration);
}

/* A kernel on the legacy stream waits for the thread, which waits for its own stream before. */
static void own_stream_waits(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	prepare_mapped();
	CHECK(cuMemHostAlloc((void **)&seen, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&seen_device, (void *)seen, 0));
	memset((void *)seen, 0, WORDS * 4);
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		if (hazard_springs(iteration)) {
			launch_to_be_seen(part(number));
			sleep_while(block_legacy, iteration);
			if (number++ % 2 == 0)
				CHECK(cuStreamSynchronize(OWN));
			else
				ask(OWN);
			expect_it(iteration);
			mapped[1] = iteration;
		}
		launch_to_be_seen(CHAIN);
		CHECK(cuStreamSynchronize(OWN));
		expect_it(iteration);
		hazard_settle_again(iteration, OWN);
	}
	end_serving(thread);
	printf("seen %08x\n", (unsigned)seen[0]);
}

/* ---- contexts ---- */

/* A thread has an own stream in each context. */
static void launch_there(const struct hazard_place *place, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		hazard_launch_there(place, i, OWN);
}

static struct hazard_place place;

/* In the first context, in the second, or in both. */
static void look_into(unsigned number)
{
	CUdeviceptr memory;

	if (number % 3 == 2) {
		CHECK(cuMemAlloc(&memory, 64));
		CHECK(cuMemFree(memory));
		return;
	}
	CHECK(cuCtxSetCurrent(number % 3 == 0 ? hazard_context : place.context));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(hazard_context));
}

/* In both a part is deferred. The second one ends now and then, its work pending. */
static void own_stream_contexts(void)
{
	pthread_t thread = begin_serving();
	unsigned number = 0;

	place = hazard_make_place();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		bool trap = hazard_springs(iteration);

		CHECK(cuCtxSetCurrent(hazard_context));
		hazard_part_of_chain(hazard_x, part(number), OWN);
		CHECK(cuCtxSetCurrent(place.context));
		launch_there(&place, part(number + 1));
		if (trap)
			sleep_while(look_into, number++);
		launch_there(&place, CHAIN);
		if (iteration % 2 == 0)
			CHECK(cuStreamSynchronize(OWN));
		if (trap && number % 4 == 0) {
			hazard_print("there", place.x);
			launch_there(&place, PART);
			sleep_while(look_into, 1);
			CHECK(cuCtxDestroy(place.context));
			place = hazard_make_place();
		}
		CHECK(cuCtxSetCurrent(hazard_context));
		hazard_chain(hazard_x, OWN);
		CHECK(cuStreamSynchronize(OWN));
		hazard_settle_again(iteration, OWN);
	}
	end_serving(thread);
	CHECK(cuCtxSetCurrent(place.context));
	hazard_print("there", place.x);
	CHECK(cuCtxDestroy(place.context));
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("x", hazard_x);
}

static void let_go(unsigned number)
{
	CUcontext context;

	if (number % 2 == 0)
		CHECK(cuCtxSynchronize());
	CHECK(cuDevicePrimaryCtxRetain(&context, hazard_device));
	CHECK(cuDevicePrimaryCtxRelease(hazard_device));
}

static void see_and_let_go(unsigned number)
{
	see(number);
	let_go(1);
}

/*
 * The device's primary context is released, but not by its last holder, while the thread's own
 * stream has something to wait for: work that others have issued, and that has not finished.
 */
static void own_stream_released(void)
{
	pthread_t thread;
	CUmodule module;

	CHECK(cuDevicePrimaryCtxRetain(&hazard_context, hazard_device));
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	hazard_module = module;
	hazard_mix = hazard_function("mix");
	hazard_turn = hazard_function("turn");
	CHECK(cuMemAlloc(&hazard_x, WORDS * 4));
	CHECK(cuMemAlloc(&hazard_y, WORDS * 4));
	CHECK(cuMemsetD32(hazard_x, 1, WORDS));
	CHECK(cuMemsetD32(hazard_y, 5, WORDS));
	CHECK(cuCtxSynchronize());
	thread = begin_serving();
	prepare_mapped();
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		bool releases = iteration > 100 && iteration % 100 == 7;

		if (iteration % 100 == 50 || iteration % 100 == 75)
			hazard_settle(OWN);
		if (!releases)
			mapped[1] = iteration;
		hazard_part_of_chain(hazard_x, PART, OWN);
		launch_flag(publish, 0, iteration, OWN);
		launch_flag(await, 1, iteration, OWN);
		hazard_part_of_chain(hazard_x, PART, OWN);
		if (releases) {
			sleep_while(see_and_let_go, iteration);
			hazard_launch(hazard_mix, hazard_x, iteration, OWN);
			mapped[1] = iteration;
		}
		hazard_chain(hazard_x, OWN);
		CHECK(cuStreamSynchronize(OWN));
	}
	end_serving(thread);
	hazard_print("x", hazard_x);
}

/* ---- threads end ---- */

static unsigned lives;

/* Ends with a part deferred, or with one that others have issued in its place. */
static void *live(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < 60; iteration++) {
		hazard_chain(hazard_x, OWN);
		CHECK(cuStreamSynchronize(OWN));
		if (iteration == 8 || iteration == 16)
			hazard_settle(OWN);
	}
	hazard_part_of_chain(hazard_x, part(lives), OWN);
	if (lives % 2 == 0)
		sleep_while(look, 1);
	return unused;
}

static void own_stream_ends(void)
{
	pthread_t server = begin_serving(), thread;

	for (lives = 0; lives < 16; lives++) {
		pthread_create(&thread, NULL, live, NULL);
		pthread_join(thread, NULL);
		if (lives % 4 < 2)
			hazard_launch(hazard_mix, hazard_x, lives, CU_STREAM_LEGACY);
		hazard_print("x", hazard_x);
	}
	end_serving(server);
}

/* Nothing else ends: what the thread had is given up some time after its last op was issued. */
static void own_stream_ends_once(void)
{
	uint64_t begin;
	pthread_t thread;

	lives = 1;
	pthread_create(&thread, NULL, live, NULL);
	pthread_join(thread, NULL);
	for (begin = hazard_now_ns(); hazard_now_ns() < begin + 600000000u;)
		usleep(10000);
	hazard_print("x", hazard_x);
}

/* ---- several threads at once ---- */

enum { IN_STEP = 4 };

static CUdeviceptr step_x[IN_STEP];
static pthread_barrier_t all_are_done;
static bool one_waits_for_all;

static void *step_by_step(void *which)
{
	unsigned me = (unsigned)(uintptr_t)which;

	CHECK(cuCtxSetCurrent(hazard_context));
	sem_post(&answered);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		pthread_barrier_wait(&all_are_done);
		if (hazard_springs(iteration)) { /* one waits while the others are in their midst */
			hazard_part_of_chain(step_x[me], part(iteration + me), OWN);
			pthread_barrier_wait(&all_are_done);
			if (iteration % IN_STEP == me)
				CHECK(one_waits_for_all ? cuCtxSynchronize() : cuStreamSynchronize(OWN));
			pthread_barrier_wait(&all_are_done);
		}
		hazard_chain(step_x[me], OWN);
		CHECK(cuStreamSynchronize(OWN));
	}
	return NULL;
}

static void work_in_step(void)
{
	pthread_t threads[IN_STEP];

	pthread_barrier_init(&all_are_done, NULL, IN_STEP);
	for (unsigned i = 0; i < IN_STEP; i++) {
		CHECK(cuMemAlloc(&step_x[i], WORDS * 4));
		CHECK(cuMemsetD32(step_x[i], i, WORDS));
	}
	CHECK(cuCtxSynchronize());
	sem_init(&answered, 0, 0);
	for (uintptr_t i = 0; i < IN_STEP; i++) {
		pthread_create(&threads[i], NULL, step_by_step, (void *)i);
		while (sem_wait(&answered) != 0)
			;
	}
	for (unsigned i = 0; i < IN_STEP; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < IN_STEP; i++)
		hazard_print("x", step_x[i]);
}

/* They work at the same time, and now and then one of them waits for all. */
static void own_streams_in_step(void)
{
	one_waits_for_all = true;
	work_in_step();
}

/* Or for its own stream alone: that is no concern of the others. */
static void own_streams_apart(void)
{
	work_in_step();
}

const struct hazard own_hazards[] = {
	{"own_stream_elsewhere", own_stream_elsewhere},
	{"own_stream_paused", own_stream_paused},
	{"own_stream_sleeps", own_stream_sleeps},
	{"own_stream_waits", own_stream_waits},
	{"own_stream_contexts", own_stream_contexts},
	{"own_stream_released", own_stream_released},
	{"own_stream_ends", own_stream_ends},
	{"own_stream_ends_once", own_stream_ends_once},
	{"own_streams_in_step", own_streams_in_step},
	{"own_streams_apart", own_streams_apart},
	{NULL, NULL},
};
