#include "driver.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "driver/driver.h"
#include "../virtual/answers.h"
#include "../virtual/costs.h"

enum {
	NODES_MOST = 256,
	DEVICE_BYTES = 1 << 30,
	NODE_BYTES = 3072, /* that an executable graph takes of it for each */
};

struct stream {
	struct stream *next;  /* among those that have ended: handles are used again */
	struct stream *model; /* of a stream of Reprise's: the program's that it stands for */
	CUcontext context;
	CUgraphNode last; /* captured */
	uint64_t hash;
	bool blocking, alive;
};

struct node {
	struct work work;
	struct stream *stream; /* the program's; NULL: the one that the graph is launched into */
	unsigned int index;
	bool is_op; /* no record */
};

struct graph {
	unsigned int count;
	struct node nodes[];
};

struct driver driver;

static CUcontext current;
static struct stream *ended, legacy = {.alive = true, .blocking = true},
							 own = {.alive = true, .blocking = true};
static struct graph *capture; /* the only one that is open */

static void take_time(uint64_t ns)
{
	reprise_clock_virtual += ns;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "endless: %s\n", what);
	abort();
}

/* ---- streams, events and contexts ---- */

static struct stream *stream_of(CUstream handle)
{
	struct stream *stream = handle == NULL || handle == CU_STREAM_LEGACY ? &legacy
	                        : handle == CU_STREAM_PER_THREAD             ? &own
	                                                                     : (struct stream *)handle;

	if (!stream->alive)
		fail("a call on a stream that has ended");
	return stream;
}

static void *take(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory == NULL)
		fail("no memory");
	driver.bytes += malloc_usable_size(memory);
	return memory;
}

static void give(void *memory)
{
	driver.bytes -= malloc_usable_size(memory);
	free(memory);
}

static struct stream *make_stream(bool blocking)
{
	struct stream *stream = ended;

	if (stream != NULL)
		ended = stream->next;
	else
		stream = take(sizeof(*stream));
	*stream = (struct stream){.context = current, .blocking = blocking, .alive = true};
	driver.streams++;
	return stream;
}

CUstream driver_make_stream(bool blocking)
{
	return (CUstream)make_stream(blocking);
}

CUresult driver_end_stream(CUstream handle)
{
	struct stream *stream = stream_of(handle);

	stream->alive = false;
	stream->next = ended;
	ended = stream;
	driver.streams--;
	return CUDA_SUCCESS;
}

CUevent driver_make_event(void)
{
	driver.events++;
	return (CUevent)take(16);
}

CUresult driver_end_event(CUevent event)
{
	driver.events--;
	give(event);
	return CUDA_SUCCESS;
}

uint64_t driver_hash_of(CUstream stream)
{
	return stream_of(stream)->hash;
}

void driver_anew(CUstream stream)
{
	stream_of(stream)->hash = 0;
}

CUcontext driver_context(uintptr_t number)
{
	return (CUcontext)(number * 64);
}

void driver_enter(CUcontext context)
{
	current = context;
}

