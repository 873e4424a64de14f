/*
 * Writing in somebody else's process: what a write may do to a program besides writing is kept from
 * it. A reader that is gone, or a limit on the size of files, would end it by a signal (SIGPIPE,
 * SIGXFSZ); a cancelled thread would end in the middle; errno would change.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* 0 if everything was written, or the error of the write that failed. May be called with locks
 * held, from any thread. */
int reprise_write(int file, const void *bytes, size_t count);
