#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ops.h"

/* ---- launches ---- */

void fuzz_launch(int s, int kernel, int buffers, int change)
{
	int stream = fuzz_stream_of(s);
	unsigned argument = fuzz_changing(change);

	switch (fuzz_in(kernel, 4)) {
	case 0:
		CALL(fuzz_work(stream, buffers, argument));
		return;
	case 1:
		CALL(fuzz_launch_mix(world.turn, world.stream[stream], fuzz_buffer_of(stream, buffers),
		                     fuzz_buffer_of(stream, buffers / BUFFERS), argument));
		return;
	case 2:
		CALL(fuzz_launch_mix((CUfunction)world.kernel, world.stream[stream],
		                     fuzz_buffer_of(stream, buffers),
		                     fuzz_buffer_of(stream, buffers / BUFFERS), argument));
		return;
	default: {
		void *params[] = {&fuzz_given.x, &fuzz_given.functor};

		fuzz_take(fuzz_buffer_of(stream, buffers), 0, argument);
		CALL(cuLaunchKernel(world.stir, 1, 1, 1, WORDS, 1, 1, 0, world.stream[stream], params,
		                    NULL));
		fuzz_spoil();
	}
	}
}

void fuzz_launch_extra(int s, int buffers, int change)
{
	int stream = fuzz_stream_of(s);
	size_t bytes = offsetof(struct fuzz_given, argument) + sizeof(fuzz_given.argument);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &fuzz_given, CU_LAUNCH_PARAM_BUFFER_SIZE,
	                 &bytes, CU_LAUNCH_PARAM_END};

	fuzz_take(fuzz_buffer_of(stream, buffers), fuzz_buffer_of(stream, buffers / BUFFERS),
	          fuzz_changing(change));
	CALL(cuLaunchKernel(world.mix, 1, 1, 1, WORDS, 1, 1, 0, world.stream[stream], NULL, extra));
	fuzz_spoil();
}

void fuzz_launch_swapped(int s, int period)
{
	int stream = fuzz_stream_of(s), turn = iteration % (fuzz_in(period, 4) + 2);

	CALL(fuzz_launch_mix(world.mix, world.stream[stream], fuzz_buffer_of(stream, turn),
	                     fuzz_buffer_of(stream, turn + 1), 3));
	CALL(fuzz_launch_mix(world.turn, world.stream[stream], fuzz_buffer_of(stream, turn + 1),
	                     fuzz_buffer_of(stream, turn), 4));
}

void fuzz_launch_grid(int s, int change)
{
	int stream = fuzz_stream_of(s);
	void *params[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument};
	unsigned blocks = fuzz_changing(change) % 4 + 1;

	fuzz_take(fuzz_buffer_of(stream, 0), fuzz_buffer_of(stream, 1), 11);
	CALL(cuLaunchKernel(world.turn, blocks, 1, 1, WORDS / 4, 1, 1, 0, world.stream[stream], params,
	                    NULL));
	fuzz_spoil();
}

void fuzz_launch_shared(int s, int kib)
{
	int stream = fuzz_stream_of(s);
	void *params[] = {&fuzz_given.x, &fuzz_given.argument};
	unsigned more = kib % 4 == 1 && chance((unsigned)kib) % 16 == 0
	                    ? 64
	                    : 0; /* some want too much now and then */

	fuzz_take(fuzz_buffer_of(stream, 0), 0, 13);
	CALL(cuLaunchKernel(world.shared_mix, 1, 1, 1, 32, 1, 1,
	                    1024u * ((unsigned)fuzz_in(kib, 128) + more) + 64, world.stream[stream],
	                    params, NULL));
	fuzz_spoil();
}

/* ---- copies and memsets ---- */

void fuzz_copy_in(int s, int buffer, int from)
{
	int stream = fuzz_stream_of(s);
	unsigned words[WORDS];

	switch (fuzz_in(from, 3)) {
	case 0:
		CALL(cuMemcpyHtoDAsync(fuzz_buffer_of(stream, buffer), world.pinned[stream], WORDS * 2,
		                       world.stream[stream]));
		break;
	case 1:
		for (unsigned i = 0; i < WORDS; i++)
			words[i] = chance(i);
		CALL(cuMemcpyHtoDAsync(fuzz_buffer_of(stream, buffer), words, sizeof(words),
		                       world.stream[stream]));
		memset(words, 0x5a, sizeof(words));
		break;
	default:
		CALL(cuMemcpyAsync(fuzz_buffer_of(stream, buffer), world.managed[stream], WORDS,
		                   world.stream[stream]));
		break;
	}
}

