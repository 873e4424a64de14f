#include "exec.h"

#include "api.h"
#include "capture.h"
#include "context.h"
#include "drain.h"
#include "event.h"
#include "kernel_work.h"
#include "memory.h"
#include "memory_node.h"
#include "options.h"
#include "pace.h"
#include "schedule.h"
#include "stream.h"

#define AUTO_FREE ((cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
#define DEVICE_LAUNCH ((cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
#define KNOWN_FLAGS \
	(AUTO_FREE | DEVICE_LAUNCH | \
	 (cuuint64_t)(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | \
	              CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))

/* What one takes of the heaps of its context: measured on an H200. */
#define GRAPH_BYTES ((size_t)48 << 10)
#define KERNEL_NODE_BYTES ((size_t)512)

static size_t kernel_nodes(const struct sim_graph *graph)
{
	size_t count = 0, i;

	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_work *work = graph->nodes.at[i]->work;

		if (work->kind == SIM_KERNEL)
			count++;
		if (work->kind == SIM_CHILD)
			count += kernel_nodes(work->child);
	}
	return count;
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

/* The graph it was made from, unless that is gone. */
static struct sim_graph *graph_of(const struct sim_exec *exec)
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, exec->graph);

	return graph && graph->object.serial == exec->graph_serial ? graph : NULL;
}

static void gather(struct sim_references *references, const struct sim_graph *graph)
{
	size_t i;

	sim_references_copy(references, &graph->references);
	for (i = 0; i < graph->nodes.count; i++)
		if (graph->nodes.at[i]->work->kind == SIM_CHILD)
			gather(references, graph->nodes.at[i]->work->child);
}

/* "References ... are retained until the execution is complete": they go with an op behind the last
 * launch. */
static void give_back_references(struct sim_exec *exec)
{
	struct sim_work *work;
	struct sim_op *op;

	if (exec->references.held.count == 0)
		return;
	work = sim_work_new(SIM_EMPTY);
	work->given_back = exec->references;
	memset(&exec->references, 0, sizeof(exec->references));
	if (exec->last && exec->last->state != SIM_OP_DONE) {
		op = sim_op_new(exec->context, exec->last->place, work);
		sim_op_after(op, exec->last);
		sim_op_enqueue(op);
		sim_op_drop(op);
	}
	sim_work_drop(work);
}

void sim_exec_take_references(struct sim_exec *exec, const struct sim_graph *graph)
{
	struct sim_references wanted = {0};

	gather(&wanted, graph);
	give_back_references(exec);
	exec->references = wanted;
}

/* False if the device has no room for it. */
static bool take_memory(struct sim_exec *exec, size_t nodes)
{
	if (!sim_memory_charge(exec->context->device, nodes * sim_options()->node_bytes))
		return false;
	exec->device = exec->context->device;
	exec->bytes = nodes * sim_options()->node_bytes;
	exec->graph_bytes = GRAPH_BYTES;
	exec->node_bytes = nodes * KERNEL_NODE_BYTES;
	sim_heap_take(exec->context, &exec->context->heaps.graphs, exec->graph_bytes);
	sim_heap_take(exec->context, &exec->context->heaps.kernel_nodes, exec->node_bytes);
	return true;
}

static void give_memory(const struct sim_exec *exec)
{
	sim_memory_discharge(exec->device, exec->bytes);
	sim_heap_give(&exec->context->heaps.graphs, exec->graph_bytes);
	sim_heap_give(&exec->context->heaps.kernel_nodes, exec->node_bytes);
}

void sim_exec_forget_context(struct sim_context *context)
{
	for (struct sim_object *object = sim_object_newest(SIM_AN_EXEC); object;
	     object = object->older) {
		struct sim_exec *exec = (struct sim_exec *)object;

		if (exec->context != context)
			continue;
		give_memory(exec);
		exec->bytes = exec->graph_bytes = exec->node_bytes = 0;
	}
}

