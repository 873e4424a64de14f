/*
 * An op: a stream call kept with everything needed to issue it again after the program's memory has
 * changed.
 *
 * Its shape is what no graph update can change, and what distinguishes the ops of a trace; its
 * values are the rest. An op does not own its payload: the code that records it provides the
 * memory, and keeps it as long as the op.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/call.h"
#include "op/function.h"
#include "op/memory.h"

#define REPRISE_ATTRIBUTES_MOST 8

struct reprise_op_kernel {
	CUfunction function;
	const struct reprise_layout *layout;
	unsigned int grid[3], block[3];
	/* The second: what the driver has accepted, or the limit that the program has set since; then
	 * the first may be above it. */
	unsigned int shared_bytes, shared_most;
	uint16_t attribute_count; /* in the payload, before the parameters */
	bool extended;            /* issued by cuLaunchKernelEx */
	bool fixed_grid;
	bool may_launch;   /* REPRISE_LAUNCHING_MAYBE (function.h) when it was recorded */
	bool empty_params; /* the program passed no parameters at all */
	uint16_t name;     /* for the report: name.h */
};

struct reprise_op {
	enum reprise_op_kind kind;
	uint32_t payload_bytes;
	/* Of copies and memsets: the generation of the kinds below; 0: to be asked again. */
	uint32_t memory_generation;
	uint8_t target_memory, source_memory; /* of copies and memsets (memory.h); else 0 */
	uint8_t member;                       /* its stream within the lane; part of the shape */
	/* Of a wait in a watched segment of a group: a bit for each member whose ops before the segment
	 * all come before the event. */
	uint8_t waits_for;
	uint64_t shape, value; /* hashes; value includes shape */
	unsigned char *payload;
	union {
		struct reprise_op_kernel kernel;
		struct reprise_call_copy copy;
		struct reprise_call_set set;
		struct reprise_call_host host;
		CUevent event;
		/* the descriptors of 2-D and 3-D copies are in the payload */
	};
};

/* Why a call cannot be an op: enumerator, name in reports, and what it means. */
#define REPRISE_UNFIT_REASONS(X) \
	X(NONE, none, "") \
	X(UNKNOWN_PARAMETERS, unknown_parameters, "the driver does not tell the kernel's parameters") \
	X(BAD_PARAMETERS, bad_parameters, \
	  "parameters that are missing, given twice, or of another size; or no function") \
	X(ATTRIBUTE, attribute, "launch attribute that carries an event, is not known or not there") \
	X(PAGEABLE, pageable, "copy from or to pageable, managed or unknown memory") \
	X(BETWEEN_DEVICES, between_devices, \
	  "copy between devices on the legacy default stream, which both devices wait for") \
	X(LAUNCHES, launches, \
	  "kernel that launches kernels, or that may: it is linked with the device runtime, and " \
	  "nothing tells more") \
	X(DENIED, denied, "kernel on the deny list (REPRISE_DENY)") \
	X(NO_LANE, no_lane, \
	  "stream that Reprise does not follow (of a green context, or another one than is current)") \
	X(HOST_TO_HOST, host_to_host, "copy between host memory, which waits until it is done") \
	X(REFUSED, refused, \
	  "copy or memset beyond its memory, or memset of a misaligned address, which the driver refuses") \
	X(EMPTY, empty, "copy or memset of no bytes") \
	X(FIRST, first, "first launch of a kernel in its context, which loads it")

enum reprise_unfit {
#define X(reason, name, text) REPRISE_UNFIT_##reason,
	REPRISE_UNFIT_REASONS(X)
#undef X
		REPRISE_UNFIT_COUNT
};

extern const char *const reprise_unfit_names[REPRISE_UNFIT_COUNT];

/*
 * First half: examines a call without copying it. Fills in all of `op` but the payload and sets
 * payload_bytes. Returns why the call cannot be an op, or REPRISE_UNFIT_NONE. May ask the driver
 * about the kernel or the memory. `context`: the stream's; a kernel that was not launched there yet
 * is unfit, and nothing is asked about it. NULL: no matter.
 */
