/*
 * Calls that stand in the way, each kind from functions of its own. Linked with cudart, shared or
 * static, or with runtime.c in its place; with IN_PLACE the functions of runtime.c become part of
 * those that call them, and it is a program of the driver API.
 */
#ifdef IN_PLACE
#define RUNTIME static inline __attribute__((always_inline))
#define INNER static inline __attribute__((always_inline))
#include "runtime.c"
#else
#include "runtime.h"
#endif

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 40
#define BYTES 4096

#define APART __attribute__((noinline))

static void *stream, *memory;
static char pageable[BYTES];

static void check(int error)
{
	if (error == 0)
		return;
	fprintf(stderr, "call_sites: error %d\n", error);
	exit(1);
}

/* As the compiler makes of the template of cuda_runtime.h, where nothing is inlined. */
APART static int allocate_floats(float **address,
                                 size_t bytes) __asm__("_ZL10cudaMallocIfE9cudaErrorPPT_m");

APART static int allocate_floats(float **address, size_t bytes)
{
	int error = cudaMalloc((void **)address, bytes);

	return error;
}

/* A wait with nothing before it is none. */
static void work(int value)
{
	check(cudaMemsetAsync(memory, value, BYTES, stream));
}

APART static void step_one(void)
{
	work(1);
	check(cudaStreamSynchronize(stream));
}

APART static void step_two(void)
{
	work(2);
	check(cudaStreamSynchronize(stream));
}

/* No function of the runtime API, by its name alone. */
APART static void cudaStepThree(void)
{
	work(3);
	check(cudaStreamSynchronize(stream));
}

APART static void copy(void)
{
	check(cudaMemcpyAsync(memory, pageable, BYTES, 1, stream));
}

APART static void take(void **more)
{
	check(cudaMalloc(more, BYTES));
}

APART static void take_floats(float **more, size_t bytes)
{
	check(allocate_floats(more, bytes));
}

APART static void give(void *more)
{
	check(cudaFree(more));
}

/* The same calls, from deeper down: no other call site. */
APART static void both(void)
{
	step_one();
	step_two();
}

int main(void)
{
	void *more;
	float *floats;

	check(cudaStreamCreate(&stream));
	check(cudaMalloc(&memory, BYTES));
	for (int round = 0; round < ROUNDS; round++) {
		work(round);
		step_one();
		step_two();
		both();
		cudaStepThree();
		copy();
		take(&more);
		give(more);
		take_floats(&floats, BYTES + (size_t)round);
		give(floats);
	}
	return 0;
}
