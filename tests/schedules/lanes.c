#include "lanes.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/worker.h"
#include "driver/driver.h"
#include "graph/building.h"
#include "lane/async_launch.h"
#include "lane/hold.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "../virtual/threads.h"

#define STREAMS 10
#define TEXT 128

/* Of each stream, by its number. */
static struct {
	char called[TEXT], given[TEXT]; /* ops: by the program, to the driver */
	_Atomic unsigned int answered;  /* calls that have returned */
} streams[STREAMS];

static char trace[TEXT]; /* the ops of a graph: all graphs have the same */
static bool without_hold;
static struct reprise_lane *lane; /* of stream 1 */

void (*lanes_in_driver)(unsigned int stream);

/* ---- the driver: its calls are scheduling points, and are noted by stream ---- */

static CUresult(CUDAAPI *launch_graph)(CUgraphExec executable, CUstream stream);
static CUresult(CUDAAPI *launch_kernel)(CUfunction function, unsigned int grid_x,
                                        unsigned int grid_y, unsigned int grid_z,
                                        unsigned int block_x, unsigned int block_y,
                                        unsigned int block_z, unsigned int shared_bytes,
                                        CUstream stream, void **params, void **extra);
CUresult __real_driver_takes(const struct work *work, CUstream stream);
CUresult __wrap_driver_takes(const struct work *work, CUstream stream);

static void add(char *text, const char *ops)
{
	REQUIRE(strlen(text) + strlen(ops) + 2 < TEXT, "too many ops");
	if (text[0] != '\0')
		strcat(text, " ");
	strcat(text, ops);
}

static void give(CUstream stream, const char *ops, const char *what)
{
	unsigned int number = 1 + (unsigned int)((uintptr_t)stream - (uintptr_t)driver_stream(1));

	if (number >= STREAMS)
		return; /* a capture of Reprise's */
	schedule_point(what);
	if (lanes_in_driver != NULL)
		lanes_in_driver(number);
	add(streams[number].given, ops);
}

static CUresult CUDAAPI launch_graph_here(CUgraphExec executable, CUstream stream)
{
	give(stream, trace, "cuGraphLaunch");
	return launch_graph(executable, stream);
}

static CUresult CUDAAPI launch_kernel_here(CUfunction function, unsigned int grid_x,
                                           unsigned int grid_y, unsigned int grid_z,
                                           unsigned int block_x, unsigned int block_y,
                                           unsigned int block_z, unsigned int shared_bytes,
                                           CUstream stream, void **params, void **extra)
{
	char op[2] = {(char)(uintptr_t)function};

	give(stream, op, "cuLaunchKernel");
	return launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
	                     stream, params, extra);
}

/* The program's own call; in setup() its ops are not counted. */
CUresult __wrap_driver_takes(const struct work *work, CUstream stream)
{
	char op[2] = {work->what};

	if (lane != NULL)
		give(stream, op, "the program's own call");
	return __real_driver_takes(work, stream);
}

static unsigned int ops_in(const char *text)
{
	return (unsigned int)(strlen(text) + 1) / 2;
}

unsigned int lanes_driver_has_of(unsigned int stream)
{
	return ops_in(streams[stream].given);
}

unsigned int lanes_driver_has(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < STREAMS; i++)
		count += lanes_driver_has_of(i);
	return count;
}

/* ---- before the first schedule ---- */

static void be_absent(struct reprise_worker *worker)
{
	atomic_store(&worker->state, REPRISE_WORKER_ABSENT);
}

static void name_words(void)
{
	schedule_name(&lane->lock, sizeof(lane->lock), "lane.lock");
	schedule_name(&lane->deferred_since, 8, "lane.deferred_since");
	schedule_name(&lane->wanted, 1, "lane.wanted");
	schedule_name(&lane->retired, 1, "lane.retired");
	schedule_name(&lane->noisy, 1, "lane.noisy");
	schedule_name(&lane->attended, 1, "lane.attended");
	schedule_name(&lane->queue.lock, 4, "queue.lock");
	schedule_name(&lane->queue.launched, 8, "queue.launched");
	schedule_name(&lane->queue.added, 8, "queue.added");
	schedule_name(lane, sizeof(*lane), "lane");
	schedule_name(&reprise_hold_worker.state, 4, "hold_worker.state");
	schedule_name(&reprise_hold_worker.calls, 4, "hold_worker.calls");
	schedule_name(&reprise_async_launch_worker.state, 4, "launch_worker.state");
	schedule_name(&reprise_gate_waiting, 4, "gate's waiting");
	schedule_name(&reprise_attention, 4, "attention");
	schedule_name(&reprise_lanes_epoch, 4, "lanes' epoch");
	/* Only reports read these. */
	schedule_ignore(reprise_counters, sizeof(reprise_counters));
}

