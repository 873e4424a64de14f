/*
 * Kernel launches as ops.
 *
 * The payload holds the launch attributes, reduced to the bytes that have a meaning, then the
 * parameters as the driver packs them. Shape: function, block, attributes, and the grid where
 * clusters or cooperation restrict it. Values: grid, dynamic shared memory, parameters. Another
 * grid than the one that the driver accepted matches only within the limits of every device (CUDA
 * programming guide, technical specifications), and shared memory only up to the accepted size.
 */
#include "op/kernel.h"

#include <string.h>

#include "base/hash.h"
#include "base/placement.h"
#include "driver/driver.h"

/* Launch attributes that may be recorded, and the size of each value. Any other attribute makes the
 * launch unfit. */
static const struct {
	CUlaunchAttributeID id;
	uint8_t bytes;
	bool restricts_grid;
} known_attributes[] = {
	{CU_LAUNCH_ATTRIBUTE_COOPERATIVE, sizeof(int), true},
	{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 3 * sizeof(unsigned int), true},
	{CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, sizeof(CUclusterSchedulingPolicy),
     false},
	{CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, sizeof(int), false},
	{CU_LAUNCH_ATTRIBUTE_PRIORITY, sizeof(int), false},
	{CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, sizeof(CUlaunchMemSyncDomainMap), false},
	{CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, sizeof(CUlaunchMemSyncDomain), false},
};

#define ATTRIBUTE_ROWS (sizeof(known_attributes) / sizeof(known_attributes[0]))

static size_t attribute_row(CUlaunchAttributeID id)
{
	size_t row = 0;

	while (row < ATTRIBUTE_ROWS && known_attributes[row].id != id)
		row++;
	return row;
}

/* False if the attributes are missing, which the driver refuses. */
static bool has_its_attributes(const CUlaunchConfig *config)
{
	return config->numAttrs == 0 || config->attrs != NULL;
}

bool reprise_kernel_knows_attributes(const CUlaunchConfig *config)
{
	if (!has_its_attributes(config))
		return false;
	for (unsigned int i = 0; i < config->numAttrs; i++)
		if (attribute_row(config->attrs[i].id) == ATTRIBUTE_ROWS)
			return false;
	return true;
}

static size_t attribute_bytes(const struct reprise_op *op)
{
	return op->kernel.attribute_count * sizeof(CUlaunchAttribute);
}

/* The attribute with all bytes without meaning set to zero, for comparison as bytes. */
static CUlaunchAttribute reduced(const CUlaunchAttribute *attribute)
{
	CUlaunchAttribute plain;

	memset(&plain, 0, sizeof(plain));
	plain.id = attribute->id;
	memcpy(&plain.value, &attribute->value, known_attributes[attribute_row(attribute->id)].bytes);
	return plain;
}

#define EXTRA_MOST 8 /* words read of a packed buffer's description */

static size_t extra_size(void **extra, const void **buffer)
{
	size_t size = SIZE_MAX;

	*buffer = NULL;
	for (int i = 0; i < EXTRA_MOST && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			*buffer = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1] != NULL)
			size = *(const size_t *)extra[i + 1];
		else
			return SIZE_MAX;
	}
	return size;
}

/* False if the program's parameters do not have the form of the layout. */
REPRISE_HOT static bool find_source(struct reprise_source *source,
                                    const struct reprise_layout *layout,
                                    const struct reprise_call_kernel *call)
{
	const void *buffer = NULL;

	*source = (struct reprise_source){call->params, NULL};
	if (layout->count == 0)
		return call->extra == NULL;
	if (call->extra == NULL)
		return call->params != NULL;
	if (call->params != NULL || extra_size(call->extra, &buffer) != layout->bytes || buffer == NULL)
		return false;
	source->buffer = buffer;
	return true;
}

