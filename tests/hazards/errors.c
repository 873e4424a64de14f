/*
 * Errors of ops that were answered with success. The driver fails at some calls (SIM_FAULT),
 * whoever makes them. Each op counts at a place of its own, so at the end it can be told: what was
 * answered with success, and was not executed, is as much as there were errors that waits answered;
 * and nothing was executed that the program did not ask for, or that it was told of as failed.
 */
#include <pthread.h>

#include "hazard.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cuCtxAttach, cuCtxDetach */

#define ROUNDS 2500u

static CUfunction tally;
static CUdeviceptr counts;
static uint64_t answered[CHAIN]; /* with success */
static uint64_t told;            /* errors, by calls that only wait */

static void launch(unsigned place, CUstream stream)
{
	if (cuLaunchKernel(tally, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&counts, &place}, NULL) ==
	    CUDA_SUCCESS)
		answered[place]++;
}

static void launch_some(unsigned first, unsigned end, CUstream stream)
{
	for (unsigned place = first; place < end; place++)
		launch(place, stream);
}

/* What the driver answers to two launches in a row, here and there, by SIM_FAULT. */
static const CUresult first_error = CUDA_ERROR_OUT_OF_MEMORY,
					  second_error = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;

static CUresult last_told;                     /* since the last call that was made */
static unsigned others_told, told_out_of_turn; /* by one stream's waits */

/* The result of a call that waits; true if it was made. */
static bool is_made(CUresult result)
{
	if (result == CUDA_ERROR_NOT_READY)
		return false;
	told += result != CUDA_SUCCESS;
	others_told += result != CUDA_SUCCESS && result != first_error && result != second_error;
	told_out_of_turn += last_told == second_error && result == first_error;
	last_told = result;
	return result == CUDA_SUCCESS;
}

/* Waits in this way or that, as often as there is an error to be told. */
static void wait_for(unsigned way, CUstream stream, CUevent event)
{
	uint32_t word;

	if (way % 6 == 4 && cuEventRecord(event, stream) != CUDA_SUCCESS)
		way = 0;
	for (;;) {
		CUresult result = way % 6 == 1   ? cuCtxSynchronize()
		                  : way % 6 == 2 ? cuStreamQuery(stream)
		                  : way % 6 == 3 ? cuMemcpyDtoH(&word, hazard_y, sizeof(word))
		                  : way % 6 == 4 ? cuEventSynchronize(event)
		                                 : cuStreamSynchronize(stream);

		if (is_made(result))
			return;
	}
}

static void print(void)
{
	uint32_t executed[CHAIN];
	uint64_t missing = 0, doubled = 0;

	while (!is_made(cuCtxSynchronize()))
		continue;
	CHECK(cuMemcpyDtoH(executed, counts, sizeof(executed)));
	for (unsigned place = 0; place < CHAIN; place++) {
		if (executed[place] > answered[place])
			doubled += executed[place] - answered[place];
		else
			missing += answered[place] - executed[place];
	}
	printf("errors lost %lld, executed though told of, or twice %llu\n",
	       (long long)(missing - told), (unsigned long long)doubled);
}

static void set_up(void)
{
	tally = hazard_function("tally");
	CHECK(cuMemAlloc(&counts, CHAIN * 4));
	CHECK(cuMemsetD32(counts, 0, CHAIN));
	CHECK(cuCtxSynchronize());
}

/* Anywhere, so that no trace ends there. */
static unsigned end_of(unsigned round)
{
	return round % 9 == 4 ? round * 2654435761u % CHAIN : CHAIN;
}

/* A chain that is hot, and left in its middle now and then. */
static void deferred_errors(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent event;

	set_up();
	CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (unsigned round = 0; round < ROUNDS; round++) {
		launch_some(0, end_of(round), stream);
		if (hazard_springs(round + 1))
			launch(CHAIN - 1, stream);
		wait_for(round / 7, stream, event);
	}
	printf("errors of another kind %u, out of turn %u\n", others_told, told_out_of_turn);
	print();
}

/* The same of two streams that fork and join. */
static void deferred_errors_of_forks(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING),
			 side = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent fork, join;

	set_up();
	CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
	for (unsigned round = 0; round < ROUNDS; round++) {
		launch_some(0, CHAIN / 3, stream);
		CHECK(cuEventRecord(fork, stream));
		CHECK(cuStreamWaitEvent(side, fork, 0));
		launch_some(CHAIN / 3, 2 * CHAIN / 3, side);
		CHECK(cuEventRecord(join, side));
		CHECK(cuStreamWaitEvent(stream, join, 0));
		launch_some(2 * CHAIN / 3, end_of(round) < CHAIN ? CHAIN - 3 : CHAIN, stream);
		wait_for(round / 7 % 4, stream, NULL);
	}
	print();
}

/* A thread makes a stream hot, leaves ops deferred there, destroys it and ends. */
static void *leave_a_stream(void *unused)
{
	CUstream stream;

	CHECK(cuCtxSetCurrent(hazard_context));
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned round = 0; round < 30; round++) {
		launch_some(0, CHAIN, stream);
		wait_for(0, stream, NULL);
	}
	hazard_await_graphs();
	for (unsigned round = 0; round < 4; round++) {
		launch_some(0, CHAIN, stream);
		wait_for(0, stream, NULL);
	}
	launch_some(0, CHAIN - 3, stream);
	CHECK(cuStreamDestroy(stream));
	return unused;
}

