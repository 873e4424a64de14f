#include "context.h"

#include "api.h"
#include "array.h"
#include "capture.h"
#include "device.h"
#include "drain.h"
#include "event.h"
#include "exec.h"
#include "left.h"
#include "memory.h"
#include "module.h"
#include "options.h"
#include "pace.h"
#include "schedule.h"
#include "stream.h"

/* Measured on an H200: the 39th stream makes it wait. */
#define STREAMS_AT_FIRST 38

static struct sim_context *primaries[SIM_MOST_DEVICES];

/* As an H200 has them: what they are at first, and the least that they may be set to. */
static const struct {
	size_t first, least;
	CUresult unset, unread; /* CUDA_SUCCESS, or why they cannot be set or read */
} limits[CU_LIMIT_MAX] = {
	[CU_LIMIT_STACK_SIZE] = {1024, 0, CUDA_SUCCESS, CUDA_SUCCESS},
	[CU_LIMIT_PRINTF_FIFO_SIZE] = {8650752, 524288, CUDA_SUCCESS, CUDA_SUCCESS},
	[CU_LIMIT_MALLOC_HEAP_SIZE] = {8388608, 4194304, CUDA_SUCCESS, CUDA_SUCCESS},
	[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = {0, 0, CUDA_ERROR_UNSUPPORTED_LIMIT,
                                         CUDA_ERROR_UNSUPPORTED_LIMIT},
	[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = {2048, 0, CUDA_SUCCESS, CUDA_SUCCESS},
	[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = {64, 0, CUDA_SUCCESS, CUDA_SUCCESS},
	[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = {11796480, 3932160, CUDA_SUCCESS, CUDA_SUCCESS},
	[CU_LIMIT_SHMEM_SIZE] = {232448, 0, CUDA_ERROR_NOT_PERMITTED, CUDA_SUCCESS},
	[CU_LIMIT_CIG_ENABLED] = {0, 0, CUDA_ERROR_NOT_PERMITTED, CUDA_SUCCESS},
	[CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED] = {0, 0, CUDA_ERROR_UNSUPPORTED_LIMIT,
                                             CUDA_ERROR_UNSUPPORTED_LIMIT},
};

bool sim_context_alive(const struct sim_context *context)
{
	return sim_object_of(SIM_A_CONTEXT, context) && context->active;
}

void sim_context_break(struct sim_context *context, CUresult error)
{
	if (context->error == CUDA_SUCCESS)
		context->error = error;
}

struct sim_context *sim_context_of(CUcontext handle)
{
	struct sim_context *context = handle ? sim_object_of(SIM_A_CONTEXT, handle) : sim_current();

	return context && sim_context_alive(context) ? context : NULL;
}

static struct sim_context *context_new(CUdevice device, unsigned int flags)
{
	struct sim_context *context = sim_object_new(SIM_A_CONTEXT, sizeof(*context));

	context->device = device;
	context->flags = flags;
	return context;
}

static void activate(struct sim_context *context)
{
	size_t i;

	if (context->active)
		return;
	context->active = true;
	context->error = CUDA_SUCCESS;
	context->streams_created = 0;
	context->heaps.graphs = context->heaps.kernel_nodes =
		(struct sim_heap){.room = sim_options()->graph_room};
	context->heaps.streams = (struct sim_heap){.room = STREAMS_AT_FIRST};
	for (i = 0; i < CU_LIMIT_MAX; i++)
		context->limits[i] = limits[i].first;
	context->legacy = sim_stream_new(context, CU_STREAM_DEFAULT, 0, SIM_LEGACY_STREAM);
}

struct sim_context *sim_context_primary(CUdevice device)
{
	if (!primaries[device]) {
		primaries[device] = context_new(device, CU_CTX_SCHED_AUTO);
		primaries[device]->primary = true;
	}
	return primaries[device];
}

struct sim_op *sim_context_all(struct sim_context *context)
{
	struct sim_op *all = sim_op_new(context, context->legacy->place, NULL);
	size_t i;

	for (i = 0; i < context->streams.count; i++)
		sim_op_after(all, context->streams.at[i]->last);
	for (i = 0; i < context->orphans.count; i++)
		sim_op_after(all, context->orphans.at[i].op);
	return all;
}

struct sim_op *sim_context_unfinished(const struct sim_context *context)
{
	size_t i;

	for (i = 0; i < context->streams.count; i++)
		if (context->streams.at[i]->last && context->streams.at[i]->last->state != SIM_OP_DONE)
			return context->streams.at[i]->last;
	for (i = 0; i < context->orphans.count; i++)
		if (context->orphans.at[i].op->state != SIM_OP_DONE)
			return context->orphans.at[i].op;
	return NULL;
}

/* What has finished by now is known to have: nothing needs to be put behind it any more. What a
 * layer issued in the place of a thread's own stream stays, as that stream would: for the log. */
static void forget_orphans(struct sim_context *context, const struct sim_op *all)
{
	size_t i;

	for (i = context->orphans.count; i-- > 0;) {
		const struct sim_op *op = context->orphans.at[i].op;

		if (op->sequence > all->sequence ||
		    (sim_options()->log && (op->place.stream & SIM_PER_THREAD_PLACE) != 0))
			continue;
		sim_op_drop(context->orphans.at[i].op);
		sim_remove(&context->orphans, i);
	}
}

/* One wait for everything: which stream has which part of it is nobody's concern. */
CUresult sim_context_synchronize(struct sim_context *context)
{
	struct sim_op *all = sim_context_all(context);

	sim_op_enqueue(all);
	sim_schedule_enqueued();
	sim_schedule_wait(all);
	forget_orphans(context, all);
	sim_op_drop(all);
	return context->error;
}

/* Ends everything that belongs to the context. The handle itself stays. Measured: the work of the
 * device's other contexts is waited for, too. */
static void deactivate(struct sim_context *context)
{
	if (!context->active)
		return;
	sim_drain_device(context->device);
	sim_context_synchronize(context);
	/* Another thread may have been let in meanwhile. */
	if (!context->active)
		return;
	sim_left_in(context);
	sim_exec_forget_context(context);
	while (context->streams.count)
		sim_stream_free(context->streams.at[context->streams.count - 1]);
	while (context->events.count)
		sim_event_free(context->events.at[context->events.count - 1]);
	while (context->loaded.count)
		sim_loaded_free(context->loaded.at[context->loaded.count - 1]);
	sim_library_forget_context(context);
	sim_array_forget_context(context);
	sim_memory_forget_context(context);
	sim_clear(&context->peers);
	context->legacy = NULL;
	context->active = false;
}

static CUresult push(struct sim_context *context)
{
	struct sim_self *self = sim_self();

	if (self->depth == sizeof(self->stack) / sizeof(self->stack[0]))
		return CUDA_ERROR_OUT_OF_MEMORY;
	self->stack[self->depth++] = context;
	return CUDA_SUCCESS;
}

/* "The context is made current to the calling thread" by being pushed: cuCtxCreate. */
static CUresult create(CUcontext *made, unsigned int flags, CUdevice device)
{
	struct sim_context *context;
	CUresult result;

	if (!made)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (flags & ~(unsigned int)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	context = context_new(device, flags);
	result = push(context);
	if (result != CUDA_SUCCESS) {
		sim_object_free(context);
		return result;
	}
	activate(context);
	*made = (CUcontext)context;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device),
    (context, flags, device))
{
	return create(context, flags, device);
}

API(SIM_INIT, cuCtxCreate_v3,
    (CUcontext * context, CUexecAffinityParam *affinities, int count, unsigned int flags,
     CUdevice device),
    (context, affinities, count, flags, device))
{
	return count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(context, flags, device);
}

API(SIM_INIT, cuCtxCreate_v4,
    (CUcontext * context, CUctxCreateParams *params, unsigned int flags, CUdevice device),
    (context, params, flags, device))
{
	if (params && (params->numExecAffinityParams || params->cigParams))
		return CUDA_ERROR_NOT_SUPPORTED;
	return create(context, flags, device);
}

/* "If ctx is current to the calling thread then ctx will also be popped from the current thread's
 * context stack." */
static CUresult destroy(struct sim_context *context)
{
	deactivate(context);
	if (sim_current() == context)
		sim_self()->depth--;
	sim_object_free(context);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxDestroy_v2, (CUcontext handle), (handle))
{
	struct sim_context *context = sim_object_of(SIM_A_CONTEXT, handle);

	if (!context || context->primary || !handle)
		return CUDA_ERROR_INVALID_CONTEXT;
	return destroy(context);
}

API(SIM_CONTEXT, cuCtxAttach, (CUcontext * context, unsigned int flags), (context, flags))
{
	if (!context || flags)
		return CUDA_ERROR_INVALID_VALUE;
	sim_current()->attached++;
	*context = (CUcontext)sim_current();
	return CUDA_SUCCESS;
}

/* "Decrements the usage count of the context, and destroys the context if the usage count goes to
 * 0": it is current, so it is popped then. No GPU was asked. */
API(SIM_INIT, cuCtxDetach, (CUcontext handle), (handle))
{
	struct sim_context *context = sim_object_of(SIM_A_CONTEXT, handle);

	if (!context || context != sim_current() || (context->primary && context->attached == 0))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context->attached == 0)
		return destroy(context);
	context->attached--;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxPushCurrent_v2, (CUcontext handle), (handle))
{
	struct sim_context *context = sim_object_of(SIM_A_CONTEXT, handle);

	return context ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
}

API(SIM_INIT, cuCtxPopCurrent_v2, (CUcontext * popped), (popped))
{
	struct sim_self *self = sim_self();

	if (self->depth == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	self->depth--;
	if (popped)
		*popped = (CUcontext)self->stack[self->depth];
	return CUDA_SUCCESS;
}

/* "If ctx is NULL then the CUDA context previously current to the calling CPU thread is unbound and
 * CUDA_SUCCESS is returned." */
API(SIM_INIT, cuCtxSetCurrent, (CUcontext handle), (handle))
{
	struct sim_context *context = sim_object_of(SIM_A_CONTEXT, handle);
	struct sim_self *self = sim_self();

	if (handle && !context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (self->depth)
		self->depth--;
	return context ? push(context) : CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxGetCurrent, (CUcontext * context), (context))
{
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	*context = (CUcontext)sim_current();
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxGetDevice, (CUdevice * device), (device))
{
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = sim_current()->device;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxGetDevice_v2, (CUdevice * device, CUcontext handle), (device, handle))
{
	const struct sim_context *context = sim_context_of(handle);

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = context->device;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxGetFlags, (unsigned int *flags), (flags))
{
	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = sim_current()->flags;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxSetFlags, (unsigned int flags), (flags))
{
	if (flags & ~(unsigned int)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	sim_current()->flags = flags;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxGetId, (CUcontext handle, unsigned long long *id), (handle, id))
{
	const struct sim_context *context = sim_context_of(handle);

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	*id = context->object.serial;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuCtxGetApiVersion, (CUcontext handle, unsigned int *version), (handle, version))
{
	if (!sim_context_of(handle))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = 3020;
	return CUDA_SUCCESS;
}

/* Synchronising a context while one of its streams captures is prohibited, and invalidates the
 * capture. */
static CUresult synchronize(struct sim_context *context)
{
	CUresult result = sim_capture_prohibit_context(context);

	if (result != CUDA_SUCCESS)
		return result;
	sim_pace_wait(sim_pace_end());
	return sim_context_synchronize(context);
}

API(SIM_CONTEXT, cuCtxSynchronize, (void), ())
{
	return synchronize(sim_current());
}

API(SIM_INIT, cuCtxSynchronize_v2, (CUcontext handle), (handle))
{
	struct sim_context *context = sim_context_of(handle);

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	return context->error != CUDA_SUCCESS ? context->error : synchronize(context);
}

/* Measured: a limit that does not exist is an invalid value; CUDA_ERROR_UNSUPPORTED_LIMIT is for
 * those that the device lacks. */
API(SIM_CONTEXT, cuCtxGetLimit, (size_t * value, CUlimit limit), (value, limit))
{
	if (!value || limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (limits[limit].unread == CUDA_SUCCESS)
		*value = sim_current()->limits[limit];
	return limits[limit].unread;
}

/* Measured, of the stack size: it waits. */
API(SIM_CONTEXT, cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value))
{
	if (limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (limits[limit].unset != CUDA_SUCCESS)
		return limits[limit].unset;
	sim_drain(sim_current());
	sim_current()->limits[limit] = value > limits[limit].least ? value : limits[limit].least;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxResetPersistingL2Cache, (void), ())
{
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxGetCacheConfig, (CUfunc_cache * config), (config))
{
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	*config = CU_FUNC_CACHE_PREFER_NONE;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxSetCacheConfig, (CUfunc_cache config), (config))
{
	return config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxGetStreamPriorityRange, (int *least, int *greatest), (least, greatest))
{
	if (least)
		*least = SIM_LEAST_PRIORITY;
	if (greatest)
		*greatest = SIM_GREATEST_PRIORITY;
	return CUDA_SUCCESS;
}

struct sim_context *sim_context_retain_primary(CUdevice device)
{
	struct sim_context *context = sim_context_primary(device);

	context->retained++;
	activate(context);
	return context;
}

void sim_context_release_primary(CUdevice device)
{
	struct sim_context *context = sim_context_primary(device);

	if (--context->retained == 0)
		deactivate(context);
}

API(SIM_INIT, cuDevicePrimaryCtxRetain, (CUcontext * handle, CUdevice device), (handle, device))
{
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	*handle = (CUcontext)sim_context_retain_primary(device);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (sim_context_primary(device)->retained == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_context_release_primary(device);
	return CUDA_SUCCESS;
}

/* "Explicitly destroys and cleans up all resources associated with the current device": whoever
 * retained it may go on using it. */
API(SIM_INIT, cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
{
	struct sim_context *context;

	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	context = sim_context_primary(device);
	deactivate(context);
	context->flags = CU_CTX_SCHED_AUTO;
	if (context->retained)
		activate(context);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags), (device, flags))
{
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (flags & ~(unsigned int)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	sim_context_primary(device)->flags = flags;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active),
    (device, flags, active))
{
	const struct sim_context *context;

	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	context = sim_context_primary(device);
	if (flags)
		*flags = context->flags;
	if (active)
		*active = context->active;
	return CUDA_SUCCESS;
}
