/* Threads of a schedule: who runs, who waits, and what time it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inner.h"

#define SLICE_NS 1000 /* that passes while all threads only yield; twice as much each time */
#define READING_NS 20 /* of one reading of the clock */
#define STEPS_USUAL 20000
#define HARNESS_PLACE __builtin_return_address(0)

struct scheduler *scheduler;

void threads_prepare(void)
{
	for (unsigned int i = 0; i < SCHEDULE_THREADS_MOST; i++) {
		unsigned char *pages = memory_own(STACK_BYTES + 4096);

		mprotect(pages, 4096, PROT_NONE); /* what is beyond the stack's end */
		scheduler->threads[i].stack = pages + 4096;
		scheduler->threads[i].variables = memory_own(variables_bytes());
	}
}

static bool can_go_on(struct thread *thread)
{
	if (thread->state != WAITS_FOR_CONDITION)
		return thread->state == RUNNABLE && !thread->yields;
	scheduler->runs = false;

	bool holds = thread->condition(thread->context_of_condition);

	scheduler->runs = true;
	return holds;
}

/* Who waits for no longer than until now goes on. */
static void expire(void)
{
	for (unsigned int i = 0; i < scheduler->count; i++) {
		struct thread *thread = &scheduler->threads[i];

		if ((thread->state == WAITS_FOR_WORD || thread->state == SLEEPS) &&
		    thread->deadline <= reprise_clock_virtual)
			thread->state = RUNNABLE;
	}
}

static void advance_to(uint64_t time)
{
	if (time > reprise_clock_virtual)
		reprise_clock_virtual = time;
	scheduler->leapt = true;
	expire();
}

static uint64_t earliest(void)
{
	uint64_t time = NEVER;

	for (unsigned int i = 0; i < scheduler->count; i++) {
		const struct thread *thread = &scheduler->threads[i];

		if ((thread->state == WAITS_FOR_WORD || thread->state == SLEEPS) && thread->deadline < time)
			time = thread->deadline;
	}
	return time;
}

/* All that can go on only yield. Time passes, the more the longer nobody writes anything. */
static bool pass_slice(void)
{
	uint64_t until = earliest();
	bool any = false;

	for (unsigned int i = 0; i < scheduler->count; i++) {
		struct thread *thread = &scheduler->threads[i];

		any = any || (thread->state == RUNNABLE && thread->yields);
		thread->yields = false;
	}
	if (!any)
		return false;
	scheduler->slice =
		scheduler->writes == scheduler->writes_at_slice ? 2 * scheduler->slice : SLICE_NS;
	scheduler->writes_at_slice = scheduler->writes;
	if (until > reprise_clock_virtual + scheduler->slice)
		until = reprise_clock_virtual + scheduler->slice;
	advance_to(until);
	return true;
}

static void switch_to(unsigned int next)
{
	struct thread *from = &scheduler->threads[scheduler->current], *to = &scheduler->threads[next];

	if (next == scheduler->current)
		return;
	from->yields = false; /* another runs */
	from->error = errno;
	variables_save(from->variables);
	scheduler->current = next;
	variables_load(to->variables);
	swapcontext(&from->context, &to->context);
	errno = scheduler->threads[scheduler->current].error;
}

static _Noreturn void end_schedule(void)
{
	setcontext(&scheduler->host);
	abort();
}

static bool programs_threads_have_ended(void)
{
	for (unsigned int i = 0; i < scheduler->count; i++)
		if (scheduler->threads[i].is_programs && scheduler->threads[i].state != ENDED)
			return false;
	return true;
}

static bool is_over(void)
{
	bool over;

	if (!programs_threads_have_ended())
		return false;
	if (scheduler->over_at == 0)
		scheduler->over_at = reprise_clock_virtual;
	if (scheduler->harness->is_over == NULL)
		return scheduler->harness->settle_ns != 0 &&
		       reprise_clock_virtual - scheduler->over_at > scheduler->harness->settle_ns;
	scheduler->runs = false;
	over = scheduler->harness->is_over();
	scheduler->runs = true;
	return over || reprise_clock_virtual - scheduler->over_at > scheduler->harness->settle_ns;
}

