/*
 * The end of a process whose main thread has ended, by pthread_exit: the C library ends it, by
 * exit(0), when its last thread does. Threads of ours would keep it alive for good, with all
 * signals masked. So one of them watches while none of the program's threads that ever came here is
 * left, and calls exit(0) itself when only ours are.
 *
 * The kernel's own count of threads decides; what is counted here only tells when there is
 * something to look for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Once. With `now` the thread that watches is started at once, and not only when it has something
 * to look for. */
void reprise_ending_begin(bool now);

/* This thread's number, from 1. It is never another thread's. Who asks for the first time is
 * counted. */
uint32_t reprise_thread_self(void);

/* After fork, in the child. */
void reprise_ending_reset(void);
