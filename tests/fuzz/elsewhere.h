/* The second thread does what it is told, and nothing between. */
#pragma once

/* Has it begin; the caller may go on with what the act does not touch. */
void fuzz_begin_elsewhere(void (*act)(int stream, int how), int stream, int how);

/* Waits until it has done so. */
void fuzz_end_elsewhere(void);

void fuzz_do_elsewhere(void (*act)(int stream, int how), int stream, int how);
