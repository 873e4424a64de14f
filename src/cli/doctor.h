/* Telling whether a program can be run under Reprise here, and what to do where it cannot. */
#pragma once

/*
 * Prints what is installed, which driver the loader finds, the options with their origin and,
 * unless `program` is NULL, what its file tells. Returns the status to exit with: 0 if the program
 * can be preloaded, 1 if not.
 */
int reprise_cli_doctor(const char *program);
