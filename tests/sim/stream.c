#include "stream.h"

#include "api.h"
#include "attribute.h"
#include "capture.h"
#include "context.h"
#include "device.h"
#include "kernel_work.h"
#include "options.h"
#include "pace.h"
#include "schedule.h"

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned int flags, int priority,
                                  enum sim_stream_kind kind)
{
	struct sim_stream *stream;
	int i;

	if (kind == SIM_CREATED_STREAM)
		sim_heap_take(context, &context->heaps.streams, 1);
	stream = sim_object_new(SIM_A_STREAM, sizeof(*stream));
	stream->context = context;
	stream->kind = kind;
	stream->flags = flags;
	stream->priority = priority;
	stream->place.context = context->object.ordinal;
	stream->layers =
		kind == SIM_CREATED_STREAM && sim_self()->mode == CU_STREAM_CAPTURE_MODE_RELAXED;
	if (kind == SIM_CREATED_STREAM)
		stream->place.stream = ++context->streams_created;
	if (kind == SIM_PER_THREAD_STREAM) {
		stream->thread = sim_self()->id;
		stream->place.stream = (uint32_t)stream->thread | SIM_PER_THREAD_PLACE;
	}
	for (i = 0; i < CU_LAUNCH_ATTRIBUTE_MAX; i++)
		stream->attributes[i] = sim_attribute_default((CUlaunchAttributeID)i);
	stream->attributes[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority = priority;
	sim_push(&context->streams, stream);
	return stream;
}

static void forget_finished(sim_ops *ops)
{
	size_t i;

	for (i = ops->count; i-- > 0;) {
		if (ops->at[i]->state != SIM_OP_DONE)
			continue;
		sim_op_drop(ops->at[i]);
		sim_remove(ops, i);
	}
}

static void forget(sim_ops *ops)
{
	size_t i;

	for (i = 0; i < ops->count; i++)
		sim_op_drop(ops->at[i]);
	sim_clear(ops);
}

void sim_stream_free(struct sim_stream *stream)
{
	struct sim_context *context = stream->context;
	size_t i;

	sim_capture_abandon(stream);
	for (i = 0; context->streams.at[i] != stream; i++)
		;
	sim_remove(&context->streams, i);
	if (stream->kind == SIM_CREATED_STREAM)
		sim_heap_give(&context->heaps.streams, 1);
	/* For the log what has finished counts, too: whether it has is chance. */
	if (stream->last && (sim_options()->log || stream->last->state != SIM_OP_DONE))
		sim_push(&context->orphans, ((struct sim_orphan){stream->last, sim_stream_blocks(stream)}));
	else
		sim_op_drop(stream->last);
	forget(&stream->launched);
	forget(&stream->functions);
	sim_clear(&stream->tail);
	sim_clear(&stream->tail_data);
	sim_object_free(stream);
}

static struct sim_stream *per_thread(struct sim_context *context)
{
	uint64_t thread = sim_self()->id;
	size_t i;

	for (i = 0; i < context->streams.count; i++)
		if (context->streams.at[i]->kind == SIM_PER_THREAD_STREAM &&
		    context->streams.at[i]->thread == thread)
			return context->streams.at[i];
	return sim_stream_new(context, CU_STREAM_DEFAULT, 0, SIM_PER_THREAD_STREAM);
}

struct sim_stream *sim_stream_of(CUstream handle)
{
	struct sim_stream *stream;

