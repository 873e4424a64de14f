/*
 * Quiescence: a moment in which a context has nothing to do, and is given nothing.
 *
 * Instantiation and making a stream may block until the context is idle, and block all launches
 * meanwhile (docs/decisions/0006-build-in-quiescence.md). A kernel that waits for such a launch
 * would deadlock. So these calls are made in quiescence only: all work is done, and the gate
 * (base/gate.h) keeps new work back.
 *
 * Quiescence is not forced. An event after all work of the context tells how far the device is
 * behind; only if that is little, the gate is closed until the rest is done. By the builder, with
 * `compiling` held and the context current.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

/* True if the device is known to be behind still. Does not close the gate. */
bool reprise_quiescence_is_far(struct reprise_quiescence *quiescence);

/* Begins quiescence of `context`, which is current; it lasts until reprise_quiescence_end(). False
 * if the device is busy: to be tried again after reprise_quiescence_pause_ns(). */
bool reprise_quiescence_begin(struct reprise_quiescence *quiescence, CUcontext context);
void reprise_quiescence_end(void);

uint64_t reprise_quiescence_pause_ns(const struct reprise_quiescence *quiescence);
