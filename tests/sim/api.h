/*
 * How an entry point of the driver API is written.
 *
 *     API_PTSZ(SIM_CONTEXT, cuStreamQuery, (CUstream stream), (stream))
 *     {
 *             ... the body, with the lock held; it returns the result
 *     }
 *
 * defines cuStreamQuery and cuStreamQuery_ptsz. Before the body runs the call is counted, a fault
 * asked for is injected, and what the entry point needs is checked. API has no per-thread form;
 * API_PTDS has a _ptds one.
 */
#pragma once

#include "sim.h"
#include "slow.h"

enum sim_needs {
	SIM_NOTHING, /* may be called before cuInit */
	SIM_INIT,
	SIM_CONTEXT, /* a current context that is not broken: else CUDA_ERROR_INVALID_CONTEXT, or its
	                sticky error */
};

struct sim_fault;

struct sim_entry {
	const char *name;
	unsigned long calls;
	struct sim_fault *faults;
	struct sim_slow slow;
	struct sim_entry *next; /* in the list of those called so far */
};

CUresult sim_enter(struct sim_entry *entry, enum sim_needs needs, bool per_thread);
CUresult sim_leave(struct sim_entry *entry, CUresult result);

/* The entry points called so far. */
const struct sim_entry *sim_entries(void);

/* Calls of any entry point so far: it stands still while the program is away. */
unsigned long sim_calls(void);

#define SIM_ENTRY(exported, params, needs, per_thread, body) \
	__attribute__((visibility("default"))) CUresult exported params \
	{ \
		static struct sim_entry sim_entry = {.name = #exported}; \
		CUresult sim_result = sim_enter(&sim_entry, needs, per_thread); \
\
		if (sim_result == CUDA_SUCCESS) \
			sim_result = body; \
		return sim_leave(&sim_entry, sim_result); \
	}

#define API(needs, name, params, args) \
	static CUresult name##_body params; \
	SIM_ENTRY(name, params, needs, false, name##_body args) \
	static CUresult name##_body params

#define API_BOTH(needs, name, suffix, params, args) \
	static CUresult name##_body params; \
	SIM_ENTRY(name, params, needs, false, name##_body args) \
	SIM_ENTRY(name##suffix, params, needs, true, name##_body args) \
	static CUresult name##_body params

#define API_PTSZ(needs, name, params, args) API_BOTH(needs, name, _ptsz, params, args)
#define API_PTDS(needs, name, params, args) API_BOTH(needs, name, _ptds, params, args)
