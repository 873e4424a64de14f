#include "graph/shadow.h"

#include <stdio.h>
#include <string.h>

#include "base/placement.h"
#include "base/store.h"
#include "driver/driver.h"
#include "graph/capture.h"

bool reprise_verifying REPRISE_HOT_DATA;

struct node {
	bool known;
	unsigned int grid[3], shared_bytes;
	CUdeviceptr target, source;
	unsigned int value;
	CUhostFn function;
	void *data;
	unsigned char *params; /* by the layout of the op's kernel */
};

struct reprise_shadow {
	struct reprise_graph_node *captured;
	struct node nodes[];
};

static size_t params_of(const struct reprise_op *op)
{
	return op->kind == REPRISE_OP_KERNEL ? op->kernel.layout->bytes : 0;
}

static struct reprise_shadow *make(const struct reprise_graph *graph)
{
	size_t params = 0,
		   head = sizeof(struct reprise_shadow) +
	              graph->count * (sizeof(struct node) + sizeof(struct reprise_graph_node));
	struct reprise_shadow *shadow;
	unsigned char *at;

	for (unsigned int i = 0; i < graph->count; i++)
		params += params_of(&graph->ops[i]);
	shadow = reprise_store_take(REPRISE_STORE_TRACES, head + params);
	if (shadow == NULL)
		return NULL;
	shadow->captured = (struct reprise_graph_node *)(shadow->nodes + graph->count);
	at = (unsigned char *)(shadow->captured + graph->count);
	for (unsigned int i = 0; i < graph->count; i++) {
		shadow->nodes[i].params = at;
		at += params_of(&graph->ops[i]);
	}
	return shadow;
}

static struct node *node_of(const struct reprise_graph *graph, size_t i)
{
	return graph->shadow != NULL ? &graph->shadow->nodes[i] : NULL;
}

void reprise_shadow_kernel(struct reprise_graph *graph, size_t i,
                           const CUDA_KERNEL_NODE_PARAMS *params)
{
	const struct reprise_layout *layout = graph->ops[i].kernel.layout;
	struct node *node = node_of(graph, i);

	if (node == NULL)
		return;
	node->known = layout->count == 0 || params->kernelParams != NULL;
	node->grid[0] = params->gridDimX;
	node->grid[1] = params->gridDimY;
	node->grid[2] = params->gridDimZ;
	node->shared_bytes = params->sharedMemBytes;
	for (uint32_t k = 0; node->known && k < layout->count; k++)
		memcpy(node->params + layout->params[k].offset, params->kernelParams[k],
		       layout->params[k].size);
}

void reprise_shadow_copy(struct reprise_graph *graph, size_t i, const CUDA_MEMCPY3D *params)
{
	struct node *node = node_of(graph, i);

	if (node == NULL)
		return;
	node->known = true;
	node->target = params->dstMemoryType == CU_MEMORYTYPE_HOST
	                   ? (CUdeviceptr)(uintptr_t)params->dstHost
	                   : params->dstDevice;
	node->source = params->srcMemoryType == CU_MEMORYTYPE_HOST
	                   ? (CUdeviceptr)(uintptr_t)params->srcHost
	                   : params->srcDevice;
}

void reprise_shadow_set(struct reprise_graph *graph, size_t i,
                        const CUDA_MEMSET_NODE_PARAMS *params)
{
	struct node *node = node_of(graph, i);

	if (node == NULL)
		return;
	node->known = true;
	node->target = params->dst;
	node->value = params->value;
}

void reprise_shadow_host(struct reprise_graph *graph, size_t i, const CUDA_HOST_NODE_PARAMS *params)
{
	struct node *node = node_of(graph, i);

	if (node == NULL)
		return;
	node->known = true;
	node->function = params->fn;
	node->data = params->userData;
}

