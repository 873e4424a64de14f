/*
 * The end of threads, and of a process whose main thread has ended by pthread_exit. The C library
 * calls exit(0) when the last thread ends. Reprise's threads would keep the process alive for good,
 * with all signals masked. So one of them, the watching thread, looks once no thread of the
 * program's that ever made a call is left. It calls exit(0) when only Reprise's threads are left.
 *
 * The kernel's count of threads decides. The count kept here only tells when to look.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/placement.h"

/* Once. If `now`, starts the watching thread at once, else when there is something to look for. */
void reprise_ending_begin(bool now);

/* This thread's number; 0 before it is asked for. */
extern _Thread_local uint32_t reprise_thread_number
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/* Gives this thread a number, and counts the thread. */
uint32_t reprise_thread_begin(void);

/* This thread's number, from 1; never another thread's. The first call counts the thread. */
static inline uint32_t reprise_thread_self(void)
{
	uint32_t self = reprise_thread_number;

	return __builtin_expect(self != 0, 1) ? self : reprise_thread_begin();
}

/* After fork, in the child. */
void reprise_ending_reset(void);

/* A function that runs when a thread ends. Its key is made at the first use, without a lock: a
 * signal handler may interrupt that and get here itself. */
struct reprise_thread_end {
	void (*ends)(void *unused); /* on the thread that ends */
	_Atomic uint64_t key;       /* the pthread key plus one; 0: not made yet */
};

/* Runs `ends` when the calling thread ends; not if there is no memory for the key. Changes
 * errno. */
void reprise_thread_end_hear(struct reprise_thread_end *end);
