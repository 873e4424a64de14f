/* Entering and leaving the simulation, and what it keeps for each thread. */
#include "api.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "context.h"
#include "device.h"
#include "fault.h"
#include "log.h"
#include "options.h"

pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;

static struct sim_entry *entries;
static unsigned long calls;

uint64_t sim_monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct sim_self *sim_self(void)
{
	static _Thread_local struct sim_self self = {.mode = CU_STREAM_CAPTURE_MODE_GLOBAL};
	static uint64_t threads;

	if (self.id == 0)
		self.id = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return &self;
}

struct sim_context *sim_current(void)
{
	struct sim_self *self = sim_self();

	return self->depth ? self->stack[self->depth - 1] : NULL;
}

static CUresult sim_check(enum sim_needs needs)
{
	struct sim_context *context;

	if (needs == SIM_NOTHING)
		return CUDA_SUCCESS;
	if (!sim_device_initialised())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (sim_self()->in_host_function)
		return CUDA_ERROR_NOT_PERMITTED;
	if (needs == SIM_INIT)
		return CUDA_SUCCESS;
	context = sim_current();
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!sim_context_alive(context))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return context->error;
}

CUresult sim_enter(struct sim_entry *entry, enum sim_needs needs, bool per_thread)
{
	CUresult result;
	unsigned long call;
	int cancellable;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
	pthread_mutex_lock(&sim_lock);
	if (entry->calls++ == 0) {
		sim_options_read();
		entry->faults = sim_fault_find(entry->name);
		entry->slow = sim_slow_find(entry->name);
		entry->next = entries;
		entries = entry;
	}
	calls++;
	call = entry->calls;
	if (entry->slow.nanoseconds) {
		pthread_mutex_unlock(&sim_lock);
		sim_slow_down(&entry->slow, call);
		pthread_setcancelstate(cancellable, NULL);
		pthread_testcancel(); /* a call of a driver that takes long may have points where a thread
		                         is cancelled */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
		pthread_mutex_lock(&sim_lock);
	}
	sim_self()->cancellable = cancellable;
	sim_self()->per_thread = per_thread;
	sim_self()->call = entry->name;
	if (entry->faults && sim_fault_strikes(entry->faults, call, &result))
		return result;
	return sim_check(needs);
}

CUresult sim_leave(struct sim_entry *entry, CUresult result)
{
	sim_self()->per_thread = false;
	if (sim_options()->log_calls)
		sim_log_call(entry->name, result);

	int cancellable = sim_self()->cancellable;

	pthread_mutex_unlock(&sim_lock);
	pthread_setcancelstate(cancellable, NULL);
	return result;
}

const struct sim_entry *sim_entries(void)
{
	return entries;
}

unsigned long sim_calls(void)
{
	return calls;
}

void *sim_grow(void *array, size_t *room, size_t item_size)
{
	*room = *room ? *room * 2 : 4;
	array = realloc(array, *room * item_size);
	if (!array)
		sim_misuse("out of host memory");
	return array;
}

void sim_misuse(const char *format, ...)
{
	char text[512];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text) - 1, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof(text) - 2)
		length = sizeof(text) - 2;
	text[length++] = '\n';
	if (write(STDERR_FILENO, "simulated driver: ", 18) < 0 ||
	    write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(70);
	abort();
}
