/*
 * Which functions a lane launches: what others ask about without its lock (known.h). A kernel and
 * the function made from it are two handles of one thing, and a kernel's function is another one in
 * each context.
 */
#pragma once

#include "lane/lane.h"

/* A function or kernel of which something is about to be set. */
struct reprise_function_set {
	CUfunction handle;
	bool is_kernel;
	CUcontext context;   /* of a kernel: the calling thread's, */
	CUfunction function; /* and its function there; NULL: it is not known to be loaded there, */
	bool nowhere;        /* and nobody has its function */
};

/* The kernel's function in the current context, where the kernel was launched. NULL: the handle is
 * no kernel's. */
CUfunction reprise_function_of_kernel(CUfunction handle);

/* An op that launches the function comes. Before it is passed: who sets something asks before that
 * is done, and again behind it. */
void reprise_lane_learn_function(struct reprise_lane *lane, CUfunction function);
/* Whether traces may launch what is set, or ops that are deferred or watched. Without the lane's
 * lock (known.h). */
bool reprise_lane_may_launch(const struct reprise_lane *lane,
                             const struct reprise_function_set *set);
/* Whether one of them may be the function of the kernel that is set, and nobody can say. */
bool reprise_lane_may_launch_any(const struct reprise_lane *lane,
                                 const struct reprise_function_set *set);
