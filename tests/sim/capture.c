#include "capture.h"

#include "api.h"
#include "context.h"
#include "drain.h"
#include "kernel_work.h"

static VECTOR(struct sim_capture *) captures;
static uint64_t ids;

size_t sim_capture_count(void)
{
	return captures.count;
}

struct sim_capture *sim_capture_at(size_t position)
{
	return captures.at[position];
}

bool sim_capture_builds(const struct sim_graph *graph)
{
	size_t i;

	for (i = 0; i < captures.count; i++)
		if (captures.at[i]->graph == graph)
			return true;
	return false;
}

void sim_capture_invalidate(uint64_t id)
{
	size_t i;

	for (i = 0; i < captures.count; i++)
		if (captures.at[i]->id == id)
			captures.at[i]->invalidated = true;
}

bool sim_capture_invalidate_thread(void)
{
	bool any = false;
	size_t i;

	for (i = 0; i < captures.count; i++)
		if (captures.at[i]->thread == sim_self()->id)
			any = captures.at[i]->invalidated = true;
	return any;
}

static void join(struct sim_capture *capture, struct sim_stream *stream)
{
	stream->capture = capture;
	stream->tail.count = stream->tail_data.count = 0;
	sim_push(&capture->streams, stream);
}

static void leave(struct sim_capture *capture, size_t position)
{
	struct sim_stream *stream = capture->streams.at[position];

	stream->capture = NULL;
	sim_clear(&stream->tail);
	sim_clear(&stream->tail_data);
	sim_remove(&capture->streams, position);
}

/* Ends it: its streams are ordinary again. The graph is left alone. */
static void capture_free(struct sim_capture *capture)
{
	size_t i;

	while (capture->streams.count)
		leave(capture, 0);
	sim_clear(&capture->streams);
	for (i = 0; captures.at[i] != capture; i++)
		;
	sim_remove(&captures, i);
	free(capture);
}

void sim_capture_abandon(struct sim_stream *stream)
{
	struct sim_capture *capture = stream->capture;
	size_t i;

	if (!capture)
		return;
	capture->invalidated = true;
	if (capture->origin == stream) {
		if (!capture->given_graph)
			sim_graph_free(capture->graph);
		capture_free(capture);
		return;
	}
	for (i = 0; capture->streams.at[i] != stream; i++)
		;
	leave(capture, i);
}

static void set_tail(struct sim_stream *stream, struct sim_node *node)
{
	static const CUgraphEdgeData plain;

	stream->tail.count = stream->tail_data.count = 0;
	sim_push(&stream->tail, node);
	sim_push(&stream->tail_data, plain);
}

static void add_to_tail(struct sim_stream *stream, struct sim_node *node,
                        const CUgraphEdgeData *data)
{
	CUgraphEdgeData own = {0};
	size_t i;

	if (data)
		own = *data;
	for (i = 0; i < stream->tail.count; i++)
		if (stream->tail.at[i] == node)
			return;
	sim_push(&stream->tail, node);
	sim_push(&stream->tail_data, own);
}

/* A launch that CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION allows to begin early has a
 * programmatic edge from the kernel before it. */
