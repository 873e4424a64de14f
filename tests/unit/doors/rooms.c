#include "rooms.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "../../../preload/doors.h"
#include "../../../preload/entry_points.h"
#include "../../../preload/scope.h"
#include "base/gate.h"
#include "base/inside.h"
#include "process/process.h"
#include "graph/neighbours.h"
#include "lane/loading.h"
#include "stats/counters.h"

_Atomic uint32_t reprise_attention, reprise_holding;
bool reprise_reporting;

static int *inside(void)
{
	return &reprise_inside;
}

static bool gives_work(void)
{
	return reprise_gate_thread.slot != NULL && reprise_gate_thread.slot->giving != 0;
}

static bool waits(void)
{
	return reprise_gate_thread.waiting > 0;
}

static bool is_strict(const char *name)
{
	unsigned int entry = reprise_spare_take(name, NULL);

	return entry >= REPRISE_ENTRY_STRICT && entry < REPRISE_DOOR_COUNT;
}

extern struct rooms rooms;
__attribute__((
	visibility("default"))) struct rooms rooms = {.attention = &reprise_attention,
                                                  .inside = inside,
                                                  .is_in_doubt = reprise_gate_is_in_doubt,
                                                  .gives_work = gives_work,
                                                  .waits = waits,
                                                  .is_strict = is_strict,
                                                  .own_definition = reprise_own_definition};

#define TOLD(room, ...) \
	do { \
		const uint64_t values_[] = {__VA_ARGS__}; \
\
		if (rooms.told != NULL) \
			rooms.told(room, sizeof(values_) / sizeof(values_[0]), values_); \
	} while (0)

#define VALUE(value) (uint64_t)(uintptr_t)(value)

/* A door that adds the attribute keeps it on its stack, and leaves the rest of the configuration
 * empty. */
static void tell_cooperative(const CUlaunchConfig *config)
{
	TOLD("cooperative", config->numAttrs, config->attrs[0].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
	     (uint64_t)config->attrs[0].value.cooperative);
}

static void tell_kernel(const struct reprise_call_kernel *kernel)
{
	bool added = kernel->config != NULL && kernel->config->gridDimX == 0;

	TOLD("kernel", VALUE(kernel->function), kernel->grid[0], kernel->grid[1], kernel->grid[2],
	     kernel->block[0], kernel->block[1], kernel->block[2], kernel->shared_bytes,
	     VALUE(kernel->params), VALUE(kernel->extra), added ? 0 : VALUE(kernel->config));
	if (added)
		tell_cooperative(kernel->config);
}

static void tell_op(const struct reprise_call *call)
{
	TOLD("op", call->kind, VALUE(call->stream), call->per_thread, call->from != NULL);
	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		tell_kernel(&call->kernel);
		break;
	case REPRISE_OP_COPY:
		TOLD("copy", call->copy.form, call->copy.target, call->copy.source, call->copy.bytes,
		     VALUE(call->copy.target_context), VALUE(call->copy.source_context));
		break;
	case REPRISE_OP_SET:
		TOLD("set", call->set.target, call->set.pitch, call->set.plane, call->set.value,
		     call->set.element_bytes, call->set.width, call->set.height);
		break;
	case REPRISE_OP_HOST:
		TOLD("host", VALUE(call->host.function), VALUE(call->host.data));
		break;
	default: /* a descriptor or an event: a pointer */
		TOLD("of", VALUE(call->event));
	}
}

/* Leaves nothing in the registers that a called function may use: what is in them afterwards, a
 * door has kept. */
static void trash_registers(void)
{
#if defined(__x86_64__)
	__asm__ volatile(
		"xor %%eax, %%eax; mov %%rax, %%rcx; mov %%rax, %%rdx; mov %%rax, %%rsi; mov %%rax, %%rdi;"
		"mov %%rax, %%r8; mov %%rax, %%r9; mov %%rax, %%r10; mov %%rax, %%r11;"
		"pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2; pxor %%xmm3, %%xmm3;"
		"pxor %%xmm4, %%xmm4; pxor %%xmm5, %%xmm5; pxor %%xmm6, %%xmm6; pxor %%xmm7, %%xmm7" ::
			: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
			  "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc");
#elif defined(__aarch64__)
	__asm__ volatile(
		"mov x0, #0; mov x1, #0; mov x2, #0; mov x3, #0; mov x4, #0; mov x5, #0; mov x6, #0; mov x7, #0;"
		"mov x8, #0; mov x16, #0; mov x17, #0;"
		"movi v0.2d, #0; movi v1.2d, #0; movi v2.2d, #0; movi v3.2d, #0;"
		"movi v4.2d, #0; movi v5.2d, #0; movi v6.2d, #0; movi v7.2d, #0" ::
			: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x16", "x17", "v0", "v1", "v2",
			  "v3", "v4", "v5", "v6", "v7");
#endif
}

enum reprise_mode reprise_start(void)
{
	const char *mode = getenv("ROOMS_MODE");

	__atomic_fetch_add(&rooms.starts, 1, __ATOMIC_RELAXED);
	trash_registers();
	if (mode == NULL)
		return REPRISE_MODE_ON;
	return strcmp(mode, "off") == 0       ? REPRISE_MODE_OFF
	       : strcmp(mode, "observe") == 0 ? REPRISE_MODE_OBSERVE
	       : strcmp(mode, "verify") == 0  ? REPRISE_MODE_VERIFY
	                                      : REPRISE_MODE_ON;
}

enum reprise_pass reprise_pass_begins_alone(CUstream stream, bool per_thread)
{
	if (!rooms.passes)
		return REPRISE_PASS_NOT;
	TOLD("pass", VALUE(stream), per_thread);
	trash_registers();
	return REPRISE_PASS_SCANNED;
}

