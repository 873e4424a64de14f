/*
 * Writing in somebody else's process: what a write may do to a program besides writing is kept from it. A reader that is gone, or a limit on
 * the size of files, would end it by a signal (SIGPIPE, SIGXFSZ); a cancelled thread would end in the middle; errno would change.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if everything was written. May be called with locks held, from any thread. */
bool reprise_write(int file, const void *bytes, size_t count);