void fuzz_copy_in_fresh(int s, int buffer)
{
	int stream = fuzz_stream_of(s);

	CALL(cuStreamSynchronize(world.stream[stream]));
	for (unsigned i = 0; i < WORDS; i++)
		world.pinned[stream][i] = chance(i + 5);
	CALL(cuMemcpyHtoDAsync(fuzz_buffer_of(stream, buffer), world.pinned[stream], WORDS * 4,
	                       world.stream[stream]));
}

void fuzz_copy_out(int s, int buffer)
{
	int stream = fuzz_stream_of(s);
	unsigned words[WORDS] = {0};

	CALL(cuMemcpyDtoHAsync(words, fuzz_buffer_of(stream, buffer), sizeof(words),
	                       world.stream[stream]));
	fuzz_see_words(words, WORDS);
}

void fuzz_copy_out_pinned(int s, int buffer)
{
	int stream = fuzz_stream_of(s);

	CALL(cuMemcpyDtoHAsync(world.landing[stream], fuzz_buffer_of(stream, buffer), WORDS * 4,
	                       world.stream[stream]));
	CALL(cuStreamSynchronize(world.stream[stream]));
	fuzz_see_words(world.landing[stream], WORDS);
	world.landing[stream][iteration % WORDS] = 0;
}

void fuzz_copy(int s, int buffers, int form)
{
	int stream = fuzz_stream_of(s);
	CUdeviceptr to = fuzz_buffer_of(stream, buffers),
				from = fuzz_buffer_of(stream, buffers / BUFFERS);

	switch (fuzz_in(form, 3)) {
	case 0:
		CALL(cuMemcpyDtoDAsync(to + WORDS * 2, from, WORDS * 2, world.stream[stream]));
		break;
	case 1:
		CALL(cuMemcpyAsync(to, from + WORDS * 2, WORDS * 2, world.stream[stream]));
		break;
	default:
		CALL(cuMemcpyPeerAsync(to, world.context, from + WORDS * 2, world.context, WORDS,
		                       world.stream[stream]));
		break;
	}
}

void fuzz_copy_2d(int s, int buffer)
{
	int stream = fuzz_stream_of(s);
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcDevice = fuzz_buffer_of(stream, buffer),
	                      .srcPitch = 32,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = fuzz_buffer_of(stream, buffer + 1),
	                      .dstPitch = 64,
	                      .WidthInBytes = 20,
	                      .Height = 4};

	CALL(cuMemcpy2DAsync(&copy, world.stream[stream]));
	memset(&copy, 0xa5, sizeof(copy));
}

/* The legacy stream, on which synchronous copies are, waits for blocking streams; for others the
 * host has to. */
static void order_before_legacy(int stream)
{
	if (stream >= FREE && stream <= FREE_THREE)
		CALL(cuStreamSynchronize(world.stream[stream]));
}

void fuzz_copy_sync(int s, int buffer)
{
	int stream = fuzz_stream_of(s);
	unsigned words[WORDS] = {0};

	order_before_legacy(stream);
	CALL(cuMemcpyDtoH(words, fuzz_buffer_of(stream, buffer), sizeof(words)));
	fuzz_see_words(words, WORDS);
}

void fuzz_set(int s, int buffer, int form, int change)
{
	int stream = fuzz_stream_of(s);
	CUdeviceptr at = fuzz_buffer_of(stream, buffer);
	unsigned value = fuzz_changing(change);

	switch (fuzz_in(form, 4)) {
	case 0:
		CALL(cuMemsetD32Async(at, value, WORDS / 2, world.stream[stream]));
		break;
	case 1:
		CALL(cuMemsetD8Async(at + 8, (unsigned char)value, 13, world.stream[stream]));
		break;
	case 2:
		CALL(cuMemsetD16Async(at, (unsigned short)value, 9, world.stream[stream]));
		break;
	default:
		CALL(cuMemsetD2D32Async(at, 64, value, 5, 3, world.stream[stream]));
		break;
	}
}