enum reprise_unfit reprise_op_examine(struct reprise_op *op, const struct reprise_call *call,
                                      CUcontext context);

/* True if the call is a copy or memset of no bytes that neither waits for anything nor orders
 * anything: it may be eager while ops stay deferred. May ask the driver about the memory. */
bool reprise_op_is_nothing(const struct reprise_call *call);

/* Second half: copies the payload to op->payload, which holds op->payload_bytes, and computes the
 * hashes. */
void reprise_op_complete(struct reprise_op *op, const struct reprise_call *call);

enum reprise_match {
	REPRISE_MATCH_NOT,    /* another shape, or values not known to be legal */
	REPRISE_MATCH_VALUES, /* same shape, other values */
	/* Same bytes, but memory has changed since: what the addresses name has to be told anew. */
	REPRISE_MATCH_AGAIN,
	REPRISE_MATCH_SAME, /* same bytes */
};

/* The guard. Never blocks. May ask the driver about the kind of memory at an address. */
enum reprise_match reprise_op_match(const struct reprise_op *op, const struct reprise_call *call);

/* Makes `into` the op `model` with the values of `call`, which must match `model`. into->payload
 * must hold model->payload_bytes. The hashes stay the model's. */
void reprise_op_take_values(struct reprise_op *into, const struct reprise_op *model,
                            const struct reprise_call *call);

/* What `value` is for the values that the op has now. Only of member 0. */
uint64_t reprise_op_value(const struct reprise_op *op);

/* True if the two ops, of the same shape, have the same values. */
bool reprise_op_same_values(const struct reprise_op *a, const struct reprise_op *b);

/* The program has set the kernel's limit of dynamic shared memory. The op's values stay what they
 * are. */
void reprise_op_limit_shared(struct reprise_op *op, unsigned int bytes);

/* True if the limit is below what the op has: the driver would refuse it now. */
bool reprise_op_exceeds_limit(const struct reprise_op *op);

/* True if no change of memory lies between the two ops that could alter what their addresses
 * name. */
bool reprise_op_same_memory(const struct reprise_op *a, const struct reprise_op *b);

/* Copies `from` to `into`, payload included; into->payload must hold from->payload_bytes. */
void reprise_op_copy(struct reprise_op *into, const struct reprise_op *from);

/* Issues the op to `stream`, for execution. The op's context must be current. */
CUresult reprise_op_issue(const struct reprise_op *op, CUstream stream);

/*
 * As reprise_op_issue(), into the stream's capture. cuMemcpyPeerAsync cannot be captured
 * (docs/conformance.md). With unified addressing the addresses imply the contexts, so a copy by
 * address is captured.
 */
CUresult reprise_op_capture(const struct reprise_op *op, CUstream stream);

/* True if the op is a copy from one device or context to another. */
bool reprise_op_is_between_devices(const struct reprise_op *op);

/* True if the op names an array or contexts: it may name what ends in another context than its
 * own. */
bool reprise_op_names_elsewhere(const struct reprise_op *op);

/* True if the op is a launch with a priority of its own. */
bool reprise_op_has_priority(const struct reprise_op *op);

/* The size of a kernel op's parameter array, at least 1. No larger than needed: the program's stack
 * may be small. */
static inline size_t reprise_op_params(const struct reprise_op *op)
{
	return op->kernel.layout->count + 1u;
}

/* The packed parameters of a kernel op, in its layout. */
const unsigned char *reprise_op_packed_params(const struct reprise_op *op);

extern const char *const reprise_op_kind_names[REPRISE_OP_KIND_COUNT];

/* Fills `pointers`, which holds reprise_op_params(), with pointers into the payload. Returns the
 * parameter array of a kernel op for the driver. */
void **reprise_op_kernel_params(const struct reprise_op *op, void **pointers);