static void learn(const char *learnt, const char *format)
{
	char words[TEXT] = "", graph[TEXT], op[8];

	for (const char *at = learnt; *at != '\0'; at++)
		if (*at != ' ') {
			snprintf(op, sizeof(op), format, *at);
			strcat(words, op);
		}
	strcat(words, "|");
	snprintf(graph, sizeof(graph), strchr(format, ':') != NULL ? "2:[%s]" : "[%s]", learnt);
	learns(words, graph);
}

void lanes_begin(const char *learnt, const char *option)
{
	const char *const options[] = {option, NULL};

	program_begins_with(options);
	learn(learnt, "%c ");
	snprintf(trace, sizeof(trace), "%s", learnt);
	lane = lane_of(1);
	be_absent(&reprise_hold_worker);
	be_absent(&reprise_async_launch_worker);
	launch_graph = reprise_driver.cuGraphLaunch;
	launch_kernel = reprise_driver.cuLaunchKernel;
	reprise_driver.cuGraphLaunch = launch_graph_here;
	reprise_driver.cuLaunchKernel = launch_kernel_here;
	name_words();
}

void lanes_learn_second(const char *learnt)
{
	learn(learnt, "2:%c ");
	memset(streams, 0, sizeof(streams));
}

void lanes_without_hold(void)
{
	atomic_store(&reprise_hold_worker.state, REPRISE_WORKER_AWAKE);
	without_hold = true;
}

void lanes_with_hold(void)
{
	be_absent(&reprise_hold_worker);
	without_hold = false;
	reprise_hold_ensure();
}

void lanes_forget(void)
{
	memset(streams, 0, sizeof(streams));
}

unsigned int lanes_answered(unsigned int stream)
{
	return streams[stream].answered;
}

/* In the place of tests/virtual/threads.c: while the program learns, no thread is started. */
void threads_are_there(void)
{
	atomic_store(&reprise_builder.state, REPRISE_WORKER_AWAKE);
	atomic_store(&reprise_hold_worker.state, REPRISE_WORKER_AWAKE);
	atomic_store(&reprise_async_launch_worker.state, REPRISE_WORKER_AWAKE);
}

void thread_runs(struct reprise_worker *worker, uint64_t ns)
{
	schedule_fail("threads of Reprise run by themselves in a schedule");
}

/* ---- in a schedule ---- */

static void call(unsigned int stream, char what)
{
	char word[] = {(char)('0' + stream), ':', what, '\0'}, op[2] = {what};

	if (what >= 'a' && what <= 'z')
		add(streams[stream].called, op);
	calls(word);
	streams[stream].answered += what >= 'a' && what <= 'z';
	if (what == '|')
		REQUIRE(lanes_driver_has_of(stream) >= streams[stream].answered, "a wait saw %u of %u ops",
		        lanes_driver_has_of(stream), streams[stream].answered);
}

void lanes_call(const char *words)
{
	while (*words != '\0') {
		unsigned int stream = 1;

		if (words[1] == ':') {
			stream = (unsigned int)(*words - '0');
			words += 2;
		}
		if (*words != ' ')
			call(stream, *words);
		words++;
	}
}

void lanes_observe(unsigned int stream)
{
	unsigned int before = streams[stream].answered;

	reprise_lanes_sync(REPRISE_SYNC_CONTEXT, (uintptr_t)lane->context, false);
	REQUIRE(lanes_driver_has_of(stream) >= before, "another thread's wait saw %u of %u ops",
	        lanes_driver_has_of(stream), before);
}

void lanes_query(void)
{
	unsigned int before = streams[1].answered;
	bool pending = reprise_lanes_sync(REPRISE_SYNC_QUERY, (uintptr_t)driver_stream(1), false);

	REQUIRE(pending || lanes_driver_has_of(1) >= before,
	        "another thread's query was told that all is done, with %u of %u ops",
	        lanes_driver_has_of(1), before);
}

/* If the lane's lock was held when the launch thread had launched, the hold thread notes that. */
static void look_whether_quiet(struct reprise_lane *one, void *context)
{
	bool *quiet = context;

	*quiet = *quiet && (without_hold || atomic_load(&one->deferred_since) == 0) &&
	         reprise_pending_none(one);
}

bool lanes_are_quiet(void)
{
	bool quiet = true;

	reprise_lanes_each(look_whether_quiet, &quiet);
	return quiet;
}

void lanes_check(void)
{
	for (unsigned int i = 0; i < STREAMS; i++)
		REQUIRE(strcmp(streams[i].called, streams[i].given) == 0,
		        "the program called \"%s\" on stream %u, and the driver was given \"%s\"",
		        streams[i].called, i, streams[i].given);
	REQUIRE(lanes_are_quiet(), "a lane still has deferred ops %d us after the program's last call",
	        LANES_SETTLE_NS / 1000);
}
