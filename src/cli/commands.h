/* The table of commands: name, arguments, action, and the options that each has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct reprise_arguments;

struct reprise_command {
	const char *name, *arguments, *help;
	unsigned int has; /* a bit of enum reprise_having: its options */
	int (*run)(const struct reprise_command *command, const struct reprise_arguments *arguments);
};

enum reprise_having {
	REPRISE_HAVING_RUN = 1,
	REPRISE_HAVING_OBSERVE = 2,
	REPRISE_HAVING_VERIFY = 4,
	REPRISE_HAVING_REPORT = 8,
	REPRISE_HAVING_NOTHING = 16,
	/* Starts a program, with the library's options. */
	REPRISE_HAVING_PROGRAM = REPRISE_HAVING_RUN | REPRISE_HAVING_OBSERVE | REPRISE_HAVING_VERIFY,
};

extern const struct reprise_command reprise_commands[];
extern const size_t reprise_command_count;

/* NULL if there is no such command. */
const struct reprise_command *reprise_command_named(const char *name);

/* Prints the usage of the command; NULL: of all. */
void reprise_command_usage(FILE *to, const struct reprise_command *command);