static const char *name_of_wait(const struct thread *thread)
{
	return thread->state == WAITS_FOR_WORD        ? "a futex"
	       : thread->state == WAITS_FOR_CONDITION ? thread->waits_for
	                                              : "nothing";
}

/* No thread can go on, and none ever will. */
static void nobody_goes_on(void)
{
	char who[256] = "";

	if (programs_threads_have_ended())
		end_schedule();
	for (unsigned int i = 0; i < scheduler->count; i++)
		if (scheduler->threads[i].state != ENDED)
			snprintf(who + strlen(who), sizeof(who) - strlen(who), "%s%c waits for %s",
			         who[0] == '\0' ? "" : ", ", 'A' + i, name_of_wait(&scheduler->threads[i]));
	schedule_fail("deadlock: %s", who);
}

/* Those whose wait has a limit: it may end before others go on. If no other can, time passes until
 * the first limit. */
static void add_limited(uint8_t *options, uint8_t *costs, unsigned int *count)
{
	uint64_t first = earliest();
	bool free = *count == 0;

	for (unsigned int turn = 0; turn < 2; turn++)
		for (unsigned int i = 0; i < scheduler->count; i++) {
			const struct thread *thread = &scheduler->threads[i];

			if ((thread->state != WAITS_FOR_WORD && thread->state != SLEEPS) ||
			    thread->deadline == NEVER || (thread->deadline == first) != (turn == 0))
				continue;
			options[*count] = (uint8_t)i;
			costs[(*count)++] = !free || turn != 0;
		}
}

/* Who runs next. `goes_on`: the running thread could. After a yield the next one in turn goes on;
 * another one would be a preemption, or loops that yield would have no end of schedules. */
static void decide(bool goes_on)
{
	uint8_t options[OPTIONS_MOST], costs[OPTIONS_MOST], next;
	bool yields = scheduler->threads[scheduler->current].yields;
	unsigned int count;

	do {
		count = 0;
		if (goes_on) {
			options[count] = (uint8_t)scheduler->current;
			costs[count++] = 0;
		}
		for (unsigned int i = 1; i <= scheduler->count; i++) {
			unsigned int other = (scheduler->current + i) % scheduler->count;

			if ((other == scheduler->current && goes_on) || !can_go_on(&scheduler->threads[other]))
				continue;
			options[count] = (uint8_t)other;
			costs[count] = goes_on || (yields && count > 0);
			count++;
		}
		if (count == 0 && is_over())
			end_schedule();
	} while (count == 0 && pass_slice());
	add_limited(options, costs, &count);
	if (count == 0)
		nobody_goes_on();
	next = options[choose(options, costs, count)];
	if (scheduler->threads[next].state == WAITS_FOR_WORD ||
	    scheduler->threads[next].state == SLEEPS)
		advance_to(scheduler->threads[next].deadline);
	scheduler->threads[next].state = RUNNABLE;
	switch_to(next);
}

/* ---- operations ---- */

static unsigned int steps_most(void)
{
	return scheduler->harness->steps_most != 0 ? scheduler->harness->steps_most : STEPS_USUAL;
}

static struct step *add_step(enum operation operation, const volatile void *address,
                             const void *place)
{
	struct step *step = &scheduler->trace[scheduler->steps];

	*step = (struct step){.place = place,
	                      .address = address,
	                      .thread = (uint8_t)scheduler->current,
	                      .operation = (uint8_t)operation,
	                      .chosen = scheduler->chose,
	                      .leapt = scheduler->leapt};
	scheduler->chose = scheduler->leapt = false;
	if (++scheduler->steps > steps_most())
		schedule_fail("livelock: %u operations, and no end", steps_most());
	return step;
}

void schedule_ignore(const volatile void *address, size_t bytes)
{
	REQUIRE(scheduler->ignored_count < IGNORED_MOST, "more than %d ranges", IGNORED_MOST);
	scheduler->ignored[scheduler->ignored_count].begin = address;
	scheduler->ignored[scheduler->ignored_count++].end = (const volatile char *)address + bytes;
}

static bool is_ignored(const volatile char *address)
{
	for (unsigned int i = 0; i < scheduler->ignored_count; i++)
		if (address >= scheduler->ignored[i].begin && address < scheduler->ignored[i].end)
			return true;
	return false;
}

