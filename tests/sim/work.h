/*
 * What an op does: launch a kernel, copy, set memory, call the host... A stream call becomes a
 * work; enqueued on a stream it is run by an op (op.h), captured it becomes a node (graph.h), and a
 * launched graph runs the works of its nodes.
 *
 * A work never changes once it is enqueued or captured: setting a node's parameters gives the node
 * another work. It is counted: whoever keeps a pointer to it takes a reference.
 */
#pragma once

#include "module.h"
#include "sim.h"
#include "user_object.h"

struct sim_event;
struct sim_graph;
struct sim_shared_event;

/* Kind, name in the log, type as a graph node. */
#define SIM_WORKS(X) \
	X(KERNEL, "kernel", CU_GRAPH_NODE_TYPE_KERNEL) \
	X(COPY, "copy", CU_GRAPH_NODE_TYPE_MEMCPY) \
	X(SET, "set", CU_GRAPH_NODE_TYPE_MEMSET) \
	X(HOST, "host", CU_GRAPH_NODE_TYPE_HOST) \
	X(CALLBACK, "callback", CU_GRAPH_NODE_TYPE_HOST) \
	X(RECORD, "record", CU_GRAPH_NODE_TYPE_EVENT_RECORD) \
	X(WAIT, "wait", CU_GRAPH_NODE_TYPE_WAIT_EVENT) \
	X(WAIT_ELSEWHERE, "wait for another process", CU_GRAPH_NODE_TYPE_WAIT_EVENT) \
	X(EMPTY, "empty", CU_GRAPH_NODE_TYPE_EMPTY) \
	X(CHILD, "child", CU_GRAPH_NODE_TYPE_GRAPH) \
	X(ATTACH, "attach", CU_GRAPH_NODE_TYPE_EMPTY) \
	X(ALLOC, "alloc", CU_GRAPH_NODE_TYPE_MEM_ALLOC) \
	X(FREE, "free", CU_GRAPH_NODE_TYPE_MEM_FREE) \
	X(WRITE_VALUE, "write value", CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) \
	X(WAIT_VALUE, "wait value", CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) \
	X(BATCH, "batch", CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)

enum sim_work_kind {
#define X(kind, name, type) SIM_##kind,
	SIM_WORKS(X)
#undef X
};

struct sim_kernel_work {
	struct sim_function *function;
	uint64_t serial; /* the function's: it may be unloaded before a graph is launched */
	CUkernel kernel; /* as node parameters tell it; NULL unless it was launched by one */
	struct sim_dim grid;
	struct sim_dim block;
	unsigned int shared_bytes;
	unsigned int multiprocessors;  /* of the green context it was launched in; 0: all */
	CUlaunchAttribute *attributes; /* by rising id */
	unsigned int attribute_count;
	unsigned char *bytes; /* the packed parameters */
	void **params;        /* pointers into bytes, for those who ask */
};

struct sim_copy_work {
	CUDA_MEMCPY3D shape; /* addresses in the host or device fields by memory type; never unified,
	                        never arrays */
	void *staged;        /* what a pageable source held at the call, rows without gaps; owned */
};

/* Writes and waits of words, one after another, as one graph node: launched, each is an op of its
 * own. */
struct sim_batch_work {
	CUstreamBatchMemOpParams *params; /* as the program gave them */
	struct sim_work **works;
	unsigned int count;
	unsigned int flags;
};

struct sim_set_work {
	CUdeviceptr target;
	size_t pitch, width, height; /* bytes, elements, rows */
	unsigned int value, element_bytes;
};

struct sim_work {
	enum sim_work_kind kind;
	unsigned int references;
	struct sim_context *context; /* the one current at the call */
	union {
		struct sim_kernel_work kernel;
		struct sim_copy_work copy;
		struct sim_set_work set;
		struct sim_batch_work batch;
		struct sim_references given_back; /* EMPTY: with the work */
		struct {
			CUhostFn function;
			void *data;
		} host;
		struct {
			CUstreamCallback function;
			CUstream stream;
			void *data;
		} callback;
		struct {
			struct sim_event *event; /* RECORD, WAIT in graphs: sim_event_of */
			uint64_t event_serial;   /* the event's */
			struct sim_shared_event
				*shared;    /* RECORD of an event of several processes, WAIT_ELSEWHERE: */
			uint64_t count; /* which record it is */
		};
		struct sim_graph *child; /* owned */
		CUdeviceptr memory;      /* FREE, ALLOC */
		struct {
			CUdeviceptr address;
			uint64_t value;
			unsigned int bytes, flags;
		} word;
		struct {
			CUdeviceptr address;
			unsigned int flags;
		} attach;
	};
};

/* A new one, all zero but the kind and the current context, with one reference. */
struct sim_work *sim_work_new(enum sim_work_kind kind);
struct sim_work *sim_work_new_with(enum sim_work_kind kind, size_t extra_bytes);
struct sim_work *sim_work_keep(struct sim_work *work);
void sim_work_drop(struct sim_work *work);

const char *sim_work_name(const struct sim_work *work);
CUgraphNodeType sim_work_node_type(const struct sim_work *work);

/* Whether it has to run on a thread of its own: it may wait for others while it runs. */
bool sim_work_blocks(const struct sim_work *work);

/* Does it. An error breaks the context: CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED. */
CUresult sim_work_run(struct sim_work *work);

/*
 * A kernel launch as a work. Checks what the driver checks at the call; on success *made is the new
 * work. `handle` is a CUfunction or a CUkernel; parameters come in `params` or `extra`.
 */
CUresult sim_work_kernel(struct sim_work **made, CUfunction handle, struct sim_dim grid,
                         struct sim_dim block, unsigned int shared_bytes, void **params,
                         void **extra, const CUlaunchAttribute *attributes,
                         unsigned int attribute_count);

/* A copy as a work; memory types are resolved. With `stage` a pageable source is read at once. */
CUresult sim_work_copy(struct sim_work **made, const CUDA_MEMCPY3D *shape, bool stage);

CUresult sim_work_set(struct sim_work **made, const struct sim_set_work *set,
                      bool bounded); /* bounded: its memory has to hold it */
