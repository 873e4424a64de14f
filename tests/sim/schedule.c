#include "schedule.h"

#include <time.h>

#include "api.h"
#include "context.h"
#include "hang.h"
#include "log.h"
#include "options.h"
#include "worker.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t something_ready = PTHREAD_COND_INITIALIZER;
static VECTOR(struct sim_op *) ready;

static uint64_t draw(void)
{
	static uint64_t state;
	uint64_t z;

	if (state == 0)
		state = sim_options()->seed;
	z = (state += 0x9E3779B97F4A7C15u);
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

void sim_schedule_ready(struct sim_op *op)
{
	op->state = SIM_OP_READY;
	op->ready_position = ready.count;
	sim_push(&ready, op);
	pthread_cond_signal(&something_ready);
}

size_t sim_schedule_ready_count(void)
{
	return ready.count;
}

void sim_schedule_wake(void)
{
	pthread_cond_broadcast(&changed);
}

static void remove_ready(struct sim_op *op)
{
	struct sim_op *last = ready.at[--ready.count];

	ready.at[op->ready_position] = last;
	last->ready_position = op->ready_position;
}

/* Waits for a change, at most so long. */
static void wait_ms(unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&changed, &sim_lock, &until);
}

void sim_schedule_pause(void)
{
	wait_ms(10);
}

/* The host function that began last, kept. */
static struct sim_op *function;

static void note_function(struct sim_op *op)
{
	sim_op_drop(function);
	function = sim_op_keep(op);
}

struct sim_op *sim_schedule_function(const struct sim_context *context)
{
	return function && function->context == context && function->state == SIM_OP_RUNNING ? function
	                                                                                     : NULL;
}

/* Once its context is broken nothing runs any more; what was enqueued counts as finished. */
static void run(struct sim_op *op)
{
	remove_ready(op);
	op->state = SIM_OP_RUNNING;
	if (op->context->error == CUDA_SUCCESS)
		sim_log_op(op);
	if (op->work && op->context->error == CUDA_SUCCESS) {
		if (op->work->kind == SIM_HOST || op->work->kind == SIM_CALLBACK)
			note_function(op);
		if (sim_work_blocks(op->work)) {
			unsigned int patience;

			sim_op_keep(op);
			sim_worker_run(op);
			/* A host function may need a lock that this thread holds: it is not waited for longer
			 * than this. */
			for (patience = 0; !op->settled && op->state == SIM_OP_RUNNING && patience < 50;
			     patience++)
				wait_ms(1);
			sim_op_drop(op);
			return;
		}
		sim_context_break(op->context, sim_work_run(op->work));
	}
	sim_op_finish(op);
	sim_schedule_wake();
}

/* The ready op that was enqueued first or, with `last`, last; of those wanted only, if `wanted`. */
static struct sim_op *pick(bool last, bool wanted)
{
	struct sim_op *best = NULL;
	size_t i;

	for (i = 0; i < ready.count; i++) {
		struct sim_op *op = ready.at[i];

		if (wanted && !op->wanted)
			continue;
		if (!best || (last ? op->sequence > best->sequence : op->sequence < best->sequence))
			best = op;
	}
	return best;
}

/* The op to run while something waits. */
static struct sim_op *pick_for_waiter(void)
{
	struct sim_op *op;

	switch (sim_options()->schedule) {
	case SIM_EAGER:
		return pick(false, false);
	case SIM_RANDOM:
		return ready.count ? ready.at[draw() % ready.count] : NULL;
	case SIM_LAST:
		return pick(true, false);
	case SIM_LAZY:
		/* What runs already may spin until an op runs that nobody asked for. */
		op = pick(false, true);
		return op ? op : pick(false, false);
	}
	return NULL;
}

/* The longest time that nobody waits for work: then whatever may run does. */
static void *run_patiently(void *unused)
{
	const struct timespec pause = {0, (long)sim_options()->patience_ms * 1000000};

	(void)unused;
	pthread_mutex_lock(&sim_lock);
	for (;;) {
		unsigned long calls = sim_calls();

		while (ready.count == 0)
			pthread_cond_wait(&something_ready, &sim_lock);
		pthread_mutex_unlock(&sim_lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&sim_lock);
		while (ready.count && calls == sim_calls())
			run(pick(false, false));
	}
	return NULL;
}

static void start_patience(void)
{
	static bool started;

	if (started || sim_options()->patience_ms == 0)
		return;
	started = true;
	sim_worker_start(run_patiently, NULL);
}

void sim_schedule_enqueued(void)
{
	struct sim_op *op;

	switch (sim_options()->schedule) {
	case SIM_EAGER:
		while ((op = pick(false, false)))
			run(op);
		return;
	case SIM_RANDOM:
		while (ready.count && draw() % 4 == 0)
			run(ready.at[draw() % ready.count]);
		break;
	case SIM_LAZY:
	case SIM_LAST:
		break;
	}
	start_patience();
}

/* Marks the op and all that it waits for. Ops never wait for later ones, so this ends. */
static void want(struct sim_op *op)
{
	VECTOR(struct sim_op *) open = {0};
	size_t i;

	sim_push(&open, op);
	while (open.count) {
		op = open.at[--open.count];
		if (op->wanted)
			continue;
		op->wanted = true;
		for (i = 0; i < op->before.count; i++)
			sim_push(&open, op->before.at[i]);
	}
	sim_clear(&open);
}

void sim_schedule_finish(struct sim_op *op)
{
	struct sim_waiter waiter;

	if (!op || op->state == SIM_OP_DONE)
		return;
	sim_op_keep(op);
	want(op);
	sim_hang_wait(&waiter, op);
	while (op->state != SIM_OP_DONE) {
		struct sim_op *next = pick_for_waiter();

		if (next)
			run(next);
		else
			sim_schedule_pause();
	}
	sim_hang_waited(&waiter);
	sim_op_drop(op);
}

void sim_schedule_wait(struct sim_op *op)
{
	if (op)
		sim_op_keep(op);
	sim_schedule_finish(op);
	sim_op_waited(op);
	sim_op_drop(op);
}

bool sim_schedule_look(struct sim_op *op)
{
	if (op && op->state != SIM_OP_DONE && sim_options()->schedule != SIM_EAGER) {
		struct sim_op *next;

		want(op);
		next = pick(false, true);
		if (!next)
			next = pick(false, false);
		if (next)
			run(next);
	}
	if (op && op->state != SIM_OP_DONE) {
		sim_hang_polled();
		return false;
	}
	return true;
}

bool sim_schedule_query(struct sim_op *op)
{
	if (!sim_schedule_look(op))
		return false;
	/* In relaxed mode a layer asks, on the program's thread, so that no capture of the program's
	 * ends for it: the program does not learn the answer. */
	if (sim_self()->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		sim_op_waited(op);
	return true;
}
