/* Contexts: a device's primary one, and those that programs create; the thread's stack of them. */
#pragma once

#include "drain.h"
#include "object.h"
#include "sim.h"

struct sim_event;
struct sim_loaded;
struct sim_op;
struct sim_stream;

struct sim_context {
	struct sim_object object;
	CUdevice device;
	bool primary;
	bool active;           /* the primary context exists before and after it is active */
	unsigned int retained; /* cuDevicePrimaryCtxRetain */
	unsigned int attached; /* cuCtxAttach */
	unsigned int flags;
	_Atomic CUresult error; /* sticky: once an op has failed every call that needs the context
	                           returns this; the recorder asks for it without the lock */
	size_t limits[CU_LIMIT_MAX];
	uint32_t streams_created;
	struct sim_stream *legacy;
	VECTOR(struct sim_stream *) streams; /* with the legacy and the per-thread ones */
	VECTOR(struct sim_orphan {
		struct sim_op *op;
		bool blocks;
	})
	orphans; /* last ops of streams destroyed with work under way */
	VECTOR(struct sim_event *) events;
	VECTOR(struct sim_loaded *) loaded; /* its modules */
	struct {
		struct sim_heap graphs, kernel_nodes; /* what executable graphs take, in bytes */
		struct sim_heap streams;              /* how many were created */
	} heaps;
	uint64_t drained_by;    /* the thread whose call waits for all its work; 0: none */
	VECTOR(uint64_t) peers; /* serials of contexts whose memory it may access */
};

bool sim_context_alive(const struct sim_context *context);

/* An op has failed. CUDA_SUCCESS is ignored. */
void sim_context_break(struct sim_context *context, CUresult error);

/* Returns a reference to an op behind all its work, of streams that were destroyed too. Enqueueing
 * it is left to the caller. */
struct sim_op *sim_context_all(struct sim_context *context);

/* An op of it that has not finished, or NULL. */
struct sim_op *sim_context_unfinished(const struct sim_context *context);

/* Waits for all that; returns its error. */
CUresult sim_context_synchronize(struct sim_context *context);

/* The context behind a handle; NULL means the current one. NULL is returned if there is none. */
struct sim_context *sim_context_of(CUcontext handle);

/* The device's primary context, active or not; and as whoever needs it retains and releases it. */
struct sim_context *sim_context_primary(CUdevice device);
struct sim_context *sim_context_retain_primary(CUdevice device);
void sim_context_release_primary(CUdevice device);