static CUresult CUDAAPI create_stream(CUstream *stream, unsigned int flags, int priority)
{
	*stream = driver_make_stream(false);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_attributes(CUstream to, CUstream from)
{
	stream_of(to)->model = stream_of(from);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_stream(CUstream stream)
{
	return driver_end_stream(stream);
}

static CUresult CUDAAPI create_event(CUevent *event, unsigned int flags)
{
	*event = driver_make_event();
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_event(CUevent event)
{
	return driver_end_event(event);
}

static CUresult CUDAAPI query_event(CUevent event)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI query_stream(CUstream stream)
{
	stream_of(stream);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI context_of(CUstream stream, CUcontext *context)
{
	*context = stream_of(stream)->context;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI flags_of(CUstream stream, unsigned int *flags)
{
	*flags = stream_of(stream)->blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI priority_of(CUstream stream, int *priority)
{
	*priority = 0;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_current(CUcontext *context)
{
	*context = current;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_current(CUcontext context)
{
	current = context;
	return CUDA_SUCCESS;
}

static CUcontext pushed[8];
static unsigned int depth;

static CUresult CUDAAPI push_current(CUcontext context)
{
	pushed[depth++] = current;
	current = context;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI pop_current(CUcontext *context)
{
	if (context != NULL)
		*context = current;
	current = pushed[--depth];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI current_device(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI primary_state(CUdevice device, unsigned int *flags, int *active)
{
	*active = 0;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI memory_info(size_t *left, size_t *all)
{
	*all = DEVICE_BYTES;
	*left = DEVICE_BYTES - driver.nodes * NODE_BYTES;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI exchange_mode(CUstreamCaptureMode *mode)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI name_of(const char **name, CUfunction function)
{
	static char text[32];

	snprintf(text, sizeof(text), "kernel_%lx", (unsigned long)(uintptr_t)function);
	*name = text;
	return CUDA_SUCCESS;
}

/* A kernel of number 100 or more has parameters like few others: a value, and three blocks of
 * bytes. */
static CUresult CUDAAPI parameter(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	uint64_t number = (uintptr_t)function / DRIVER_FUNCTION - 1;
	const size_t sizes[] = {4, 1 + number % 60, 1 + number / 60 % 60, 1 + number / 3600 % 60};

	if (index > 3 || (number < DRIVER_ORDINARY && index > 0))
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 64 * index;
	*size = sizes[index];
	return CUDA_SUCCESS;
}

/* ---- ops ---- */

static void execute(struct stream *stream, const struct work *work)
{
	stream->hash = driver_hash(stream->hash, work);
	driver.ops++;
}

static CUresult issued(CUstream handle, const struct work *work)
{
	struct stream *stream = stream_of(handle);
	struct node *node;

	if (capture == NULL) {
		take_time(COST_EAGER);
		if (work != NULL)
			execute(stream, work);
		return CUDA_SUCCESS;
	}
	if (capture->count == NODES_MOST)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node = &capture->nodes[capture->count];
	*node =
		(struct node){.stream = stream->model, .index = capture->count++, .is_op = work != NULL};
	if (work != NULL)
		node->work = *work;
	stream->last = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

CUresult driver_takes(CUstream stream, const struct work *work)
{
	return issued(stream, work);
}

static CUresult CUDAAPI launch_kernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                      unsigned int grid_z, unsigned int block_x,
                                      unsigned int block_y, unsigned int block_z,
                                      unsigned int shared_bytes, CUstream stream, void **params,
                                      void **extra)
{
	struct work work = {(uintptr_t)function, *(const uint32_t *)params[0]};

	return issued(stream, &work);
}

static CUresult CUDAAPI set_memory(CUdeviceptr target, unsigned char value, size_t bytes,
                                   CUstream stream)
{
	struct work work = {bytes, value};

	return issued(stream, &work);
}

/* Records and waits in a capture become edges, but for external records. */
static CUresult CUDAAPI record(CUevent event, CUstream stream)
{
	return capture != NULL ? CUDA_SUCCESS : issued(stream, NULL);
}

static CUresult CUDAAPI record_external(CUevent event, CUstream stream, unsigned int flags)
{
	return issued(stream, NULL);
}

static CUresult CUDAAPI wait_for(CUstream stream, CUevent event, unsigned int flags)
{
	return capture != NULL ? CUDA_SUCCESS : issued(stream, NULL);
}

/* ---- graphs ---- */

static struct graph *make_graph(unsigned int nodes)
{
	return take(sizeof(struct graph) + nodes * sizeof(struct node));
}

static CUresult CUDAAPI begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	if (capture != NULL)
		fail("two captures at a time");
	stream_of(stream);
	capture = make_graph(NODES_MOST);
	driver.graphs++;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI end_capture(CUstream stream, CUgraph *graph)
{
	*graph = (CUgraph)capture;
	capture = NULL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI capture_info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                     CUgraph *graph, const CUgraphNode **nodes,
                                     const CUgraphEdgeData **edges, size_t *count)
{
	*status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	*nodes = &stream_of(stream)->last;
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
	const struct graph *from = (const struct graph *)graph;
	struct graph *made = make_graph(from->count);

	made->count = from->count;
	for (unsigned int i = 0; i < from->count; i++)
		made->nodes[i] = from->nodes[i];
	driver.executables++;
	driver.nodes += made->count;
	*executable = (CUgraphExec)made;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI upload(CUgraphExec executable, CUstream stream)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_graph(CUgraph graph)
{
	driver.graphs--;
	give(graph);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_executable(CUgraphExec executable)
{
	driver.executables--;
	driver.nodes -= ((const struct graph *)executable)->count;
	give(executable);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI launch(CUgraphExec executable, CUstream stream)
{
	const struct graph *graph = (const struct graph *)executable;

	take_time(COST_GRAPH);
	for (unsigned int i = 0; i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];

		if (node->stream != NULL && !node->stream->alive)
			fail("a graph with an op of a stream that has ended");
		if (node->is_op)
			execute(node->stream != NULL ? node->stream : stream_of(stream), &node->work);
	}
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI describe_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	*params = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)((const struct node *)node)->work.what};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_kernel(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_KERNEL_NODE_PARAMS *params)
{
	take_time(COST_NODE);
	((struct graph *)executable)->nodes[((const struct node *)node)->index].work.value =
		*(const uint32_t *)params->kernelParams[0];
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI update(CUgraphExec executable, CUgraph graph,
                               CUgraphExecUpdateResultInfo *info)
{
	const struct graph *from = (const struct graph *)graph;

	for (unsigned int i = 0; i < from->count; i++)
		((struct graph *)executable)->nodes[i] = from->nodes[i];
	return CUDA_SUCCESS;
}

void driver_install(void)
{
	answers_install();
	reprise_driver.cuCtxGetCurrent = get_current;
	reprise_driver.cuCtxSetCurrent = set_current;
	reprise_driver.cuCtxPushCurrent_v2 = push_current;
	reprise_driver.cuCtxPopCurrent_v2 = pop_current;
	reprise_driver.cuCtxGetDevice = current_device;
	reprise_driver.cuDevicePrimaryCtxGetState = primary_state;
	reprise_driver.cuMemGetInfo_v2 = memory_info;
	reprise_driver.cuFuncGetName = name_of;
	reprise_driver.cuFuncGetParamInfo = parameter;
	reprise_driver.cuStreamGetCtx = context_of;
	reprise_driver.cuStreamGetFlags = flags_of;
	reprise_driver.cuStreamGetPriority = priority_of;
	reprise_driver.cuStreamCopyAttributes = copy_attributes;
	reprise_driver.cuStreamCreateWithPriority = create_stream;
	reprise_driver.cuStreamDestroy_v2 = destroy_stream;
	reprise_driver.cuStreamQuery = query_stream;
	reprise_driver.cuStreamSynchronize = query_stream;
	reprise_driver.cuStreamIsCapturing = is_capturing;
	reprise_driver.cuStreamWaitEvent = wait_for;
	reprise_driver.cuEventCreate = create_event;
	reprise_driver.cuEventQuery = query_event;
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
