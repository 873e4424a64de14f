/* Starting a thread of our own in somebody else's process: detached, all signals masked, a small stack. */
#pragma once

#include <stdbool.h>

bool reprise_thread_start(void *(*run)(void *), const char *name);
