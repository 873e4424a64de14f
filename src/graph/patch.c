/*
 * Patching: brings an executable graph to this visit, by setting single nodes, or by capturing the
 * visit's ops and updating the whole graph, whichever costs less (graph/cost.h). Copies of several
 * dimensions, and nodes that the driver refused to set, need the whole update.
 *
 * A whole update pairs nodes by the order of their capture (cuGraphExecUpdate), so both captures
 * have the same ops in the same order.
 *
 * After a refusal the graph's state is known: a graph of which only some nodes were set is `mixed`.
 */
#include <stddef.h>

#include "base/clock.h"
#include "base/inside.h"
#include "base/log.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/capture.h"
#include "graph/cost.h"
#include "graph/capture_lock.h"
#include "graph/shadow.h"

/* `spent` if it was the program's time; 0 on the launch thread (lane/async_launch.h). */
static uint64_t of_program(uint64_t spent)
{
	return reprise_is_programs_thread() ? spent : 0;
}

/* ---- single nodes ---- */

static CUresult set_kernel(struct reprise_graph *graph, const struct reprise_op *op,
                           const struct reprise_graph_node *node)
{
	void *pointers[reprise_op_params(op)];
	const struct reprise_op_kernel *kernel = &op->kernel;
	CUDA_KERNEL_NODE_PARAMS params = {
		.func = node->function,
		.kern = node->kernel,
		.gridDimX = kernel->grid[0],
		.gridDimY = kernel->grid[1],
		.gridDimZ = kernel->grid[2],
		.blockDimX = kernel->block[0],
		.blockDimY = kernel->block[1],
		.blockDimZ = kernel->block[2],
		.sharedMemBytes = kernel->shared_bytes,
		.kernelParams = reprise_op_kernel_params(op, pointers),
	};

	CUresult result =
		reprise_driver.cuGraphExecKernelNodeSetParams_v2(graph->executable, node->node, &params);

	if (result == CUDA_SUCCESS)
		reprise_shadow_kernel(graph, (size_t)(node - graph->nodes), &params);
	return result;
}

/* The captured node with the op's addresses: the driver decides how it represents a copy. */
static CUresult set_copy(struct reprise_graph *graph, const struct reprise_op *op,
                         const struct reprise_graph_node *node)
{
	CUDA_MEMCPY3D params;
	CUresult result = reprise_driver.cuGraphMemcpyNodeGetParams(node->node, &params);

	if (result != CUDA_SUCCESS)
		return result;
	if (params.srcMemoryType == CU_MEMORYTYPE_HOST)
		params.srcHost = (const void *)(uintptr_t)op->copy.source;
	else
		params.srcDevice = op->copy.source;
	if (params.dstMemoryType == CU_MEMORYTYPE_HOST)
		params.dstHost = (void *)(uintptr_t)op->copy.target;
	else
		params.dstDevice = op->copy.target;
	result = reprise_driver.cuGraphExecMemcpyNodeSetParams(graph->executable, node->node, &params,
	                                                       graph->capture_streams->context);
	if (result == CUDA_SUCCESS)
		reprise_shadow_copy(graph, (size_t)(node - graph->nodes), &params);
	return result;
}

static CUresult set_set(struct reprise_graph *graph, const struct reprise_op *op,
                        const struct reprise_graph_node *node)
{
	CUDA_MEMSET_NODE_PARAMS params;
	CUresult result = reprise_driver.cuGraphMemsetNodeGetParams(node->node, &params);

	if (result != CUDA_SUCCESS)
		return result;
	params.dst = op->set.target;
	params.value = reprise_set_value(&op->set);
	result = reprise_driver.cuGraphExecMemsetNodeSetParams(graph->executable, node->node, &params,
	                                                       graph->capture_streams->context);
	if (result == CUDA_SUCCESS)
		reprise_shadow_set(graph, (size_t)(node - graph->nodes), &params);
	return result;
}

