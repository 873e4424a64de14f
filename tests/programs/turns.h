/* How a program with --turns works as scripts/turns asks: a line on standard input is a word and an
 * amount (scripts/lib/one_loop.py says which words there are), or empty. For C and C++. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../include/reprise/reprise.h"

#define TURN_SETTLES 0.1 /* of a turn: not timed, for what the change leaves behind */

struct turns {
	char word[16]; /* of the last line; "": it was empty */
	double amount;
	uint64_t steps; /* in all */
	bool paused;
};

/* Waits for a line; false: there is none. */
static inline bool turns_asked(struct turns *turns)
{
	char line[64];

	turns->word[0] = '\0';
	turns->amount = 0;
	if (fgets(line, sizeof line, stdin) == NULL)
		return false;
	sscanf(line, "%15s %lf", turns->word, &turns->amount);
	return true;
}

static inline double turns_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Batches until there were `steps` and `seconds` are over. Returns the steps. */
static inline uint64_t turns_work(struct turns *turns, double steps, double seconds, uint64_t batch,
                                  void (*work)(void *program), void *program)
{
	double begin = turns_seconds(CLOCK_MONOTONIC);
	uint64_t done = 0;

	while ((double)done < steps || turns_seconds(CLOCK_MONOTONIC) - begin < seconds) {
		work(program);
		done += batch;
	}
	turns->steps += done;
	return done;
}

/* Does what the last line, which was not empty, asks for, and answers. `work` does `batch` steps,
 * and waits until they are done. */
static inline void turns_take(struct turns *turns, uint64_t batch, void (*work)(void *program),
                              void *program)
{
	bool by_steps = strcmp(turns->word, "steps") == 0, eager = strcmp(turns->word, "eager") == 0;
	double begin, processor, took, used;
	uint64_t done;

	if (eager && !turns->paused)
		reprise_pause();
	else if (!eager && turns->paused)
		reprise_resume();
	turns->paused = eager;
	if (eager || strcmp(turns->word, "replay") == 0)
		turns_work(turns, 0, TURN_SETTLES * turns->amount, batch, work, program);
	begin = turns_seconds(CLOCK_MONOTONIC);
	processor = turns_seconds(CLOCK_PROCESS_CPUTIME_ID);
	done = turns_work(turns, by_steps ? turns->amount : 0, by_steps ? 0 : turns->amount, batch,
	                  work, program);
	took = turns_seconds(CLOCK_MONOTONIC) - begin;
	used = turns_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
	printf("us=%.4f cpu_us=%.4f steps=%llu seconds=%.6f\n", 1e6 * took / (double)(done ? done : 1),
	       1e6 * used / (double)(done ? done : 1), (unsigned long long)done, took);
	fflush(stdout);
}
