#include "op.h"

#include "context.h"
#include "log.h"
#include "options.h"
#include "schedule.h"

/* Every op takes this much virtual time. */
#define OP_NS 1000

static struct sim_op *unused;
static uint64_t sequences;
static uint64_t now;
static uint64_t
	host; /* the sequence of the host's last wait, a point in the order like any other */

uint64_t sim_now(void)
{
	return now;
}

struct sim_op *sim_op_new(struct sim_context *context, struct sim_place place,
                          struct sim_work *work)
{
	struct sim_op *op = unused;

	if (op)
		unused = op->next_free;
	else if (!(op = calloc(1, sizeof(*op))))
		sim_misuse("out of host memory");
	op->work = work ? sim_work_keep(work) : NULL;
	op->context = context;
	op->place = place;
	op->sequence = 0;
	op->ended_ns = 0;
	op->priority = 0;
	op->references = 1;
	op->unmet = 0;
	op->state = SIM_OP_MADE;
	op->wanted = op->settled = false;
	op->before.count = op->after.count = op->edges.count = 0;
	return op;
}

struct sim_op *sim_op_keep(struct sim_op *op)
{
	op->references++;
	return op;
}

void sim_op_drop(struct sim_op *op)
{
	if (!op || --op->references > 0)
		return;
	if (op->work)
		sim_work_drop(op->work);
	op->next_free = unused;
	unused = op;
}

void sim_op_after(struct sim_op *op, struct sim_op *before)
{
	if (!before)
		return;
	if (sim_options()->log)
		sim_push(&op->edges, before->sequence);
	if (before->state == SIM_OP_DONE)
		return;
	sim_push(&op->before, sim_op_keep(before));
	sim_push(&before->after, op);
	op->unmet++;
}

void sim_op_waited(const struct sim_op *op)
{
	if (!op || !sim_options()->log)
		return;
	/* Whether it fails in the wait or was seen to have failed before is a matter of time. */
	if (op->context && op->context->error)
		return;
	sequences++;
	sim_log_wait(sequences, host, op->sequence);
	host = sim_self()->waited = sequences;
}

void sim_op_enqueue(struct sim_op *op)
{
	op->sequence = ++sequences;
	op->host = host;
	op->own = sim_self()->waited;
	sim_op_keep(op);
	op->state = SIM_OP_BLOCKED;
	if (op->unmet == 0)
		sim_schedule_ready(op);
}

void sim_op_finish(struct sim_op *op)
{
	size_t i;

	op->state = SIM_OP_DONE;
	if (op->work)
		now += OP_NS;
	op->ended_ns = now;
	for (i = 0; i < op->before.count; i++)
		sim_op_drop(op->before.at[i]);
	op->before.count = 0;
	for (i = 0; i < op->after.count; i++)
		if (--op->after.at[i]->unmet == 0 && op->after.at[i]->state == SIM_OP_BLOCKED)
			sim_schedule_ready(op->after.at[i]);
	op->after.count = 0;
	sim_op_drop(op);
}
