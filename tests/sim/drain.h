/*
 * Calls that wait until all work of a context is done: those that make one of its heaps grow, load
 * a module, or free or end memory, set a limit. While one does, no other thread can enqueue
 * anything in that context, nor capture there, nor destroy or upload an executable graph. So a
 * kernel that waits for what another thread is going to launch never ends then. Measured on an
 * H200; the work of another context of the same device does not matter.
 */
#pragma once

#include "sim.h"

/* What a context has of something. It only grows, and what is given back is used again. */
struct sim_heap {
	size_t room, taken;
};

/* Returns once all work of the context is done. For the log the host has not waited: no
 * documentation says that it does. */
void sim_drain(struct sim_context *context);

/* The same for calls that are said to wait. Returns the context's error. */
CUresult sim_drain_synchronize(struct sim_context *context);

/* Returns once the op is done. Others are kept out meanwhile, as by the calls above. */
void sim_drain_op(struct sim_context *context, struct sim_op *op);

/* Returns once all is done that the device's contexts have been given by now. Others go on
 * meanwhile. */
void sim_drain_device(CUdevice device);

/* Called before anything is enqueued or captured, and by what is said above: waits while a call of
 * another thread drains the context. */
void sim_drain_pass(struct sim_context *context);

/* Takes of a heap of the context, which is drained if the heap has to grow for it: by just so much,
 * so that the next one may have to, too. */
void sim_heap_take(struct sim_context *context, struct sim_heap *heap, size_t amount);
void sim_heap_give(struct sim_heap *heap, size_t amount);
