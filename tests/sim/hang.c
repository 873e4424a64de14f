#include "hang.h"

#include <dirent.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "context.h"
#include "log.h"
#include "memory.h"
#include "options.h"
#include "schedule.h"
#include "worker.h"

#define LOOK_MS 10u /* between two looks */
#define LEAST_PAUSES \
	3 /* of a spinning kernel while nothing moves: a busy machine may not have let it look */
#define GRACE_MS \
	100u /* while all threads sleep for good; Reprise's watchdog issues what is deferred well \
	        within it */
#define MOST_WATCHED 4096 /* bytes behind an address that a spinning kernel was given */
#define MOST_OPS 64       /* in a report */

static pthread_cond_t suspected = PTHREAD_COND_INITIALIZER;
static struct sim_waiter *waiters;
static unsigned long polls;

static bool spins(const struct sim_worker *worker)
{
	return worker->op && worker->op->settled;
}

static bool is_suspicious(void)
{
	const struct sim_worker *worker;

	for (worker = sim_workers(); worker; worker = worker->next)
		if (spins(worker))
			return true;
	return waiters != NULL;
}

/* What a spinning kernel reads, others write: a race by nature. */
__attribute__((no_sanitize("thread"))) static uint64_t add_memory(uint64_t hash, const void *memory,
                                                                  size_t bytes)
{
	const volatile unsigned char *byte = memory;
	size_t i;

	for (i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return hash;
}

/* What lies behind an address, if it is one. */
static uint64_t add_address(uint64_t hash, uintptr_t address)
{
	const struct sim_memory *memory = sim_memory_of(address);
	size_t bytes = memory ? memory->bytes - (address - memory->base) : 0;

	return add_memory(hash, (const void *)address, bytes < MOST_WATCHED ? bytes : MOST_WATCHED);
}

/* What a spinning op may look at: what its parameters point to, and the variables of its module. */
static uint64_t add_watched(uint64_t hash, const struct sim_work *work)
{
	const struct sim_global *const *global;
	uintptr_t address;
	size_t i;

	if (work->kind == SIM_WAIT_VALUE)
		return add_address(hash, (uintptr_t)work->word.address);
	if (work->kind != SIM_KERNEL)
		return hash;
	for (i = 0; i + sizeof(address) <= work->kernel.function->code->parameter_bytes;
	     i += sizeof(address)) {
		memcpy(&address, work->kernel.bytes + i, sizeof(address));
		hash = add_address(hash, address);
	}
	for (global = work->kernel.function->owner->table->globals;
	     global < work->kernel.function->owner->table->globals_end; global++)
		hash = add_memory(hash, (*global)->address,
		                  (*global)->size < MOST_WATCHED ? (*global)->size : MOST_WATCHED);
	return hash;
}

/* A number that changes whenever something moves. */
static uint64_t movement(void)
{
	uint64_t counts[] = {sim_calls() - polls, sim_now(), sim_schedule_ready_count()};
	uint64_t hash = add_memory(0xcbf29ce484222325u, counts, sizeof(counts));
	const struct sim_worker *worker;

	for (worker = sim_workers(); worker; worker = worker->next)
		if (spins(worker))
			hash = add_watched(hash, worker->op->work);
	return hash;
}

/* Threads whose sleep says nothing: they wait for ops, or are the simulation's own. One that runs a
 * host function is the program's. */
static bool is_ours(pid_t tid)
{
	const struct sim_waiter *waiter;
	const struct sim_worker *worker;

	for (waiter = waiters; waiter; waiter = waiter->next)
		if (waiter->tid == tid)
			return true;
	for (worker = sim_workers(); worker; worker = worker->next)
		if (worker->tid == tid)
			return !worker->op || worker->op->settled;
	return false;
}

/* Whether a thread waits for another, without a limit: /proc tells the system call that it is in,
 * and its arguments. */
static bool sleeps_for_good(const char *tid)
{
	char path[64], text[256];
	unsigned long operation, value, limit;
	long number;
	bool read;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/syscall", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(text, sizeof(text), file) != NULL;
	fclose(file);
	return read && sscanf(text, "%ld %*x %lx %lx %lx", &number, &operation, &value, &limit) == 4 &&
	       number == SYS_futex && limit == 0;
}

static bool all_sleep_for_good(void)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	bool all = folder != NULL;

	while (all && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && !is_ours((pid_t)strtol(entry->d_name, NULL, 10)))
			all = sleeps_for_good(entry->d_name);
	if (folder)
		closedir(folder);
	return all;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char text[1024];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (write(STDERR_FILENO, text,
	          (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1) < 0)
		_exit(SIM_HANG_STATUS);
}

struct ops {
	struct sim_op *at[MOST_OPS];
	size_t count;
};

static void add_op(struct ops *ops, struct sim_op *op)
{
	size_t i;

	if (op->state == SIM_OP_DONE)
		return;
	for (i = 0; i < ops->count; i++)
		if (ops->at[i] == op)
			return;
	if (ops->count < MOST_OPS)
		ops->at[ops->count++] = op;
}

static int by_sequence(const void *a, const void *b)
{
	const struct sim_op *one = *(struct sim_op *const *)a, *other = *(struct sim_op *const *)b;

	return (one->sequence > other->sequence) - (one->sequence < other->sequence);
}

/* What threads wait for and what runs; what all that waits for; and what waits for what runs. */
static void gather(struct ops *ops)
{
	const struct sim_waiter *waiter;
	const struct sim_worker *worker;
	size_t i, j;

	for (waiter = waiters; waiter; waiter = waiter->next)
		if (waiter->op)
			add_op(ops, waiter->op);
	for (worker = sim_workers(); worker; worker = worker->next)
		if (worker->op)
			add_op(ops, worker->op);
	for (i = 0; i < ops->count; i++)
		for (j = 0; j < ops->at[i]->before.count; j++)
			add_op(ops, ops->at[i]->before.at[j]);
	for (i = 0; i < ops->count; i++)
		for (j = 0; j < ops->at[i]->after.count; j++)
			add_op(ops, ops->at[i]->after.at[j]);
	qsort(ops->at, ops->count, sizeof(ops->at[0]), by_sequence);
}

static void say_op(const struct sim_op *op)
{
	char work[512] = "a point in the order";
	const char *what = " waits for op ";
	size_t i;

	if (op->work)
		sim_log_describe(op, work, sizeof(work));
	say("  op %lu, context %u, stream %u: %s", op->sequence, op->place.context, op->place.stream,
	    work);
	if (op->state == SIM_OP_RUNNING)
		say(op->settled ? " spins" : " runs");
	for (i = 0; i < op->before.count; i++) {
		if (op->before.at[i]->state == SIM_OP_DONE)
			continue;
		say("%s%lu", what, op->before.at[i]->sequence);
		what = ", ";
	}
	say("\n");
}

static void say_waiter(const struct sim_waiter *waiter)
{
	say("  thread %lu, in %s, waits for ", waiter->thread, waiter->call);
	if (waiter->op)
		say("op %lu\n", waiter->op->sequence);
	else
		say("thread %lu\n", waiter->context->drained_by);
}

_Noreturn static void report(unsigned int ms, bool for_good)
{
	const struct sim_waiter *waiter;
	struct ops ops = {.count = 0};
	size_t i;

	say("simulated driver: a hang: nothing has moved for %u ms%s\n", ms,
	    for_good ? ", and all threads sleep" : "");
	for (waiter = waiters; waiter; waiter = waiter->next)
		say_waiter(waiter);
	if (!waiters)
		say("  no thread waits in the driver\n");
	gather(&ops);
	for (i = 0; i < ops.count; i++)
		say_op(ops.at[i]);
	if (ops.count == MOST_OPS)
		say("  ...\n");
	_exit(SIM_HANG_STATUS);
}

/* Starts counting how often each spinning kernel looks. */
static void count_pauses(void)
{
	struct sim_worker *worker;

	for (worker = sim_workers(); worker; worker = worker->next)
		worker->pauses_when_still = worker->pauses;
}

/*
 * What only lacks a processor is no hang: an op that may run, a worker that has not begun, a thread
 * that has what it waited for, a kernel that has not looked lately.
 */
static bool may_move(void)
{
	const struct sim_waiter *waiter;
	const struct sim_worker *worker;

	for (waiter = waiters; waiter; waiter = waiter->next)
		if (waiter->op ? waiter->op->state == SIM_OP_DONE : !waiter->context->drained_by)
			return true;
	for (worker = sim_workers(); worker; worker = worker->next)
		if (spins(worker) && worker->pauses - worker->pauses_when_still < LEAST_PAUSES)
			return true;
	return sim_schedule_ready_count() > 0 || sim_workers_due() > 0;
}

/* Looks whether anything moves while there is reason to doubt it. Looks are counted, not time: a
 * machine that pauses is no hang. */
static void *look(void *unused)
{
	static const struct timespec pause = {0, LOOK_MS * 1000000};
	unsigned int still_ms = 0, asleep_ms = 0;
	unsigned long calls = 0;
	uint64_t before = 0;

	(void)unused;
	pthread_mutex_lock(&sim_lock);
	for (;;) {
		uint64_t now;

		while (!is_suspicious())
			pthread_cond_wait(&suspected, &sim_lock);
		now = movement();
		if (now != before) {
			still_ms = asleep_ms = 0;
			count_pauses();
		} else if (!may_move()) {
			still_ms += LOOK_MS;
			asleep_ms = sim_calls() == calls && all_sleep_for_good() ? asleep_ms + LOOK_MS : 0;
			if (asleep_ms >= GRACE_MS || still_ms >= sim_options()->hang_ms)
				report(still_ms, asleep_ms >= GRACE_MS);
		}
		before = now;
		calls = sim_calls();
		pthread_mutex_unlock(&sim_lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&sim_lock);
	}
	return NULL;
}

void sim_hang_suspect(void)
{
	static bool started;

	if (sim_options()->hang_ms == 0)
		return;
	if (!started)
		sim_worker_start(look, NULL);
	started = true;
	pthread_cond_signal(&suspected);
}

static void wait_for(struct sim_waiter *waiter, struct sim_op *op,
                     const struct sim_context *context)
{
	*waiter = (struct sim_waiter){sim_self()->id, gettid(), sim_self()->call, op, context, waiters};
	waiters = waiter;
	sim_hang_suspect();
}

void sim_hang_wait(struct sim_waiter *waiter, struct sim_op *op)
{
	wait_for(waiter, op, NULL);
}

void sim_hang_wait_behind(struct sim_waiter *waiter, const struct sim_context *context)
{
	wait_for(waiter, NULL, context);
}

void sim_hang_waited(struct sim_waiter *waiter)
{
	struct sim_waiter **link;

	for (link = &waiters; *link != waiter; link = &(*link)->next)
		;
	*link = waiter->next;
}

void sim_hang_polled(void)
{
	polls++;
}