	if (handle == NULL)
		return sim_stream_default();
	if (handle == CU_STREAM_LEGACY)
		return sim_current()->legacy;
	if (handle == CU_STREAM_PER_THREAD)
		return per_thread(sim_current());
	stream = sim_object_of(SIM_A_STREAM, handle);
	return stream && stream->kind == SIM_CREATED_STREAM ? stream : NULL;
}

struct sim_stream *sim_stream_default(void)
{
	return sim_self()->per_thread ? per_thread(sim_current()) : sim_current()->legacy;
}

void sim_stream_waits(struct sim_stream *stream, const struct sim_op *recorded)
{
	if (stream->layers && sim_stream_blocks(stream) && recorded &&
	    (recorded->place.stream & SIM_PER_THREAD_PLACE) != 0)
		stream->proxy = recorded->place;
}

/* What the host knows to have finished when it has waited for the stream: of a thread's own stream
 * also what a layer has issued in its place, if that has finished. */
static struct sim_op *last_known(const struct sim_stream *stream, struct sim_op *last)
{
	size_t i;

	for (i = 0; stream->kind == SIM_PER_THREAD_STREAM && i < stream->context->streams.count; i++) {
		const struct sim_stream *proxy = stream->context->streams.at[i];

		if (proxy->proxy.stream == stream->place.stream && proxy->last &&
		    proxy->last->state == SIM_OP_DONE && (!last || proxy->last->sequence > last->sequence))
			last = proxy->last;
	}
	return last;
}

bool sim_stream_blocks(const struct sim_stream *stream)
{
	return stream->kind != SIM_LEGACY_STREAM && !(stream->flags & CU_STREAM_NON_BLOCKING);
}

void sim_stream_order(struct sim_stream *stream, struct sim_op *op)
{
	struct sim_context *context = stream->context;
	size_t i;

	sim_op_after(op, stream->last);
	if (sim_stream_blocks(stream))
		sim_op_after(op, context->legacy->last);
	if (stream->kind != SIM_LEGACY_STREAM)
		return;
	for (i = 0; i < context->streams.count; i++)
		if (sim_stream_blocks(context->streams.at[i]))
			sim_op_after(op, context->streams.at[i]->last);
	for (i = 0; i < context->orphans.count; i++)
		if (context->orphans.at[i].blocks)
			sim_op_after(op, context->orphans.at[i].op);
}

void sim_stream_set_last(struct sim_stream *stream, struct sim_op *op)
{
	sim_op_drop(stream->last);
	stream->last = sim_op_keep(op);
}

void sim_stream_append(struct sim_stream *stream, struct sim_op *op)
{
	sim_stream_order(stream, op);
	sim_stream_set_last(stream, op);
}

/* Puts the op behind what precedes an op on the legacy stream of another context, and what comes
 * after such a one behind the op. */
static void join_legacy(struct sim_context *context, struct sim_op *op)
{
	sim_stream_order(context->legacy, op);
	sim_stream_set_last(context->legacy, op);
}

static bool is_function(const struct sim_work *work)
{
	return work && (work->kind == SIM_HOST || work->kind == SIM_CALLBACK);
}

/* What comes next turns from the host to the device. */
static bool turns(const struct sim_stream *stream)
{
	return stream->last && stream->last->state != SIM_OP_DONE && is_function(stream->last->work);
}

void sim_stream_make_turns(struct sim_stream *stream, size_t within, bool is_graph)
{
	size_t most = sim_options()->functions;

	if (most == 0)
		return;
	for (forget_finished(&stream->functions);
	     stream->functions.count > 0 && stream->functions.count + within + turns(stream) > most;
	     forget_finished(&stream->functions)) {
		if (is_graph)
			sim_drain_op(stream->context, stream->functions.at[0]);
		else
			sim_schedule_finish(stream->functions.at[0]);
	}
	if (turns(stream))
		sim_push(&stream->functions, sim_op_keep(stream->last));
}

void sim_stream_turned(struct sim_stream *stream, struct sim_op *graph, size_t within)
{
	for (; sim_options()->functions != 0 && within > 0; within--)
		sim_push(&stream->functions, sim_op_keep(graph));
}

void sim_stream_make_room(struct sim_stream *stream)
{
	if (sim_options()->pending == 0)
		return;
	for (forget_finished(&stream->launched); stream->launched.count >= sim_options()->pending;
	     forget_finished(&stream->launched))
		sim_schedule_finish(stream->launched.at[0]);
}

void sim_stream_launched(struct sim_stream *stream, struct sim_op *op)
{
	if (sim_options()->pending != 0)
		sim_push(&stream->launched, sim_op_keep(op));
}

CUresult sim_stream_add(struct sim_stream *stream, struct sim_work *work, struct sim_op **ran)
{
	return sim_stream_add_between(stream, NULL, NULL, work, ran);
}

CUresult sim_stream_add_between(struct sim_stream *stream, struct sim_context *a,
                                struct sim_context *b, struct sim_work *work, struct sim_op **ran)
{
	CUresult result;
	struct sim_op *op;