void fuzz_set_sync(int s, int buffer)
{
	int stream = fuzz_stream_of(s);

	order_before_legacy(stream);
	CALL(cuMemsetD32(fuzz_buffer_of(stream, buffer), (unsigned)iteration, WORDS / 4));
	/* It need not have finished when it returns, and others do not wait for the legacy stream. */
	if (stream >= FREE && stream <= FREE_THREE)
		CALL(cuStreamSynchronize(NULL));
}

/* ---- order ---- */

void fuzz_record(int s, int e)
{
	int event = fuzz_in(e, EVENTS);

	CALL(cuEventRecord(world.event[event], world.stream[fuzz_stream_of(s)]));
	world.recorded[event] = true;
}

void fuzz_wait(int s, int e)
{
	CALL(cuStreamWaitEvent(world.stream[fuzz_stream_of(s)], world.event[fuzz_in(e, EVENTS)], 0));
}

void fuzz_hand_over(int s, int t)
{
	int from = fuzz_stream_of(s), to = fuzz_stream_of(t);

	CALL(fuzz_work(from, 0, 21));
	CALL(cuEventRecord(world.handing[0], world.stream[from]));
	CALL(cuStreamWaitEvent(world.stream[to], world.handing[0], 0));
	CALL(fuzz_launch_mix(world.mix, world.stream[to], world.buffer[to][1], world.buffer[from][0],
	                     22));
	CALL(cuEventRecord(world.handing[1], world.stream[to]));
	CALL(cuStreamWaitEvent(world.stream[from], world.handing[1], 0));
	CALL(fuzz_launch_mix(world.turn, world.stream[from], world.buffer[from][0], world.buffer[to][1],
	                     23));
	/* The other stream may go on with its buffer only after this. */
	CALL(cuEventRecord(world.handing[0], world.stream[from]));
	CALL(cuStreamWaitEvent(world.stream[to], world.handing[0], 0));
}

void fuzz_edge(int s, int t)
{
	fuzz_add_edge(fuzz_stream_of(s), fuzz_stream_of(t));
}

void fuzz_fork_join(int s, int t)
{
	int from = fuzz_stream_of(s), to = fuzz_stream_of(t);

	fuzz_add_edge(from, to);
	CALL(fuzz_launch_mix(world.mix, world.stream[to], world.buffer[to][1], world.buffer[from][0],
	                     31));
	CALL(fuzz_launch_mix(world.turn, world.stream[to], world.buffer[to][2], world.buffer[to][1],
	                     fuzz_changing(t)));
	CALL(fuzz_launch_mix(world.turn, world.stream[from], world.buffer[from][1],
	                     world.buffer[from][0], fuzz_changing(s)));
	fuzz_add_edge(to, from);
}

/* Not in relaxed mode: there the simulation takes a query for one of Reprise's own, and does not
 * log that the program knows the answer. */
static void see_by_polling(int stream)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

	fuzz_thread.mode = mode;
	CALL(cuThreadExchangeStreamCaptureMode(&mode));
	fuzz_poll_stream(stream);
	fuzz_thread.mode = mode;
	CALL(cuThreadExchangeStreamCaptureMode(&mode));
}

/* What the host has seen to be done, another stream may read: nothing else orders the two. */
void fuzz_over_host(int s, int t, int how)
{
	int from = fuzz_stream_of(s), to = fuzz_stream_of(t);

	/* What the legacy stream did to its buffers comes before its work, and only that is waited for.
	 */
	if (from >= BLOCKING)
		CALL(fuzz_work(from, how, 34));
	switch (fuzz_in(how, 3)) {
	case 0:
		fuzz_sync_stream(from);
		break;
	case 1:
		see_by_polling(from);
		break;
	default:
		CALL(cuEventRecord(world.edge[from], world.stream[from]));
		CALL(cuEventSynchronize(world.edge[from]));
		break;
	}
	CALL(fuzz_launch_mix(world.turn, world.stream[to], world.buffer[to][1],
	                     fuzz_buffer_of(from, how / 3), 35));
	/* The first may go on with its buffer only after this. */
	fuzz_add_edge(to, from);
}

