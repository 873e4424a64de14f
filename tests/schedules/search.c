/* Which schedules are run: all with a number of preemptions, random ones, or a given one. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inner.h"

#define PREEMPTIONS 3
#define RANDOM_MORE 6 /* a random schedule has up to so many preemptions more */
#define RANDOM_USUAL 5000
#define NO_LIMIT 1e9

/* Of the processor: a busy machine makes no difference. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- one choice ---- */

static uint64_t draw(uint64_t below)
{
	scheduler->random ^= scheduler->random << 13;
	scheduler->random ^= scheduler->random >> 7;
	scheduler->random ^= scheduler->random << 17;
	return scheduler->random % below;
}

static unsigned int choose_known(const uint8_t *options, const uint8_t *costs, unsigned int count)
{
	struct branch *branch = &scheduler->branches[scheduler->depth];
	unsigned int allowed = 1;

	for (unsigned int i = 1; i < count; i++)
		allowed += scheduler->spent + costs[i] <= scheduler->bound;
	if (allowed == 1)
		return 0;
	if (scheduler->depth == scheduler->known) {
		if (scheduler->known == BRANCHES_MOST)
			schedule_fail("more than %d branches", BRANCHES_MOST);
		*branch =
			(struct branch){.step = scheduler->steps,
		                    .count = 1,
		                    .before = (uint8_t)scheduler->spent,
		                    .thread = options[0] == scheduler->current ? (uint8_t)scheduler->current
		                                                               : SCHEDULE_THREADS_MOST};
		for (unsigned int i = 1; i < count; i++)
			if (scheduler->spent + costs[i] <= scheduler->bound) {
				branch->options[branch->count] = (uint8_t)i;
				branch->who[branch->count] = options[i];
				branch->costs[branch->count++] = costs[i];
			}
		scheduler->known++;
	} else if (branch->step > scheduler->steps) {
		return 0; /* on a word that was found to be shared since: the next round looks at it */
	} else if (branch->step != scheduler->steps) {
		schedule_fail("the same choices led elsewhere: step %u, not %u", scheduler->steps,
		              branch->step);
	}
	scheduler->depth++;
	scheduler->spent += branch->costs[branch->taken];
	return branch->options[branch->taken];
}

/* Preemptions fall on any point alike; who goes on where a thread cannot is drawn evenly. */
static unsigned int choose_at_random(const uint8_t *costs, unsigned int count)
{
	unsigned int free = 0;

	while (free < count && costs[free] == 0)
		free++;
	if (free < count && scheduler->left > 0 && draw(scheduler->longest + 1) < scheduler->bound) {
		scheduler->left--;
		scheduler->spent++;
		return free + (unsigned int)draw(count - free);
	}
	return free > 1 ? (unsigned int)draw(free) : 0;
}

static unsigned int choose_wanted(const uint8_t *options, unsigned int count)
{
	unsigned int at = scheduler->depth;

	if (at == scheduler->wanted_count || scheduler->wanted[at].step != scheduler->steps)
		return 0;
	for (unsigned int i = 1; i < count; i++)
		if (options[i] == scheduler->wanted[at].option) {
			scheduler->depth++;
			return i;
		}
	return 0;
}

unsigned int choose(const uint8_t *options, const uint8_t *costs, unsigned int count)
{
	unsigned int choice;

	if (count == 1 || scheduler->is_fixed)
		return 0;
	choice = scheduler->mode == ENUMERATES ? choose_known(options, costs, count)
	         : scheduler->mode == RANDOM   ? choose_at_random(costs, count)
	                                       : choose_wanted(options, count);
	if (choice == 0)
		return 0;
	scheduler->chose = true;
	scheduler->taken[scheduler->taken_count].step = scheduler->steps;
	scheduler->taken[scheduler->taken_count++].option = options[choice];
	return choice;
}

/* ---- failures ---- */

static void print_choices(void)
{
	if (scheduler->taken_count == 0)
		printf("none");
	for (unsigned int i = 0; i < scheduler->taken_count; i++)
		printf("%s%u%c", i > 0 ? "," : "", scheduler->taken[i].step,
		       scheduler->taken[i].option == LATE ? '+' : 'A' + scheduler->taken[i].option);
}

static _Noreturn void failed(void)
{
	scheduler->runs = false;
	trace_print();
	printf("%s: after %llu schedules, %.0f ms; to see it again: --only '%s' --replay ",
	       scheduler->harness->name, (unsigned long long)scheduler->schedules + 1,
	       (now() - scheduler->begun) * 1e3, scheduler->harness->name);
	print_choices();
	printf("\n");
	fflush(stdout);
	_exit(1);
}