/* A word is shared if a thread writes it that is not the only one to use it. Others need no
 * scheduling point: nobody could see a difference. */
static bool is_shared(const volatile void *address, bool writes)
{
	uint32_t thread = UINT32_C(1) << scheduler->current;
	size_t at = ((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 50;
	struct word *word;

	while ((word = &scheduler->words[at])->address != address && word->address != NULL)
		at = (at + 1) % WORDS_MOST;
	if (word->address == NULL) {
		if (++scheduler->word_count > WORDS_MOST / 2)
			schedule_fail("more than %d words", WORDS_MOST / 2);
		word->address = address;
	}
	if (writes)
		word->writers |= thread;
	else
		word->readers |= thread;
	if (!word->shared && word->writers != 0) {
		uint32_t all = word->readers | word->writers;

		if ((all & (all - 1)) != 0 && !is_ignored(address)) {
			word->shared = scheduler->grew = true;
			scheduler->shared_count++;
		}
	}
	return word->shared;
}

/* A thread that loads a word again and again, while nobody writes, is at the same point. */
static bool loads_again(const volatile void *address, const void *place)
{
	unsigned int self = scheduler->current;
	bool again = scheduler->last_load[self].place == place &&
	             scheduler->last_load[self].address == address &&
	             scheduler->last_load[self].writes == scheduler->writes;

	scheduler->last_load[self].place = place;
	scheduler->last_load[self].address = address;
	scheduler->last_load[self].writes = scheduler->writes;
	return again;
}

void point(enum operation operation, const volatile void *address, const void *place)
{
	bool writes = operation != LOADS && operation != WAITS;

	if (!a_schedule_runs())
		return;
	memory_check(address, 1);
	if ((is_shared(address, writes) || scheduler->mode == REPLAYS) &&
	    !(operation == LOADS && loads_again(address, place))) {
		scheduler->points++;
		decide(true);
	}
	add_step(operation, address, place);
	if (writes)
		memory_note_write(address, sizeof(uint64_t));
	scheduler->writes += writes && operation != WAKES;
}

void note_value(uint64_t value)
{
	if (a_schedule_runs())
		scheduler->trace[scheduler->steps - 1].value = value;
}

bool wait_for_word(const volatile uint32_t *word, uint32_t value, uint64_t ns, const void *place)
{
	struct thread *self = &scheduler->threads[scheduler->current];

	if (!a_schedule_runs()) {
		fprintf(stderr, "setup() waits for a futex\n");
		exit(1);
	}
	point(WAITS, word, place);
	note_value(*word);
	if (*word != value) {
		errno = EAGAIN;
		return false;
	}
	self->state = WAITS_FOR_WORD;
	self->word = word;
	self->woken = false;
	self->deadline = ns == 0 ? NEVER : reprise_clock_virtual + ns;
	decide(false);
	errno = ETIMEDOUT;
	return self->woken;
}

void wake_word(const volatile uint32_t *word, const void *place)
{
	unsigned int count = 0;

	point(WAKES, word, place);
	for (unsigned int i = 0; i < scheduler->count; i++) {
		struct thread *thread = &scheduler->threads[i];

		if (thread->state != WAITS_FOR_WORD || thread->word != word)
			continue;
		thread->state = RUNNABLE;
		thread->woken = true;
		count++;
	}
	note_value(count);
}

void sleep_for(uint64_t ns, const void *place)
{
	struct thread *self = &scheduler->threads[scheduler->current];

	if (!a_schedule_runs()) {
		reprise_clock_virtual += ns;
		return;
	}
	add_step(NAPS, NULL, place)->value = ns;
	self->state = SLEEPS;
	self->deadline = reprise_clock_virtual + ns;
	decide(false);
}

void yield(const void *place)
{
	if (!a_schedule_runs())
		return;
	add_step(YIELDS, NULL, place);
	scheduler->threads[scheduler->current].yields = true;
	decide(false);
	scheduler->threads[scheduler->current].yields = false;
}

void read_clock(const void *place)
{
	static const uint8_t options[] = {LATE + 1, LATE}, costs[] = {0, 1};

	if (!a_schedule_runs())
		return;
	add_step(READS_CLOCK, &reprise_clock_virtual, place);
	if (scheduler->harness->late_ns != 0 && choose(options, costs, 2) == 1)
		advance_to(reprise_clock_virtual + scheduler->harness->late_ns);
	reprise_clock_virtual += READING_NS;
	expire();
	note_value(reprise_clock_virtual);
}

void schedule_point(const char *what)
{
	if (!a_schedule_runs())
		return;
	scheduler->points++;
	decide(true);
	scheduler->writes++;
	add_step(SAYS, NULL, HARNESS_PLACE)->what = what;
}

void schedule_wait(bool (*condition)(void *context), void *context, const char *what)
{
	struct thread *self = &scheduler->threads[scheduler->current];

	if (!a_schedule_runs())
		return;
	add_step(SAYS, NULL, HARNESS_PLACE)->what = what;
	self->condition = condition;
	self->context_of_condition = context;
	self->waits_for = what;
	self->state = WAITS_FOR_CONDITION;
	decide(can_go_on(self));
	add_step(SAYS, NULL, HARNESS_PLACE)->what = "goes on";
}

void schedule_choices_begin(void)
{
	scheduler->is_fixed = false;
}

unsigned int schedule_self(void)
{
	return a_schedule_runs() ? scheduler->current : 0;
}

bool schedule_is_there(unsigned int thread)
{
	return thread < scheduler->count && scheduler->threads[thread].state != ENDED;
}

/* ---- begin and end ---- */

static void run_thread(void)
{
	struct thread *self = &scheduler->threads[scheduler->current];

	errno = 0;
	if (self->body != NULL)
		self->body();
	else
		self->run(self->argument);
	keys_run_destructors();
	add_step(ENDS, NULL, NULL);
	scheduler->writes++;
	self->state = ENDED;
	decide(false);
	abort();
}

static void make_ready(unsigned int number)
{
	struct thread *thread = &scheduler->threads[number];

	thread->state = RUNNABLE;
	thread->yields = false;
	thread->deadline = NEVER;
	thread->error = 0;
	memset(thread->specific, 0, sizeof(thread->specific));
	if (number > 0)
		variables_fresh(thread->variables);
	getcontext(&thread->context);
	thread->context.uc_stack.ss_sp = thread->stack;
	thread->context.uc_stack.ss_size = STACK_BYTES;
	thread->context.uc_link = NULL;
	makecontext(&thread->context, run_thread, 0);
	memset(&scheduler->last_load[number], 0, sizeof(scheduler->last_load[number]));
}

/* A thread that setup() starts is made ready by threads_run(). */
unsigned int threads_add(void *(*run)(void *), void *argument, void (*body)(void))
{
	unsigned int number = scheduler->count;
	struct thread *thread = &scheduler->threads[number];

	if (number == SCHEDULE_THREADS_MOST)
		schedule_fail("more than %d threads", SCHEDULE_THREADS_MOST);
	scheduler->count++;
	if (scheduler->count > scheduler->most)
		scheduler->most = scheduler->count;
	thread->run = run;
	thread->argument = argument;
	thread->body = body;
	thread->is_programs = body != NULL;
	make_ready(number);
	return number;
}

void threads_run(void)
{
	memory_put_back();
	scheduler->count = scheduler->started_before;
	for (unsigned int i = 0; i < scheduler->count; i++)
		make_ready(i);
	/* The main thread goes on with what setup() left it. */
	variables_save(scheduler->threads[0].variables);
	scheduler->steps = scheduler->points = scheduler->depth = scheduler->spent = 0;
	scheduler->taken_count = 0;
	scheduler->over_at = scheduler->writes = scheduler->writes_at_slice = 0;
	scheduler->slice = SLICE_NS;
	scheduler->current = 0;
	scheduler->chose = scheduler->leapt = false;
	scheduler->is_fixed = scheduler->harness->begins_late;
	scheduler->runs = true;
	swapcontext(&scheduler->host, &scheduler->threads[0].context);
	scheduler->runs = false;
	if (scheduler->harness->check != NULL)
		scheduler->harness->check();
	scheduler->schedules++;
}

void schedule_fork(void)
{
	schedule_point("forks; from here on this is the child");
	for (unsigned int i = 0; i < scheduler->count; i++)
		if (i != scheduler->current)
			scheduler->threads[i].state = ENDED;
	scheduler->is_fixed = true;
	forks_run_child();
}
