#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/carried.h"
#include "graph/graph.h"

static void destroy(CUstream *stream)
{
	reprise_driver.cuStreamDestroy_v2(*stream);
	*stream = NULL;
}

/* Gives the stream the priority and attributes of the program's stream. */
static bool open_stream(CUstream *stream, unsigned int flags, CUstream model,
                        const struct reprise_carried *carried)
{
	int priority = 0;

	if (*stream != NULL)
		return true;
	/* For CU_STREAM_PER_THREAD the driver would answer for the builder's own default stream. */
	if (model != CU_STREAM_PER_THREAD &&
	    reprise_driver.cuStreamGetPriority(model, &priority) != CUDA_SUCCESS)
		priority = 0;
	if (reprise_driver.cuStreamCreateWithPriority(stream, flags, priority) != CUDA_SUCCESS) {
		*stream = NULL;
		reprise_count(REPRISE_COUNT_private_streams_failed, 1);
		return false;
	}
	if (reprise_carried_bring(*stream, model, carried))
		return true;
	destroy(stream);
	reprise_count(REPRISE_COUNT_build_failed_attributes, 1);
	return false;
}

static bool open_event(CUevent *event)
{
	if (*event == NULL &&
	    reprise_driver.cuEventCreate(event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		*event = NULL;
	return *event != NULL;
}

static bool open_edges(struct reprise_forks *forks, enum reprise_side side)
{
	for (unsigned int i = 0; i <= REPRISE_FORK_EVENTS_MOST; i++)
		if (!open_event(&forks->edges[side][i]))
			return false;
	return true;
}

static bool open_proxy(struct reprise_capture_streams *capture_streams)
{
	struct reprise_proxy *proxy = &capture_streams->proxy;

	return capture_streams->model != CU_STREAM_PER_THREAD ||
	       (open_event(&proxy->place) && open_event(&proxy->done) &&
	        open_stream(&proxy->stream, CU_STREAM_DEFAULT, CU_STREAM_PER_THREAD,
	                    &capture_streams->carried));
}

CUstream reprise_capture_streams_of(const struct reprise_capture_streams *capture_streams,
                                    enum reprise_side side, unsigned int member)
{
	return member == 0 ? capture_streams->streams[side]
	                   : capture_streams->forks->streams[side][member];
}

/* All members have the priority of the second, and there always is one. */
static bool open_beside(struct reprise_forks *forks)
{
	return open_event(&forks->before) &&
	       open_stream(&forks->beside, forks->blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING,
	                   forks->models[1], NULL);
}

static bool open_side(const struct reprise_graph *graph, enum reprise_side side)
{
	struct reprise_capture_streams *capture_streams = graph->capture_streams;
	struct reprise_forks *forks = capture_streams->forks;

	if ((graph->members & 1) != 0 &&
	    !open_stream(&capture_streams->streams[side], CU_STREAM_NON_BLOCKING,
	                 capture_streams->model, &capture_streams->carried))
		return false;
	for (unsigned int member = 1; member < REPRISE_MEMBERS_MOST; member++)
		if ((graph->members >> member & 1) != 0 &&
		    !open_stream(&forks->streams[side][member], CU_STREAM_NON_BLOCKING,
		                 forks->models[member], NULL))
			return false;
	return forks == NULL || (open_edges(forks, side) && (!graph->beside || open_beside(forks)));
}

bool reprise_capture_streams_open(const struct reprise_graph *graph)
{
	return open_side(graph, REPRISE_FOR_BUILDING) && open_side(graph, REPRISE_FOR_PATCHING) &&
	       open_proxy(graph->capture_streams);
}

static void close_proxy(struct reprise_proxy *proxy)
{
	if (proxy->stream != NULL)
		destroy(&proxy->stream);
	if (proxy->place != NULL)
		reprise_driver.cuEventDestroy_v2(proxy->place);
	if (proxy->done != NULL)
		reprise_driver.cuEventDestroy_v2(proxy->done);
	*proxy = (struct reprise_proxy){0};
}

void reprise_capture_streams_close(struct reprise_capture_streams *capture_streams)
{
	if (capture_streams->quiescence.behind != NULL)
		reprise_driver.cuEventDestroy_v2(capture_streams->quiescence.behind);
	capture_streams->quiescence = (struct reprise_quiescence){0};
	for (unsigned int side = 0; side < REPRISE_SIDES; side++)
		if (capture_streams->streams[side] != NULL)
			destroy(&capture_streams->streams[side]);
	close_proxy(&capture_streams->proxy);
}

void reprise_forks_close(struct reprise_forks *forks)
{
	if (forks->beside != NULL)
		destroy(&forks->beside);
	if (forks->before != NULL)
		reprise_driver.cuEventDestroy_v2(forks->before);
	for (unsigned int side = 0; side < REPRISE_SIDES; side++) {
		for (unsigned int member = 1; member < REPRISE_MEMBERS_MOST; member++)
			if (forks->streams[side][member] != NULL)
				reprise_driver.cuStreamDestroy_v2(forks->streams[side][member]);
		for (unsigned int i = 0; i <= REPRISE_FORK_EVENTS_MOST; i++)
			if (forks->edges[side][i] != NULL)
				reprise_driver.cuEventDestroy_v2(forks->edges[side][i]);
	}
}
