/*
 * What a capture asks of the driver, and what comes of it: the nodes and edges of a graph, what is
 * known of each node, and what is left when the driver refuses a call.
 *
 * The driver here has the streams, events and edges of a capture as CUDA has them: a call of a
 * captured stream depends on what the stream's last call and its waits depend on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/log.h"
#include "driver/driver.h"
#include "graph/capture.h"

#define ON(side, member) ((CUstream)(uintptr_t)(0x10 + 0x10 * (side) + (member)))
#define EDGE(side, i) ((CUevent)(uintptr_t)(0x100 + 0x100 * (side) + (i)))
#define BRANCH_END(member) ((CUevent)(uintptr_t)(0x80 + (member)))
#define EVENT(i) ((CUevent)(uintptr_t)(0x1000 + (i))) /* the program's */
#define GRAPH ((CUgraph)0x9)
#define EVENTS 0x300
#define STREAMS 0x40

/* ---- the driver ---- */

typedef unsigned __int128 node_set;

#define NODES_MOST 128
#define NODE(i) ((node_set)1 << (i))

static struct {
	unsigned int calls, fails_at; /* the call of this number fails; from 1 on, 0: none */
	unsigned int fails_times;     /* and those after it, so many in all */
	CUresult error;
	CUstream first; /* of the capture that is open; NULL: none */
	unsigned int begun, ended, left, nodes;
	uint64_t captured;                          /* the streams that are */
	node_set behind[STREAMS], recorded[EVENTS]; /* the nodes that the next call depends on */
	CUgraphNode last[STREAMS][2];               /* what the driver says of a stream */
	char told[4096];                            /* each node, and what it depends on */
	unsigned int issued_after_failure;
	unsigned int version; /* of cuStreamGetCaptureInfo that was called; 0: none */
} driver;

/* What the driver says of captured nodes, and of the stream. */
static CUDA_KERNEL_NODE_PARAMS kernel_is;
static CUDA_MEMCPY3D copy_is;
static CUDA_MEMSET_NODE_PARAMS set_is;
static CUresult describes, info_is;
static CUstreamCaptureStatus status_is;
static size_t dependencies_are;
static bool has_no_list;

static bool refuses(void)
{
	driver.calls++;
	return driver.fails_at != 0 && driver.calls - driver.fails_at < driver.fails_times;
}

static void depends_on(node_set on)
{
	size_t length = strlen(driver.told);

	for (unsigned int i = 0; i < NODES_MOST; i++)
		if ((on & NODE(i)) != 0)
			length +=
				(size_t)snprintf(driver.told + length, sizeof(driver.told) - length, " %u", i);
	snprintf(driver.told + length, sizeof(driver.told) - length, "; ");
}

