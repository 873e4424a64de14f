/*
 * A program: loops, one after another, of statements. A statement is an action with its arguments,
 * and says in which iterations it is done. As text, a line for each:
 *
 *     loop 120
 *     launch 1 0 4 1
 *     sync_stream 1 if every 8 3        iterations with i % 8 == 3
 *     pause 400 if at 9
 *     copy_out 1 0 if not 17
 *     poll_event 2 if chance 5 77       one in five, by a number made of the iteration and 77
 *     set 1 0 2 4 if mostly 9 78        eight in nine, likewise
 *     end
 *
 * Lines that begin with # are left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "actions.h"

/* When a statement is done: name, how many numbers, as C. */
#define CONDITIONS(X) \
	X(ALWAYS, "", 0, "") \
	X(AT, "at", 1, "if (iteration == %d) ") \
	X(NOT, "not", 1, "if (iteration != %d) ") \
	X(EVERY, "every", 2, "if (iteration %% %d == %d) ") \
	X(CHANCE, "chance", 2, "if (chance(%2$d) %% %1$d == 0) ") \
	X(MOSTLY, "mostly", 2, "if (chance(%2$d) %% %1$d != 0) ")

enum condition {
#define X(name, word, numbers, c) CONDITION_##name,
	CONDITIONS(X)
#undef X
		CONDITION_COUNT
};

struct statement {
	enum action action;
	int arguments[4];
	enum condition condition;
	int numbers[2];
};

struct loop {
	int count;
	struct statement *body;
	unsigned length;
};

struct program {
	struct loop *loops;
	unsigned length;
};

void program_add_loop(struct program *program, int count);
void program_add(struct program *program, struct statement statement); /* to the last loop */

/* The program of that seed: the same for ever. */
void program_generate(struct program *program, uint64_t seed);

/* Reads the text form. Ends the process with a message if it is none. */
void program_read(struct program *program, FILE *file);
void program_write(const struct program *program, FILE *file);

/* As a C program that does the same, to be compiled with the files of actions (meson.build). */
void program_write_c(const struct program *program, FILE *file);

/* Runs it; start() has been called. */
void program_run(const struct program *program);

/* Where program_run() is, and which actions took longest, in one line on stderr. For a handler of a
 * signal that ends the process. */
void program_tell_where(void);