static void exec_free(struct sim_exec *exec)
{
	struct sim_graph *graph = graph_of(exec);
	size_t i;

	if (exec->has_memory && graph)
		graph->executable--;
	give_back_references(exec);
	for (i = 0; i < exec->nodes.count; i++)
		sim_work_drop(exec->nodes.at[i].work);
	sim_clear(&exec->nodes);
	sim_clear(&exec->before);
	sim_clear(&exec->order);
	sim_op_drop(exec->last);
	give_memory(exec);
	sim_object_free(exec);
}

/* The child's clone is the graph's: what is launched must not change with it. Memory nodes stay
 * with a moved one. */
struct sim_work *sim_exec_work(struct sim_work *work)
{
	struct sim_work *child;

	if (work->kind != SIM_CHILD || sim_graph_has_memory(work->child))
		return sim_work_keep(work);
	child = sim_work_new(SIM_CHILD);
	child->context = work->context;
	child->child = sim_graph_clone(work->child);
	child->child->is_child = true;
	return child;
}

static struct sim_exec *exec_new(struct sim_graph *graph, cuuint64_t flags)
{
	struct sim_exec *exec = sim_object_new(SIM_AN_EXEC, sizeof(*exec));
	size_t i, j;

	exec->context = sim_current();
	exec->flags = flags;
	exec->graph = graph;
	exec->graph_serial = graph->object.serial;
	exec->has_memory = sim_graph_has_memory(graph);
	graph->executable += exec->has_memory;
	gather(&exec->references, graph);
	for (i = 0; i < graph->nodes.count; i++) {
		struct sim_node *node = graph->nodes.at[i];
		struct sim_exec_node own = {node,
		                            node->object.serial,
		                            sim_exec_work(node->work),
		                            exec->before.count,
		                            node->before.count,
		                            node->place,
		                            node->priority};

		for (j = 0; j < node->before.count; j++)
			sim_push(&exec->before, ((struct sim_exec_edge){node->before.at[j]->position,
			                                                node->before_data.at[j]}));
		sim_push(&exec->nodes, own);
	}
	return exec;
}

/* "Graphs instantiated for launch on the device ... can only contain kernel nodes, memcpy nodes,
 * memset nodes, and child graph nodes." */
static CUgraphInstantiateResult check_for_device(const struct sim_graph *graph,
                                                 struct sim_node **node)
{
	size_t i;

	for (i = 0; i < graph->nodes.count; i++) {
		CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
		const struct sim_work *work = graph->nodes.at[i]->work;

		*node = graph->nodes.at[i];
		if (work->kind == SIM_CHILD)
			result = check_for_device(work->child, node);
		else if (work->kind != SIM_KERNEL && work->kind != SIM_COPY && work->kind != SIM_SET)
			return CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
		else if (work->context != sim_current())
			return CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
		else if (work->kind == SIM_KERNEL && work->kernel.function->code->launches)
			return CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
		if (result != CUDA_GRAPH_INSTANTIATE_SUCCESS)
			return result;
	}
	*node = NULL;
	return CUDA_GRAPH_INSTANTIATE_SUCCESS;
}

/* A node of the cycle, or one behind it: those that cannot be put in order. */
static struct sim_node *unordered(const struct sim_exec *exec, const struct sim_graph *graph)
{
	size_t i, j;

	for (i = graph->nodes.count; i-- > 0;) {
		for (j = 0; j < exec->order.count && exec->order.at[j] != i; j++)
			;
		if (j == exec->order.count)
			return graph->nodes.at[i];
	}
	return NULL;
}

/* *why and *node are what CUDA_GRAPH_INSTANTIATE_PARAMS tells of a failure. "If passed an invalid
 * value", the node is NULL. */