static CUresult add(CUstream stream, const char *what, unsigned int number)
{
	uintptr_t i = (uintptr_t)stream;
	size_t length = strlen(driver.told);

	if (driver.fails_at != 0 && driver.calls >= driver.fails_at)
		driver.issued_after_failure++;
	if (refuses())
		return driver.error;
	ck_assert_ptr_nonnull(driver.first);
	ck_assert(driver.captured >> i & 1);
	driver.nodes++;
	snprintf(driver.told + length, sizeof(driver.told) - length, "%u %s %x:", driver.nodes, what,
	         number);
	depends_on(driver.behind[i]);
	driver.behind[i] = NODE(driver.nodes);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI begin(CUstream stream, CUstreamCaptureMode mode)
{
	ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
	if (refuses())
		return driver.error;
	driver.begun++;
	driver.first = stream;
	driver.captured = UINT64_C(1) << (uintptr_t)stream;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI end(CUstream stream, CUgraph *graph)
{
	if (refuses())
		return driver.error;
	if (driver.first == NULL)
		return CUDA_ERROR_ILLEGAL_STATE;
	ck_assert_ptr_eq(stream, driver.first);
	driver.first = NULL;
	driver.ended++;
	*graph = NULL;
	for (unsigned int i = 0; i < STREAMS; i++)
		if ((driver.captured >> i & 1) && i != (uintptr_t)stream &&
		    (driver.behind[i] & ~driver.behind[(uintptr_t)stream]) != 0)
			return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	*graph = GRAPH;
	driver.left++;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI count_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	ck_assert_ptr_eq(graph, GRAPH);
	ck_assert_ptr_null(nodes);
	*count = driver.nodes;
	return refuses() ? driver.error : CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy(CUgraph graph)
{
	ck_assert_ptr_eq(graph, GRAPH);
	driver.left--;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set(CUdeviceptr target, unsigned int value, size_t width, CUstream stream)
{
	return add(stream, "set", (unsigned int)target);
}

static CUresult CUDAAPI copy(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)
{
	return add(stream, "copy", (unsigned int)target);
}

static CUresult CUDAAPI launch(CUfunction function, unsigned int x, unsigned int y, unsigned int z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z,
                               unsigned int shared_bytes, CUstream stream, void **params,
                               void **extra)
{
	return add(stream, "launch", x);
}

static CUresult CUDAAPI call_host(CUstream stream, CUhostFn function, void *data)
{
	return add(stream, "host", (unsigned int)(uintptr_t)data);
}

static CUresult CUDAAPI copy_2d(const CUDA_MEMCPY2D *descriptor, CUstream stream)
{
	return add(stream, "rows", (unsigned int)descriptor->dstDevice);
}

static CUresult CUDAAPI record(CUevent event, CUstream stream)
{
	if (driver.fails_at != 0 && driver.calls >= driver.fails_at)
		driver.issued_after_failure++;
	if (refuses() || event == NULL)
		return driver.error;
	ck_assert_uint_lt((uintptr_t)event, EVENTS);
	driver.recorded[(uintptr_t)event] = driver.behind[(uintptr_t)stream];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI record_node(CUevent event, CUstream stream, unsigned int flags)
{
	ck_assert_uint_eq(flags, CU_EVENT_RECORD_EXTERNAL);
	return add(stream, "record", (unsigned int)(uintptr_t)event);
}

static CUresult CUDAAPI wait(CUstream stream, CUevent event, unsigned int flags)
{
	ck_assert_uint_eq(flags, CU_EVENT_WAIT_DEFAULT);
	if (driver.fails_at != 0 && driver.calls >= driver.fails_at)
		driver.issued_after_failure++;
	if (refuses() || event == NULL)
		return driver.error;
	driver.captured |= UINT64_C(1) << (uintptr_t)stream;
	driver.behind[(uintptr_t)stream] |= driver.recorded[(uintptr_t)event];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI info_2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                               CUgraph *graph, const CUgraphNode **dependencies, size_t *count)
{
	CUgraphNode *last = driver.last[(uintptr_t)stream];

	last[0] = (CUgraphNode)(uintptr_t)(driver.nodes << 8);
	driver.version = 2;
	if (refuses())
		return driver.error;
	*status = status_is;
	*dependencies = has_no_list ? NULL : last;
	*count = dependencies_are;
	return info_is;
}

static CUresult CUDAAPI info_3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                               CUgraph *graph, const CUgraphNode **dependencies,
                               const CUgraphEdgeData **edges, size_t *count)
{
	CUresult result = info_2(stream, status, id, graph, dependencies, count);

	driver.version = 3;
	return result;
}

static CUresult CUDAAPI describe_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	*params = kernel_is;
	return describes;
}

static CUresult CUDAAPI describe_copy(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	*params = copy_is;
	return describes;
}

static CUresult CUDAAPI describe_set(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	*params = set_is;
	return describes;
}

/* Only that they are there counts. */
static CUresult CUDAAPI set_kernel_node(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_copy_node(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_MEMCPY3D *params, CUcontext context)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_set_node(CUgraphExec executable, CUgraphNode node,
                                     const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_host_node(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params)
{
	return CUDA_SUCCESS;
}

/* ---- the graph ---- */

#define OPS_MOST 80

static const struct reprise_layout no_params;
static CUDA_MEMCPY2D rows = {.dstDevice = 0x77};
static struct reprise_forks forks;
static struct reprise_capture_streams streams = {.forks = &forks};
static struct reprise_op ops[OPS_MOST], incoming[OPS_MOST];
static struct reprise_graph_node nodes[OPS_MOST];
static struct reprise_graph graph;
static uint64_t changed[2];

static struct reprise_op op_of(enum reprise_op_kind kind, unsigned int member, unsigned int number)
{
	struct reprise_op op = {.kind = kind, .member = (uint8_t)member};

	switch (kind) {
	case REPRISE_OP_KERNEL:
		op.kernel = (struct reprise_op_kernel){.layout = &no_params, .grid = {number, 1, 1}};
		break;
	case REPRISE_OP_COPY:
		op.copy = (struct reprise_call_copy){.form = REPRISE_COPY_DEVICE_TO_DEVICE,
		                                     .target = number,
		                                     .source = 0x5000,
		                                     .bytes = 64};
		break;
	case REPRISE_OP_COPY_2D:
		op.payload = (unsigned char *)&rows;
		op.payload_bytes = sizeof(rows);
		break;
	case REPRISE_OP_SET:
		op.set = (struct reprise_call_set){
			.target = number, .value = 0x12345678, .element_bytes = 4, .width = 16, .height = 1};
		break;
	case REPRISE_OP_HOST:
		op.host = (struct reprise_call_host){(CUhostFn)0x10, (void *)(uintptr_t)number};
		break;
	default:
		op.event = EVENT(number);
	}
	return op;
}

static void has(enum reprise_op_kind kind, unsigned int member, unsigned int number)
{
	ops[graph.count++] = op_of(kind, member, number);
	graph.members |= (uint8_t)(1 << member);
}

static void setup(void)
{
	memset(&driver, 0, sizeof(driver));
	driver.error = CUDA_ERROR_INVALID_VALUE;
	driver.fails_times = 1;
	dependencies_are = 1;
	status_is = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	reprise_driver.cuStreamBeginCapture_v2 = begin;
	reprise_driver.cuStreamEndCapture = end;
	reprise_driver.cuGraphGetNodes = count_nodes;
	reprise_driver.cuGraphDestroy = destroy;
	reprise_driver.cuMemsetD32Async = set;
	reprise_driver.cuMemcpyDtoDAsync_v2 = copy;
	reprise_driver.cuMemcpy2DAsync_v2 = copy_2d;
	reprise_driver.cuLaunchKernel = launch;
	reprise_driver.cuLaunchHostFunc = call_host;
	reprise_driver.cuEventRecord = record;
	reprise_driver.cuEventRecordWithFlags = record_node;
	reprise_driver.cuStreamWaitEvent = wait;
	reprise_driver.cuStreamGetCaptureInfo_v2 = info_2;
	reprise_driver.cuStreamGetCaptureInfo_v3 = info_3;
	reprise_driver.cuGraphKernelNodeGetParams_v2 = describe_kernel;
	reprise_driver.cuGraphMemcpyNodeGetParams = describe_copy;
	reprise_driver.cuGraphMemsetNodeGetParams = describe_set;
	reprise_driver.cuGraphExecKernelNodeSetParams_v2 = set_kernel_node;
	reprise_driver.cuGraphExecMemcpyNodeSetParams = set_copy_node;
	reprise_driver.cuGraphExecMemsetNodeSetParams = set_set_node;
	reprise_driver.cuGraphExecHostNodeSetParams = set_host_node;
	for (unsigned int side = 0; side < REPRISE_SIDES; side++) {
		streams.streams[side] = ON(side, 0);
		for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
			forks.streams[side][i] = i > 0 ? ON(side, i) : NULL;
		for (unsigned int i = 0; i <= REPRISE_FORK_EVENTS_MOST; i++)
			forks.edges[side][i] = EDGE(side, i);
	}
	for (unsigned int i = 0; i < REPRISE_MEMBERS_MOST; i++)
		forks.branch_ends[i] = BRANCH_END(i);
	memset(nodes, 0x5a, sizeof(nodes));
	graph = (struct reprise_graph){.ops = ops, .capture_streams = &streams};
}

/* Three branches fork off and one of them joins again; the same event is recorded twice. */
static void fork_of_four(void)
{
	has(REPRISE_OP_RECORD, 1, 9);
	has(REPRISE_OP_WAIT, 0, 9);
	has(REPRISE_OP_SET, 1, 0xa);
	has(REPRISE_OP_SET, 0, 0xb);
	has(REPRISE_OP_SET, 1, 0xc);
	has(REPRISE_OP_RECORD, 0, 4);
	has(REPRISE_OP_WAIT, 1, 4);
	has(REPRISE_OP_WAIT, 2, 9);
	has(REPRISE_OP_SET, 2, 0x10);
	has(REPRISE_OP_KERNEL, 1, 0xd);
	has(REPRISE_OP_RECORD, 1, 9);
	has(REPRISE_OP_WAIT, 4, 9);
	has(REPRISE_OP_HOST, 4, 0xe);
	has(REPRISE_OP_COPY, 1, 0xf);
}

/* Each node, and what it depends on. The branch ends come last. */
static const char edges_of_four[] =
	"1 record 1009:; 2 set a: 1; 3 set b: 1; 4 set c: 2; 5 record 1004: 3; 6 set 10: 1; "
	"7 launch d: 4 5; 8 record 1009: 7; 9 host e: 8; 10 copy f: 8; 11 record 80: 5; "
	"12 record 82: 6; 13 record 84: 9; ";

static CUgraph capture(enum reprise_side side)
{
	return reprise_capture(&graph, side, NULL, NULL, nodes);
}

START_TEST(a_graph_has_the_edges_of_its_events_and_no_others)
{
	fork_of_four();
	ck_assert_ptr_eq(capture((enum reprise_side)_i), GRAPH);
	ck_assert_str_eq(driver.told, edges_of_four);
	ck_assert_ptr_null(driver.first);
}
END_TEST

/* Waits have none, the others the last of their stream. */
START_TEST(each_op_has_its_node)
{
	static const struct reprise_graph_node none;
	unsigned int node = 0;

	fork_of_four();
	ck_assert_ptr_eq(capture(REPRISE_FOR_BUILDING), GRAPH);
	for (unsigned int i = 0; i < graph.count; i++)
		if (ops[i].kind == REPRISE_OP_WAIT)
			ck_assert_mem_eq(&nodes[i], &none, sizeof(none));
		else
			ck_assert_uint_eq((uintptr_t)nodes[i].node, ++node << 8);
}
END_TEST

START_TEST(changed_ops_take_the_place_of_those_that_they_changed)
{
	static const unsigned int places[] = {0, 1, 63, 64, 69};
	char expected[sizeof(driver.told)] = "";

	for (unsigned int i = 0; i < 70; i++) {
		has(REPRISE_OP_SET, 0, i);
		incoming[i] = op_of(REPRISE_OP_SET, 0, 0x100 + i);
	}
	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		changed[places[i] / 64] |= UINT64_C(1) << places[i] % 64;
	for (unsigned int i = 0; i < 70; i++) {
		unsigned int target = changed[i / 64] >> i % 64 & 1 ? 0x100 + i : i;
		size_t length = strlen(expected);

		snprintf(expected + length, sizeof(expected) - length,
		         i > 0 ? "%u set %x: %u; " : "%u set %x:; ", i + 1, target, i);
	}
	ck_assert_ptr_eq(reprise_capture(&graph, REPRISE_FOR_PATCHING, incoming, changed, NULL), GRAPH);
	ck_assert_str_eq(driver.told, expected);
	ck_assert_uint_eq(driver.version, 0); /* no node is wanted */
}
END_TEST

/* Each call of a capture fails once: the calls that the program made are given up, and nothing of
 * them goes on. */
START_TEST(whichever_call_the_driver_refuses_nothing_is_left_behind)
{
	unsigned int calls, captured = 0;

	fork_of_four();
	ck_assert_ptr_eq(capture(REPRISE_FOR_BUILDING), GRAPH);
	calls = driver.calls;
	for (unsigned int at = 1; at <= calls; at++) {
		CUgraph made;

		setup();
		driver.fails_at = at;
		fork_of_four();
		made = capture(REPRISE_FOR_BUILDING);
		ck_assert_uint_eq(driver.left, made != NULL);
		ck_assert_ptr_null(driver.first);
		ck_assert_uint_eq(driver.begun, at > 1);
		ck_assert_uint_eq(driver.ended, at > 1);
		captured += made != NULL;
	}
	ck_assert_uint_eq(captured, 1); /* the end is asked for again */
}
END_TEST

START_TEST(after_an_op_that_the_driver_refuses_none_is_issued)
{
	unsigned int calls;

	fork_of_four();
	ck_assert_ptr_eq(reprise_capture(&graph, REPRISE_FOR_BUILDING, NULL, NULL, NULL), GRAPH);
	calls = driver.calls - 2; /* the end, and the count of nodes */
	for (unsigned int at = 2; at <= calls; at++) {
		setup();
		driver.fails_at = at;
		fork_of_four();
		ck_assert_ptr_null(reprise_capture(&graph, REPRISE_FOR_BUILDING, NULL, NULL, NULL));
		ck_assert_uint_eq(driver.issued_after_failure, 0);
	}
}
END_TEST

/* The end is asked for twice at most, and once where the driver says that there is none. */
START_TEST(a_capture_that_does_not_end_is_given_up)
{
	static const CUresult errors[] = {CUDA_ERROR_INVALID_VALUE,
	                                  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED};

	for (unsigned int i = 0; i < 2; i++) {
		setup();
		has(REPRISE_OP_SET, 0, 1);
		driver.fails_at = 3;
		driver.fails_times = 100;
		driver.error = errors[i];
		ck_assert_ptr_null(reprise_capture(&graph, REPRISE_FOR_BUILDING, NULL, NULL, NULL));
		ck_assert_uint_eq(driver.calls, i == 0 ? 4 : 3);
	}
}
END_TEST

START_TEST(an_op_that_became_two_nodes_or_none_is_no_graph)
{
	fork_of_four();
	driver.nodes = 1;
	ck_assert_ptr_null(capture(REPRISE_FOR_BUILDING));
	ck_assert_uint_eq(driver.left, 0);
	setup();
	fork_of_four();
	driver.nodes--; /* the first one is not counted */
	ck_assert_ptr_null(capture(REPRISE_FOR_BUILDING));
	ck_assert_uint_eq(driver.left, 0);
}
END_TEST

/* What went wrong with a capture of two ops: the call that fails, how often, and with what; nodes
 * that are there before; and what is said of it. */
static const struct {
	unsigned int fails_at, fails_times;
	CUresult error;
	unsigned int nodes_before;
	const char *said;
} reasons[] = {
	{0, 0, CUDA_SUCCESS, 0, ""},
	{2, 1, CUDA_ERROR_INVALID_VALUE, 0, "launching returned 1, ending it 0, nodes: 0"},
	{3, 1, CUDA_ERROR_OUT_OF_MEMORY, 0, "launching returned 2, ending it 0, nodes: 1"},
	{4, 1, CUDA_ERROR_INVALID_VALUE, 0, ""}, /* the end is asked for again */
	{4, 2, CUDA_ERROR_OUT_OF_MEMORY, 0, "launching returned 0, ending it 2, nodes: 0"},
	{4, 1, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0,
     "launching returned 0, ending it 901, nodes: 0"},
	{3, 100, CUDA_ERROR_INVALID_VALUE, 0, "launching returned 1, ending it 1, nodes: 0"},
	{5, 1, CUDA_ERROR_INVALID_VALUE, 0, "launching returned 0, ending it 0, nodes: 0"},
	{0, 0, CUDA_SUCCESS, 1, "launching returned 0, ending it 0, nodes: 3"},
};

START_TEST(what_went_wrong_with_a_capture_is_said)
{
	char path[] = "/tmp/reprise-capture-XXXXXX", said[256] = "", expected[256] = "";
	int file = mkstemp(path);

	unlink(path);
	dup2(file, STDERR_FILENO);
	reprise_log_open();
	reprise_log_level(REPRISE_LOG_INFO);
	has(REPRISE_OP_SET, 0, 1);
	has(REPRISE_OP_SET, 0, 2);
	driver.fails_at = reasons[_i].fails_at;
	driver.fails_times = reasons[_i].fails_times;
	driver.error = reasons[_i].error;
	driver.nodes = reasons[_i].nodes_before;
	reprise_capture(&graph, REPRISE_FOR_BUILDING, NULL, NULL, NULL);
	ck_assert_int_ge(pread(file, said, sizeof(said) - 1, 0), 0);
	if (reasons[_i].said[0] != '\0')
		snprintf(expected, sizeof(expected), "reprise: a capture of 2 launches was given up: %s\n",
		         reasons[_i].said);
	ck_assert_str_eq(said, expected);
}
END_TEST

/* So many different events are recorded in a graph, each any number of times. */
START_TEST(a_graph_has_room_for_so_many_events)
{
	for (unsigned int i = 0; i < REPRISE_FORK_EVENTS_MOST; i++) {
		has(REPRISE_OP_RECORD, 0, i);
		has(REPRISE_OP_RECORD, 0, i / 2);
	}
	ck_assert_ptr_eq(reprise_capture(&graph, REPRISE_FOR_BUILDING, NULL, NULL, NULL), GRAPH);
	setup();
	for (unsigned int i = 0; i <= REPRISE_FORK_EVENTS_MOST; i++)
		has(REPRISE_OP_RECORD, 0, i);
	ck_assert_ptr_null(reprise_capture(&graph, REPRISE_FOR_BUILDING, NULL, NULL, NULL));
}
END_TEST

/* ---- what is known of a node ---- */

static void asks_version_2(void)
{
	reprise_driver.cuStreamGetCaptureInfo_v3 = NULL;
}

static void asks_none(void)
{
	reprise_driver.cuStreamGetCaptureInfo_v3 = NULL;
	reprise_driver.cuStreamGetCaptureInfo_v2 = NULL;
}

#define CHANGE(name, statement) \
	static void name(void) \
	{ \
		statement; \
	}

CHANGE(nothing, )
CHANGE(lossy, info_is = CUDA_ERROR_LOSSY_QUERY)
CHANGE(an_error, info_is = CUDA_ERROR_INVALID_VALUE)
CHANGE(another_error, info_is = CUDA_ERROR_UNKNOWN)
CHANGE(not_captured, status_is = CU_STREAM_CAPTURE_STATUS_NONE)
CHANGE(invalidated, status_is = CU_STREAM_CAPTURE_STATUS_INVALIDATED)
CHANGE(no_dependency, dependencies_are = 0)
CHANGE(two_dependencies, dependencies_are = 2)
CHANGE(no_list, has_no_list = true)

/* Whether a capture goes on where its stream is described so; `version` is that which is asked. */
static const struct {
	void (*change)(void);
	bool captured;
	unsigned int version;
} infos[] = {
	{nothing, true, 3},        {asks_version_2, true, 2},
	{asks_none, false, 0},     {lossy, true, 3},
	{an_error, false, 3},      {another_error, false, 3},
	{not_captured, false, 3},  {invalidated, false, 3},
	{no_dependency, false, 3}, {two_dependencies, false, 3},
	{no_list, false, 3},
};

START_TEST(a_node_that_the_driver_does_not_name_is_no_graph)
{
	has(REPRISE_OP_SET, 0, 1);
	infos[_i].change();
	ck_assert_int_eq(capture(REPRISE_FOR_BUILDING) != NULL, infos[_i].captured);
	ck_assert_uint_eq(driver.version, infos[_i].version);
	ck_assert_uint_eq(driver.left, infos[_i].captured);
}
END_TEST

static void kernel(void)
{
	has(REPRISE_OP_KERNEL, 0, 1);
	kernel_is = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)0x20};
}

static void copies(void)
{
	has(REPRISE_OP_COPY, 0, 0x6000);
	copy_is = (CUDA_MEMCPY3D){.dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .dstDevice = 0x6000,
	                          .dstHost = (void *)0x1,
	                          .srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .srcDevice = 0x5000,
	                          .srcHost = (void *)0x2,
	                          .WidthInBytes = 64,
	                          .Height = 1,
	                          .Depth = 1};
}

static void copies_host(void)
{
	copies();
	copy_is.dstMemoryType = copy_is.srcMemoryType = CU_MEMORYTYPE_HOST;
	copy_is.dstHost = (void *)0x6000;
	copy_is.srcHost = (void *)0x5000;
	copy_is.dstDevice = copy_is.srcDevice = 0x1;
}

static void sets(void)
{
	has(REPRISE_OP_SET, 0, 0x6000);
	set_is = (CUDA_MEMSET_NODE_PARAMS){
		.dst = 0x6000, .value = 0x12345678, .elementSize = 4, .width = 16, .height = 1};
}

static void hosts(void)
{
	has(REPRISE_OP_HOST, 0, 1);
}

static void copies_rows(void)
{
	has(REPRISE_OP_COPY_2D, 0, 1);
}

static void records(void)
{
	has(REPRISE_OP_RECORD, 0, 1);
}

CHANGE(not_described, describes = CUDA_ERROR_INVALID_VALUE)
CHANGE(no_function, kernel_is.func = NULL)
CHANGE(a_kernel, kernel_is.func = NULL; kernel_is.kern = (CUkernel)0x30)
CHANGE(kernel_not_told, reprise_driver.cuGraphKernelNodeGetParams_v2 = NULL)
CHANGE(kernel_not_set, reprise_driver.cuGraphExecKernelNodeSetParams_v2 = NULL)
CHANGE(copy_not_told, reprise_driver.cuGraphMemcpyNodeGetParams = NULL)
CHANGE(copy_not_set, reprise_driver.cuGraphExecMemcpyNodeSetParams = NULL)
CHANGE(set_not_told, reprise_driver.cuGraphMemsetNodeGetParams = NULL)
CHANGE(set_not_set, reprise_driver.cuGraphExecMemsetNodeSetParams = NULL)
CHANGE(host_not_set, reprise_driver.cuGraphExecHostNodeSetParams = NULL)
CHANGE(copy_rows, copy_is.Height = 2)
CHANGE(copy_no_rows, copy_is.Height = 0)
CHANGE(copy_slices, copy_is.Depth = 2)
CHANGE(copy_no_slices, copy_is.Depth = 0)
CHANGE(copy_less, copy_is.WidthInBytes--)
CHANGE(copy_more, copy_is.WidthInBytes++)
CHANGE(copy_source_at, copy_is.srcXInBytes = 1)
CHANGE(copy_target_at, copy_is.dstXInBytes = 1)
CHANGE(copy_source_less, copy_is.srcDevice--)
CHANGE(copy_source_more, copy_is.srcDevice++)
CHANGE(copy_target_less, copy_is.dstDevice--)
CHANGE(copy_target_more, copy_is.dstDevice++)
CHANGE(copy_host_source, copy_is.srcHost = (void *)0x5001)
CHANGE(copy_host_target, copy_is.dstHost = (void *)0x6001)
CHANGE(copy_between, ops[0].target_memory = 1 << 4)
CHANGE(set_element_less, set_is.elementSize--)
CHANGE(set_element_more, set_is.elementSize++)
CHANGE(set_width_less, set_is.width--)
CHANGE(set_width_more, set_is.width++)
CHANGE(set_height_less, set_is.height--)
CHANGE(set_height_more, set_is.height++)
CHANGE(set_target_less, set_is.dst--)
CHANGE(set_target_more, set_is.dst++)
CHANGE(set_value_less, set_is.value--)
CHANGE(set_value_more, set_is.value++)

/* Whether such a node can be set by itself. */
static const struct {
	void (*make)(void), (*change)(void);
	bool settable;
} described[] = {
	{kernel, nothing, true},
	{kernel, a_kernel, true},
	{kernel, no_function, false},
	{kernel, not_described, false},
	{kernel, kernel_not_told, false},
	{kernel, kernel_not_set, false},
	{kernel, copy_not_set, true},
	{copies, nothing, true},
	{copies, not_described, false},
	{copies, copy_not_told, false},
	{copies, copy_not_set, false},
	{copies, copy_rows, false},
	{copies, copy_no_rows, false},
	{copies, copy_slices, false},
	{copies, copy_no_slices, false},
	{copies, copy_less, false},
	{copies, copy_more, false},
	{copies, copy_source_at, false},
	{copies, copy_target_at, false},
	{copies, copy_source_less, false},
	{copies, copy_source_more, false},
	{copies, copy_target_less, false},
	{copies, copy_target_more, false},
	{copies, copy_host_source, true},
	{copies, copy_host_target, true},
	{copies, copy_between, false},
	{copies_host, nothing, true},
	{copies_host, copy_source_more, true},
	{copies_host, copy_target_more, true},
	{copies_host, copy_host_source, false},
	{copies_host, copy_host_target, false},
	{sets, nothing, true},
	{sets, not_described, false},
	{sets, set_not_told, false},
	{sets, set_not_set, false},
	{sets, set_element_less, false},
	{sets, set_element_more, false},
	{sets, set_width_less, false},
	{sets, set_width_more, false},
	{sets, set_height_less, false},
	{sets, set_height_more, false},
	{sets, set_target_less, false},
	{sets, set_target_more, false},
	{sets, set_value_less, false},
	{sets, set_value_more, false},
	{hosts, nothing, true},
	{hosts, host_not_set, false},
	{copies_rows, nothing, false},
	{records, nothing, false},
};

/* A node that cannot be set is captured all the same. */
START_TEST(a_node_that_is_described_otherwise_is_not_set)
{
	described[_i].make();
	described[_i].change();
	ck_assert_ptr_eq(capture(REPRISE_FOR_BUILDING), GRAPH);
	ck_assert_int_eq(nodes[0].settable, described[_i].settable);
	ck_assert_uint_eq((uintptr_t)nodes[0].node, 1 << 8);
	ck_assert_uint_eq(nodes[0].refused, 0);
	if (ops[0].kind != REPRISE_OP_KERNEL || !described[_i].settable)
		return;
	ck_assert_ptr_eq(nodes[0].function, kernel_is.func);
	ck_assert_ptr_eq(nodes[0].kernel, kernel_is.kern);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("capture");
	TCase *tests = tcase_create("capture");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, a_graph_has_the_edges_of_its_events_and_no_others, 0, REPRISE_SIDES);
	tcase_add_test(tests, each_op_has_its_node);
	tcase_add_test(tests, changed_ops_take_the_place_of_those_that_they_changed);
	tcase_add_test(tests, whichever_call_the_driver_refuses_nothing_is_left_behind);
	tcase_add_test(tests, after_an_op_that_the_driver_refuses_none_is_issued);
	tcase_add_test(tests, a_capture_that_does_not_end_is_given_up);
	tcase_add_test(tests, an_op_that_became_two_nodes_or_none_is_no_graph);
	tcase_add_loop_test(tests, what_went_wrong_with_a_capture_is_said, 0, ALL(reasons));
	tcase_add_test(tests, a_graph_has_room_for_so_many_events);
	tcase_add_loop_test(tests, a_node_that_the_driver_does_not_name_is_no_graph, 0, ALL(infos));
	tcase_add_loop_test(tests, a_node_that_is_described_otherwise_is_not_set, 0, ALL(described));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
