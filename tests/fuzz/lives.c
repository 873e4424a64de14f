/* Memory, modules, events and streams that end and come again, with work under way that uses them
 * or has their names. */
#include <stdlib.h>

#include "ops.h"

void fuzz_on_moving(int s, int change)
{
	int stream = fuzz_stream_of(s);

	CALL(fuzz_launch_mix(world.mix, world.stream[stream], world.buffer[stream][1],
	                     world.moving[stream].at, fuzz_changing(change)));
}

void fuzz_copy_moving(int s, int change)
{
	int stream = fuzz_stream_of(s);

	CALL(cuMemcpyDtoDAsync(world.moving[stream].at + 4 * (fuzz_changing(change) % 8),
	                       world.buffer[stream][1], 64, world.stream[stream]));
}

static CUresult give_back(int stream)
{
	struct fuzz_moving *moving = &world.moving[stream];

	return moving->ordered ? cuMemFreeAsync(moving->at, world.stream[stream])
	                       : cuMemFree(moving->at);
}

/* Nobody waits: cuMemFree does by itself, cuMemFreeAsync takes its turn. The same address may come
 * again, as memory of the other kind. */
void fuzz_free_anew(int s, int how)
{
	int stream = fuzz_stream_of(s);
	size_t bytes = WORDS * 4u * (how % 5 == 0 ? 3 : 1);
	CUdeviceptr at = 0;

	CALL(give_back(stream));
	world.moving[stream].ordered = how % 2 != 0;
	if (how % 2)
		CALL(cuMemAllocAsync(&at, bytes, world.stream[stream]));
	else
		CALL(cuMemAlloc(&at, bytes));
	world.moving[stream].at = at;
	CALL(cuMemsetD32Async(at, (unsigned)iteration, WORDS, world.stream[stream]));
}

/* What the driver had of it has to be read: of pageable memory at the call, of the rest by the time
 * that the stream is waited for. */
void fuzz_from_host(int s, int form)
{
	int stream = fuzz_stream_of(s);
	struct fuzz_host *host = &world.host[stream];

	if (host->kind == PAGEABLE)
		for (unsigned i = 0; i < WORDS; i++)
			host->at[i] = chance(i + 23);
	if (form % 2)
		CALL(cuMemcpyHtoDAsync(world.buffer[stream][2], host->at, WORDS * 4, world.stream[stream]));
	else
		CALL(cuMemcpyAsync(world.buffer[stream][2], (CUdeviceptr)(uintptr_t)host->at, WORDS * 4,
		                   world.stream[stream]));
	if (host->kind == PAGEABLE)
		memset(host->at, 0x5a, WORDS * 4);
}

/* Registered, no longer so, allocated by the driver, or the program's own again. Addresses stay, or
 * come again. */
void fuzz_host_anew(int s, int how)
{
	int stream = fuzz_stream_of(s);
	struct fuzz_host *host = &world.host[stream];

	CALL(cuStreamSynchronize(world.stream[stream]));
	if (host->kind == REGISTERED)
		CALL(cuMemHostUnregister(host->at));
	else if (host->kind == PINNED)
		CALL(cuMemFreeHost(host->at));
	host->at = host->block;
	host->kind = (enum fuzz_host_kind)fuzz_in(how, 3);
	if (host->kind == REGISTERED)
		CALL(cuMemHostRegister(host->at, PAGE, 0));
	else if (host->kind == PINNED)
		CALL(cuMemAllocHost((void **)&host->at, WORDS * 4));
	for (unsigned i = 0; i < WORDS; i++)
		host->at[i] = chance(i + 29);
}

/* From a page that fuzz_context_life registers for a while: here it is pageable. */
void fuzz_from_page(int s)
{
	int stream = fuzz_stream_of(s);

	for (unsigned i = 0; i < WORDS; i++)
		fuzz_page[i] = chance(i + 31);
	CALL(cuMemcpyHtoDAsync(world.buffer[stream][2], fuzz_page, WORDS * 4, world.stream[stream]));
	if (!fuzz_simulated) /* whether a context's end is the registration's, too, no GPU was asked */
		CALL(cuStreamSynchronize(world.stream[stream]));
	memset(fuzz_page, 0x5b, WORDS * 4);
}

/* On one stream: the module's variable. */
void fuzz_on_variable(int how)
{
	if (how % 2)
		CALL(cuMemcpyDtoDAsync(world.words, world.buffer[FREE][0], WORDS * 4, world.stream[FREE]));
	else
		CALL(fuzz_launch_mix(world.turn, world.stream[FREE], world.buffer[FREE][0], world.words,
		                     19));
}

/* The handle may be the same; nothing was recorded on the new event, and to wait for it waits for
 * nothing. */
void fuzz_event_reborn(int s, int t, int e)
{
	int event = fuzz_in(e, EVENTS), stream = fuzz_stream_of(s), of = fuzz_stream_of(t);

	CALL(fuzz_work(of, 0, 123));
	CALL(cuEventRecord(world.event[event], world.stream[of]));
	CALL(cuEventDestroy(world.event[event]));
	CALL(
		cuEventCreate(&world.event[event], event % 2 ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING));
	CALL(cuStreamWaitEvent(world.stream[stream], world.event[event], 0));
	CALL(fuzz_work(stream, e, 121));
}