static CUresult instantiate(struct sim_exec **made, CUgraph handle, cuuint64_t flags,
                            CUgraphInstantiateResult *why, struct sim_node **node)
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	struct sim_exec *exec;
	CUresult result;

	*why = CUDA_GRAPH_INSTANTIATE_ERROR;
	*node = NULL;
	if (!graph || !made || (flags & ~KNOWN_FLAGS))
		return CUDA_ERROR_INVALID_VALUE;
	if ((flags & AUTO_FREE) && (flags & DEVICE_LAUNCH))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (graph->executable || graph->is_child)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags & DEVICE_LAUNCH) {
		*why = graph->nodes.count ? check_for_device(graph, node) : CUDA_GRAPH_INSTANTIATE_ERROR;
		if (*why != CUDA_GRAPH_INSTANTIATE_SUCCESS)
			return CUDA_ERROR_INVALID_VALUE;
	}
	exec = exec_new(graph, flags);
	if (!sort(exec, graph)) {
		*why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
		*node = unordered(exec, graph);
		exec_free(exec);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (!take_memory(exec, kernel_nodes(graph))) {
		exec_free(exec);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	*made = exec;
	return CUDA_SUCCESS;
}

/* Measured: without a stream to upload in, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD is invalid. */
API(SIM_CONTEXT, cuGraphInstantiateWithFlags,
    (CUgraphExec * exec, CUgraph graph, unsigned long long flags), (exec, graph, flags))
{
	CUgraphInstantiateResult why;
	struct sim_node *node;

	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
		return CUDA_ERROR_INVALID_VALUE;
	return instantiate((struct sim_exec **)exec, graph, flags, &why, &node);
}

API(SIM_CONTEXT, cuGraphInstantiate_v2,
    (CUgraphExec * exec, CUgraph graph, CUgraphNode *error_node, char *text, size_t size),
    (exec, graph, error_node, text, size))
{
	CUgraphInstantiateResult why;
	struct sim_node *node;
	CUresult result = instantiate((struct sim_exec **)exec, graph, 0, &why, &node);

	if (error_node)
		*error_node = (CUgraphNode)node;
	if (text && size)
		*text = '\0';
	return result;
}

API_PTSZ(SIM_CONTEXT, cuGraphInstantiateWithParams,
         (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
         (exec, graph, params))
{
	struct sim_node *node;
	CUresult result;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) &&
	    !sim_stream_of(params->hUploadStream))
		return CUDA_ERROR_INVALID_HANDLE;
	result =
		instantiate((struct sim_exec **)exec, graph, params->flags, &params->result_out, &node);
	params->hErrNode_out = (CUgraphNode)node;
	return result;
}

/*
 * "CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD will not be returned by this API". Measured: nor is
 * CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.
 */
API(SIM_INIT, cuGraphExecGetFlags, (CUgraphExec handle, cuuint64_t *flags), (handle, flags))
{
	const struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);

	if (!exec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = exec->flags & (AUTO_FREE | DEVICE_LAUNCH);
	return CUDA_SUCCESS;
}

void sim_exec_pass(const struct sim_exec *exec)
{
	if (sim_context_alive(exec->context))
		sim_drain_pass(exec->context);
}

/* "Destroys the executable graph": launches under way go on. */
API(SIM_INIT, cuGraphExecDestroy, (CUgraphExec handle), (handle))
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	sim_exec_pass(exec);
	/* Another thread may have been let in meanwhile. */
	exec = sim_object_of(SIM_AN_EXEC, handle);
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	exec_free(exec);
	return CUDA_SUCCESS;
}

