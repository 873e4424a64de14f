/*
 * The simulated driver: what its rooms share.
 *
 * One lock, sim_lock, protects everything. An entry point takes it in sim_enter and gives it back
 * in sim_leave (api.h); it is let go while a thread waits for work to finish, while a host function
 * runs and while a spinning kernel pauses. Functions that are not entry points expect it held.
 *
 * cuda.h is read as its implementer reads it: every exported name declared as itself, none mapped
 * to another.
 */
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sim_context;
struct sim_op;
struct sim_stream;

extern pthread_mutex_t sim_lock;

/* The monotonic clock, in nanoseconds. Without any lock. */
uint64_t sim_monotonic_ns(void);

/* What the simulation keeps for each thread of the program. */
struct sim_self {
	uint64_t id;     /* 1 for the first thread that calls */
	uint64_t waited; /* the sequence of its last wait, for the log; 0 before */
	struct sim_context *stack[32];
	unsigned int depth;
	int cancellable; /* the cancellation state to return to: no call is a cancellation point, since
	                    it holds sim_lock */
	bool per_thread; /* the entry point in progress has a _ptsz or _ptds name */
	bool reprises;   /* the call in progress is Reprise's own (fault.h) */
	bool in_host_function;    /* CUDA calls are not permitted */
	const char *call;         /* the entry point called last */
	CUstreamCaptureMode mode; /* cuThreadExchangeStreamCaptureMode */
};

struct sim_self *sim_self(void);

/* The current context, or NULL. */
struct sim_context *sim_current(void);

/* An array that grows: VECTOR(struct sim_op *) names; sim_push(&names, op). */
#define VECTOR(type) \
	struct { \
		type *at; \
		size_t count, room; \
	}
#define sim_push(vector, item) \
	do { \
		if ((vector)->count == (vector)->room) \
			(vector)->at = sim_grow((vector)->at, &(vector)->room, sizeof(*(vector)->at)); \
		(vector)->at[(vector)->count++] = (item); \
	} while (0)
#define sim_remove(vector, position) \
	do { \
		size_t sim_position = (position); \
		(vector)->count--; \
		memmove(&(vector)->at[sim_position], &(vector)->at[sim_position + 1], \
		        ((vector)->count - sim_position) * sizeof(*(vector)->at)); \
	} while (0)
#define sim_clear(vector) \
	(free((vector)->at), (vector)->at = NULL, (vector)->count = (vector)->room = 0)

void *sim_grow(void *array, size_t *room, size_t item_size);

/* Says what is wrong on stderr and ends the process: for misuse of the simulation itself, never for
 * what a program may do. */
_Noreturn void sim_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
