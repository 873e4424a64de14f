/* What the files of the scheduler share. All of their state is in `scheduler`, outside the memory
 * that is put back before each schedule. */
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "schedule.h"

#define KEYS_MOST 16 /* pthread keys */
#define STACK_BYTES (256 << 10)
#define STEPS_MOST (1 << 17)
#define BRANCHES_MOST (1 << 16)
#define OPTIONS_MOST (SCHEDULE_THREADS_MOST + 1)
#define WORDS_MOST (1 << 14)
#define NAMES_MOST 64
#define IGNORED_MOST 8
#define LATE SCHEDULE_THREADS_MOST /* an option beside the numbers of threads: the clock jumps */
#define NEVER UINT64_MAX

enum state {
	RUNNABLE,
	WAITS_FOR_WORD, /* a futex */
	SLEEPS,
	WAITS_FOR_CONDITION,
	ENDED
};

struct thread {
	ucontext_t context;
	enum state state;
	bool yields; /* goes on only if no other thread can */
	bool woken;  /* by a wake, and not by time */
	bool is_programs;
	void *(*run)(void *);
	void (*body)(void); /* of a program's thread */
	void *argument;
	const volatile void *word;
	uint64_t deadline; /* NEVER: none */
	bool (*condition)(void *context);
	void *context_of_condition;
	const char *waits_for;
	int error;                /* errno */
	unsigned char *variables; /* its thread-local ones, while it does not run */
	unsigned char *stack;
	const void *specific[KEYS_MOST];
};

enum operation {
	LOADS,
	STORES,
	EXCHANGES,
	ADDS,
	COMPARES,
	WAITS,
	WAKES,
	READS_CLOCK,
	YIELDS,
	NAPS,
	ENDS,
	SAYS, /* a point of the harness's own */
};

/* One operation of a schedule. */
struct step {
	const void *place; /* the return address of the call */
	const volatile void *address;
	const char *what;
	uint64_t value;
	uint8_t thread, operation;
	bool chosen; /* another thread would have run by default, or another time been read */
	bool leapt;  /* time was passed on before it */
};

/* A place in a schedule where there was a choice that the bound allows. */
struct branch {
	uint32_t step;
	uint8_t count, taken;
	uint8_t before; /* preemptions before it */
	uint8_t thread; /* the running one, if it could go on; else SCHEDULE_THREADS_MOST */
	/* Numbers among the options that there were; their costs; threads. */
	uint8_t options[OPTIONS_MOST], costs[OPTIONS_MOST], who[OPTIONS_MOST];
};

/* A word that operations were seen on. */
struct word {
	const volatile void *address;
	uint32_t readers, writers; /* threads, as bits */
	bool shared;
};

enum mode { ENUMERATES, RANDOM, REPLAYS };

struct scheduler {
	const struct harness *harness;
	bool runs; /* a schedule, and not setup() */
	bool is_quiet;
	/* ---- threads ---- */
	ucontext_t host;
	struct thread threads[SCHEDULE_THREADS_MOST];
	unsigned int count, started_before; /* threads; those of setup() */
	unsigned int most;                  /* threads of any schedule so far */
	unsigned int current;
	bool is_fixed;    /* there are no choices: in a child, or not yet */
	uint64_t over_at; /* when the last of the program's threads ended; 0: not yet */
	uint64_t slice, writes, writes_at_slice;
	bool chose; /* what runs now was not the default */
	bool leapt; /* time has been passed on since the last step */
	/* The last load of each thread, and the number of writes before it. */
	struct {
		const void *place;
		const volatile void *address;
		uint64_t writes;
	} last_load[SCHEDULE_THREADS_MOST];
	/* ---- what happened ---- */
	unsigned int steps, points;
	struct step trace[STEPS_MOST];
	/* ---- words ---- */
	struct word words[WORDS_MOST];
	unsigned int word_count, shared_count;
	bool grew; /* a word was found to be shared */
	struct {
		const volatile char *address;
		size_t bytes;
		const char *name;
	} names[NAMES_MOST];
	unsigned int name_count;
	struct {
		const volatile char *begin, *end;
	} ignored[IGNORED_MOST];
	unsigned int ignored_count;
	/* ---- search ---- */
	enum mode mode;
	unsigned int bound, spent; /* preemptions: at most; so far in this schedule */
	struct branch branches[BRANCHES_MOST];
	bool runs_all;             /* also schedules that cannot differ from others */
	unsigned int depth, known; /* branches passed in this schedule; those that are decided */
	uint64_t random, schedules, seed;
	unsigned int left, longest; /* random: preemptions left; points of the longest schedule */
	struct {
		uint32_t step;
		uint8_t option;
	} taken[BRANCHES_MOST], wanted[1024];
	unsigned int taken_count, wanted_count;
	double begun;
};

extern struct scheduler *scheduler;
extern uint64_t reprise_clock_virtual;

static inline bool a_schedule_runs(void)
{
	return scheduler != NULL && scheduler->runs;
}

/* ---- threads.c ---- */

void threads_prepare(void);
/* Runs one schedule. */
void threads_run(void);
unsigned int threads_add(void *(*run)(void *), void *argument, void (*body)(void));
/* Before an operation of the running thread. */
void point(enum operation operation, const volatile void *address, const void *place);
void note_value(uint64_t value);
bool wait_for_word(const volatile uint32_t *word, uint32_t value, uint64_t ns, const void *place);
void wake_word(const volatile uint32_t *word, const void *place);
void sleep_for(uint64_t ns, const void *place);
void yield(const void *place);
void read_clock(const void *place);

/* ---- search.c ---- */

/* Which option is taken. */
unsigned int choose(const uint8_t *options, const uint8_t *costs, unsigned int count);

/* ---- memory.c ---- */

void *memory_own(size_t bytes); /* outside what is put back */
void memory_begin(void);
void memory_keep(void); /* after setup() */
void memory_put_back(void);
size_t memory_kept(void); /* bytes that setup() left */
/* The running schedule is about to write here. */
void memory_note_write(const volatile void *address, size_t bytes);
/* Thread-local variables of the program: their size; as they are in a new thread. */
size_t variables_bytes(void);
void variables_save(unsigned char *to);
void variables_load(const unsigned char *from);
void variables_fresh(unsigned char *to);
/* Fails if memory that was freed is used. */
void memory_check(const volatile void *address, size_t bytes);

/* ---- intercept.c ---- */

void keys_run_destructors(void);
void forks_run_child(void);

/* ---- trace.c ---- */

void trace_print(void);