/* Reads a captured node back from the driver; unknown if the driver does not tell. */
static void read_node(struct reprise_graph *graph, size_t i,
                      const struct reprise_graph_node *captured)
{
	union {
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
	} params;

	graph->shadow->nodes[i].known = false;
	/* The driver's description was not understood at the capture (graph/capture.c). */
	if (!captured->settable)
		return;
	if (graph->ops[i].kind == REPRISE_OP_KERNEL &&
	    reprise_driver.cuGraphKernelNodeGetParams_v2(captured->node, &params.kernel) ==
	        CUDA_SUCCESS)
		reprise_shadow_kernel(graph, i, &params.kernel);
	else if (graph->ops[i].kind == REPRISE_OP_COPY &&
	         reprise_driver.cuGraphMemcpyNodeGetParams(captured->node, &params.copy) ==
	             CUDA_SUCCESS)
		reprise_shadow_copy(graph, i, &params.copy);
	else if (graph->ops[i].kind == REPRISE_OP_SET &&
	         reprise_driver.cuGraphMemsetNodeGetParams(captured->node, &params.set) == CUDA_SUCCESS)
		reprise_shadow_set(graph, i, &params.set);
	else if (graph->ops[i].kind == REPRISE_OP_HOST &&
	         reprise_driver.cuGraphHostNodeGetParams != NULL &&
	         reprise_driver.cuGraphHostNodeGetParams(captured->node, &params.host) == CUDA_SUCCESS)
		reprise_shadow_host(graph, i, &params.host);
}

struct reprise_graph_node *reprise_shadow_nodes(struct reprise_graph *graph)
{
	if (reprise_verifying && graph->shadow == NULL)
		graph->shadow = make(graph);
	return graph->shadow != NULL ? graph->shadow->captured : NULL;
}

void reprise_shadow_read(struct reprise_graph *graph, const struct reprise_graph_node *nodes)
{
	if (reprise_shadow_nodes(graph) == NULL)
		return;
	for (unsigned int i = 0; i < graph->count; i++)
		read_node(graph, i, &nodes[i]);
}

void reprise_shadow_free(struct reprise_graph *graph)
{
	reprise_store_give(graph->shadow);
	graph->shadow = NULL;
}

/* ---- comparing ---- */

static enum reprise_shadow_verdict differ(char *text, size_t size, const char *what, uint64_t asked,
                                          uint64_t found)
{
	snprintf(text, size, "%s: the program passed 0x%llx, not 0x%llx", what,
	         (unsigned long long)asked, (unsigned long long)found);
	return REPRISE_SHADOW_OTHER;
}

/* Up to eight bytes as a number. */
static uint64_t number(const unsigned char *bytes, size_t count)
{
	uint64_t value = 0;

	memcpy(&value, bytes, count < sizeof(value) ? count : sizeof(value));
	return value;
}

static enum reprise_shadow_verdict compare_params(const struct reprise_layout *layout,
                                                  const unsigned char *asked,
                                                  const unsigned char *found, char *text,
                                                  size_t size)
{
	for (uint32_t k = 0; k < layout->count; k++) {
		const struct reprise_param *param = &layout->params[k];
		uint32_t at = 0;
		char what[64];

		while (at < param->size && asked[param->offset + at] == found[param->offset + at])
			at++;
		if (at == param->size)
			continue;
		if (param->size <= sizeof(uint64_t))
			at = 0; /* show all of it */
		snprintf(what, sizeof(what), "parameter %u, at byte %u of all", k, param->offset + at);
		return differ(text, size, what, number(asked + param->offset + at, param->size - at),
		              number(found + param->offset + at, param->size - at));
	}
	return REPRISE_SHADOW_SAME;
}

static enum reprise_shadow_verdict compare_kernel(const struct reprise_op *asked,
                                                  const unsigned int grid[3],
                                                  unsigned int shared_bytes,
                                                  const unsigned char *params, char *text,
                                                  size_t size)
{
	static const char *const dimensions[] = {"grid x", "grid y", "grid z"};

	for (int i = 0; i < 3; i++)
		if (asked->kernel.grid[i] != grid[i])
			return differ(text, size, dimensions[i], asked->kernel.grid[i], grid[i]);
	if (asked->kernel.shared_bytes != shared_bytes)
		return differ(text, size, "shared memory", asked->kernel.shared_bytes, shared_bytes);
	return asked->kernel.empty_params
	           ? REPRISE_SHADOW_SAME
	           : compare_params(asked->kernel.layout, reprise_op_packed_params(asked), params, text,
	                            size);
}