	if (ran)
		*ran = NULL;
	if (work->kind == SIM_KERNEL && !stream->capture)
		sim_stream_make_room(stream);
	if (!is_function(work) && !stream->capture)
		sim_stream_make_turns(stream, 0, false);
	sim_drain_pass(stream->context);
	if (stream->capture) {
		result = sim_capture_add(stream, work, NULL);
		sim_work_drop(work);
		return result;
	}
	result = sim_capture_prohibit_legacy(stream);
	if (result != CUDA_SUCCESS) {
		sim_work_drop(work);
		return result;
	}
	op = sim_op_new(stream->context, stream->proxy.stream ? stream->proxy : stream->place, work);
	op->priority = sim_kernel_work_priority(work, stream->priority);
	sim_work_drop(work);
	sim_stream_append(stream, op);
	if (stream->kind == SIM_LEGACY_STREAM && a && a != stream->context)
		join_legacy(a, op);
	if (stream->kind == SIM_LEGACY_STREAM && b && b != stream->context && b != a)
		join_legacy(b, op);
	sim_op_enqueue(op);
	if (op->work->kind == SIM_KERNEL)
		sim_stream_launched(stream, op);
	sim_schedule_enqueued();
	if (ran)
		*ran = op;
	else
		sim_op_drop(op);
	return CUDA_SUCCESS;
}

int sim_stream_priority(int priority)
{
	if (priority > SIM_LEAST_PRIORITY)
		return SIM_LEAST_PRIORITY;
	return priority < SIM_GREATEST_PRIORITY ? SIM_GREATEST_PRIORITY : priority;
}

/* "If priority is outside the range it is automatically clamped": cuStreamCreateWithPriority. */
static CUresult create(CUstream *stream, unsigned int flags, int priority)
{
	if (!stream || (flags & ~(unsigned int)CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	*stream = (CUstream)sim_stream_new(sim_current(), flags, sim_stream_priority(priority),
	                                   SIM_CREATED_STREAM);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuStreamCreate, (CUstream * stream, unsigned int flags), (stream, flags))
{
	return create(stream, flags, 0);
}

API(SIM_CONTEXT, cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
    (stream, flags, priority))
{
	return create(stream, flags, priority);
}

/* "In case the device is still doing work in the stream hStream when cuStreamDestroy() is called,
 * the function will return immediately". */
API(SIM_INIT, cuStreamDestroy_v2, (CUstream handle), (handle))
{
	struct sim_stream *stream = sim_object_of(SIM_A_STREAM, handle);

	if (!stream || stream->kind != SIM_CREATED_STREAM)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_stream_free(stream);
	return CUDA_SUCCESS;
}

/* Whether what an op on the legacy stream would wait for on other streams has finished, as
 * `finished` tells. */
static bool others_have_finished(const struct sim_context *context,
                                 bool (*finished)(struct sim_op *op))
{
	size_t i;

	for (i = 0; i < context->streams.count; i++)
		if (sim_stream_blocks(context->streams.at[i]) && !finished(context->streams.at[i]->last))
			return false;
	for (i = 0; i < context->orphans.count; i++)
		if (context->orphans.at[i].blocks && !finished(context->orphans.at[i].op))
			return false;
	return true;
}

/* Measured: the legacy stream has not finished before them. The host knows of all or of none: how
 * often it asks is chance. */
static bool has_finished(struct sim_stream *stream)
{
	if (stream->kind != SIM_LEGACY_STREAM)
		return sim_schedule_look(stream->last) &&
		       sim_schedule_query(last_known(stream, stream->last));
	return sim_schedule_look(stream->last) &&
	       others_have_finished(stream->context, sim_schedule_look) &&
	       others_have_finished(stream->context, sim_schedule_query) &&
	       sim_schedule_query(stream->last);
}

API_PTSZ(SIM_CONTEXT, cuStreamQuery, (CUstream handle), (handle))
{
	struct sim_stream *stream = sim_stream_of(handle);
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_capture_prohibit_question(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!has_finished(stream) || !sim_pace_has_reached(sim_pace_end()))
		return CUDA_ERROR_NOT_READY;
	return stream->context->error;
}

API_PTSZ(SIM_CONTEXT, cuStreamSynchronize, (CUstream handle), (handle))
{
	struct sim_stream *stream = sim_stream_of(handle);
	struct sim_context *context;
	struct sim_op *last;
	CUresult result;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_capture_prohibit_question(stream);
	if (result != CUDA_SUCCESS)
		return result;
	context = stream->context;
	sim_pace_wait(sim_pace_end());
	last = stream->last ? sim_op_keep(stream->last) : NULL;
	sim_schedule_finish(last);
	/* As with questions (schedule.c): in relaxed mode a layer waits. */
	if (sim_self()->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		sim_op_waited(last_known(stream, last));
	sim_op_drop(last);
	return context->error;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetPriority, (CUstream handle, int *priority), (handle, priority))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!priority)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*priority = stream->priority;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetFlags, (CUstream handle, unsigned int *flags), (handle, flags))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*flags = stream->flags;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetId, (CUstream handle, unsigned long long *id), (handle, id))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*id = stream->object.serial;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetDevice, (CUstream handle, CUdevice *device), (handle, device))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*device = stream->context->device;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetCtx, (CUstream handle, CUcontext *context), (handle, context))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*context = (CUcontext)stream->context;
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamGetCtx_v2, (CUstream handle, CUcontext *context, CUgreenCtx *green),
         (handle, context, green))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!context || !green)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*context = (CUcontext)stream->context;
	*green = (CUgreenCtx)stream->green;
	return CUDA_SUCCESS;
}

