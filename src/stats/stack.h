/*
 * The stack of a call: the return addresses of the call and its callers. Walked only in observe.
 * Otherwise the call's own return address is all there is.
 *
 * The unwinder is the compiler's, in libgcc_s.so.1, loaded at the first walk. Without it stacks
 * have one frame. It reads the tables for exceptions, so a walk ends at a caller without one. With
 * glibc 2.35 and GCC 12 or later it takes no lock. Before, it takes the loader's lock of the list
 * of objects, which is never held while constructors run.
 *
 * Loading the library takes the loader's main lock, once. So no lock of Reprise's may be held. A
 * constructor that waits for the thread of the first walk would deadlock.
 */
#pragma once

#include <stdbool.h>

/* The cudart of CUDA 13.0 has up to seven frames of its own (report/caller.h). */
#define REPRISE_STACK_MOST 10

/* True if stacks are walked. Set when Reprise starts. */
extern bool reprise_stack_wanted;

/* Fills in `frames`, beginning with `from`, the call's return address. Returns their number, at
 * least one. No lock of Reprise's may be held. */
unsigned int reprise_stack_walk(const void *from, const void *frames[REPRISE_STACK_MOST]);
