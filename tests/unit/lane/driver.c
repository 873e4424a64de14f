#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "driver/driver.h"
#include "../../virtual/answers.h"
#include "../../virtual/costs.h"

#define CONTEXT ((CUcontext)1)
#define STREAMS UINT64_C(0x1000) /* handles of the program's streams; 1 and 2 have a meaning */
#define OWN UINT64_C(0x2000)     /* from here on: streams and events of Reprise's */
#define NODES_MOST 256
#define STREAMS_MOST (sizeof(driver.contexts) / sizeof(driver.contexts[0]))
#define PUSHED_MOST 8

struct driver driver;

static CUcontext pushed[PUSHED_MOST];
static unsigned int pushed_count;

static char text[8192];
static size_t length;

/* ---- text ---- */

static void say(const char *words)
{
	size_t bytes = strlen(words);

	if (driver.quiet || length + bytes >= sizeof(text))
		return;
	memcpy(text + length, words, bytes + 1);
	length += bytes;
}

const char *driver_saw(void)
{
	static char seen[sizeof(text)];

	memcpy(seen, text, length + 1);
	text[length = 0] = '\0';
	return seen;
}

const char *driver_saw_work(void)
{
	static char work[sizeof(text)];
	char *to = work;

	for (const char *from = driver_saw(); *from != '\0'; from++)
		if (strchr("()[]", *from) == NULL)
			*to++ = *from;
	*to = '\0';
	return work;
}

static void say_work(const struct work *work)
{
	char words[16];

	if (work->event != NULL)
		snprintf(words, sizeof(words), "%c%c", work->what,
		         (uintptr_t)work->event >= OWN ? '_' : (char)(uintptr_t)work->event);
	else if (work->value == 0)
		snprintf(words, sizeof(words), "%c", work->what);
	else
		snprintf(words, sizeof(words), "%c%u", work->what, work->value);
	say(words);
}

/* What comes before the words of a call. */
static void say_where(CUstream stream)
{
	unsigned int number =
		stream == CU_STREAM_LEGACY ? 0 : (unsigned int)((uintptr_t)stream - STREAMS);
	char words[16];

	if (length > 0)
		say(" ");
	if (number == 1)
		return;
	snprintf(words, sizeof(words), "%u:", number);
	say(words);
}

static void take_time(uint64_t ns)
{
	reprise_clock_virtual += ns;
	driver.given_ns = reprise_clock_virtual;
}

/* The GPU is given so many ops. The launch queue has room for some. */
static void gpu_gets(unsigned int ops)
{
	uint64_t now = reprise_clock_virtual;

	driver.done_ns = (driver.done_ns > now ? driver.done_ns : now) + ops * driver.work_ns;
	if (driver.ahead_ns > 0 && driver.done_ns > now + driver.ahead_ns)
		reprise_clock_virtual = driver.done_ns - driver.ahead_ns;
}

/* ---- graphs ---- */

struct node {
	struct work work;
	unsigned int index;
};

struct graph {
	unsigned int count;
	struct node nodes[NODES_MOST];
};

static struct graph *capture; /* the only one that is open */
/* Reprise's streams, and the last node that was captured on each of them. */
static struct {
	unsigned int count;
	CUgraphNode last[64];
} own;