void fuzz_event_anew(int s)
{
	int stream = fuzz_stream_of(s);

	CALL(cuEventDestroy(world.edge[stream]));
	CALL(cuEventCreate(&world.edge[stream], CU_EVENT_DISABLE_TIMING));
}

static int blocking_of(int value)
{
	return BLOCKING + fuzz_in(value, 3);
}

void fuzz_through_legacy(int s)
{
	int stream = blocking_of(s);

	CALL(fuzz_work(stream, 1, 31));
	CALL(fuzz_launch_mix(world.turn, NULL, world.buffer[stream][1], world.buffer[LEGACY][0], 32));
	CALL(fuzz_work(stream, 1, 33));
}

void fuzz_from_legacy(int s)
{
	int stream = blocking_of(s);

	CALL(fuzz_work(LEGACY, 0, 41));
	CALL(fuzz_launch_mix(world.mix, world.stream[stream], world.buffer[stream][2],
	                     world.buffer[LEGACY][0], 42));
	CALL(fuzz_work(LEGACY, 0, 43));
}

/* ---- waiting ---- */

void fuzz_sync_stream(int s)
{
	CALL(cuStreamSynchronize(world.stream[fuzz_stream_of(s)]));
}

void fuzz_sync_context(void)
{
	CALL(cuCtxSynchronize());
}

void fuzz_sync_event(int e)
{
	CALL(cuEventSynchronize(world.event[fuzz_in(e, EVENTS)]));
}

void fuzz_poll_stream(int s)
{
	CUresult result;

	do
		result = cuStreamQuery(world.stream[fuzz_stream_of(s)]);
	while (result == CUDA_ERROR_NOT_READY);
	CALL(result);
}

void fuzz_poll_event(int e)
{
	CUresult result;

	do
		result = cuEventQuery(world.event[fuzz_in(e, EVENTS)]);
	while (result == CUDA_ERROR_NOT_READY);
	CALL(result);
}

void fuzz_timing(int s)
{
	int stream = fuzz_stream_of(s);
	float ms = -1;

	CALL(cuEventRecord(world.timing[0], world.stream[stream]));
	CALL(fuzz_work(stream, 2, 51));
	CALL(cuEventRecord(world.timing[1], world.stream[stream]));
	CALL(cuEventSynchronize(world.timing[1]));
	CALL(cuEventElapsedTime(&ms, world.timing[0], world.timing[1]));
	fuzz_see(ms >= 0);
}

/* ---- host functions ---- */

void fuzz_host_function(int s)
{
	int stream = fuzz_stream_of(s);

	fuzz_function(stream);
	CALL(cuLaunchHostFunc(world.stream[stream], fuzz_log,
	                      fuzz_log_entry(stream, (unsigned)iteration)));
}

static void CUDA_CB call_back(CUstream stream, CUresult status, void *entry)
{
	(void)stream;
	(void)status;
	fuzz_log(entry);
}

void fuzz_callback(int s)
{
	int stream = fuzz_stream_of(s);

	fuzz_function(stream);
	CALL(cuStreamAddCallback(world.stream[stream], call_back,
	                         fuzz_log_entry(stream, (unsigned)iteration + 1000), 0));
}

/* ---- lives of memory ---- */

void fuzz_temporary(int s, int launches)
{
	int stream = fuzz_stream_of(s);
	CUdeviceptr temporary = 0;

	if (CALL(cuMemAllocAsync(&temporary, WORDS * 4, world.stream[stream])) != CUDA_SUCCESS)
		return;
	CALL(cuMemsetD32Async(temporary, 5, WORDS, world.stream[stream]));
	for (int i = 0; i < fuzz_in(launches, 4); i++)
		CALL(fuzz_launch_mix(world.turn, world.stream[stream], temporary, world.buffer[stream][0],
		                     (unsigned)i));
	CALL(fuzz_launch_mix(world.mix, world.stream[stream], world.buffer[stream][1], temporary, 6));
	CALL(cuMemFreeAsync(temporary, world.stream[stream]));
}

void fuzz_allocate(int s)
{
	int stream = fuzz_stream_of(s);
	CUdeviceptr block = 0;

	if (CALL(cuMemAlloc(&block, WORDS * 4)) != CUDA_SUCCESS)
		return;
	CALL(cuMemsetD32Async(block, 9, WORDS, world.stream[stream]));
	CALL(fuzz_launch_mix(world.mix, world.stream[stream], world.buffer[stream][1], block, 6));
	CALL(cuMemFree(block));
}

