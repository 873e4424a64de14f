/* More than one context, and more than one device; captures' modes, which are a thread's. */
#include "ops.h"

/* From here on in another one: its streams, buffers and events are its own. */
void fuzz_enter(int which)
{
	fuzz_current = fuzz_world_of(which);
	fuzz_set_context(world.context);
}

/* Pushes the context of another world, and returns the world that was there. */
static struct fuzz_world *visit(int which)
{
	struct fuzz_world *before = fuzz_current, *other = fuzz_world_of(which);

	while (other == before)
		other = fuzz_world_of(++which);
	fuzz_current = other;
	fuzz_thread.context = world.context;
	CALL(cuCtxPushCurrent(world.context));
	return before;
}

static void leave(struct fuzz_world *before)
{
	fuzz_current = before;
	fuzz_thread.context = world.context;
	CALL(cuCtxPopCurrent(NULL));
}

/* Its legacy stream has the same handle as the other context's. */
void fuzz_other_context(int launches, int which)
{
	struct fuzz_world *before = visit(which);
	int stream = launches % 2 ? LEGACY : FREE;

	for (int i = 0; i <= fuzz_in(launches, 6); i++)
		CALL(fuzz_work(stream, i, (unsigned)i));
	if (launches % 3 == 0)
		CALL(cuStreamSynchronize(world.stream[stream]));
	leave(before);
}

/* What a stream of another context does comes after what this one's has done, or after all of this
 * context. */
void fuzz_across(int s, int how, int which)
{
	int stream = fuzz_stream_of(s);
	CUevent event = world.handing[1];
	struct fuzz_world *before;

	CALL(fuzz_work(stream, 0, 161));
	if (how % 3 == 2)
		CALL(cuCtxRecordEvent(world.context, event));
	else
		CALL(cuEventRecord(event, world.stream[stream]));
	before = visit(which);
	if (how % 3 == 1)
		CALL(cuCtxWaitEvent(world.context, event));
	else
		CALL(cuStreamWaitEvent(world.stream[FREE], event, 0));
	CALL(fuzz_work(FREE, 1, 162));
	CALL(fuzz_work(BLOCKING, 1, 163));
	leave(before);
}

/* All of the context waits for the stream, or the stream for all of the context. */
void fuzz_context_event(int s, int how)
{
	int stream = fuzz_stream_of(s);

	if (how % 2) {
		CALL(cuEventRecord(world.handing[1], world.stream[stream]));
		CALL(cuCtxWaitEvent(world.context, world.handing[1]));
	} else {
		CALL(cuCtxRecordEvent(world.context, world.handing[1]));
		CALL(cuStreamWaitEvent(world.stream[stream], world.handing[1], 0));
	}
	CALL(fuzz_work(stream, 1, 171));
}

unsigned fuzz_page[PAGE / 4] __attribute__((aligned(PAGE)));

/* A context with a stream that becomes hot; it ends with all that is in it, so that the page is not
 * registered any more. */
void fuzz_context_life(int launches)
{
	CUcontext context = NULL, before = fuzz_thread.context;
	CUmodule module = NULL;
	CUfunction mix = NULL;
	CUdeviceptr block = 0;
	CUstream stream = NULL;

	if (CALL(cuCtxCreate(&context, NULL, 0, world.device)) != CUDA_SUCCESS)
		return;
	fuzz_thread.context = context;
	CALL(cuModuleLoad(&module, fuzz_module_path()));
	CALL(cuModuleGetFunction(&mix, module, "mix"));
	CALL(cuMemAlloc(&block, WORDS * 4));
	CALL(cuMemsetD32(block, 1, WORDS));
	CALL(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	CALL(cuMemHostRegister(fuzz_page, PAGE, 0));
	for (int i = 0; i < 40 + fuzz_in(launches, 200); i++) {
		CALL(fuzz_launch_mix(mix, i % 50 < 49 ? stream : NULL, block, block, (unsigned)i % 5));
		if (i % 5 == 2)
			CALL(cuMemcpyHtoDAsync(block, fuzz_page, WORDS * 4, stream));
		if (i % 10 == 9)
			CALL(cuStreamSynchronize(stream));
	}
	if (launches % 2)
		CALL(cuCtxSynchronize());
	fuzz_thread.context = before;
	CALL(cuCtxDestroy(context));
}

void fuzz_capture_mode(int which)
{
	static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
	                                            CU_STREAM_CAPTURE_MODE_RELAXED,
	                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL};
	CUstreamCaptureMode mode = modes[fuzz_in(which, 3)];

	fuzz_thread.mode = mode;
	CALL(cuThreadExchangeStreamCaptureMode(&mode));
}