/* What of that fails is told by a wait for any stream of the context, now that it is no stream's
 * any more. */
static void deferred_errors_of_ended_streams(void)
{
	CUstream other = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned late = 0;

	set_up();
	for (unsigned round = 0; round < 12; round++) {
		pthread_t thread;

		pthread_create(&thread, NULL, leave_a_stream, NULL);
		pthread_join(thread, NULL);
		wait_for(0, other, NULL);
		while (!is_made(cuCtxSynchronize()))
			late++;
	}
	printf("told late %u\n", late);
	print();
}

static CUstream apart;

/* Another thread's wait for another stream is told nothing: the stream that it is about is still
 * there. */
static void *wait_apart(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuStreamSynchronize(apart));
	return unused;
}

/* A chain that is left in its middle, with what fails of it not told yet, while `ends` is called.
 */
static void leave_chains(void (*ends)(void))
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_t thread;

	set_up();
	apart = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned round = 0; round < ROUNDS; round++) {
		bool springs = hazard_springs(round + 1);

		launch_some(0, springs ? CHAIN - 3 : CHAIN, stream);
		if (springs) {
			ends();
			pthread_create(&thread, NULL, wait_apart, NULL);
			pthread_join(thread, NULL);
		}
		wait_for(0, stream, NULL);
	}
	print();
}

static void release_primary(void)
{
	CUcontext again;

	CHECK(cuDevicePrimaryCtxRetain(&again, hazard_device));
	CHECK(cuDevicePrimaryCtxRelease(hazard_device));
	if (cuCtxDestroy(again) != CUDA_ERROR_INVALID_CONTEXT)
		printf("a primary context was destroyed\n");
}

/* The device's primary context is given back by one of those that hold it, and stays. */
static void deferred_errors_at_release(void)
{
	leave_chains(release_primary);
}

static void attach_and_detach(void)
{
	CUcontext again;

	CHECK(cuCtxAttach(&again, 0));
	CHECK(cuCtxDetach(again));
}

/* The context was attached once more. */
static void deferred_errors_at_detach(void)
{
	leave_chains(attach_and_detach);
}

static CUgreenCtx green;

static void replace_green(void)
{
	CHECK(cuGreenCtxDestroy(green));
	green = hazard_green_context();
}

/* A green context ends, and its device's primary context stays. */
static void deferred_errors_at_green(void)
{
	green = hazard_green_context();
	leave_chains(replace_green);
	CHECK(cuGreenCtxDestroy(green));
}

/* The current context's, which is about to end. */
static void leave_a_chain(CUstream stream)
{
	CUfunction function = hazard_function("tally");
	CUdeviceptr memory;

	CHECK(cuMemAlloc(&memory, CHAIN * 4));
	for (unsigned round = 0; round < 80; round++) {
		if (round == 60)
			hazard_await_graphs();
		for (unsigned place = 0; place < (round < 79 ? CHAIN : CHAIN - 3); place++)
			(void)cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&memory, &place},
			                     NULL);
		while (round < 79 && cuStreamSynchronize(stream) != CUDA_SUCCESS)
			continue;
	}
}

/* Contexts end with what fails in them not told yet: nobody is told of it afterwards, as plainly
 * nobody is. */
static void deferred_errors_of_ended_contexts(void)
{
	for (unsigned round = 0; round < 16; round++) {
		CUcontext context = NULL;

		if (round % 2 != 0) {
			CHECK(cuCtxCreate(&context, NULL, 0, hazard_device));
			CHECK(cuModuleLoad(&hazard_module, hazard_module_path));
		}
		leave_a_chain(hazard_stream(CU_STREAM_NON_BLOCKING));
		if (context != NULL) {
			CHECK(round % 4 == 1 ? cuCtxDestroy(context) : cuCtxDetach(context));
			CHECK(cuCtxSetCurrent(hazard_context));
		} else if (round % 4 == 0) {
			CHECK(cuDevicePrimaryCtxReset(hazard_device));
		} else {
			CHECK(cuDevicePrimaryCtxRelease(hazard_device));
			hazard_set_up();
		}
		if (context != NULL || round % 4 == 0)
			CHECK(cuModuleLoad(&hazard_module, hazard_module_path));
		told = 0;
		for (unsigned i = 0; i < 20; i++)
			is_made(cuCtxSynchronize());
		printf("%u: told %llu\n", round, (unsigned long long)told);
	}
}

const struct hazard error_hazards[] = {
	{"deferred_errors", deferred_errors},
	{"deferred_errors_of_forks", deferred_errors_of_forks},
	{"deferred_errors_of_ended_streams", deferred_errors_of_ended_streams},
	{"deferred_errors_at_release", deferred_errors_at_release},
	{"deferred_errors_at_detach", deferred_errors_at_detach},
	{"deferred_errors_at_green", deferred_errors_at_green},
	{"deferred_errors_of_ended_contexts", deferred_errors_of_ended_contexts},
	{NULL, NULL},
};