void fuzz_pinned_life(int s)
{
	int stream = fuzz_stream_of(s);
	unsigned *block = NULL;

	if (CALL(cuMemAllocHost((void **)&block, WORDS * 4)) != CUDA_SUCCESS)
		return;
	for (unsigned i = 0; i < WORDS; i++)
		block[i] = chance(i + 9);
	CALL(cuMemcpyHtoDAsync(world.buffer[stream][2], block, WORDS * 4, world.stream[stream]));
	CALL(cuStreamSynchronize(world.stream[stream]));
	CALL(cuMemFreeHost(block));
}

void fuzz_registered_life(int s)
{
	static unsigned block[2048] __attribute__((aligned(4096)));
	int stream = fuzz_stream_of(s);

	for (unsigned i = 0; i < WORDS; i++)
		block[i] = chance(i + 11);
	if (CALL(cuMemHostRegister(block, sizeof(block), 0)) != CUDA_SUCCESS)
		return;
	CALL(cuMemcpyHtoDAsync(world.buffer[stream][2], block, WORDS * 4, world.stream[stream]));
	CALL(cuStreamSynchronize(world.stream[stream]));
	CALL(cuMemHostUnregister(block));
	/* The same address, pageable now: what is there at the call counts. */
	CALL(cuMemcpyHtoDAsync(world.buffer[stream][1], block, WORDS * 4, world.stream[stream]));
	memset(block, 0x77, sizeof(block));
}

void fuzz_managed(int s)
{
	int stream = fuzz_stream_of(s);

	CALL(fuzz_launch_mix(world.mix, world.stream[stream], world.managed[stream],
	                     world.buffer[stream][0], 71));
	CALL(cuCtxSynchronize());
	fuzz_see(((const unsigned *)(uintptr_t)world.managed[stream])[iteration % WORDS]);
}

/* ---- the program's own graphs ---- */

static CUresult capture(int stream, int launches, int mode, unsigned argument, CUgraph *graph)
{
	static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
	                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
	                                            CU_STREAM_CAPTURE_MODE_RELAXED};
	CUresult result = CALL(cuStreamBeginCapture(world.stream[stream], modes[fuzz_in(mode, 3)]));
	size_t nodes = 0;

	if (result != CUDA_SUCCESS)
		return result;
	for (int i = 0; i < launches; i++)
		CALL(fuzz_work(stream, i + 1, argument + (unsigned)i));
	result = CALL(cuStreamEndCapture(world.stream[stream], graph));
	if (result == CUDA_SUCCESS)
		CALL(cuGraphGetNodes(*graph, NULL, &nodes));
	fuzz_see(nodes);
	return result;
}

static void drop_graph(int stream)
{
	if (world.exec[stream] != NULL) {
		CALL(cuGraphExecDestroy(world.exec[stream]));
		CALL(cuGraphDestroy(world.graph[stream]));
	}
	world.exec[stream] = NULL;
	world.graph[stream] = NULL;
}

void fuzz_capture(int s, int launches, int mode)
{
	int stream = fuzz_stream_of(s);

	CALL(cuStreamSynchronize(world.stream[stream]));
	drop_graph(stream);
	if (capture(stream, fuzz_in(launches, 5) + 1, mode, 81, &world.graph[stream]) != CUDA_SUCCESS)
		return;
	if (CALL(cuGraphInstantiate(&world.exec[stream], world.graph[stream], 0)) != CUDA_SUCCESS) {
		cuGraphDestroy(world.graph[stream]);
		world.exec[stream] = NULL;
	}
}

void fuzz_replay(int s)
{
	int stream = fuzz_stream_of(s);

	if (world.exec[stream] != NULL)
		CALL(cuGraphLaunch(world.exec[stream], world.stream[stream]));
}

