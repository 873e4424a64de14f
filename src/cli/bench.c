/*
 * Runs by turns: each pair is one run without Reprise and one with it, in random order, so that
 * what disturbs the machine disturbs both. A pair that is not counted comes first: it fills caches.
 * All output is compared with that of the first run.
 */
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/library.h"

/* If the user says neither how many runs there are nor how long they may take. */
#define USUAL_SECONDS 30
#define USUAL_PAIRS 50
#define PROCESSOR_GRAIN 1e-6 /* seconds; getrusage(2) knows no less */

struct turns {
	char **command;
	bool (*load)(void);
	const struct reprise_bench_wish *wish;
	double spent, longest; /* seconds: of all runs; of a pair */
};

static void show_progress(size_t pairs, bool erase)
{
	if (isatty(STDERR_FILENO) != 1 || tcgetpgrp(STDERR_FILENO) != getpgrp())
		return;
	if (erase)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\rreprise: %zu pair%s of runs\033[K\r", pairs, pairs == 1 ? "" : "s");
}

/* Compares the present run's output with the first run's. */
static void compare(struct reprise_bench *bench, enum reprise_bench_side side)
{
	for (unsigned int i = 0; i < REPRISE_BENCH_OUTPUTS; i++) {
		if (reprise_cli_equal_files(reprise_bench_output(bench, REPRISE_BENCH_FIRST, i),
		                            reprise_bench_output(bench, REPRISE_BENCH_NOW, i)))
			continue;
		if (side == REPRISE_BENCH_WITHOUT)
			bench->outputs[i] = REPRISE_BENCH_VARIES;
		else if (bench->outputs[i] == REPRISE_BENCH_SAME &&
		         rename(reprise_bench_output(bench, REPRISE_BENCH_NOW, i),
		                reprise_bench_output(bench, REPRISE_BENCH_OTHER, i)) == 0)
			bench->outputs[i] = REPRISE_BENCH_DIFFERS;
	}
}

/* Returns the exit status. */
static int tell_failure(const struct turns *turns, enum reprise_bench_side side, int status)
{
	char words[REPRISE_KEPT_STATUS_MOST];

	show_progress(0, true);
	reprise_kept_status(status, words);
	if (side == REPRISE_BENCH_WITHOUT) {
		fprintf(stderr, "reprise: %s ended with %s without Reprise: what fails is not measured\n",
		        turns->command[0], words);
		return REPRISE_KEPT_UNSEEN;
	}
	fprintf(stderr, "reprise: %s ended with %s with Reprise, and with status 0 without\n",
	        turns->command[0], words);
	return 1;
}

/* Returns -1 with the times among those of the pair, or the exit status. */
static int run(struct reprise_bench *bench, struct turns *turns, const char *which,
               enum reprise_bench_side side)
{
	struct reprise_kept_end end;
	int unable;

	for (unsigned int i = 0; i < REPRISE_BENCH_OUTPUTS; i++)
		unlink(reprise_bench_output(bench, REPRISE_BENCH_NOW, i));
	unable = reprise_kept_run(&bench->kept, which, turns->command,
	                          side == REPRISE_BENCH_WITH ? turns->load : NULL, &end);
	if (unable != 0)
		return unable;
	if (end.status != 0)
		return tell_failure(turns, side, end.status);
	bench->wall[side][bench->count] = end.seconds;
	bench->processor[side][bench->count] =
		end.processor_seconds > 0 ? end.processor_seconds : PROCESSOR_GRAIN;
	if (strcmp(which, REPRISE_BENCH_NOW) == 0)
		compare(bench, side);
	return -1;
}

/* The same, for a pair. `which`: as what the output of the run without Reprise is kept. */
static int run_pair(struct reprise_bench *bench, struct turns *turns, const char *which,
                    enum reprise_bench_side first)
{
	double pair;
	int ended = -1;

	for (unsigned int i = 0; i < REPRISE_BENCH_SIDES && ended < 0; i++) {
		enum reprise_bench_side side = i == 0 ? first : REPRISE_BENCH_SIDES - 1 - first;

		ended = run(bench, turns, side == REPRISE_BENCH_WITHOUT ? which : REPRISE_BENCH_NOW, side);
	}
	if (ended >= 0)
		return ended;
	pair = bench->wall[REPRISE_BENCH_WITHOUT][bench->count] +
	       bench->wall[REPRISE_BENCH_WITH][bench->count];
	turns->spent += pair;
	turns->longest = pair > turns->longest ? pair : turns->longest;
	return -1;
}

/* True if one more pair is wanted. */
static bool goes_on(const struct reprise_bench *bench, const struct turns *turns)
{
	const struct reprise_bench_wish *wish = turns->wish;
	double then = turns->spent + turns->longest;

	if (bench->count == 0)
		return true;
	if (bench->count == (wish->runs > 0 ? wish->runs : USUAL_PAIRS))
		return false;
	if (wish->seconds > 0)
		return then <= wish->seconds;
	return wish->runs > 0 || bench->count < REPRISE_PAIRS_LEAST || then <= USUAL_SECONDS;
}

static enum reprise_bench_side any_side(void)
{
	unsigned char byte = 0;

	(void)!getrandom(&byte, sizeof(byte), GRND_NONBLOCK);
	return byte % 2 == 0 ? REPRISE_BENCH_WITHOUT : REPRISE_BENCH_WITH;
}

/* Returns -1, or the exit status. */
static int measure(struct reprise_bench *bench, struct turns *turns)
{
	int ended = reprise_kept_input(&bench->kept) ? -1 : REPRISE_KEPT_UNSEEN;

	if (ended < 0)
		ended = run_pair(bench, turns, REPRISE_BENCH_FIRST, REPRISE_BENCH_WITHOUT);
	while (ended < 0 && goes_on(bench, turns)) {
		show_progress(bench->count, false);
		ended = run_pair(bench, turns, REPRISE_BENCH_NOW, any_side());
		bench->count += ended < 0;
	}
	show_progress(bench->count, true);
	return ended;
}

int reprise_cli_bench(char **command, const struct reprise_bench_wish *wish, bool stand_in)
{
	struct turns turns = {.command = command,
	                      .load = stand_in ? reprise_cli_stand_in : reprise_cli_preload,
	                      .wish = wish};
	struct reprise_bench *bench = calloc(1, sizeof(*bench));
	int status = REPRISE_KEPT_UNSEEN;

	if (bench == NULL) {
		fputs("reprise: out of memory\n", stderr);
		return status;
	}
	reprise_child_guard();
	if (reprise_kept_begin(&bench->kept)) {
		status = measure(bench, &turns);
		if (status < 0)
			status = reprise_bench_tell(bench, command, wish->json);
		reprise_kept_end(&bench->kept);
	}
	free(bench);
	return reprise_child_asked_to_end() != 0 ? reprise_child_end_by(reprise_child_asked_to_end())
	                                         : status;
}