static void make_programmatic(struct sim_stream *stream, const struct sim_work *work)
{
	const CUlaunchAttributeValue *value;

	if (work->kind != SIM_KERNEL || stream->tail.count != 1 ||
	    stream->tail.at[0]->work->kind != SIM_KERNEL)
		return;
	value = sim_kernel_work_attribute(work, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	if (value && value->programmaticStreamSerializationAllowed &&
	    sim_edge_is_plain(&stream->tail_data.at[0]))
		stream->tail_data.at[0] = (CUgraphEdgeData){CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
		                                            0,
		                                            CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
		                                            {0}};
}

CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work, struct sim_node **made)
{
	struct sim_node *node;

	if (stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	make_programmatic(stream, work);
	node = sim_graph_add(stream->capture->graph, work, stream->tail.at, stream->tail_data.at,
	                     stream->tail.count);
	node->priority = stream->priority;
	node->place = stream->model;
	node->captured = true;
	set_tail(stream, node);
	if (made)
		*made = node;
	return CUDA_SUCCESS;
}

CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event)
{
	size_t i;

	if (stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	event->captured = true;
	event->capture = stream->capture->id;
	event->nodes.count = 0;
	for (i = 0; i < stream->tail.count; i++)
		sim_push(&event->nodes, stream->tail.at[i]);
	return CUDA_SUCCESS;
}

static struct sim_capture *by_id(uint64_t id)
{
	size_t i;

	for (i = 0; i < captures.count; i++)
		if (captures.at[i]->id == id)
			return captures.at[i];
	return NULL;
}

bool sim_capture_is_active(uint64_t id)
{
	const struct sim_capture *capture = by_id(id);

	return capture && !capture->invalidated;
}

CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event)
{
	struct sim_capture *capture = event->captured ? by_id(event->capture) : NULL;
	size_t i;

	if (stream->capture && stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!event->captured) {
		if (!event->op)
			return CUDA_SUCCESS;
		stream->capture->invalidated = true;
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	/* Measured: an event of a capture that has ended or is invalid is an invalid value, and
	 * invalidates the capture that would wait for it. */
	if (!capture || (capture->invalidated && capture != stream->capture)) {
		if (stream->capture)
			stream->capture->invalidated = true;
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (stream->kind == SIM_LEGACY_STREAM) {
		capture->invalidated = true;
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (stream->capture && stream->capture != capture) {
		stream->capture->invalidated = capture->invalidated = true;
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	if (!stream->capture)
		join(capture, stream);
	for (i = 0; i < event->nodes.count; i++)
		add_to_tail(stream, event->nodes.at[i], NULL);
	return CUDA_SUCCESS;
}

static CUresult begin(CUstream handle, struct sim_graph *graph, CUstreamCaptureMode mode)
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_capture *capture;

	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->kind == SIM_LEGACY_STREAM)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sim_drain_pass(stream->context);
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	capture = calloc(1, sizeof(*capture));
	capture->id = ++ids;
	capture->thread = sim_self()->id;
	capture->mode = mode;
	capture->given_graph = graph != NULL;
	capture->graph = graph ? graph : sim_graph_new();
	capture->first = capture->graph->nodes.count;
	capture->origin = stream;
	join(capture, stream);
	sim_push(&captures, capture);
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode),
         (stream, mode))
{
	return begin(stream, NULL, mode);
}

API_PTSZ(SIM_CONTEXT, cuStreamBeginCaptureToGraph,
         (CUstream handle, CUgraph graph_handle, const CUgraphNode *nodes,
          const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode),
         (handle, graph_handle, nodes, data, count, mode))
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, graph_handle);
	CUresult result;
	size_t i;

	if (!graph || graph->is_moved || sim_capture_builds(graph) || (count && !nodes))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!sim_object_of(SIM_A_NODE, nodes[i]) || ((struct sim_node *)nodes[i])->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
	result = begin(handle, graph, mode);
	for (i = 0; result == CUDA_SUCCESS && i < count; i++)
		add_to_tail(sim_stream_of(handle), (struct sim_node *)nodes[i], data ? &data[i] : NULL);
	return result;
}

/* Whether the stream's tail holds every captured node that nothing depends on: all that was forked
 * has been joined. Measured: nodes made explicitly need not be. */
static bool is_joined(const struct sim_capture *capture)
{
	const struct sim_stream *stream = capture->origin;
	size_t i, j;

	for (i = capture->first; i < capture->graph->nodes.count; i++) {
		const struct sim_node *node = capture->graph->nodes.at[i];

		if (node->after.count || node->excused || !node->captured)
			continue;
		for (j = 0; j < stream->tail.count && stream->tail.at[j] != node; j++)
			;
		if (j == stream->tail.count)
			return false;
	}
	return true;
}

/*
 * The errors, each under its own name: CUDA_ERROR_STREAM_CAPTURE_*. Whatever the result, a capture
 * that was ended is over. Measured: one that another thread tried to end too, and one whose graph
 * nobody wants to have, which is no error. The graph of a capture that failed is destroyed, even
 * one that the program gave to it.
 */
API_PTSZ(SIM_CONTEXT, cuStreamEndCapture, (CUstream handle, CUgraph *graph), (handle, graph))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_capture *capture;
	CUresult result = CUDA_SUCCESS;

	if (graph)
		*graph = NULL;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_drain_pass(stream->context);
	capture = stream->capture;
	if (!capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (capture->origin != stream) {
		capture->invalidated = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	if (capture->invalidated)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != sim_self()->id)
		result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	else if (!is_joined(capture))
		result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (result == CUDA_SUCCESS && graph)
		*graph = (CUgraph)capture->graph;
	else if (!capture->given_graph || (result != CUDA_SUCCESS && !capture->graph->is_child))
		sim_graph_free(capture->graph);
	capture_free(capture);
	return result;
}