void fuzz_capture_again(int s, int change)
{
	int stream = fuzz_stream_of(s);
	CUgraphExecUpdateResultInfo info = {0};
	CUgraph graph = NULL;
	size_t nodes = 0;

	if (world.exec[stream] == NULL)
		return;
	CALL(cuGraphGetNodes(world.graph[stream], NULL, &nodes));
	/* Sometimes one too many, which the update refuses. */
	if (capture(stream, (int)nodes + (change % 4 == 3), 2, fuzz_changing(change), &graph) !=
	    CUDA_SUCCESS)
		return;
	CALL(cuGraphExecUpdate(world.exec[stream], graph, &info));
	fuzz_see(info.result);
	CALL(cuGraphLaunch(world.exec[stream], world.stream[stream]));
	CALL(cuGraphDestroy(graph));
}

void fuzz_capture_broken(int s, int how)
{
	int stream = fuzz_stream_of(s);
	CUgraph graph = NULL;

	if (CALL(cuStreamBeginCapture(world.stream[stream], CU_STREAM_CAPTURE_MODE_RELAXED)) !=
	    CUDA_SUCCESS)
		return;
	CALL(fuzz_work(stream, 1, 91));
	if (fuzz_in(how, 2) == 0)
		CALL(cuStreamSynchronize(world.stream[stream]));
	else
		CALL(cuStreamQuery(world.stream[stream]));
	CALL(fuzz_work(stream, 1, 92));
	if (CALL(cuStreamEndCapture(world.stream[stream], &graph)) == CUDA_SUCCESS)
		cuGraphDestroy(graph);
	CALL(fuzz_work(stream, 1, 93));
}

/* ---- attributes and lifetimes ---- */

void fuzz_shared_limit(int kib)
{
	CALL(cuFuncSetAttribute(world.shared_mix, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	                        1024 * fuzz_in(kib, 100)));
}

void fuzz_stream_anew(int s)
{
	int stream = fuzz_stream_of(s);

	if (stream == LEGACY || stream == PER_THREAD)
		return;
	CALL(fuzz_work(stream, 2, 101));
	CALL(cuStreamDestroy(world.stream[stream]));
	CALL(cuCtxSynchronize());
	world.stream[stream] = fuzz_new_stream(stream);
}

void fuzz_module_anew(void)
{
	/* What was captured may name its functions. */
	CALL(cuCtxSynchronize());
	for (int stream = 0; stream < STREAMS; stream++)
		drop_graph(stream);
	CALL(cuModuleUnload(world.module));
	CALL(fuzz_load_module());
}

/* ---- the host and the device, and two streams, waiting for each other ---- */

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Nobody else writes the word meanwhile: there is one for each way of waiting. Who polls in vain
 * for a while leaves the processor to others. */
void fuzz_mapped_poll(int s)
{
	const struct timespec rest = {0, 100000};
	int stream = fuzz_stream_of(s);
	unsigned value = ++world.ticks;
	time_t begin = now();

	CALL(fuzz_signal_on(world.stream[stream], world.mapped_device, value));
	for (int polls = 0; world.mapped[0] != value; polls++) {
		if (polls > 500)
			nanosleep(&rest, NULL);
		if (now() - begin > 8) {
			printf("stuck: what a kernel wrote was never seen\n");
			exit(4);
		}
	}
	fuzz_see(world.mapped[0]);
}

void fuzz_mapped_flag(int s)
{
	int stream = fuzz_stream_of(s);
	unsigned value = world.mapped[1] + 1;

	CALL(fuzz_spin_on(stream, world.mapped_device + 4, value));
	CALL(fuzz_work(stream, 1, 111));
	world.mapped[1] = value;
}

void fuzz_spin_across(int way)
{
	int from = way % 2 ? FREE : URGENT, to = way % 2 ? URGENT : FREE;
	unsigned value = ++world.signals;

	CALL(fuzz_spin_on(from, world.flag, value));
	CALL(fuzz_signal_on(world.stream[to], world.flag, value));
	/* The next one may come on other streams, but signals rise in order. */
	CALL(cuEventRecord(world.handing[0], world.stream[from]));
	CALL(cuStreamWaitEvent(world.stream[to], world.handing[0], 0));
}

/* ---- time ---- */

void fuzz_think(int us)
{
	fuzz_wait_host((unsigned)fuzz_in(us, 300));
}

void fuzz_pause(int us)
{
	struct timespec time = {0, fuzz_in(us, 1000) * 1000L};

	nanosleep(&time, NULL);
}
