#include "exec.h"

#include "api.h"
#include "capture.h"
#include "context.h"
#include "event.h"
#include "log.h"
#include "memory.h"
#include "schedule.h"
#include "stream.h"

#define KNOWN_FLAGS \
	((cuuint64_t)(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | \
		CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))

/* What an executable graph takes of the device's memory for each kernel node; measured on an H200. */
#define KERNEL_NODE_BYTES ((size_t)3 << 10)

static size_t device_bytes(const struct sim_graph *graph)
{
	size_t bytes = 0, i;

	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_work *work = graph->nodes.at[i]->work;

		if (work->kind == SIM_KERNEL)
			bytes += KERNEL_NODE_BYTES;
		if (work->kind == SIM_CHILD)
			bytes += device_bytes(work->child);
	}
	return bytes;
}

/* Orders the nodes; false if the graph has a cycle. */
static bool sort(struct sim_exec *exec, const struct sim_graph *graph)
{
	size_t count = graph->nodes.count, i, j, *open = calloc(count + 1, sizeof(*open));

	for (i = 0; i < count; i++) {
		open[i] = graph->nodes.at[i]->before.count;
		if (open[i] == 0)
			sim_push(&exec->order, i);
	}
	for (i = 0; i < exec->order.count; i++) {
		const struct sim_node *node = graph->nodes.at[exec->order.at[i]];

		for (j = 0; j < node->after.count; j++)
			if (--open[node->after.at[j]->position] == 0)
				sim_push(&exec->order, node->after.at[j]->position);
	}
	free(open);
	return exec->order.count == count;
}

static void exec_free(struct sim_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nodes.count; i++)
		sim_work_drop(exec->nodes.at[i].work);
	sim_clear(&exec->nodes);
	sim_clear(&exec->before);
	sim_clear(&exec->order);
	sim_op_drop(exec->last);
	sim_memory_discharge(exec->device, exec->bytes);
	sim_object_free(exec);
}

static CUresult instantiate(struct sim_exec **made, CUgraph handle, cuuint64_t flags)
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	struct sim_exec *exec;
	CUresult result;
	size_t i, j;

	if (!graph || !made || (flags & ~KNOWN_FLAGS))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	exec = sim_object_new(SIM_AN_EXEC, sizeof(*exec));
	exec->context = sim_current();
	exec->flags = flags;
	for (i = 0; i < graph->nodes.count; i++) {
		struct sim_node *node = graph->nodes.at[i];
		struct sim_exec_node own = {node, node->object.serial, sim_work_keep(node->work), true, exec->before.count, node->before.count};

		for (j = 0; j < node->before.count; j++)
			sim_push(&exec->before, node->before.at[j]->position);
		sim_push(&exec->nodes, own);
		/* The child's clone is the graph's: what is launched must not change with it. */
		if (node->work->kind == SIM_CHILD) {
			struct sim_work *child = sim_work_new(SIM_CHILD);

			child->context = node->work->context;
			child->child = sim_graph_clone(node->work->child);
			child->child->is_child = true;
			sim_work_drop(node->work);
			exec->nodes.at[i].work = child;
		}
	}
	if (!sort(exec, graph)) {
		exec_free(exec);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (!sim_memory_charge(exec->context->device, device_bytes(graph))) {
		exec_free(exec);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	exec->device = exec->context->device;
	exec->bytes = device_bytes(graph);
	*made = exec;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags), (exec, graph, flags))
{
	return instantiate((struct sim_exec **)exec, graph, flags);
}

API(SIM_CONTEXT, cuGraphInstantiate_v2, (CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *text, size_t size),
	(exec, graph, error_node, text, size))
{
	if (error_node)
		*error_node = NULL;
	if (text && size)
		*text = '\0';
	return instantiate((struct sim_exec **)exec, graph, 0);
}

API_PTSZ(SIM_CONTEXT, cuGraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
	(exec, graph, params))
{
	CUresult result;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	params->hErrNode_out = NULL;
	result = instantiate((struct sim_exec **)exec, graph, params->flags);
	params->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
	return result;
}

API(SIM_INIT, cuGraphExecGetFlags, (CUgraphExec handle, cuuint64_t *flags), (handle, flags))
{
	const struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);

	if (!exec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = exec->flags;
	return CUDA_SUCCESS;
}

