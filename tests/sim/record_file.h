/*
 * The file that SIM_RECORD names, a line for each call:
 *
 *   THREAD NAME RESULT        threads are numbered from 1 in order of their first call
 *   THREAD @STATE 0           what the driver keeps for the thread has changed (record_state.h)
 *
 * The lines of one thread are in the order in which they were written. A file that is there already
 * is another process's, of which this one is the child or the successor: then, and after a fork,
 * the name is SIM_RECORD.PID.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RECORD_LONGEST_NAME 100

/* Gives the thread its number, if it has none. */
void record_thread(void);

bool record_thread_has_number(void);

/* In decimal digits; returns where they end. */
char *record_put_number(char *at, unsigned int number);

/* Any thread that has a number. `length` is that of `name`, which has no blanks:
 * RECORD_LONGEST_NAME at most. */
void record_write(const char *name, size_t length, unsigned int result);