void fuzz_edge_reborn(int s, int t)
{
	int from = fuzz_stream_of(s), to = fuzz_stream_of(t);

	CALL(fuzz_work(from, 0, 124));
	CALL(cuEventRecord(world.edge[from], world.stream[from]));
	CALL(cuEventDestroy(world.edge[from]));
	CALL(cuEventCreate(&world.edge[from], CU_EVENT_DISABLE_TIMING));
	CALL(cuStreamWaitEvent(world.stream[to], world.edge[from], 0));
	CALL(fuzz_work(to, 1, 122));
}

static void load_and_unload(void)
{
	CUmodule module = NULL;
	CUfunction function = NULL;

	if (CALL(cuModuleLoad(&module, fuzz_module_path())) != CUDA_SUCCESS)
		return;
	CALL(cuModuleGetFunction(&function, module, "turn"));
	CALL(fuzz_launch_mix(function, world.stream[FREE_THREE], world.buffer[FREE_THREE][0],
	                     world.buffer[FREE_THREE][1], 131));
	CALL(cuModuleUnload(module));
}

static void make_streams(void)
{
	CUstream made[3];

	for (unsigned i = 0; i < 3; i++)
		CALL(cuStreamCreate(&made[i], CU_STREAM_NON_BLOCKING));
	for (unsigned i = 0; i < 3; i++)
		CALL(cuStreamDestroy(made[i]));
}

static void make_graph(void)
{
	CUDA_MEMSET_NODE_PARAMS set = {.dst = world.buffer[FREE_THREE][2],
	                               .value = 5,
	                               .elementSize = 4,
	                               .width = WORDS,
	                               .height = 1};
	CUgraphExec exec = NULL;
	CUgraph graph = NULL;
	CUgraphNode node;

	CALL(cuGraphCreate(&graph, 0));
	CALL(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, world.context));
	if (CALL(cuGraphInstantiate(&exec, graph, 0)) == CUDA_SUCCESS) {
		CALL(cuGraphLaunch(exec, world.stream[FREE_THREE]));
		CALL(cuGraphExecDestroy(exec));
	}
	CALL(cuGraphDestroy(graph));
}

static void allocate_and_free(void)
{
	CUdeviceptr block = 0;
	void *host = NULL;

	CALL(cuMemAlloc(&block, 4096));
	CALL(cuMemAllocHost(&host, 4096));
	CALL(cuMemFree(block));
	CALL(cuMemFreeHost(host));
}

/* Calls that may wait for all work of their context. */
static void (*const waiting[])(void) = {load_and_unload, make_streams, make_graph,
                                        allocate_and_free};

void fuzz_make(int what)
{
	waiting[fuzz_in(what, sizeof(waiting) / sizeof(waiting[0]))]();
}

/* While a kernel waits for a launch that the program has made already. */
void fuzz_spin_and_make(int way, int what)
{
	int from = way % 2 ? FREE : URGENT, to = way % 2 ? URGENT : FREE;
	unsigned value = ++world.signals;

	CALL(fuzz_spin_on(from, world.flag, value));
	CALL(fuzz_work(to, 0, 141));
	CALL(fuzz_signal_on(world.stream[to], world.flag, value));
	fuzz_make(what);
	CALL(cuEventRecord(world.handing[0], world.stream[from]));
	CALL(cuStreamWaitEvent(world.stream[to], world.handing[0], 0));
}

/* ---- attributes, and words that streams write ---- */

static CUresult set_attribute(CUstream stream, CUdeviceptr of_stream, int what)
{
	CUstreamAttrValue value = {0};
	int other = what / 8 % 2;

	switch (what % 8) {
	case 0:
		value.syncPolicy = other ? CU_SYNC_POLICY_SPIN : CU_SYNC_POLICY_AUTO;
		return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
	case 1:
	case 2:
		value.memSyncDomain =
			other ? CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE : CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
		return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value);
	case 3:
		value.memSyncDomainMap.default_ = (unsigned char)other;
		value.memSyncDomainMap.remote = (unsigned char)!other;
		return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value);
	case 4:
	case 5:
		value.accessPolicyWindow = (CUaccessPolicyWindow){.base_ptr = (void *)(uintptr_t)of_stream,
		                                                  .num_bytes = other ? WORDS : 2 * WORDS,
		                                                  .hitRatio = 1,
		                                                  .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
		                                                  .missProp = CU_ACCESS_PROPERTY_STREAMING};
		return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
	case 6:
		value.priority = -(what % 3);
		return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
	default:
		value.cooperative = 1; /* launches have that, and no streams */
		return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
	}
}

/* Of any kind of stream; or it takes over those of another, of any kind. */
void fuzz_stream_attribute(int s, int what)
{
	int stream = fuzz_stream_of(s), from = fuzz_in(stream + 1 + what / 3 % (STREAMS - 1), STREAMS);

	if (what % 3 == 2)
		CALL(cuStreamCopyAttributes(world.stream[stream], world.stream[from]));
	else
		CALL(set_attribute(world.stream[stream], world.buffer[stream][0], what / 3));
}

/* One stream writes a word, another waits for it, and works on what is its own. */
void fuzz_write_value(int s, int t)
{
	int from = fuzz_stream_of(s), to = fuzz_stream_of(t);
	CUdeviceptr word = world.written + 4u * (unsigned)from;
	unsigned value = ++world.values;

	CALL(fuzz_work(from, 0, 151));
	CALL(cuStreamWriteValue32(world.stream[from], word, value, 0));
	CALL(cuStreamWaitValue32(world.stream[to], word, value, CU_STREAM_WAIT_VALUE_GEQ));
	CALL(fuzz_work(to, 1, 152));
}