/* Measured: a capture prohibits it. */
API_PTSZ(SIM_CONTEXT, cuGraphUpload, (CUgraphExec handle, CUstream stream), (handle, stream))
{
	if (!sim_object_of(SIM_AN_EXEC, handle))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_stream_of(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (sim_stream_of(stream)->capture)
		return sim_capture_prohibit(sim_stream_of(stream));
	sim_exec_pass(sim_object_of(SIM_AN_EXEC, handle));
	return CUDA_SUCCESS;
}

/* A point in the order, with no work. */
static struct sim_op *point(struct sim_stream *stream)
{
	return sim_op_new(stream->context, stream->place, NULL);
}

static struct sim_op *launch_work(struct sim_stream *stream, struct sim_work *work,
                                  struct sim_op *begin);

/* Enqueues the nodes of a child graph between `begin` and the op returned. */
static struct sim_op *launch_child(struct sim_stream *stream, const struct sim_graph *graph,
                                   struct sim_op *begin)
{
	struct sim_op **ops = calloc(graph->nodes.count + 1, sizeof(*ops)), *end = point(stream);
	size_t launched, i, j;

	sim_op_after(end, begin);
	/* Edges may lead to nodes made earlier: each round takes those whose dependencies have been
	 * enqueued. */
	for (launched = 0; launched < graph->nodes.count;) {
		for (i = 0; i < graph->nodes.count; i++) {
			const struct sim_node *node = graph->nodes.at[i];
			struct sim_op *from;

			for (j = 0; j < node->before.count && ops[node->before.at[j]->position]; j++)
				;
			if (ops[i] || j < node->before.count)
				continue;
			from = point(stream);
			sim_op_after(from, begin);
			for (j = 0; j < node->before.count; j++)
				sim_op_after(from, ops[node->before.at[j]->position]);
			sim_op_enqueue(from);
			ops[i] = launch_work(stream, node->work, from);
			sim_op_drop(from);
			sim_op_after(end, ops[i]);
			launched++;
		}
	}
	for (i = 0; i < graph->nodes.count; i++)
		sim_op_drop(ops[i]);
	free(ops);
	sim_op_enqueue(end);
	return end;
}

/* Enqueues the operations of a batch, one after another. */
static struct sim_op *launch_batch(struct sim_stream *stream, const struct sim_work *work,
                                   struct sim_op *begin)
{
	struct sim_op *last = sim_op_keep(begin), *op;
	unsigned int i;

	for (i = 0; i < work->batch.count; i++) {
		op = sim_op_new(work->context, stream->place, work->batch.works[i]);
		sim_op_after(op, last);
		sim_op_enqueue(op);
		sim_op_drop(last);
		last = op;
	}
	return last;
}

/* Enqueues a work after an op; what it records or waits for is settled now. Returns a reference to
 * the op that ends it. */
static struct sim_op *launch_work(struct sim_stream *stream, struct sim_work *work,
                                  struct sim_op *begin)
{
	struct sim_op *op;

	if (work->kind == SIM_CHILD)
		return launch_child(stream, work->child, begin);
	if (work->kind == SIM_BATCH)
		return launch_batch(stream, work, begin);
	op = sim_op_new(work->context ? work->context : stream->context, stream->place, work);
	op->priority = stream->priority;
	sim_op_after(op, begin);
	if (work->kind == SIM_RECORD)
		sim_event_recorded(sim_event_of(work), op);
	if (work->kind == SIM_WAIT)
		sim_op_after(op, sim_event_of(work)->op);
	sim_op_enqueue(op);
	return op;
}

/*
 * Whether the log counts nodes as work of the streams that they were captured for. Not where none
 * was captured for the stream that they are launched into: then the program itself has copied one
 * stream's attributes to another one, and captured there. But where that stream has another one's
 * attributes, too, it stands for others itself.
 */
static bool stands_for(const struct sim_exec *exec, const struct sim_stream *stream)
{
	size_t i;

	if (stream->model.stream != 0)
		return true;
	for (i = 0; i < exec->nodes.count; i++)
		if (exec->nodes.at[i].place.context == stream->place.context &&
		    exec->nodes.at[i].place.stream == stream->place.stream)
			return true;
	return false;
}

/* Enqueues one node, which the log has at `place`. What it depends on has been enqueued before it.
 */
static struct sim_op *launch_node(struct sim_exec *exec, struct sim_stream *stream,
                                  struct sim_place place, size_t position, struct sim_op **ops,
                                  struct sim_op *begin)
{
	struct sim_exec_node *node = &exec->nodes.at[position];
	bool simple = node->work->kind != SIM_CHILD && node->work->kind != SIM_BATCH;
	struct sim_context *context = node->work->context ? node->work->context : stream->context;
	struct sim_op *op = sim_op_new(context, place, simple ? node->work : NULL), *end;
	size_t i;

	if (node->before_count == 0)
		sim_op_after(op, begin);
	for (i = 0; i < node->before_count; i++)
		sim_op_after(op, ops[exec->before.at[node->before_first + i].position]);
	if (node->work->kind == SIM_RECORD)
		sim_event_recorded(sim_event_of(node->work), op);
	if (node->work->kind == SIM_WAIT)
		sim_op_after(op, sim_event_of(node->work)->op);
	/* "Run the graph using the per-node priority attributes rather than the priority of the stream
	 * it is launched into." */
	op->priority = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
	                   ? sim_kernel_work_priority(node->work, node->priority)
	                   : stream->priority;
	sim_op_enqueue(op);
	if (simple)
		return op;
	end = launch_work(stream, node->work, op);
	sim_op_drop(op);
	return end;
}

static bool is_function(const struct sim_exec *exec, size_t i)
{
	return exec->nodes.at[exec->order.at[i]].work->kind == SIM_HOST;
}

/* How often a launch turns from a host function to other work: not at all where it has functions
 * alone, and once more where it neither begins nor ends with one. */
static size_t turns_of(const struct sim_exec *exec)
{
	size_t functions = 0, i;

	for (i = 0; i < exec->order.count; i++)
		functions += is_function(exec, i);
	if (functions == 0 || functions == exec->order.count)
		return 0;
	return functions + (!is_function(exec, 0) && !is_function(exec, exec->order.count - 1));
}

static void launch(struct sim_exec *exec, struct sim_stream *stream)
{
	struct sim_op **ops = calloc(exec->nodes.count + 1, sizeof(*ops)), *begin = point(stream),
				  *end = point(stream);
	bool as_captured = stands_for(exec, stream);
	size_t i;

	sim_stream_order(stream, begin);
	sim_op_after(begin, exec->last);
	sim_op_enqueue(begin);
	sim_op_after(end, begin);
	for (i = 0; i < exec->order.count; i++) {
		size_t position = exec->order.at[i];
		struct sim_place captured_for = exec->nodes.at[position].place;

		ops[position] =
			launch_node(exec, stream,
		                as_captured && captured_for.stream ? captured_for : stream->place, position,
		                ops, begin);
		sim_op_after(end, ops[position]);
	}
	sim_op_enqueue(end);
	sim_stream_set_last(stream, end);
	sim_stream_launched(stream, end);
	sim_stream_turned(stream, end, turns_of(exec));
	sim_op_drop(exec->last);
	exec->last = end;
	for (i = 0; i < exec->nodes.count; i++)
		sim_op_drop(ops[i]);
	sim_op_drop(begin);
	free(ops);
	sim_schedule_enqueued();
}

typedef VECTOR(struct sim_work *) works;

static void add_memory_of(works *list, struct sim_work *work)
{
	size_t i;

	if (work->kind == SIM_ALLOC || work->kind == SIM_FREE)
		sim_push(list, work);
	for (i = 0; work->kind == SIM_CHILD && i < work->child->nodes.count; i++)
		add_memory_of(list, work->child->nodes.at[i]->work);
}

/* What a launch allocates and frees, in its order. */
static CUresult settle_memory(const struct sim_exec *exec)
{
	works list = {0};
	CUresult result;
	size_t i;

	if (!exec->has_memory)
		return CUDA_SUCCESS;
	for (i = 0; i < exec->order.count; i++)
		add_memory_of(&list, exec->nodes.at[exec->order.at[i]].work);
	result = sim_memory_node_launch(list.at, list.count, exec->flags & AUTO_FREE);
	sim_clear(&list);
	return result;
}

API_PTSZ(SIM_CONTEXT, cuGraphLaunch, (CUgraphExec handle, CUstream stream_handle),
         (handle, stream_handle))
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);
	struct sim_stream *stream = sim_stream_of(stream_handle);
	CUresult result;

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	/* Measured: it is not captured as a child graph. */
	result = sim_capture_prohibit(stream);
	if (result != CUDA_SUCCESS)
		return result;
	sim_stream_make_room(stream);
	sim_stream_make_turns(stream, turns_of(exec), true);
	sim_drain_pass(stream->context);
	result = settle_memory(exec);
	if (result == CUDA_SUCCESS) {
		launch(exec, stream);
		sim_pace_graph(exec->node_bytes / KERNEL_NODE_BYTES);
	}
	return result;
}
