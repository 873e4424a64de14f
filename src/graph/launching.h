/*
 * Which kernels of code that is linked with the device runtime launch kernels: the driver knows. It
 * refuses a graph for the device that has a kernel which refers to the device runtime, and no
 * other (CUDA C++ Programming Guide, "Device Graph Requirements": no dynamic parallelism).
 *
 * By the builder, in quiescence: an instantiation may wait for running work.
 */
#pragma once

#include "graph/graph.h"

enum reprise_launching_found {
	REPRISE_LAUNCHING_NONE,    /* no kernel of the graph launches kernels */
	REPRISE_LAUNCHING_SOME,    /* one does, or the driver has not told; it is eager from now on */
	REPRISE_LAUNCHING_NOT_NOW, /* no capture is possible now, because of a call of the program's */
};

/* Asks about those kernels of the graph's that nothing is known of. The context must be current. */
enum reprise_launching_found reprise_launching_ask(const struct reprise_graph *graph);
