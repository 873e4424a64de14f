/*
 * Stream capture (capture.c) and what it prohibits (prohibit.c).
 *
 * A capture spans the stream it began in and those that joined it by waiting for an event recorded
 * in it. A prohibited call returns an error and invalidates the capture; an invalidated one answers
 * everything with CUDA_ERROR_STREAM_CAPTURE_INVALIDATED until it is ended.
 */
#pragma once

#include "event.h"
#include "graph.h"
#include "stream.h"

struct sim_capture {
	uint64_t id;
	uint64_t thread; /* that began it */
	CUstreamCaptureMode mode;
	bool invalidated;
	struct sim_graph *graph;
	bool given_graph; /* cuStreamBeginCaptureToGraph: the program owns it */
	size_t first;     /* nodes that were in the graph before */
	struct sim_stream *origin;
	VECTOR(struct sim_stream *) streams;
};

/* Adds a node with the work, whose reference stays the caller's. The node is left in *node unless
 * that is NULL. */
CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work, struct sim_node **node);

CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event);

/* A stream waits for an event, and one of the two belongs to a capture. */
CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event);

/* Whether a capture of that id goes on, and validly. */
bool sim_capture_is_active(uint64_t id);

/* A stream goes away. */
void sim_capture_abandon(struct sim_stream *stream);

/* Whether a graph is being captured. */
bool sim_capture_builds(const struct sim_graph *graph);

void sim_capture_invalidate(uint64_t id);

/* Invalidates what the calling thread captures; whether it captures anything. */
bool sim_capture_invalidate_thread(void);

/*
 * What a capture prohibits. Each returns CUDA_SUCCESS if nothing stands against the call; otherwise
 * the error to return, with the captures that stand against it invalidated.
 */

/* Observing the stream. */
CUresult sim_capture_prohibit(struct sim_stream *stream);

/* A wait for the stream, or a query. Measured: it is potentially unsafe, as of an event. */
CUresult sim_capture_prohibit_question(struct sim_stream *stream);

/* Work on the legacy stream while a blocking stream of its context captures: other streams pass. */
CUresult sim_capture_prohibit_legacy(struct sim_stream *stream);

/* Observing all of a context. */
CUresult sim_capture_prohibit_context(struct sim_context *context);

/* A potentially unsafe call: what forbids it depends on the thread's mode and those of the
 * captures. */
CUresult sim_capture_unsafe(void);

/* All captures in progress. */
size_t sim_capture_count(void);
struct sim_capture *sim_capture_at(size_t position);
