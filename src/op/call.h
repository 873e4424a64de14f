/*
 * A stream call as the program made it: a view of the arguments, valid only while the call runs.
 *
 * The doors (preload/) fill it in, and the lane decides what is done. Nothing is copied: `params`,
 * `extra`, descriptors and attributes point at the program's own memory. An op (op.h) outlives the
 * call.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/gate.h"
#include "base/inside.h"

/* Every kind of op, once: enumerator, name in reports. */
#define REPRISE_OP_KINDS(X) \
	X(KERNEL, "kernel") \
	X(COPY, "copy") \
	X(COPY_2D, "copy 2D") \
	X(COPY_3D, "copy 3D") \
	X(SET, "memset") \
	X(HOST, "host function") \
	X(RECORD, "event record") \
	X(WAIT, "event wait")

enum reprise_op_kind {
#define X(kind, name) REPRISE_OP_##kind,
	REPRISE_OP_KINDS(X)
#undef X
		REPRISE_OP_KIND_COUNT
};

/* Event records and waits are ops only if the streams that they connect share a lane
 * (lane/group/group.h); elsewhere they are barriers. */
static inline bool reprise_op_is_event(enum reprise_op_kind kind)
{
	return kind == REPRISE_OP_RECORD || kind == REPRISE_OP_WAIT;
}

/* The 1-D copy entry point, which determines how the two addresses are read. */
enum reprise_copy_form {
	REPRISE_COPY_UNIFIED,          /* cuMemcpyAsync */
	REPRISE_COPY_HOST_TO_DEVICE,   /* cuMemcpyHtoDAsync */
	REPRISE_COPY_DEVICE_TO_HOST,   /* cuMemcpyDtoHAsync */
	REPRISE_COPY_DEVICE_TO_DEVICE, /* cuMemcpyDtoDAsync */
	REPRISE_COPY_PEER,             /* cuMemcpyPeerAsync, between contexts */
};

struct reprise_call_kernel {
	CUfunction function; /* may be a CUkernel, which cudart 12 and 13 pass */
	unsigned int grid[3];
	unsigned int block[3];
	unsigned int shared_bytes; /* dynamic shared memory */
	void **params;
	void **extra;
	const CUlaunchConfig *config; /* NULL unless it is launched with attributes */
};

struct reprise_call_copy {
	enum reprise_copy_form form;
	CUdeviceptr target;
	CUdeviceptr source; /* host addresses, too, are stored as integers */
	size_t bytes;
	CUcontext target_context, source_context; /* of REPRISE_COPY_PEER */
};

struct reprise_call_set {
	CUdeviceptr target;
	size_t pitch;               /* bytes between rows; 0 for the one-dimensional forms */
	bool plane;                 /* a two-dimensional form, whatever its pitch */
	unsigned int value;         /* the low element_bytes of it are used */
	unsigned int element_bytes; /* 1, 2 or 4 */
	size_t width;               /* elements in a row */
	size_t height;              /* rows; 1 for the one-dimensional forms */
};

/* `data` points at memory that is read when the function runs, as without Reprise. */
struct reprise_call_host {
	CUhostFn function;
	void *data;
};

struct reprise_call {
	enum reprise_op_kind kind;
	uint8_t member; /* its stream within the lane; set when the lane is known */
	uint8_t unfit;  /* enum reprise_unfit; set when the call is examined */
	uint8_t way;    /* enum reprise_way; set likewise */
	bool unseen;    /* the lane is in backoff: the call was not examined */
	/* The lane's previous op came from another thread. Set when the lane is known. */
	bool foreign;
	bool begins_turn; /* an eager turn begins with it (lane/turns.h) */
	bool per_thread;  /* through a _ptsz name: stream 0 is the per-thread default stream */
	CUstream stream;
	/* Makes the program's own call, at its entry point and with its arguments. */
	CUresult (*eager)(const struct reprise_call *call);
	void *entry;      /* for `eager`: the driver's entry point */
	const void *from; /* the call's return address */
	union {
		struct reprise_call_kernel kernel;
		struct reprise_call_copy copy;
		const CUDA_MEMCPY2D *copy_2d;
		const CUDA_MEMCPY3D *copy_3d;
		struct reprise_call_set set;
		struct reprise_call_host host;
		CUevent event;
	};
};

/* True if the call is to the legacy default stream. */
static inline bool reprise_call_is_legacy(const struct reprise_call *call)
{
	return call->stream == CU_STREAM_LEGACY || (call->stream == NULL && !call->per_thread);
}

static inline bool reprise_op_is_copy(enum reprise_op_kind kind)
{
	return kind == REPRISE_OP_COPY || kind == REPRISE_OP_COPY_2D || kind == REPRISE_OP_COPY_3D;
}

static inline bool reprise_call_is_copy(const struct reprise_call *call)
{
	return reprise_op_is_copy(call->kind);
}

/* True if the call is a copy or memset of no bytes. */
static inline bool reprise_call_is_empty(const struct reprise_call *call)
{
	if (__builtin_expect(call->kind == REPRISE_OP_KERNEL, 1))
		return false;
	switch (call->kind) {
	case REPRISE_OP_COPY:
		return call->copy.bytes == 0;
	case REPRISE_OP_COPY_2D:
		return call->copy_2d->WidthInBytes == 0 || call->copy_2d->Height == 0;
	case REPRISE_OP_COPY_3D:
		return call->copy_3d->WidthInBytes == 0 || call->copy_3d->Height == 0 ||
		       call->copy_3d->Depth == 0;
	case REPRISE_OP_SET:
		return call->set.width == 0 || call->set.height == 0;
	default:
		return false;
	}
}

/* Makes the program's own call now. `context` is the stream's; NULL if not known. What the driver
 * calls back meanwhile passes straight through. Not from inside. */
static inline CUresult reprise_call_eager(const struct reprise_call *call, CUcontext context)
{
	CUresult result;

	reprise_gate_begin_giving(context);
	result = call->eager(call);
	reprise_gate_end_giving();
	return result;
}
