/*
 * Whether a context has its device to itself. A graph of one op is built only there: beside another
 * context, instantiating one was seen to crash the driver in a wait of the other context
 * (docs/decisions/0016-graphs-of-one-op.md).
 *
 * Any thread; nothing waits.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

/* Around the making of a context on the device. The first's answer goes to the second, with the new
 * context current. */
int reprise_neighbours_begin(CUdevice device);
void reprise_neighbours_made(int answer, bool made);

/* A context has ended. */
void reprise_neighbours_ended(CUcontext context);

/* True if the current context is the only one of its device. Green contexts are parts of the
 * primary one. */
bool reprise_neighbours_none(CUcontext context);
