/*
 * Lulls: moments in which a context has nothing to do, and is given nothing.
 *
 * An instantiation takes memory of the context's. When a heap has to grow for it, the driver waits
 * until all work of the context is done, and whoever launches meanwhile waits, too (seen on an
 * H200: one instantiation in 43 of small graphs; sometimes the making of a stream; CUDA's
 * documentation says of neither that it may wait). A program with a kernel that waits for a launch
 * to come would stand still for ever. So such calls of ours are made in a lull only: all work is
 * done, and the gate (base/gate.h) keeps new work back.
 *
 * A lull is not forced: how far the device is behind is seen from an event that comes after all
 * work of the context, and only if that is little the gate is closed until the rest is done, too.
 * By the building thread, with `compiling` held and the context current.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

/* Whether it is known that there will be none yet. */
bool reprise_quiescence_is_far(struct reprise_quiescence *quiescence);

/* True if it is a lull of `context`, which is current; lasts until reprise_quiescence_end(). False
 * if the device is at work: to be tried again after reprise_quiescence_pause_ns(). */
bool reprise_quiescence_begin(struct reprise_quiescence *quiescence, CUcontext context);
void reprise_quiescence_end(void);

uint64_t reprise_quiescence_pause_ns(const struct reprise_quiescence *quiescence);
