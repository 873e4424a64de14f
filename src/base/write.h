/*
 * Writing without side effects on the program. A reader that is gone, or a limit on file sizes,
 * would end it by a signal (SIGPIPE, SIGXFSZ); cancellation would end the thread within the write;
 * errno would change.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns 0 if everything was written, or the error of the write that failed. Any thread, also with
 * locks held. */
int reprise_write(int file, const void *bytes, size_t count);
