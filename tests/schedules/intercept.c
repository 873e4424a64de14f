/*
 * What the code under test calls in place of the real thing: the entry points that the compiler
 * emits with -fsanitize=thread, for each atomic operation and each access to memory, and functions
 * of the C library, by the linker's --wrap.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inner.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wincompatible-library-redeclaration"
#else
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

#define DESTRUCTOR_ROUNDS 4 /* as glibc does */
#define PLACE __builtin_return_address(0)

/* ---- atomic operations ---- */

#define MODIFIES(bits, type, name, operation, expression) \
	type __tsan_atomic##bits##_##name(volatile type *word, type value, int order) \
	{ \
		type before; \
\
		point(operation, word, PLACE); \
		before = *word; \
		*word = (type)(expression); \
		note_value((uint64_t)*word); \
		return before; \
	}

#define COMPARES_AND_EXCHANGES(bits, type, strength) \
	int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *word, type *expected, \
	                                                      type value, int order, int otherwise) \
	{ \
		type before; \
\
		point(COMPARES, word, PLACE); \
		before = *word; \
		note_value((uint64_t)before); \
		if (before == *expected) { \
			*word = value; \
			return 1; \
		} \
		*expected = before; \
		return 0; \
	}

#define ATOMICS(bits, type) \
	type __tsan_atomic##bits##_load(const volatile type *word, int order) \
	{ \
		point(LOADS, word, PLACE); \
		note_value((uint64_t)*word); \
		return *word; \
	} \
	void __tsan_atomic##bits##_store(volatile type *word, type value, int order) \
	{ \
		point(STORES, word, PLACE); \
		note_value((uint64_t)value); \
		*word = value; \
	} \
	MODIFIES(bits, type, exchange, EXCHANGES, value) \
	MODIFIES(bits, type, fetch_add, ADDS, before + value) \
	MODIFIES(bits, type, fetch_sub, ADDS, before - value) \
	MODIFIES(bits, type, fetch_and, ADDS, before &value) \
	MODIFIES(bits, type, fetch_or, ADDS, before | value) \
	MODIFIES(bits, type, fetch_xor, ADDS, before ^ value) \
	MODIFIES(bits, type, fetch_nand, ADDS, ~(before & value)) \
	COMPARES_AND_EXCHANGES(bits, type, strong) \
	COMPARES_AND_EXCHANGES(bits, type, weak) \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *word, type expected, \
	                                                type value, int order, int otherwise) \
	{ \
		__tsan_atomic##bits##_compare_exchange_strong(word, &expected, value, order, otherwise); \
		return expected; \
	}

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
}

void __tsan_atomic_signal_fence(int order)
{
}

/* ---- other accesses: no scheduling points, but for the clock ---- */

static void look_at_access(const volatile void *address, size_t bytes, const void *place)
{
	if (!a_schedule_runs())
		return;
	if (address == &reprise_clock_virtual)
		read_clock(place);
	memory_check(address, bytes);
}

#define ACCESS(name, bytes) \
	void __tsan_##name(void *address) \
	{ \
		look_at_access(address, bytes, PLACE); \
	}

ACCESS(read1, 1)
ACCESS(read2, 2)
ACCESS(read4, 4)
ACCESS(read8, 8)
ACCESS(read16, 16)
ACCESS(unaligned_read2, 2)
ACCESS(unaligned_read4, 4)
ACCESS(unaligned_read8, 8)
ACCESS(unaligned_read16, 16)

static void look_at_change(const volatile void *address, size_t bytes)
{
	if (!a_schedule_runs())
		return;
	memory_check(address, bytes);
	memory_note_write(address, bytes);
}

#define CHANGE(name, bytes) \
	void __tsan_##name(void *address) \
	{ \
		look_at_change(address, bytes); \
	}

CHANGE(write1, 1)
CHANGE(write2, 2)
CHANGE(write4, 4)
CHANGE(write8, 8)
CHANGE(write16, 16)
CHANGE(unaligned_write2, 2)
CHANGE(unaligned_write4, 4)
CHANGE(unaligned_write8, 8)
CHANGE(unaligned_write16, 16)
CHANGE(read_write1, 1)
CHANGE(read_write2, 2)
CHANGE(read_write4, 4)
CHANGE(read_write8, 8)
CHANGE(read_write16, 16)

void __tsan_read_range(void *address, unsigned long bytes)
{
	if (a_schedule_runs())
		memory_check(address, bytes);
}

void __tsan_write_range(void *address, unsigned long bytes)
{
	look_at_change(address, bytes);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
}

void __tsan_func_exit(void)
{
}

/* ---- the kernel ---- */

long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	long given[6];
	const struct timespec *limit;
	va_list arguments;

	va_start(arguments, number);
	for (unsigned int i = 0; i < 6; i++)
		given[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number != SYS_futex)
		return __real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
	if ((given[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) {
		wake_word((const volatile uint32_t *)given[0], PLACE);
		return 0;
	}
	limit = (const struct timespec *)given[3];
	return wait_for_word((const volatile uint32_t *)given[0], (uint32_t)given[2],
	                     limit == NULL
	                         ? 0
	                         : (uint64_t)limit->tv_sec * 1000000000u + (uint64_t)limit->tv_nsec,
	                     PLACE)
	           ? 0
	           : -1;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	sleep_for((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec, PLACE);
	return 0;
}

int __wrap_sched_yield(void)
{
	yield(PLACE);
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	CPU_ZERO(set);
	CPU_SET(0, set);
	CPU_SET(1, set);
	return 0;
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
	unsigned int number = threads_add(run, argument, NULL);

	*thread = (pthread_t)number;
	schedule_point("a thread is started");
	return 0;
}

/* Keys and handlers are put back with the memory of the program. */
static struct {
	bool taken;
	void (*destructor)(void *);
} keys[KEYS_MOST];

int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	for (unsigned int i = 0; i < KEYS_MOST; i++) {
		if (keys[i].taken)
			continue;
		keys[i].taken = true;
		keys[i].destructor = destructor;
		*key = i;
		return 0;
	}
	return EAGAIN;
}

int __wrap_pthread_key_delete(pthread_key_t key)
{
	keys[key].taken = false;
	return 0;
}

void *__wrap_pthread_getspecific(pthread_key_t key)
{
	return (void *)(uintptr_t)scheduler->threads[scheduler->current].specific[key];
}

int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
	scheduler->threads[scheduler->current].specific[key] = value;
	return 0;
}

void keys_run_destructors(void)
{
	bool any = true;

	for (unsigned int round = 0; any && round < DESTRUCTOR_ROUNDS; round++) {
		any = false;
		for (unsigned int i = 0; i < KEYS_MOST; i++) {
			const void *value = scheduler->threads[scheduler->current].specific[i];

			if (!keys[i].taken || keys[i].destructor == NULL || value == NULL)
				continue;
			scheduler->threads[scheduler->current].specific[i] = NULL;
			keys[i].destructor((void *)(uintptr_t)value);
			any = true;
		}
	}
}

static void (*in_child)(void);

int __wrap_pthread_atfork(void (*prepare)(void), void (*in_parent)(void), void (*child)(void))
{
	in_child = child;
	return 0;
}

void forks_run_child(void)
{
	if (in_child != NULL)
		in_child();
}