/* "Destroys the executable graph": launches under way go on. */
API(SIM_INIT, cuGraphExecDestroy, (CUgraphExec handle), (handle))
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	exec_free(exec);
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuGraphUpload, (CUgraphExec handle, CUstream stream), (handle, stream))
{
	if (!sim_object_of(SIM_AN_EXEC, handle))
		return CUDA_ERROR_INVALID_VALUE;
	return sim_stream_of(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* A point in the order, with no work. */
static struct sim_op *point(struct sim_stream *stream)
{
	return sim_op_new(stream->context, stream->place, NULL);
}

/* Enqueues the nodes of a child graph between `begin` and the op returned. */
static struct sim_op *launch_child(struct sim_stream *stream, const struct sim_graph *graph, struct sim_op *begin)
{
	struct sim_op **ops = calloc(graph->nodes.count + 1, sizeof(*ops)), *end = point(stream);
	size_t i, j;

	sim_op_after(end, begin);
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_node *node = graph->nodes.at[i];

		ops[i] = sim_op_new(node->work->context ? node->work->context : stream->context, stream->place, node->work);
		sim_op_after(ops[i], begin);
		for (j = 0; j < node->before.count; j++)
			sim_op_after(ops[i], ops[node->before.at[j]->position]);
		sim_op_submit(ops[i]);
		sim_op_after(end, ops[i]);
	}
	for (i = 0; i < graph->nodes.count; i++)
		sim_op_drop(ops[i]);
	free(ops);
	sim_op_submit(end);
	return end;
}

/* Enqueues one node. What it depends on has been enqueued before it. */
static struct sim_op *launch_node(struct sim_exec *exec, struct sim_stream *stream, size_t position, struct sim_op **ops, struct sim_op *begin)
{
	struct sim_exec_node *node = &exec->nodes.at[position];
	struct sim_context *context = node->work->context ? node->work->context : stream->context;
	struct sim_op *op = sim_op_new(context, stream->place, node->enabled && node->work->kind != SIM_CHILD ? node->work : NULL), *end;
	size_t i;

	if (node->before_count == 0)
		sim_op_after(op, begin);
	for (i = 0; i < node->before_count; i++)
		sim_op_after(op, ops[exec->before.at[node->before_first + i]]);
	if (node->enabled && node->work->kind == SIM_RECORD)
		sim_event_recorded(node->work->event, op);
	if (node->enabled && node->work->kind == SIM_WAIT)
		sim_op_after(op, node->work->event->op);
	sim_op_submit(op);
	if (node->work->kind != SIM_CHILD || !node->enabled)
		return op;
	end = launch_child(stream, node->work->child, op);
	sim_op_drop(op);
	return end;
}

static void launch(struct sim_exec *exec, struct sim_stream *stream)
{
	struct sim_op **ops = calloc(exec->nodes.count + 1, sizeof(*ops)), *begin = point(stream), *end = point(stream);
	size_t i;

	sim_stream_order(stream, begin);
	sim_op_after(begin, exec->last);
	sim_op_submit(begin);
	sim_op_after(end, begin);
	for (i = 0; i < exec->order.count; i++) {
		size_t position = exec->order.at[i];

		ops[position] = launch_node(exec, stream, position, ops, begin);
		sim_op_after(end, ops[position]);
	}
	sim_op_submit(end);
	sim_stream_set_last(stream, end);
	sim_op_drop(exec->last);
	exec->last = end;
	for (i = 0; i < exec->nodes.count; i++)
		sim_op_drop(ops[i]);
	sim_op_drop(begin);
	free(ops);
	sim_schedule_submitted();
}

/* Captured, a launch becomes a child graph node, as a copy of what would be launched. */
static CUresult capture_launch(struct sim_exec *exec, struct sim_stream *stream)
{
	struct sim_work *work = sim_work_new(SIM_CHILD);
	size_t i, j;

	work->child = sim_graph_new();
	work->child->is_child = true;
	for (i = 0; i < exec->nodes.count; i++)
		sim_graph_add(work->child, exec->nodes.at[i].work, NULL, 0);
	for (i = 0; i < exec->nodes.count; i++)
		for (j = 0; j < exec->nodes.at[i].before_count; j++)
			sim_graph_connect(work->child->nodes.at[exec->before.at[exec->nodes.at[i].before_first + j]], work->child->nodes.at[i]);
	return sim_stream_add(stream, work, NULL);
}

API_PTSZ(SIM_CONTEXT, cuGraphLaunch, (CUgraphExec handle, CUstream stream_handle), (handle, stream_handle))
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);
	struct sim_stream *stream = sim_stream_of(stream_handle);
	CUresult result;

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return capture_launch(exec, stream);
	result = sim_capture_prohibit_legacy(stream);
	if (result == CUDA_SUCCESS)
		launch(exec, stream);
	return result;
}