enum reprise_unfit reprise_kernel_examine(struct reprise_op *op,
                                          const struct reprise_call_kernel *call, CUcontext context)
{
	struct reprise_function function;
	struct reprise_source source;

	if (context == NULL)
		function = reprise_function_of(call->function);
	else if (!reprise_function_launched(call->function, context, &function))
		return REPRISE_UNFIT_FIRST;
	if (function.denied)
		return REPRISE_UNFIT_DENIED;
	if (function.layout == NULL)
		return REPRISE_UNFIT_UNKNOWN_PARAMETERS;
	if (function.launching == REPRISE_LAUNCHING_ALWAYS)
		return REPRISE_UNFIT_LAUNCHES;
	if (!find_source(&source, function.layout, call))
		return REPRISE_UNFIT_BAD_PARAMETERS;
	op->kernel = (struct reprise_op_kernel){
		.function = call->function,
		.layout = function.layout,
		.shared_bytes = call->shared_bytes,
		.shared_most = call->shared_bytes,
		.extended = call->config != NULL,
		.fixed_grid = function.fixed_grid,
		.may_launch = function.launching == REPRISE_LAUNCHING_MAYBE,
		.empty_params = call->params == NULL && call->extra == NULL,
		.name = function.name,
	};
	memcpy(op->kernel.grid, call->grid, sizeof(call->grid));
	memcpy(op->kernel.block, call->block, sizeof(call->block));
	if (call->config != NULL) {
		if (call->config->numAttrs > REPRISE_ATTRIBUTES_MOST || !has_its_attributes(call->config) ||
		    reprise_driver.cuLaunchKernelEx == NULL)
			return REPRISE_UNFIT_ATTRIBUTE;
		for (unsigned int i = 0; i < call->config->numAttrs; i++) {
			size_t row = attribute_row(call->config->attrs[i].id);

			if (row == ATTRIBUTE_ROWS)
				return REPRISE_UNFIT_ATTRIBUTE;
			op->kernel.fixed_grid = op->kernel.fixed_grid || known_attributes[row].restricts_grid;
		}
		op->kernel.attribute_count = (uint16_t)call->config->numAttrs;
	}
	op->payload_bytes = (uint32_t)attribute_bytes(op) + function.layout->bytes;
	return REPRISE_UNFIT_NONE;
}

/* Most parameters are of these sizes, and a call of memcpy() takes longer than to copy them. */
static inline void copy_bytes(unsigned char *to, const void *from, uint32_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, size);
}

static void copy_params(struct reprise_op *op, const struct reprise_call_kernel *call)
{
	const struct reprise_layout *layout = op->kernel.layout;
	unsigned char *packed = op->payload + attribute_bytes(op);
	struct reprise_source source;

	if (!find_source(&source, layout, call))
		return;
	for (uint32_t i = 0; i < layout->count; i++)
		copy_bytes(packed + layout->params[i].offset, reprise_param_at(&source, layout, i),
		           layout->params[i].size);
}

void reprise_kernel_complete(struct reprise_op *op, const struct reprise_call_kernel *call)
{
	const struct reprise_op_kernel *kernel = &op->kernel;

	for (unsigned int i = 0; i < kernel->attribute_count; i++)
		((CUlaunchAttribute *)op->payload)[i] = reduced(&call->config->attrs[i]);
	if (kernel->layout->count > 0) {
		/* For the gaps between parameters. */
		memset(op->payload + attribute_bytes(op), 0, kernel->layout->bytes);
		copy_params(op, call);
	}
	op->shape = reprise_hash_mix((uintptr_t)kernel->function,
	                             kernel->attribute_count * 2u + kernel->extended);
	op->shape = reprise_hash_bytes(op->shape, kernel->block, sizeof(kernel->block));
	op->shape = reprise_hash_bytes(op->shape, op->payload, attribute_bytes(op));
	if (kernel->fixed_grid)
		op->shape = reprise_hash_bytes(op->shape, kernel->grid, sizeof(kernel->grid));
	op->value = reprise_kernel_value(op);
}

uint64_t reprise_kernel_value(const struct reprise_op *op)
{
	const struct reprise_op_kernel *kernel = &op->kernel;
	uint64_t value =
		reprise_hash_bytes(op->shape ^ kernel->shared_bytes, kernel->grid, sizeof(kernel->grid));

	return reprise_hash_bytes(value, op->payload + attribute_bytes(op), kernel->layout->bytes);
}

