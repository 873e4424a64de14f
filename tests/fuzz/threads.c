/* Two threads at once: on streams apart, capturing, and with a lock that a host function wants. */
#include <pthread.h>
#include <stdlib.h>

#include "elsewhere.h"
#include "ops.h"

/* One of the streams that wait for no other, never the one that `not` is. */
static int apart(int value, int not )
{
	int stream = fuzz_in(value, FREE_THREE - FREE + 1) + FREE;

	return stream != not ? stream : stream == FREE_THREE ? FREE : stream + 1;
}

static void body(int stream, int how)
{
	for (int i = 0; i < 6; i++)
		fuzz_launch(stream, i, i, i == 3 ? how : 0);
	fuzz_set(stream, 2, how, how);
}

static void bodies(int stream, int how)
{
	for (int i = 0; i < 4; i++)
		body(stream, how);
	if (how % 3 == 0)
		CALL(cuStreamSynchronize(world.stream[stream]));
}

/* Both become hot, each on a stream of its own. */
void fuzz_together(int s, int t, int how)
{
	int mine = apart(s, -1), its = apart(t, mine);

	fuzz_begin_elsewhere(bodies, its, how);
	bodies(mine, how);
	fuzz_end_elsewhere();
}

/* ---- captures ---- */

static CUgraph captured;

static CUresult begin(int stream, int how)
{
	static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
	                                            CU_STREAM_CAPTURE_MODE_RELAXED,
	                                            CU_STREAM_CAPTURE_MODE_GLOBAL};

	return CALL(cuStreamBeginCapture(world.stream[stream], modes[fuzz_in(how, 3)]));
}

static void go_on(int stream, int how)
{
	for (int i = 0; i < 1 + fuzz_in(how, 12); i++)
		CALL(fuzz_work(stream, 1, 181 + (unsigned)i));
}

static CUgraph end(int stream)
{
	CUgraph graph = NULL;
	size_t nodes = 0;

	if (CALL(cuStreamEndCapture(world.stream[stream], &graph)) != CUDA_SUCCESS)
		return NULL;
	CALL(cuGraphGetNodes(graph, NULL, &nodes));
	fuzz_see(nodes);
	return graph;
}

static void launch_graph(CUgraph graph, int stream)
{
	CUgraphExec exec = NULL;

	if (graph == NULL)
		return;
	if (CALL(cuGraphInstantiate(&exec, graph, 0)) == CUDA_SUCCESS) {
		CALL(cuGraphLaunch(exec, world.stream[stream]));
		CALL(cuStreamSynchronize(world.stream[stream]));
		CALL(cuGraphExecDestroy(exec));
	}
	CALL(cuGraphDestroy(graph));
}

static void begins(int stream, int how)
{
	begin(stream, how);
}

static void ends(int stream, int how)
{
	(void)how;
	captured = end(stream);
}

static void launches_graph(int stream, int how)
{
	(void)how;
	launch_graph(captured, stream);
}

/* Their captures overlap; on their own default streams, whose name is the same, or on others. What
 * is not captured goes on meanwhile. */
void fuzz_captures_together(int s, int how)
{
	int mine = how % 2 ? PER_THREAD : apart(s, -1), its = how % 2 ? PER_THREAD : apart(s + 1, mine),
		third = apart(s + 2, mine);
	CUgraph graph;

	CALL(cuStreamSynchronize(world.stream[mine]));
	if (begin(mine, how / 2) != CUDA_SUCCESS)
		return;
	fuzz_do_elsewhere(begins, its, how / 2);
	go_on(mine, how);
	if (how % 4 < 2 && third != its)
		body(third, how);
	fuzz_do_elsewhere(go_on, its, how);
	graph = end(mine);
	fuzz_do_elsewhere(go_on, its, how / 3);
	if (third != its)
		body(third, how);
	fuzz_do_elsewhere(ends, its, 0);
	launch_graph(graph, mine);
	fuzz_do_elsewhere(launches_graph, its, 0);
}

/* ---- locks ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB log_locked(void *entry)
{
	pthread_mutex_lock(&lock);
	fuzz_log(entry);
	pthread_mutex_unlock(&lock);
}

static void CUDA_CB call_back_locked(CUstream stream, CUresult status, void *entry)
{
	(void)stream;
	(void)status;
	log_locked(entry);
}

static void launches_locked(int stream, int how)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		body(stream, how);
		pthread_mutex_unlock(&lock);
	}
}

static void add_callback(int stream, int how)
{
	void *entry = fuzz_log_entry(stream, (unsigned)iteration + 3000);

	if (how % 2)
		CALL(cuStreamAddCallback(world.stream[stream], call_back_locked, entry, 0));
	else
		CALL(cuLaunchHostFunc(world.stream[stream], log_locked, entry));
}

/* Who launches holds the lock that the host function of another stream wants. */
void fuzz_locked(int s, int t, int how)
{
	int mine = apart(s, -1), its = apart(t, mine);

	if (how % 3 == 0) {
		fuzz_function(mine);
		pthread_mutex_lock(&lock);
		add_callback(mine, how);
		body(its, how);
		pthread_mutex_unlock(&lock);
		return;
	}
	fuzz_begin_elsewhere(launches_locked, its, how);
	for (int i = 0; i < 3; i++) {
		fuzz_function(mine);
		add_callback(mine, how);
		CALL(fuzz_work(mine, 0, 191));
	}
	fuzz_end_elsewhere();
}
