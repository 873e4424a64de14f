/*
 * Who is to hear of a thread's end. What is needed for it is made at the first use, and nobody waits for who makes it: a signal's handler may interrupt a thread in the
 * midst of that, and come here itself.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct reprise_thread_end {
	void (*ends)(void *unused); /* on the thread that ends */
	_Atomic uint64_t key;       /* of threads' own data, and one; 0: not made yet */
};

/* This thread's end is heard of from now on. Changes errno where there is no room for it, and then nobody hears of it. */
void reprise_thread_end_hear(struct reprise_thread_end *end);