static bool same_attributes(const struct reprise_op *op, const struct reprise_call_kernel *call)
{
	if (op->kernel.attribute_count > 0 && call->config->attrs == NULL)
		return false;
	for (unsigned int i = 0; i < op->kernel.attribute_count; i++) {
		const CUlaunchAttribute *theirs = &call->config->attrs[i];

		if (attribute_row(theirs->id) == ATTRIBUTE_ROWS)
			return false;

		CUlaunchAttribute plain = reduced(theirs);

		if (memcmp(&plain, &((const CUlaunchAttribute *)op->payload)[i], sizeof(plain)) != 0)
			return false;
	}
	return true;
}

enum reprise_match reprise_kernel_match_extended(const struct reprise_op *op,
                                                 const struct reprise_call_kernel *call)
{
	const struct reprise_op_kernel *kernel = &op->kernel;
	unsigned int attributes = call->config != NULL ? call->config->numAttrs : 0;
	struct reprise_source source;

	if ((call->config != NULL) != kernel->extended || attributes != kernel->attribute_count ||
	    !find_source(&source, kernel->layout, call) || !same_attributes(op, call))
		return REPRISE_MATCH_NOT;
	return reprise_kernel_match_values(kernel, call, op->payload + attribute_bytes(op), source);
}

enum reprise_match reprise_kernel_match(const struct reprise_op *op,
                                        const struct reprise_call_kernel *call)
{
	return reprise_kernel_match_here(op, call);
}

void reprise_kernel_take_values(struct reprise_op *into, const struct reprise_call_kernel *call)
{
	memcpy(into->kernel.grid, call->grid, sizeof(call->grid));
	into->kernel.shared_bytes = call->shared_bytes;
	copy_params(into, call);
}

/* Where all blocks of a grid or cluster run at once, how many fit is a matter of their shared
 * memory, too: the driver may refuse more than it has accepted, below the limit. */
void reprise_op_limit_shared(struct reprise_op *op, unsigned int bytes)
{
	struct reprise_op_kernel *kernel = &op->kernel;

	kernel->shared_most =
		kernel->fixed_grid && kernel->shared_bytes < bytes ? kernel->shared_bytes : bytes;
}

bool reprise_op_exceeds_limit(const struct reprise_op *op)
{
	return op->kind == REPRISE_OP_KERNEL && op->kernel.shared_bytes > op->kernel.shared_most;
}

bool reprise_op_has_priority(const struct reprise_op *op)
{
	for (unsigned int i = 0; op->kind == REPRISE_OP_KERNEL && i < op->kernel.attribute_count; i++)
		if (((const CUlaunchAttribute *)op->payload)[i].id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
			return true;
	return false;
}

const unsigned char *reprise_op_packed_params(const struct reprise_op *op)
{
	return op->payload + attribute_bytes(op);
}

void **reprise_op_kernel_params(const struct reprise_op *op, void **pointers)
{
	const struct reprise_layout *layout = op->kernel.layout;

	if (op->kernel.empty_params)
		return NULL;
	for (uint32_t i = 0; i < layout->count; i++)
		pointers[i] = op->payload + attribute_bytes(op) + layout->params[i].offset;
	return pointers;
}

CUresult reprise_kernel_issue(const struct reprise_op *op, CUstream stream)
{
	const struct reprise_op_kernel *kernel = &op->kernel;
	void *pointers[reprise_op_params(op)];
	void **params = reprise_op_kernel_params(op, pointers);

	if (!kernel->extended)
		return reprise_driver.cuLaunchKernel(kernel->function, kernel->grid[0], kernel->grid[1],
		                                     kernel->grid[2], kernel->block[0], kernel->block[1],
		                                     kernel->block[2], kernel->shared_bytes, stream, params,
		                                     NULL);

	CUlaunchConfig config = {
		.gridDimX = kernel->grid[0],
		.gridDimY = kernel->grid[1],
		.gridDimZ = kernel->grid[2],
		.blockDimX = kernel->block[0],
		.blockDimY = kernel->block[1],
		.blockDimZ = kernel->block[2],
		.sharedMemBytes = kernel->shared_bytes,
		.hStream = stream,
		.attrs = (CUlaunchAttribute *)op->payload,
		.numAttrs = kernel->attribute_count,
	};

	return reprise_driver.cuLaunchKernelEx(&config, kernel->function, params, NULL);
}
