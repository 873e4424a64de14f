/*
 * The library that listens to NVTX, as a profiler names it in NVTX_INJECTION64_PATH, and what it is
 * told: each graph launch that replaces calls is a range of the domain `reprise`.
 *
 * Reprise is a client of NVTX as the program may be, with a table of functions of its own. The
 * library is loaded before the first op, without a lock. Where nobody listens, a launch costs a
 * load and a branch.
 *
 * The listener's functions are called within Reprise, under the lane's lock or the queue's, as
 * CUPTI's callbacks at the graph launch are. Whatever CUDA calls they make pass straight through.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "op/op.h"

/* True while a library listens. */
extern _Atomic bool reprise_nvtx_listens;

/* Once, before the first op: loads the library, if there is one. No lock is held. */
void reprise_nvtx_begin(void);

/*
 * The graph of these ops is about to be launched. *name is NULL at first, and is kept with the ops:
 * the name of the range, as the listener knows it. True if a range has begun, which
 * reprise_nvtx_replay_ends() ends, on this thread.
 */
bool reprise_nvtx_replay_begins(_Atomic(const void *) *name, const struct reprise_op *ops,
                                unsigned int count);
void reprise_nvtx_replay_ends(void);

/* ---- the library itself ---- */

struct reprise_listener {
	void *library;
	void *function; /* NULL: there is none */
};

/* Loads the library, and finds its function of that name. Nothing if it is Reprise itself. No lock
 * is held. */
struct reprise_listener reprise_listener_open(const char *function);

/* The function said that it does not listen. */
void reprise_listener_close(struct reprise_listener *listener);
