/* What a program's file tells, for `reprise doctor`, and the judgement: can it be preloaded, and what to do if not. */
#pragma once

#include <stdbool.h>

/* `name` is as for a shell. True if the program can be preloaded. */
bool reprise_cli_tell_program(const char *name);