static enum reprise_shadow_verdict compare_address(const char *what, CUdeviceptr asked,
                                                   CUdeviceptr found, char *text, size_t size)
{
	return asked == found ? REPRISE_SHADOW_SAME : differ(text, size, what, asked, found);
}

static enum reprise_shadow_verdict compare_copy(const struct reprise_op *asked, CUdeviceptr target,
                                                CUdeviceptr source, char *text, size_t size)
{
	enum reprise_shadow_verdict verdict =
		compare_address("target", asked->copy.target, target, text, size);

	return verdict != REPRISE_SHADOW_SAME
	           ? verdict
	           : compare_address("source", asked->copy.source, source, text, size);
}

static enum reprise_shadow_verdict compare_set(const struct reprise_op *asked, CUdeviceptr target,
                                               unsigned int value, char *text, size_t size)
{
	enum reprise_shadow_verdict verdict =
		compare_address("target", asked->set.target, target, text, size);

	return verdict != REPRISE_SHADOW_SAME
	           ? verdict
	           : compare_address("value", reprise_set_value(&asked->set), value, text, size);
}

static enum reprise_shadow_verdict compare_host(const struct reprise_op *asked, CUhostFn function,
                                                const void *data, char *text, size_t size)
{
	enum reprise_shadow_verdict verdict =
		compare_address("host function", (uintptr_t)asked->host.function, (uintptr_t)function, text,
	                    size);

	return verdict != REPRISE_SHADOW_SAME ? verdict
	                                      : compare_address("its data", (uintptr_t)asked->host.data,
	                                                        (uintptr_t)data, text, size);
}

enum reprise_shadow_verdict reprise_shadow_compare(const struct reprise_graph *graph, size_t i,
                                                   const struct reprise_op *op, char *text,
                                                   size_t size)
{
	const struct node *node = node_of(graph, i);

	if (node == NULL || !node->known)
		return REPRISE_SHADOW_UNKNOWN;
	switch (op->kind) {
	case REPRISE_OP_KERNEL:
		return compare_kernel(op, node->grid, node->shared_bytes, node->params, text, size);
	case REPRISE_OP_COPY:
		return compare_copy(op, node->target, node->source, text, size);
	case REPRISE_OP_SET:
		return compare_set(op, node->target, node->value, text, size);
	case REPRISE_OP_HOST:
		return compare_host(op, node->function, node->data, text, size);
	default:
		return REPRISE_SHADOW_UNKNOWN;
	}
}

static enum reprise_shadow_verdict compare_values(const struct reprise_op *asked,
                                                  const struct reprise_op *op, char *text,
                                                  size_t size)
{
	switch (asked->kind) {
	case REPRISE_OP_KERNEL:
		if (asked->kernel.function != op->kernel.function)
			return differ(text, size, "kernel", (uintptr_t)asked->kernel.function,
			              (uintptr_t)op->kernel.function);
		return compare_kernel(asked, op->kernel.grid, op->kernel.shared_bytes,
		                      reprise_op_packed_params(op), text, size);
	case REPRISE_OP_COPY:
		return compare_copy(asked, op->copy.target, op->copy.source, text, size);
	case REPRISE_OP_SET:
		return compare_set(asked, op->set.target, reprise_set_value(&op->set), text, size);
	case REPRISE_OP_HOST:
		return compare_host(asked, op->host.function, op->host.data, text, size);
	default:
		return REPRISE_SHADOW_SAME; /* events and descriptors are all shape */
	}
}

enum reprise_shadow_verdict reprise_shadow_compare_ops(const struct reprise_op *asked,
                                                       const struct reprise_op *op, char *text,
                                                       size_t size)
{
	enum reprise_shadow_verdict verdict;

	if (asked->kind != op->kind)
		return differ(text, size, "kind of call", asked->kind, op->kind);
	verdict = compare_values(asked, op, text, size);
	return verdict == REPRISE_SHADOW_SAME && asked->shape != op->shape
	           ? differ(text, size, "shape, as a hash", asked->shape, op->shape)
	           : verdict;
}