static CUresult set_host(struct reprise_graph *graph, const struct reprise_op *op,
                         const struct reprise_graph_node *node)
{
	CUDA_HOST_NODE_PARAMS params = {.fn = op->host.function, .userData = op->host.data};
	CUresult result =
		reprise_driver.cuGraphExecHostNodeSetParams(graph->executable, node->node, &params);

	if (result == CUDA_SUCCESS)
		reprise_shadow_host(graph, (size_t)(node - graph->nodes), &params);
	return result;
}

static bool set_node(struct reprise_graph *graph, const struct reprise_op *op,
                     struct reprise_graph_node *node)
{
	CUresult result = op->kind == REPRISE_OP_KERNEL ? set_kernel(graph, op, node)
	                  : op->kind == REPRISE_OP_COPY ? set_copy(graph, op, node)
	                  : op->kind == REPRISE_OP_HOST ? set_host(graph, op, node)
	                                                : set_set(graph, op, node);

	node->refused = result == CUDA_SUCCESS ? 0 : node->refused + 1;
	reprise_count(REPRISE_COUNT_node_updates_failed, result != CUDA_SUCCESS);
	return result == CUDA_SUCCESS;
}

static bool settable(const struct reprise_graph *graph, const uint64_t *changed)
{
	if (graph->mixed)
		return false;
	for (unsigned int i = 0; i < graph->count; i++)
		if (reprise_bit(changed, i) &&
		    (!graph->nodes[i].settable ||
		     graph->nodes[i].refused >= REPRISE_TUNE_PATCH_REFUSALS_MOST))
			return false;
	return true;
}

static bool set_changed_nodes(struct reprise_graph *graph, const struct reprise_op *incoming,
                              const uint64_t *changed)
{
	uint64_t begin = reprise_clock_ns(), spent;
	unsigned int set = 0;

	for (unsigned int i = 0; i < graph->count; i++) {
		if (!reprise_bit(changed, i))
			continue;
		if (!set_node(graph, &incoming[i], &graph->nodes[i])) {
			graph->mixed = set > 0;
			return false;
		}
		set++;
	}
	spent = reprise_clock_ns() - begin;
	reprise_cost_took(REPRISE_COST_node_set, spent, set);
	reprise_count(REPRISE_COUNT_node_patches, 1);
	reprise_count(REPRISE_COUNT_node_updates, set);
	graph->node_updates += set;
	reprise_count(REPRISE_COUNT_node_update_ns, of_program(spent));
	return true;
}

/* ---- the whole graph ---- */

static enum reprise_counter counter_of(CUgraphExecUpdateResult reason)
{
	switch (reason) {
	case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED:
		return REPRISE_COUNT_refused_topology;
	case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED:
		return REPRISE_COUNT_refused_node_type;
	case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
	case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
		return REPRISE_COUNT_refused_function;
	case CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
		return REPRISE_COUNT_refused_parameters;
	case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
		return REPRISE_COUNT_refused_attributes;
	case CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED:
		return REPRISE_COUNT_refused_unsupported;
	default:
		return REPRISE_COUNT_refused_otherwise;
	}
}

/* Nodes that an update looks at; a changed one counts as several. */
static unsigned int looked_at(unsigned int count, unsigned int changed)
{
	return count + changed * (REPRISE_TUNE_COST_CHANGED - 1);
}

/* Captures the visit's ops. The capture lock is held. */
static CUgraph capture(struct reprise_graph *graph, const struct reprise_op *incoming,
                       const uint64_t *changed)
{
	uint64_t begin = reprise_clock_ns();
	CUgraph captured = reprise_capture(graph, REPRISE_FOR_PATCHING, incoming, changed,
	                                   reprise_shadow_nodes(graph));

	if (captured != NULL)
		reprise_cost_took(REPRISE_COST_capture, reprise_clock_ns() - begin, graph->count);
	else
		reprise_count(REPRISE_COUNT_updates_failed, 1);
	return captured;
}