/* The node of an executable graph that a source node names, if it is of that kind; any kind if `kind` is negative. */
static struct sim_exec_node *find(CUgraphExec handle, CUgraphNode source, int kind)
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);
	struct sim_node *node = sim_object_of(SIM_A_NODE, source);
	size_t i;

	if (!exec || !node)
		return NULL;
	/* Nodes keep their positions, as a rule. */
	i = node->position < exec->nodes.count && exec->nodes.at[node->position].source == node ? node->position : 0;
	for (; i < exec->nodes.count; i++) {
		struct sim_exec_node *own = &exec->nodes.at[i];

		if (own->source == node && own->serial == node->object.serial)
			return kind < 0 || (int)own->work->kind == kind ? own : NULL;
	}
	return NULL;
}

/* Replaces a node's work; consumes the reference. */
static CUresult replace(struct sim_exec_node *node, struct sim_work *work)
{
	if (sim_exec_may_become(node->work, work) != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
		sim_work_drop(work);
		return CUDA_ERROR_INVALID_VALUE;
	}
	sim_work_drop(node->work);
	node->work = work;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphExecKernelNodeSetParams_v2, (CUgraphExec exec, CUgraphNode source, const CUDA_KERNEL_NODE_PARAMS *params),
	(exec, source, params))
{
	struct sim_exec_node *node = find(exec, source, SIM_KERNEL);
	struct sim_work *work;
	CUresult result;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_node_kernel(&work, params, node->work);
	return result == CUDA_SUCCESS ? replace(node, work) : result;
}

static bool is_one_dimensional(const CUDA_MEMCPY3D *shape)
{
	return shape->Height == 1 && shape->Depth == 1;
}

/* "Both the instantiation-time memory operands and the memory operands in copyParams must be 1-dimensional." */
API(SIM_CONTEXT, cuGraphExecMemcpyNodeSetParams, (CUgraphExec exec, CUgraphNode source, const CUDA_MEMCPY3D *shape, CUcontext context),
	(exec, source, shape, context))
{
	struct sim_exec_node *node = find(exec, source, SIM_COPY);
	struct sim_work *work;
	CUresult result;

	if (!node || !shape || !sim_context_of(context))
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_one_dimensional(shape) || !is_one_dimensional(&node->work->copy.shape) || shape->WidthInBytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_work_copy(&work, shape, false);
	if (result != CUDA_SUCCESS)
		return result;
	work->context = sim_context_of(context);
	return replace(node, work);
}

API(SIM_CONTEXT, cuGraphExecMemsetNodeSetParams, (CUgraphExec exec, CUgraphNode source, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
	(exec, source, params, context))
{
	struct sim_exec_node *node = find(exec, source, SIM_SET);
	struct sim_work *work;
	CUresult result;

	if (!node || !params || !sim_context_of(context))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_node_memset(&work, params);
	if (result != CUDA_SUCCESS)
		return result;
	work->context = sim_context_of(context);
	return replace(node, work);
}

API(SIM_CONTEXT, cuGraphExecHostNodeSetParams, (CUgraphExec exec, CUgraphNode source, const CUDA_HOST_NODE_PARAMS *params),
	(exec, source, params))
{
	struct sim_exec_node *node = find(exec, source, SIM_HOST);
	struct sim_work *work;

	if (!node || !params || !params->fn)
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(SIM_HOST);
	work->host.function = params->fn;
	work->host.data = params->userData;
	return replace(node, work);
}

static CUresult set_event(CUgraphExec exec, CUgraphNode source, enum sim_work_kind kind, CUevent handle)
{
	struct sim_exec_node *node = find(exec, source, (int)kind);
	struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	struct sim_work *work;

	if (!node || !event)
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(kind);
	work->event = event;
	return replace(node, work);
}

API(SIM_CONTEXT, cuGraphExecEventRecordNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event), (exec, node, event))
{
	return set_event(exec, node, SIM_RECORD, event);
}

API(SIM_CONTEXT, cuGraphExecEventWaitNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event), (exec, node, event))
{
	return set_event(exec, node, SIM_WAIT, event);
}

/* "Currently only kernel, memset and memcpy nodes are supported." */
API(SIM_CONTEXT, cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode source, unsigned int enabled), (exec, source, enabled))
{
	struct sim_exec_node *node = find(exec, source, -1);

	if (!node || (node->work->kind != SIM_KERNEL && node->work->kind != SIM_SET && node->work->kind != SIM_COPY))
		return CUDA_ERROR_INVALID_VALUE;
	node->enabled = enabled != 0;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode source, unsigned int *enabled), (exec, source, enabled))
{
	const struct sim_exec_node *node = find(exec, source, -1);

	if (!node || !enabled || (node->work->kind != SIM_KERNEL && node->work->kind != SIM_SET && node->work->kind != SIM_COPY))
		return CUDA_ERROR_INVALID_VALUE;
	*enabled = node->enabled;
	return CUDA_SUCCESS;
}
