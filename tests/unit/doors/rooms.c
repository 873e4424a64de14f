#include "rooms.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/base/inside.h"
#include "../../../src/base/start.h"

_Atomic uint32_t reprise_attention;

static int *inside(void)
{
	return &reprise_inside;
}

extern struct rooms rooms;
__attribute__((visibility("default"))) struct rooms rooms = {.attention = &reprise_attention, .inside = inside};

enum reprise_mode reprise_start(void)
{
	const char *mode = getenv("ROOMS_MODE");

	rooms.starts++;
	return mode != NULL && strcmp(mode, "off") == 0 ? REPRISE_MODE_OFF : REPRISE_MODE_ON;
}

CUresult reprise_submit(const struct reprise_call *call)
{
	rooms.submits++;
	rooms.call = *call;
	if (call->kind == REPRISE_OP_KERNEL && call->kernel.config != NULL)
		rooms.config = *call->kernel.config;
	return rooms.pass ? call->pass(call) : CUDA_SUCCESS;
}

void reprise_order(CUstream stream, bool per_thread)
{
	rooms.orders++;
	rooms.stream = stream;
	rooms.per_thread = per_thread;
}

void reprise_sync(void)
{
	rooms.syncs++;
	if (rooms.unwind)
		rooms.frame_count = backtrace(rooms.frames, sizeof(rooms.frames) / sizeof(rooms.frames[0]));
}

void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	rooms.lifetimes++;
	rooms.what = what;
	rooms.handle = handle;
}

void reprise_capture_begin(CUstream stream)
{
	rooms.begins++;
	rooms.stream = stream;
}

void reprise_capture_end(CUstream stream)
{
	rooms.ends++;
	rooms.stream = stream;
}

void reprise_observe_result(CUresult result)
{
	rooms.observed++;
	rooms.result = result;
}

void reprise_stop(const char *reason)
{
	(void)reason;
	rooms.stops++;
}
