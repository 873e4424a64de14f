#include "drain.h"

#include "context.h"
#include "hang.h"
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