/* "Valid for streams": the documentation of CUlaunchAttributeID. */
static bool is_stream_attribute(CUstreamAttrID attribute)
{
	switch ((int)attribute) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		return true;
	default:
		return false;
	}
}

API_PTSZ(SIM_CONTEXT, cuStreamGetAttribute,
         (CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value),
         (handle, attribute, value))
{
	const struct sim_stream *stream = sim_stream_of(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!value || !is_stream_attribute(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	sim_attribute_tell(value, attribute, &stream->attributes[attribute]);
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamSetAttribute,
         (CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue *value),
         (handle, attribute, value))
{
	struct sim_stream *stream = sim_stream_of(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!value || !is_stream_attribute(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY &&
	    (value->syncPolicy < CU_SYNC_POLICY_AUTO ||
	     value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture && stream->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	stream->attributes[attribute] = *value;
	if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		stream->priority = sim_stream_priority(value->priority);
	return CUDA_SUCCESS;
}

API_PTSZ(SIM_CONTEXT, cuStreamCopyAttributes, (CUstream target, CUstream source), (target, source))
{
	struct sim_stream *to = sim_stream_of(target), *from = sim_stream_of(source);

	if (!to || !from)
		return CUDA_ERROR_INVALID_HANDLE;
	if (to->capture && to->capture->invalidated)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	memcpy(to->attributes, from->attributes, sizeof(to->attributes));
	to->priority = from->priority;
	to->model = from->place;
	return CUDA_SUCCESS;
}