void schedule_fail(const char *format, ...)
{
	va_list arguments;

	printf("\n%s: ", scheduler->harness->name);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	failed();
}

static void on_signal(int number)
{
	printf("\n%s: signal %d\n", scheduler->harness->name, number);
	failed();
}

static void hear_signals(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	stack_t stack = {.ss_sp = memory_own(STACK_BYTES), .ss_size = STACK_BYTES};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* ---- all of a kind ---- */

/* The next choices within the bound; false if there are none. */
static bool next_choices(void)
{
	while (scheduler->known > 0) {
		struct branch *last = &scheduler->branches[scheduler->known - 1];

		if (++last->taken < last->count)
			return true;
		scheduler->known--;
	}
	return false;
}

/* ---- schedules that cannot differ from others ---- */

static bool writes(const struct step *step)
{
	return step->operation != LOADS && step->operation != WAITS;
}

/* True if it matters which of two steps of different threads comes first. The order of calls of the
 * driver always does. Memory that is not atomic is protected by what is: ThreadSanitizer looks at
 * that. */
static bool conflict(const struct step *one, const struct step *other)
{
	if (one->operation == SAYS || other->operation == SAYS)
		return one->operation == other->operation;
	return one->address != NULL && one->address == other->address && (writes(one) || writes(other));
}

/* The step with which the thread goes on that was preempted at the branch, if nothing that came
 * between conflicts with it; else 0. Then the thread could as well have been preempted after that
 * step, and that schedule is run anyway. */
static unsigned int step_that_could_come_first(const struct branch *branch)
{
	unsigned int end = branch->step;

	while (end < scheduler->steps && scheduler->trace[end].thread != branch->thread)
		end++;
	if (end == scheduler->steps || end == branch->step)
		return 0;
	for (unsigned int i = branch->step; i <= end; i++)
		if (scheduler->trace[i].leapt ||
		    (i < end && conflict(&scheduler->trace[i], &scheduler->trace[end])))
			return 0;
	return end;
}

/* Drops what would follow from such a schedule: choices after that step, and earlier returns to the
 * thread. `number`: of the branch that was decided anew. */
static void drop_what_cannot_differ(unsigned int number)
{
	const struct branch *branch = &scheduler->branches[number];
	unsigned int end;

	if (scheduler->runs_all || branch->thread == SCHEDULE_THREADS_MOST ||
	    branch->who[branch->taken] == LATE)
		return;
	end = step_that_could_come_first(branch);
	if (end == 0)
		return;
	while (scheduler->known > number + 1 && scheduler->branches[scheduler->known - 1].step > end)
		scheduler->known--;
	for (unsigned int i = number + 1; i < scheduler->known; i++) {
		struct branch *later = &scheduler->branches[i];

		for (unsigned int k = 1; k < later->count; k++)
			if (later->who[k] == branch->thread) {
				later->count--;
				memmove(&later->options[k], &later->options[k + 1], later->count - k);
				memmove(&later->costs[k], &later->costs[k + 1], later->count - k);
				memmove(&later->who[k], &later->who[k + 1], later->count - k);
				k--;
			}
	}
}

/* Runs all schedules with up to `bound` preemptions; those with fewer were run before. Returns the
 * number of those with as many. */
static uint64_t enumerate(double seconds, bool *all)
{
	uint64_t count = 0;
	double end = now() + seconds;

	scheduler->mode = ENUMERATES;
	do {
		scheduler->grew = false;
		scheduler->known = 0;
		count = 0;
		*all = true;
		do {
			unsigned int decided = scheduler->known;

			threads_run();
			if (decided > 0)
				drop_what_cannot_differ(decided - 1);
			count += scheduler->spent == scheduler->bound;
			if (scheduler->points > scheduler->longest)
				scheduler->longest = scheduler->points;
			if (now() > end) {
				*all = false;
				return count;
			}
		} while (next_choices());
	} while (scheduler->grew); /* a word is shared that was not thought to be */
	return count;
}

static void run_random(uint64_t count)
{
	scheduler->mode = RANDOM;
	for (uint64_t i = 0; i < count; i++) {
		scheduler->random = (scheduler->seed + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
		draw(2);
		draw(2);
		scheduler->left = scheduler->bound = PREEMPTIONS + 1 + (unsigned int)draw(RANDOM_MORE);
		threads_run();
	}
}

static const char *parse_choices(const char *text)
{
	if (strcmp(text, "none") == 0)
		return NULL;
	while (*text != '\0' && scheduler->wanted_count < 1024) {
		char *end;
		unsigned long step = strtoul(text, &end, 10);

		if (end == text || *end == '\0')
			return text;
		scheduler->wanted[scheduler->wanted_count].step = (uint32_t)step;
		scheduler->wanted[scheduler->wanted_count++].option =
			(uint8_t)(*end == '+' ? LATE : *end - 'A');
		text = end + 1 + (end[1] == ',');
	}
	return NULL;
}

struct settings {
	const char *only, *replay;
	double seconds;
	uint64_t random, seed;
	bool all;
};

static void begin(const struct harness *harness)
{
	memory_begin();
	scheduler = memory_own(sizeof(*scheduler));
	scheduler->harness = harness;
	scheduler->begun = now();
	hear_signals();
	threads_prepare();
	for (unsigned int i = 0; i < SCHEDULE_THREADS_MOST && harness->threads[i] != NULL; i++)
		threads_add(NULL, NULL, harness->threads[i]);
	if (harness->setup != NULL)
		harness->setup();
	scheduler->started_before = scheduler->count;
	memory_keep();
}

/* One line, which scripts/schedules reads: harness, threads, points of the longest schedule,
 * schedules at each number of preemptions, random ones. */
static void run_all(const struct harness *harness, const struct settings *settings)
{
	unsigned int most = harness->preemptions != 0 ? harness->preemptions : PREEMPTIONS;
	bool all = true;

	printf("%s (%s):", harness->name, harness->words);
	for (unsigned int bound = 0; bound <= most && all; bound++) {
		uint64_t count;

		scheduler->bound = bound;
		count = enumerate(settings->seconds, &all);
		printf(" %u: %llu%s,", bound, (unsigned long long)count, all ? "" : " of more");
		fflush(stdout);
	}
	printf(" random from seed %llu: %llu,", (unsigned long long)settings->seed,
	       (unsigned long long)settings->random);
	fflush(stdout);
	run_random(settings->random);
	printf(" threads %u, points %u, shared words %u, %zu KiB put back, %.1f s\n", scheduler->most,
	       scheduler->longest, scheduler->shared_count, memory_kept() >> 10,
	       now() - scheduler->begun);
	fflush(stdout);
}

static void replay(const struct harness *harness, const char *choices)
{
	const char *wrong = parse_choices(choices);

	if (wrong != NULL)
		schedule_fail("\"%s\" is no choice", wrong);
	scheduler->mode = REPLAYS;
	threads_run();
	trace_print();
	if (scheduler->depth != scheduler->wanted_count)
		printf("%s: of %u choices %u could be taken\n", harness->name, scheduler->wanted_count,
		       scheduler->depth);
	printf("%s: nothing failed\n", harness->name);
}

/* In a process of its own: each begins with the memory that the program has. */
static bool passes(const struct harness *harness, const struct settings *settings)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		begin(harness);
		scheduler->seed = settings->seed;
		scheduler->runs_all = settings->all;
		if (settings->replay != NULL)
			replay(harness, settings->replay);
		else
			run_all(harness, settings);
		exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int schedule_main(int count, char **words, const struct harness *harnesses, size_t harness_count)
{
	static const struct option known[] = {{"only", required_argument, NULL, 'o'},
	                                      {"replay", required_argument, NULL, 'r'},
	                                      {"seconds", required_argument, NULL, 's'},
	                                      {"random", required_argument, NULL, 'n'},
	                                      {"seed", required_argument, NULL, 'e'},
	                                      {"all", no_argument, NULL, 'a'},
	                                      {NULL, 0, NULL, 0}};
	struct settings settings = {.seconds = NO_LIMIT,
	                            .random = RANDOM_USUAL,
	                            .seed = (uint64_t)time(NULL)};
	int option;
	bool any = false;

	while ((option = getopt_long(count, words, "", known, NULL)) != -1) {
		if (option == 'o')
			settings.only = optarg;
		else if (option == 'r')
			settings.replay = optarg;
		else if (option == 's')
			settings.seconds = strtod(optarg, NULL);
		else if (option == 'n')
			settings.random = strtoull(optarg, NULL, 10);
		else if (option == 'e')
			settings.seed = strtoull(optarg, NULL, 10);
		else if (option == 'a')
			settings.all = true;
		else
			return 2;
	}
	for (size_t i = 0; i < harness_count; i++) {
		if (settings.only != NULL && strcmp(settings.only, harnesses[i].name) != 0)
			continue;
		any = true;
		if (!passes(&harnesses[i], &settings))
			return 1;
	}
	if (!any || (settings.replay != NULL && settings.only == NULL)) {
		fprintf(stderr, "there is no harness %s\n",
		        settings.only != NULL ? settings.only : "named");
		return 2;
	}
	return 0;
}