static bool update_with(struct reprise_graph *graph, CUgraph captured, unsigned int changed)
{
	CUgraphExecUpdateResultInfo info = {0};
	uint64_t begin = reprise_clock_ns();
	CUresult result = reprise_driver.cuGraphExecUpdate_v2(graph->executable, captured, &info);

	if (result == CUDA_SUCCESS)
		reprise_shadow_read(graph, reprise_shadow_nodes(graph));
	reprise_driver.cuGraphDestroy(captured);
	if (result != CUDA_SUCCESS) {
		reprise_count(REPRISE_COUNT_updates_refused, 1);
		reprise_count(counter_of(info.result), 1);
		reprise_log(REPRISE_LOG_INFO, "an update of %u nodes was refused: error %d, reason %d",
		            graph->count, (int)result, (int)info.result);
		return false;
	}
	reprise_cost_took(REPRISE_COST_update, reprise_clock_ns() - begin,
	                  looked_at(graph->count, changed));
	reprise_count(REPRISE_COUNT_updates, 1);
	graph->updates++;
	graph->mixed = false;
	return true;
}

static enum reprise_patch update_whole(struct reprise_graph *graph,
                                       const struct reprise_op *incoming, const uint64_t *changed,
                                       unsigned int changed_count)
{
	CUstreamCaptureMode mode;
	uint64_t begin = reprise_clock_ns();
	CUgraph captured;
	bool done;

	if (reprise_driver.cuGraphExecUpdate_v2 == NULL)
		return REPRISE_PATCH_REFUSED;
	if (!reprise_capture_lock_enter(graph->capture_streams->context))
		return REPRISE_PATCH_NOT_NOW;
	mode = reprise_driver_begin_relaxed();
	captured = capture(graph, incoming, changed);
	reprise_capture_lock_leave(graph->capture_streams->context);
	done = captured != NULL && update_with(graph, captured, changed_count);
	reprise_driver_end_relaxed(mode);
	reprise_count(REPRISE_COUNT_update_ns, of_program(reprise_clock_ns() - begin));
	return done ? REPRISE_PATCH_DONE : REPRISE_PATCH_REFUSED;
}

/* ---- which of the two ---- */

static bool worth_exploring(uint64_t cheaper, uint64_t dearer)
{
	static _Atomic unsigned int patches;

	return dearer <= cheaper * REPRISE_TUNE_PATCH_EXPLORED_MOST &&
	       (atomic_fetch_add_explicit(&patches, 1, memory_order_relaxed) + 1) %
	               REPRISE_TUNE_PATCH_EXPLORED ==
	           0;
}

/* True if the whole graph should be updated although single nodes can be set. */
static bool prefers_whole(unsigned int count, unsigned int changed)
{
	uint64_t nodes = reprise_cost(REPRISE_COST_node_set, changed);
	uint64_t whole = reprise_cost(REPRISE_COST_capture, count) +
	                 reprise_cost(REPRISE_COST_update, looked_at(count, changed));
	bool cheaper = whole < nodes;

	return cheaper != worth_exploring(cheaper ? whole : nodes, cheaper ? nodes : whole);
}

static unsigned int bits_in(const uint64_t *bits, unsigned int count)
{
	unsigned int sum = 0;

	for (unsigned int word = 0; word < (count + 63) / 64; word++)
		sum += (unsigned int)__builtin_popcountll(bits[word]);
	return sum;
}

enum reprise_patch reprise_graph_patch(struct reprise_graph *graph,
                                       const struct reprise_op *incoming, const uint64_t *changed)
{
	unsigned int changed_count = bits_in(changed, graph->count);
	bool single = settable(graph, changed),
		 whole_first = single && prefers_whole(graph->count, changed_count);
	enum reprise_patch updated;

	if (single && !whole_first && set_changed_nodes(graph, incoming, changed))
		return REPRISE_PATCH_DONE;
	updated = update_whole(graph, incoming, changed, changed_count);
	/* The whole update was a choice of cost only. */
	if (whole_first && updated != REPRISE_PATCH_DONE && set_changed_nodes(graph, incoming, changed))
		return REPRISE_PATCH_DONE;
	return updated == REPRISE_PATCH_REFUSED && graph->mixed ? REPRISE_PATCH_BROKEN : updated;
}
