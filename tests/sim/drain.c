#include "drain.h"

#include "context.h"
#include "hang.h"
#include "object.h"
#include "op.h"
#include "schedule.h"
#include "stream.h"

void sim_drain_pass(struct sim_context *context)
{
	struct sim_waiter waiter;

	if (!context->drained_by)
		return;
	sim_hang_wait_behind(&waiter, context);
	while (context->drained_by)
		sim_schedule_pause();
	sim_hang_waited(&waiter);
}

static void begin(struct sim_context *context)
{
	sim_drain_pass(context);
	context->drained_by = sim_self()->id;
}

static void end(struct sim_context *context)
{
	context->drained_by = 0;
	sim_schedule_wake();
}

void sim_drain(struct sim_context *context)
{
	struct sim_op *op;

	begin(context);
	while ((op = sim_context_unfinished(context)))
		sim_schedule_finish(op);
	end(context);
}

void sim_drain_op(struct sim_context *context, struct sim_op *op)
{
	sim_op_keep(op);
	begin(context);
	sim_schedule_finish(op);
	end(context);
	sim_op_drop(op);
}

/* What is given to the device meanwhile is not waited for: others go on. */
void sim_drain_device(CUdevice device)
{
	VECTOR(struct sim_op *) given = {0};
	struct sim_object *object;
	size_t i;

	for (object = sim_object_newest(SIM_A_CONTEXT); object; object = object->older) {
		struct sim_context *context = (struct sim_context *)object;

		for (i = 0; context->device == device && i < context->streams.count; i++)
			if (context->streams.at[i]->last)
				sim_push(&given, sim_op_keep(context->streams.at[i]->last));
		for (i = 0; context->device == device && i < context->orphans.count; i++)
			sim_push(&given, sim_op_keep(context->orphans.at[i].op));
	}
	for (i = 0; i < given.count; i++) {
		sim_schedule_finish(given.at[i]);
		sim_op_drop(given.at[i]);
	}
	sim_clear(&given);
}

CUresult sim_drain_synchronize(struct sim_context *context)
{
	CUresult result;

	begin(context);
	result = sim_context_synchronize(context);
	end(context);
	return result;
}

void sim_heap_take(struct sim_context *context, struct sim_heap *heap, size_t amount)
{
	heap->taken += amount;
	if (heap->taken <= heap->room)
		return;
	sim_drain(context);
	if (heap->taken > heap->room)
		heap->room = heap->taken;
}

/* What outlives its context gives back to a heap that has begun anew. */
void sim_heap_give(struct sim_heap *heap, size_t amount)
{
	heap->taken -= amount < heap->taken ? amount : heap->taken;
}
