/* What one context waits for that another one of the same device does. */
#include "conformance.h"

#include <pthread.h>

enum { MOST = 3000, KERNELS = 20 };

static CUcontext second;
static CUstream there;
static CUevent marked;
static CUdeviceptr list;
static CUgraphExec execs[MOST];

static void make_second(void)
{
	list = words();
	marked = event_new(CU_EVENT_DISABLE_TIMING);
	OK(cuCtxCreate(&second, NULL, 0, 0));
	OK(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
	OK(cuCtxSetCurrent(context));
}

static void end_second(void)
{
	OK(cuCtxSetCurrent(second));
	OK(cuStreamSynchronize(there));
	OK(cuCtxDestroy(second));
	OK(cuCtxSetCurrent(context));
}

/* What is on the stream so far is waited for there. */
static void wait_there(CUstream on)
{
	OK(cuEventRecord(marked, on));
	OK(cuCtxPushCurrent(second));
	OK(cuStreamWaitEvent(there, marked, 0));
	OK(cuCtxPopCurrent(NULL));
}

static CUgraphExec instantiated(CUstream on, unsigned length)
{
	CUgraphExec made;
	CUgraph from;

	OK(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (unsigned i = 0; i < length; i++)
		OK(append(list, i, on));
	OK(cuStreamEndCapture(on, &from));
	OK(cuGraphInstantiate(&made, from, 0));
	OK(cuGraphDestroy(from));
	return made;
}

/* A driver may know such a record by the end of the graph; another context has to find that, too.
 */
static void an_event_behind_a_graph_is_waited_for_in_another_context(void)
{
	make_second();
	for (unsigned i = 0; i < KERNELS; i++)
		execs[i] = instantiated(stream, i % 2 ? 1 : 100);
	for (unsigned i = 0; i < 20 * KERNELS; i++) {
		OK(cuGraphLaunch(execs[i % KERNELS], stream));
		wait_there(stream);
	}
	end_second();
	for (unsigned i = 0; i < KERNELS; i++)
		OK(cuGraphExecDestroy(execs[i]));
}

static void *instantiate_many(void *unused)
{
	(void)unused;
	OK(cuCtxSetCurrent(context));
	for (unsigned i = 0; i < MOST; i++) {
		execs[i] = instantiated(other, 1);
		if (i % 2)
			OK(cuGraphUpload(execs[i], other));
	}
	return NULL;
}

static void *destroy_half(void *begin)
{
	OK(cuCtxSetCurrent(context));
	for (unsigned i = begin != NULL; i < MOST; i += 2)
		OK(cuGraphExecDestroy(execs[i]));
	return NULL;
}

static void do_elsewhere(void *(*what)(void *), void *with)
{
	pthread_t thread;

	TRUE(pthread_create(&thread, NULL, what, with) == 0);
	pthread_join(thread, NULL);
}

static void launch_and_wait_there(void)
{
	const CUstream all[] = {CU_STREAM_PER_THREAD, stream, CU_STREAM_LEGACY, blocking_stream()};

	for (unsigned i = 0; i < MOST; i++) {
		OK(append(list, i, all[i % 4]));
		wait_there(all[i % 4]);
		if (i % 100 == 0)
			OK(cuCtxSynchronize());
	}
}

/*
 * A driver keeps memory of its own for launches. What it adds during an instantiation has to be
 * there for the other context, too, when launches that come later have it. (It is here. Under
 * Reprise, an H200's driver was seen to end with a fault there:
 * docs/results/2026-11-23-fuzz-h200.md.)
 */
static void memory_that_graphs_had_is_known_in_another_context(void)
{
	make_second();
	do_elsewhere(instantiate_many, NULL);
	launch_and_wait_there();
	do_elsewhere(destroy_half, NULL);
	launch_and_wait_there();
	do_elsewhere(destroy_half, &second);
	launch_and_wait_there();
	end_second();
}

const struct check across_checks[] = {
	CHECK(an_event_behind_a_graph_is_waited_for_in_another_context,
          MEASURED("Event Management: cuStreamWaitEvent", "the event may be of another context")),
	CHECK_ALONE(memory_that_graphs_had_is_known_in_another_context,
                MEASURED("Event Management: cuStreamWaitEvent",
                         "the event may be of another context"),
                0),
	CHECKS_END,
};
