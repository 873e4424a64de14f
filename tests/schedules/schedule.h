/*
 * A cooperative scheduler for small harnesses around the real code (docs/design/schedules.md).
 *
 * A harness is a few threads that call the code under test. They run one at a time, each on a stack
 * of its own, and change only at scheduling points: before each atomic operation on a word that
 * threads share, each futex call, each sleep and yield, and when a thread begins or ends. The
 * sources are compiled unchanged with -fsanitize=thread, and intercept.c stands in for that
 * sanitizer's library. What is explored is sequential consistency.
 *
 * A preemption is a change of threads where the thread could have gone on. All schedules with up to
 * three preemptions are run, then random ones with more. Time is virtual: it passes where no thread
 * can go on otherwise; that a limited wait ends while others could go on counts as a preemption.
 *
 * Before each schedule the memory of the program, its heap included, is put back to what setup()
 * left. So setup() runs once, and may do a lot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_THREADS_MOST 8

struct harness {
	const char *name;
	const char *words; /* what is checked, in one line */
	/* Before the first schedule, on the program's main thread. A thread that it starts begins at
	 * the begin of each schedule. */
	void (*setup)(void);
	/* The program's threads; the first is the main thread and goes on from setup(). */
	void (*threads[SCHEDULE_THREADS_MOST])(void);
	/* Once all of these have ended, and none of the others goes on before time passes: true if they
	 * need not. Unless there is one, they go on until each waits without limit. */
	bool (*is_over)(void);
	uint64_t settle_ns;  /* a schedule ends so long after the program's threads, at the latest */
	void (*check)(void); /* at the end of each schedule */
	/* At a reading of the clock it may be so much later than it was, as if the thread had not run
	 * meanwhile. Counts as a preemption. 0: never. */
	uint64_t late_ns;
	/* There are no choices before schedule_choices_begin(), which a thread calls: what comes before
	 * leads to the state that is of interest. */
	bool begins_late;
	unsigned int preemptions; /* 0: three */
	unsigned int steps_most;  /* operations of one schedule; 0: 20000. More is a livelock. */
};

/* `main` of a program of harnesses. */
int schedule_main(int count, char **words, const struct harness *harnesses, size_t harness_count);

/* The schedule has failed: prints it, and ends the program. */
_Noreturn void schedule_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define REQUIRE(condition, ...) \
	do { \
		if (!(condition)) \
			schedule_fail(__VA_ARGS__); \
	} while (0)

/* A scheduling point of the harness's own, such as a call of the driver. */
void schedule_point(const char *what);

/* Waits, as in the driver, until the condition is true. It reads memory only. */
void schedule_wait(bool (*condition)(void *context), void *context, const char *what);

void schedule_choices_begin(void);

/* The number of the running thread, from 0. In setup(): 0. */
unsigned int schedule_self(void);

/* In traces. `bytes` from `address` on are called so. */
void schedule_name(const volatile void *address, size_t bytes, const char *name);

/* Operations on these words are no scheduling points: no decision depends on them. */
void schedule_ignore(const volatile void *address, size_t bytes);

/* The running thread has called fork, and this is the child: there are no other threads, and what
 * pthread_atfork was given for the child is called. The parent is not followed any further, and the
 * child's threads run in one order. */
void schedule_fork(void);

/* True if the thread of this number has not ended. */
bool schedule_is_there(unsigned int thread);