bool reprise_pass_begins_scanned(CUstream stream, bool per_thread, struct reprise_scan_key key)
{
	TOLD("scan", VALUE(stream), per_thread, key.form != key.whole);
	reprise_gate_begin_giving(NULL);
	trash_registers();
	return true;
}

bool reprise_pass_begins_in_turn(CUstream stream, bool per_thread)
{
	TOLD("turn", VALUE(stream), per_thread);
	reprise_gate_begin_giving(NULL);
	trash_registers();
	return true;
}

CUresult reprise_handle_op(struct reprise_call *call)
{
	tell_op(call);
	rooms.ops++;
	rooms.call = *call;
	if (call->kind == REPRISE_OP_KERNEL && call->kernel.config != NULL)
		rooms.config = *call->kernel.config;
	return rooms.eager ? call->eager(call) : CUDA_SUCCESS;
}

CUresult reprise_handle_event(struct reprise_call *call)
{
	return reprise_handle_op(call);
}

void reprise_note_callback(CUstream stream, bool per_thread)
{
	TOLD("callback", VALUE(stream), per_thread);
	rooms.callbacks++;
	rooms.stream = stream;
	rooms.per_thread = per_thread;
	trash_registers();
}

void reprise_order(CUstream stream, bool per_thread)
{
	TOLD("order", VALUE(stream), per_thread);
	rooms.orders++;
	rooms.stream = stream;
	rooms.per_thread = per_thread;
	trash_registers();
}

void reprise_sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	TOLD("sync", what, handle, per_thread);
	rooms.syncs++;
	rooms.sync = what;
	rooms.handle = handle;
	rooms.per_thread = per_thread;
	if (rooms.unwind)
		rooms.frame_count = backtrace(rooms.frames, sizeof(rooms.frames) / sizeof(rooms.frames[0]));
	trash_registers();
}

void reprise_order_ends(void)
{
	TOLD("order ends");
}

CUresult reprise_wait(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	reprise_sync(what, handle, per_thread);
	return rooms.answer;
}

bool reprise_loading_begins(CUfunction function, enum reprise_function_call call)
{
	TOLD("loading", VALUE(function), call);
	return rooms.loads;
}

void reprise_loading_ends(CUfunction function, enum reprise_function_call call, bool succeeded)
{
	TOLD("loaded", VALUE(function), call, succeeded);
}

void reprise_loading_note_module(void)
{
	TOLD("module");
}

void reprise_event_met(CUevent event, bool recorded)
{
	TOLD("event", VALUE(event), recorded);
}

void reprise_meet_attributes(const CUlaunchConfig *config)
{
	TOLD("attributes", VALUE(config));
}

CUresult reprise_event_destroy(CUevent event, CUresult (*destroy)(CUevent event))
{
	TOLD("destroy", VALUE(event));
	reprise_sync(REPRISE_SYNC_EVENT_END, 0, false);
	return destroy(event);
}

void reprise_events_shared(void)
{
	TOLD("shared");
	rooms.shared++;
	reprise_sync(REPRISE_SYNC_ALL, 0, false);
}

void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	TOLD("lifetime", what, handle);
	rooms.lifetimes++;
	rooms.what = what;
	rooms.handle = handle;
	trash_registers();
}

void reprise_lifetime_ended(enum reprise_lifetime what, uintptr_t handle, CUresult result)
{
	TOLD("lifetime ended", what, handle, result);
	rooms.lifetimes_ended++;
	rooms.what_ended = what;
	rooms.handle_ended = handle;
	trash_registers();
}

void reprise_limit_begin(const struct reprise_limit *limit)
{
	TOLD("limit", limit->what, limit->handle, VALUE(limit->device), limit->bytes);
	rooms.lifetimes++;
	rooms.what = limit->what;
	rooms.handle = limit->handle;
	trash_registers();
}

void reprise_limit_end(const struct reprise_limit *limit)
{
	TOLD("limited", limit->what, limit->handle, VALUE(limit->device), limit->bytes);
	rooms.limits++;
	rooms.limit = *limit;
	trash_registers();
}

bool reprise_free_begin(CUdeviceptr address)
{
	TOLD("free", address);
	rooms.frees++;
	trash_registers();
	return true;
}

void reprise_free_end(void)
{
	TOLD("freed");
	rooms.frees_ended++;
	trash_registers();
}

void reprise_program_capture_begin(CUstream stream)
{
	TOLD("capture", VALUE(stream));
	rooms.begins++;
	rooms.stream = stream;
}

void reprise_program_capture_end(CUstream stream)
{
	TOLD("captured", VALUE(stream));
	rooms.ends++;
	rooms.stream = stream;
}

void reprise_observe_result(CUresult result)
{
	TOLD("result", result);
	rooms.observed++;
	rooms.result = result;
	trash_registers();
}

void reprise_stop(const char *reason)
{
	TOLD("stop");
	(void)reason;
	rooms.stops++;
	trash_registers();
}

int reprise_neighbours_begin(CUdevice device)
{
	TOLD("neighbour", VALUE(device));
	return device;
}

void reprise_neighbours_made(int answer, bool made)
{
	TOLD("neighbour made", VALUE(answer), made);
}

bool reprise_make_room(unsigned int tried)
{
	TOLD("room", tried);
	if (tried == 0)
		rooms.memory_shortages++;
	trash_registers();
	return tried < 2;
}

/* Nothing is ever captured here. */
void reprise_context_sync_begin(CUcontext context)
{
	TOLD("context", VALUE(context));
	rooms.context_syncs++;
}

void reprise_context_sync_end(CUcontext context)
{
	TOLD("context ends", VALUE(context));
	rooms.context_syncs_ended++;
}
