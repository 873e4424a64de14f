/*
 * Whether a context has its device to itself. A graph of one op is built only there: on an H200
 * (driver 580.159.04), what the driver adds to its own memory while it instantiates one is not
 * always there for other contexts of the device. Such a context's wait for an event behind a launch
 * that has it ends with SIGSEGV in the driver (docs/results/2026-11-23-fuzz-h200.md). Longer graphs
 * were not seen to do that.
 *
 * Any thread; nothing waits.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

/* The program is about to make a context on the device. The answer goes to the other: the context
 * that was made, if any, is current. */
int reprise_neighbours_begin(CUdevice device);
void reprise_neighbours_made(int answer, bool made);

/* A context has ended, whoever made it. */
void reprise_neighbours_ended(CUcontext context);

/* Whether the context, which is current, is the only one of its device. Green contexts are parts of
 * the primary one. */
bool reprise_neighbours_none(CUcontext context);
