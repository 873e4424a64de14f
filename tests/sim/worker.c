#include "worker.h"

#include <signal.h>
#include <time.h>

#include "context.h"
#include "schedule.h"

static _Thread_local struct sim_op *current;

static VECTOR(struct sim_op *) queue;
static unsigned int idle;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;

void sim_worker_start(void *(*function)(void *), void *argument)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, function, argument) != 0)
		sim_misuse("no thread");
	pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&sim_lock);
	for (;;) {
		idle++;
		while (queue.count == 0)
			pthread_cond_wait(&queued, &sim_lock);
		idle--;
		current = queue.at[0];
		sim_remove(&queue, 0);
		sim_context_break(current->context, sim_work_run(current->work));
		sim_op_finish(current);
		current = NULL;
		sim_schedule_wake();
		sim_schedule_submitted();
	}
	return NULL;
}

void sim_worker_run(struct sim_op *op)
{
	sim_push(&queue, op);
	if (idle < queue.count)
		sim_worker_start(work, NULL);
	else
		pthread_cond_signal(&queued);
}

void sim_worker_pause(void)
{
	static const struct timespec nap = {0, 20000};

	if (!current)
		sim_misuse("a kernel pauses that is not declared with SPINNING_KERNEL");
	if (!current->settled) {
		current->settled = true;
		sim_schedule_wake();
	}
	pthread_mutex_unlock(&sim_lock);
	nanosleep(&nap, NULL);
	pthread_mutex_lock(&sim_lock);
}
