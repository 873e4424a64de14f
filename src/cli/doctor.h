/* Tells if a program can run under Reprise here, and if not, what to do. */
#pragma once

/* Prints what is installed, the driver that the loader finds, the options with their origin and,
 * unless `program` is NULL, what its file tells. Returns the exit status: 0 if the program can be
 * preloaded and replayed (NULL: if anything can be preloaded here), else 1. */
int reprise_cli_doctor(const char *program);
