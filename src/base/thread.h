/* Threads: which one this is, and how one of our own is started in somebody else's process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* This thread's number, from 1. It is never another thread's. */
uint32_t reprise_thread_self(void);

/* Detached, all signals masked, a small stack. */
bool reprise_thread_start(void *(*run)(void *), const char *name);