static CUresult captured(const struct work *work, CUstream stream)
{
	struct node *node = &capture->nodes[capture->count];

	if (capture->count == NODES_MOST)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*node = (struct node){.work = *work, .index = capture->count++};
	own.last[(uintptr_t)stream - OWN] = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

/* A call of Reprise's. */
static CUresult issued(const struct work *work, CUstream stream)
{
	bool refused = work->what == driver.refuses;

	if ((uintptr_t)stream >= OWN)
		return captured(work, stream);
	take_time(driver.eager_ns);
	gpu_gets(1);
	driver.ops += !refused;
	say_where(stream);
	say("(");
	say_work(work);
	say(refused ? ")!" : ")");
	return refused ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult driver_takes(const struct work *work, CUstream stream)
{
	bool refused = work->what == driver.refuses;

	take_time(driver.eager_ns);
	gpu_gets(1);
	driver.ops += !refused;
	say_where(stream);
	say_work(work);
	say(refused ? "!" : "");
	return refused ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult CUDAAPI begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	if (capture != NULL)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	capture = calloc(1, sizeof(*capture));
	return capture != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult CUDAAPI end_capture(CUstream stream, CUgraph *graph)
{
	*graph = (CUgraph)capture;
	capture = NULL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI capture_info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                     CUgraph *graph, const CUgraphNode **nodes,
                                     const CUgraphEdgeData **edges, size_t *count)
{
	*status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	*nodes = &own.last[(uintptr_t)stream - OWN];
	*count = 1;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI count_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	*count = ((const struct graph *)graph)->count;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI instantiate(CUgraphExec *executable, CUgraph graph,
                                    unsigned long long flags)
{
	struct graph *made = malloc(sizeof(*made));

	if (made == NULL)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*made = *(const struct graph *)graph;
	*executable = (CUgraphExec)made;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI upload(CUgraphExec executable, CUstream stream)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_graph(CUgraph graph)
{
	free(graph);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_executable(CUgraphExec executable)
{
	free(executable);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI launch(CUgraphExec executable, CUstream stream)
{
	const struct graph *graph = (const struct graph *)executable;
	bool refused = driver.refuses_launches > 0;

	if (refused) {
		driver.refuses_launches--;
		return CUDA_ERROR_UNKNOWN;
	}
	take_time(driver.graph_ns);
	gpu_gets(graph->count);
	driver.launches++;
	say_where(stream);
	say("[");
	for (unsigned int i = 0; i < graph->count; i++) {
		say(i == 0 ? "" : " ");
		say_work(&graph->nodes[i].work);
	}
	say("]");
	return CUDA_SUCCESS;
}

/* ---- bringing a graph to other values ---- */

/* The node of the executable graph that was made of this one. */
static struct node *node_in(CUgraphExec executable, CUgraphNode node)
{
	return &((struct graph *)executable)->nodes[((const struct node *)node)->index];
}

static CUresult set_value(CUgraphExec executable, CUgraphNode node, unsigned int value)
{
	if (driver.refuses_nodes)
		return CUDA_ERROR_INVALID_VALUE;
	take_time(driver.node_ns);
	driver.nodes_set++;
	node_in(executable, node)->work.value = value;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI describe_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	*params = (CUDA_KERNEL_NODE_PARAMS){
		.func = (CUfunction)(uintptr_t)((const struct node *)node)->work.what};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_kernel(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_KERNEL_NODE_PARAMS *params)
{
	return set_value(executable, node, *(const uint32_t *)params->kernelParams[0]);
}

static CUresult CUDAAPI update(CUgraphExec executable, CUgraph graph,
                               CUgraphExecUpdateResultInfo *info)
{
	const struct graph *from = (const struct graph *)graph;

	if (driver.refuses_updates) {
		info->result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	take_time(driver.update_ns);
	driver.updates++;
	for (unsigned int i = 0; i < from->count; i++)
		((struct graph *)executable)->nodes[i].work = from->nodes[i].work;
	return CUDA_SUCCESS;
}

/* ---- ops ---- */

static CUresult CUDAAPI launch_kernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                      unsigned int grid_z, unsigned int block_x,
                                      unsigned int block_y, unsigned int block_z,
                                      unsigned int shared_bytes, CUstream stream, void **params,
                                      void **extra)
{
	struct work work = {(char)(uintptr_t)function, NULL, *(const uint32_t *)params[0]};

	return issued(&work, stream);
}

static CUresult CUDAAPI set_memory(CUdeviceptr target, unsigned char value, size_t bytes,
                                   CUstream stream)
{
	struct work work = {(char)bytes, NULL, value};

	return issued(&work, stream);
}

/* Records and waits in a capture become edges, but for external records. */
static CUresult CUDAAPI record(CUevent event, CUstream stream)
{
	struct work work = {'>', event, 0};

	return (uintptr_t)stream >= OWN ? CUDA_SUCCESS : issued(&work, stream);
}

static CUresult CUDAAPI record_external(CUevent event, CUstream stream, unsigned int flags)
{
	struct work work = {'>', event, 0};

	return issued(&work, stream);
}

static CUresult CUDAAPI wait_for(CUstream stream, CUevent event, unsigned int flags)
{
	struct work work = {'<', event, 0};

	return (uintptr_t)stream >= OWN ? CUDA_SUCCESS : issued(&work, stream);
}

/* ---- streams, events and contexts ---- */

CUstream driver_stream(unsigned int number)
{
	return number == 0 ? CU_STREAM_LEGACY : (CUstream)(STREAMS + number);
}

CUevent driver_event(char letter)
{
	return (CUevent)(uintptr_t)letter;
}

static CUresult CUDAAPI create_stream(CUstream *stream, unsigned int flags, int priority)
{
	if (own.count == sizeof(own.last) / sizeof(*own.last))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*stream = (CUstream)(OWN + own.count++);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_stream(CUstream stream)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI create_event(CUevent *event, unsigned int flags)
{
	static uint64_t count;

	*event = (CUevent)(OWN + count++);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_event(CUevent event)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI query_stream(CUstream stream)
{
	driver.queries++;
	reprise_clock_virtual += driver.query_ns;
	return driver.busy || driver.done_ns > reprise_clock_virtual ? CUDA_ERROR_NOT_READY
	                                                             : CUDA_SUCCESS;
}

/* Of Reprise's. */
static CUresult CUDAAPI synchronize_stream(CUstream stream)
{
	say_where(stream);
	say("(|)");
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI context_of(CUstream stream, CUcontext *context)
{
	*context = driver.contexts[(uintptr_t)stream - STREAMS];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI flags_of(CUstream stream, unsigned int *flags)
{
	*flags =
		driver.blocking[(uintptr_t)stream - STREAMS] ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI priority_of(CUstream stream, int *priority)
{
	*priority = driver.priorities[(uintptr_t)stream - STREAMS];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI current_context(CUcontext *context)
{
	*context = driver.current;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_context(CUcontext context)
{
	driver.current = context;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI push_context(CUcontext context)
{
	pushed[pushed_count++] = driver.current;
	driver.current = context;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI pop_context(CUcontext *context)
{
	*context = driver.current;
	driver.current = pushed[--pushed_count];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI current_device(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI exchange_mode(CUstreamCaptureMode *mode)
{
	return CUDA_SUCCESS;
}

void driver_install(void)
{
	answers_install();
	driver.current = CONTEXT;
	for (unsigned int i = 0; i < STREAMS_MOST; i++)
		driver.contexts[i] = CONTEXT;
	driver.eager_ns = COST_EAGER;
	driver.graph_ns = COST_GRAPH;
	driver.node_ns = COST_NODE;
	reprise_driver.cuCtxGetCurrent = current_context;
	reprise_driver.cuCtxSetCurrent = set_context;
	reprise_driver.cuCtxPushCurrent_v2 = push_context;
	reprise_driver.cuCtxPopCurrent_v2 = pop_context;
	reprise_driver.cuCtxGetDevice = current_device;
	reprise_driver.cuStreamGetCtx = context_of;
	reprise_driver.cuStreamGetFlags = flags_of;
	reprise_driver.cuStreamGetPriority = priority_of;
	reprise_driver.cuStreamCreateWithPriority = create_stream;
	reprise_driver.cuStreamDestroy_v2 = destroy_stream;
	reprise_driver.cuStreamQuery = query_stream;
	reprise_driver.cuStreamSynchronize = synchronize_stream;
	reprise_driver.cuStreamWaitEvent = wait_for;
	reprise_driver.cuEventCreate = create_event;
	reprise_driver.cuEventDestroy_v2 = destroy_event;
	reprise_driver.cuEventRecord = record;
	reprise_driver.cuEventRecordWithFlags = record_external;
	reprise_driver.cuThreadExchangeStreamCaptureMode = exchange_mode;
	reprise_driver.cuStreamBeginCapture_v2 = begin_capture;
	reprise_driver.cuStreamEndCapture = end_capture;
	reprise_driver.cuStreamGetCaptureInfo_v3 = capture_info;
	reprise_driver.cuGraphGetNodes = count_nodes;
	reprise_driver.cuGraphKernelNodeGetParams_v2 = describe_kernel;
	reprise_driver.cuGraphExecKernelNodeSetParams_v2 = set_kernel;
	reprise_driver.cuGraphExecUpdate_v2 = update;
	reprise_driver.cuGraphInstantiateWithFlags = instantiate;
	reprise_driver.cuGraphUpload = upload;
	reprise_driver.cuGraphLaunch = launch;
	reprise_driver.cuGraphDestroy = destroy_graph;
	reprise_driver.cuGraphExecDestroy = destroy_executable;
	reprise_driver.cuLaunchKernel = launch_kernel;
	reprise_driver.cuMemsetD8Async = set_memory;
}
