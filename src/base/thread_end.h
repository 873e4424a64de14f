/* A function that runs when a thread ends. Its key is made at the first use, without a lock: a
 * signal handler may interrupt that and get here itself. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct reprise_thread_end {
	void (*ends)(void *unused); /* on the thread that ends */
	_Atomic uint64_t key;       /* the pthread key plus one; 0: not made yet */
};

/* Runs `ends` when the calling thread ends; not if there is no memory for the key. Changes
 * errno. */
void reprise_thread_end_hear(struct reprise_thread_end *end);
