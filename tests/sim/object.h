/*
 * The things behind handles. They live in one range of addresses that is never given back, so that
 * any value a program passes can be told from a handle, and a handle destroyed comes back with the
 * next object of its kind, as drivers do.
 */
#pragma once

#include "sim.h"

enum sim_kind {
	SIM_NO_OBJECT,
	SIM_A_CONTEXT,
	SIM_A_STREAM,
	SIM_AN_EVENT,
	SIM_A_MODULE,
	SIM_A_LIBRARY,
	SIM_A_FUNCTION,
	SIM_A_KERNEL,
	SIM_A_GRAPH,
	SIM_A_NODE,
	SIM_AN_EXEC,
	SIM_A_POOL,
	SIM_A_USER_OBJECT,
	SIM_AN_ARRAY,
	SIM_A_RESOURCE,
	SIM_A_GREEN_CONTEXT,
	SIM_KINDS
};

/* First member of every such thing. */
struct sim_object {
	enum sim_kind kind;
	uint32_t ordinal; /* of its kind, in order of creation, from 1 */
	uint64_t serial;  /* never used twice, unlike the address */
	bool is_reprises; /* made by a call of Reprise's own, where such are known (fault.h) */
	struct sim_object *next_free;
	struct sim_object *older, *newer; /* of the live ones of its kind */
};

/* All bytes zero but the head. `size` is the same in every call for a kind. */
void *sim_object_new(enum sim_kind kind, size_t size);
void sim_object_free(void *object);

/* The live object of the kind that was made last; `older` leads to the others. */
struct sim_object *sim_object_newest(enum sim_kind kind);

/* The object behind a handle, or NULL if the handle is none of a live object of that kind. */
void *sim_object_of(enum sim_kind kind, const void *handle);
