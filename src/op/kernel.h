/* Kernel launches as ops (op.h). */
#pragma once

#include <string.h>

#include "op/op.h"

/* True if an op may have all attributes of the launch: each is known, and none carries an event. */
bool reprise_kernel_knows_attributes(const CUlaunchConfig *config);

enum reprise_unfit reprise_kernel_examine(struct reprise_op *op,
                                          const struct reprise_call_kernel *call,
                                          CUcontext context);
void reprise_kernel_complete(struct reprise_op *op, const struct reprise_call_kernel *call);
uint64_t reprise_kernel_value(const struct reprise_op *op); /* reprise_op_value() */
void reprise_kernel_take_values(struct reprise_op *into, const struct reprise_call_kernel *call);
CUresult reprise_kernel_issue(const struct reprise_op *op, CUstream stream);

/* ---- whether a call agrees with an op: inline, since each deferred launch is compared ---- */

/* The parameters in the program's memory: an array of pointers, or a packed buffer. */
struct reprise_source {
	void **params;
	const unsigned char *buffer;
};

static inline const void *reprise_param_at(const struct reprise_source *source,
                                           const struct reprise_layout *layout, uint32_t i)
{
	return source->params != NULL ? source->params[i] : source->buffer + layout->params[i].offset;
}

static inline bool reprise_same_bytes(const void *a, const void *b, uint32_t size)
{
	uint64_t a8, b8;
	uint32_t a4, b4;

	switch (size) {
	case 8:
		memcpy(&a8, a, 8);
		memcpy(&b8, b, 8);
		return a8 == b8;
	case 4:
		memcpy(&a4, a, 4);
		memcpy(&b4, b, 4);
		return a4 == b4;
	default:
		return memcmp(a, b, size) == 0;
	}
}

/* Three words, one by one: the call was written a moment ago, by stores that a wider load might not
 * fit into. */
static inline bool reprise_same_three(const unsigned int *a, const unsigned int *b)
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static inline bool reprise_legal_grid(const unsigned int *grid)
{
	return grid[0] - 1 < 0x7fffffff && grid[1] - 1 < 65535 && grid[2] - 1 < 65535;
}

/* The same function, block and attributes. `packed`: the op's parameters. */
static inline __attribute__((always_inline)) enum reprise_match reprise_kernel_match_values(
	const struct reprise_op_kernel *kernel, const struct reprise_call_kernel *call,
	const unsigned char *packed, struct reprise_source source)
{
	const struct reprise_layout *layout = kernel->layout;
	enum reprise_match match = REPRISE_MATCH_SAME;

	if (!reprise_same_three(call->grid, kernel->grid)) {
		if (kernel->fixed_grid || !reprise_legal_grid(call->grid))
			return REPRISE_MATCH_NOT;
		match = REPRISE_MATCH_VALUES;
	}
	if (call->shared_bytes > kernel->shared_most)
		return REPRISE_MATCH_NOT;
	if (call->shared_bytes != kernel->shared_bytes)
		match = REPRISE_MATCH_VALUES;
	for (uint32_t i = 0; match == REPRISE_MATCH_SAME && i < layout->count; i++)
		if (!reprise_same_bytes(packed + layout->params[i].offset,
		                        reprise_param_at(&source, layout, i), layout->params[i].size))
			match = REPRISE_MATCH_VALUES;
	return match;
}

/* With attributes, or a packed buffer of parameters. */
enum reprise_match reprise_kernel_match_extended(const struct reprise_op *op,
                                                 const struct reprise_call_kernel *call);

static inline __attribute__((always_inline)) enum reprise_match reprise_kernel_match_here(
	const struct reprise_op *op, const struct reprise_call_kernel *call)
{
	const struct reprise_op_kernel *kernel = &op->kernel;

	if (call->function != kernel->function || !reprise_same_three(call->block, kernel->block) ||
	    (call->params == NULL && call->extra == NULL) != kernel->empty_params)
		return REPRISE_MATCH_NOT;
	if (__builtin_expect(kernel->extended || call->config != NULL || call->extra != NULL, 0))
		return reprise_kernel_match_extended(op, call);
	return reprise_kernel_match_values(kernel, call, op->payload,
	                                   (struct reprise_source){call->params, NULL});
}

/* The same, as a call. */
enum reprise_match reprise_kernel_match(const struct reprise_op *op,
                                        const struct reprise_call_kernel *call);
