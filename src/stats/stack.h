/*
 * Who called: the addresses that a call and its callers return to. Told in observe alone, for a
 * report: elsewhere what the call itself returns to has to do.
 *
 * The unwinder is the compiler's, libgcc_s.so.1, found when a stack is first looked at; where it is
 * missing, stacks have one frame. It goes by the tables that code is unwound by for exceptions, so
 * it ends where a caller has none. With glibc 2.35 and GCC 12, or later, it takes no lock; before,
 * the one that the loader has for its list of objects, which is never held while constructors run.
 * Opening the library takes the loader's own lock, once: nothing of ours may be held, and who waits
 * in a constructor for the very thread that makes its first call to CUDA would wait for good.
 */
#pragma once

#include <stdbool.h>

/* The cudart of CUDA 13.0 has up to seven of its own (caller.h). */
#define REPRISE_STACK_MOST 10

/* Whether stacks are walked. Set when Reprise starts. */
extern bool reprise_stack_wanted;

/* Fills in `frames`, the first of which is `from`, that a call returns to; returns how many there
 * are, at least one. No lock of ours may be held. */
unsigned int reprise_stack_walk(const void *from, const void *frames[REPRISE_STACK_MOST]);