static CUstreamCaptureStatus status_of(const struct sim_stream *stream)
{
	if (!stream->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
	                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* "If this is called on the legacy stream while a blocking stream on the same context is capturing,
 * CUDA_ERROR_STREAM_CAPTURE_IMPLICIT is returned". */
static CUresult check_legacy(const struct sim_stream *stream)
{
	size_t i;

	if (stream->kind != SIM_LEGACY_STREAM)
		return CUDA_SUCCESS;
	for (i = 0; i < stream->context->streams.count; i++)
		if (stream->context->streams.at[i]->capture &&
		    sim_stream_blocks(stream->context->streams.at[i]))
			return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamIsCapturing, (CUstream handle, CUstreamCaptureStatus *status),
         (handle, status))
{
	const struct sim_stream *stream = sim_stream_of(handle);
	CUresult result;

	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = check_legacy(stream);
	if (result == CUDA_SUCCESS)
		*status = status_of(stream);
	return result;
}

static CUresult info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                     const CUgraphNode **nodes, const CUgraphEdgeData **data, size_t *count)
{
	const struct sim_stream *stream = sim_stream_of(handle);
	CUresult result;
	size_t i;

	if (!status || (data && !nodes))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = check_legacy(stream);
	if (result != CUDA_SUCCESS)
		return result;
	*status = status_of(stream);
	if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_SUCCESS;
	for (i = 0; nodes && !data && i < stream->tail.count; i++)
		if (!sim_edge_is_plain(&stream->tail_data.at[i]))
			return CUDA_ERROR_LOSSY_QUERY;
	if (id)
		*id = stream->capture->id;
	if (graph)
		*graph = (CUgraph)stream->capture->graph;
	if (nodes)
		*nodes = (const CUgraphNode *)stream->tail.at;
	if (data)
		*data = stream->tail_data.at;
	if (count)
		*count = stream->tail.count;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetCaptureInfo,
         (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id), (stream, status, id))
{
	return info(stream, status, id, NULL, NULL, NULL, NULL);
}

API_PTSZ(SIM_CONTEXT, cuStreamGetCaptureInfo_v2,
         (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
          const CUgraphNode **nodes, size_t *count),
         (stream, status, id, graph, nodes, count))
{
	return info(stream, status, id, graph, nodes, NULL, count);
}

API_PTSZ(SIM_CONTEXT, cuStreamGetCaptureInfo_v3,
         (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
          const CUgraphNode **nodes, const CUgraphEdgeData **data, size_t *count),
         (stream, status, id, graph, nodes, data, count))
{
	return info(stream, status, id, graph, nodes, data, count);
}

/* "Nodes that are removed from the dependency set via this API do not result in
 * CUDA_ERROR_STREAM_CAPTURE_UNJOINED". */
static CUresult update_dependencies(CUstream handle, CUgraphNode *nodes,
                                    const CUgraphEdgeData *data, size_t count, unsigned int flags)
{
	struct sim_stream *stream = sim_stream_of(handle);
	size_t i;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count && !nodes))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!sim_object_of(SIM_A_NODE, nodes[i]) ||
		    ((struct sim_node *)nodes[i])->graph != stream->capture->graph)
			return CUDA_ERROR_INVALID_VALUE;
	if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
		for (i = 0; i < stream->tail.count; i++)
			stream->tail.at[i]->excused = true;
		stream->tail.count = stream->tail_data.count = 0;
	}
	for (i = 0; i < count; i++)
		add_to_tail(stream, (struct sim_node *)nodes[i], data ? &data[i] : NULL);
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamUpdateCaptureDependencies,
         (CUstream stream, CUgraphNode *nodes, size_t count, unsigned int flags),
         (stream, nodes, count, flags))
{
	return update_dependencies(stream, nodes, NULL, count, flags);
}

API_PTSZ(SIM_CONTEXT, cuStreamUpdateCaptureDependencies_v2,
         (CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
          unsigned int flags),
         (stream, nodes, data, count, flags))
{
	return update_dependencies(stream, nodes, data, count, flags);
}
