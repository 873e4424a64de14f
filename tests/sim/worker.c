#include "worker.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "context.h"
#include "hang.h"
#include "schedule.h"

/* A spinning kernel looks often at first, then less and less. */
#define LEAST_NAP_NS 20000
#define MOST_NAP_NS 1000000

static _Thread_local struct sim_worker self;
static struct sim_worker *workers;

static VECTOR(struct sim_op *) queue;
static unsigned int idle;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;

struct sim_worker *sim_workers(void)
{
	return workers;
}

size_t sim_workers_due(void)
{
	return queue.count;
}

struct task {
	void *(*function)(void *);
	void *argument;
};

static void *begin(void *argument)
{
	struct task task = *(struct task *)argument;
	struct sim_worker **link;
	void *result;

	free(argument);
	pthread_mutex_lock(&sim_lock);
	self.tid = gettid();
	self.next = workers;
	workers = &self;
	pthread_mutex_unlock(&sim_lock);
	result = task.function(task.argument);
	pthread_mutex_lock(&sim_lock);
	for (link = &workers; *link != &self; link = &(*link)->next)
		;
	*link = self.next;
	pthread_mutex_unlock(&sim_lock);
	return result;
}

void sim_worker_start(void *(*function)(void *), void *argument)
{
	struct task *task = malloc(sizeof(*task));
	sigset_t all, before;
	pthread_t thread;

	if (!task)
		sim_misuse("out of host memory");
	*task = (struct task){function, argument};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, begin, task) != 0)
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
		self.op = queue.at[0];
		self.nap_ns = LEAST_NAP_NS;
		sim_remove(&queue, 0);
		sim_context_break(self.op->context, sim_work_run(self.op->work));
		sim_op_finish(self.op);
		self.op = NULL;
		sim_schedule_wake();
		sim_schedule_enqueued();
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
	uint64_t now = sim_calls() + sim_now();
	struct timespec nap;

	if (!self.op)
		sim_misuse("a kernel pauses that is not declared with SPINNING_KERNEL");
	if (!self.op->settled) {
		self.op->settled = true;
		sim_schedule_wake();
		sim_hang_suspect();
	}
	self.nap_ns = now != self.seen ? LEAST_NAP_NS : self.nap_ns + self.nap_ns / 16;
	if (self.nap_ns > MOST_NAP_NS)
		self.nap_ns = MOST_NAP_NS;
	self.seen = now;
	self.pauses++;
	nap = (struct timespec){0, self.nap_ns};
	pthread_mutex_unlock(&sim_lock);
	nanosleep(&nap, NULL);
	pthread_mutex_lock(&sim_lock);
}
