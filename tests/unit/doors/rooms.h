/*
 * Inner rooms that do nothing but remember what the doors told them. They stand in for src/ in a
 * preloaded object of the tests' own, which shows `rooms` to the test program.
 */
#pragma once

#include <link.h>
#include <stdint.h>

#include "entry/entry.h"

struct rooms {
	unsigned int ops, orders, syncs, lifetimes, lifetimes_ended, frees, frees_ended, begins, ends,
		observed, stops, starts, memory_shortages, callbacks, shared, context_syncs,
		context_syncs_ended;
	struct reprise_call call; /* the last op; what it points at may be gone */
	CUlaunchConfig config;    /* of that call, if it has one */
	CUstream stream;          /* of the last order, begin or end */
	bool per_thread;
	enum reprise_sync sync; /* of the last sync */
	enum reprise_lifetime what;
	uintptr_t handle;
	enum reprise_lifetime what_ended;
	uintptr_t handle_ended;
	unsigned int limits;        /* limits that were set */
	struct reprise_limit limit; /* the last one */
	CUresult result;            /* the last one observed */
	CUresult answer;            /* what a wait is told */
	bool passes;                /* reprise_pass_begins lets all ops pass */
	bool eager;                 /* reprise_handle_op makes the call instead of answering success */
	bool unwind;                /* a sync writes down who called */
	void *frames[64];
	int frame_count;
	bool loads; /* a query about a function may load it */
	/* Is told of each call of a room, with its arguments, if it is there. */
	void (*told)(const char *room, unsigned int count, const uint64_t *values);
	_Atomic uint32_t *attention;
	int *(*inside)(void); /* where this thread's reprise_inside is */
	bool (*is_in_doubt)(void);
	bool (*gives_work)(
		void);           /* this thread is in a call that gives work, as far as the gate knows; */
	bool (*waits)(void); /* in one that may wait for all work */
	/* a spare door for a function of that name does more than a barrier; takes the door */
	bool (*is_strict)(const char *name);
	/* the object's own definition (preload/scope.h) */
	void *(*own_definition)(const struct link_map *map, const char *name);
};
