/* Which functions a lane launches; other threads read this without the lane's lock (known.h). A
 * kernel and the function made from it are two handles of one thing. A kernel has another function
 * in each context. */
#pragma once

#include "lane/lane.h"

/* A function or kernel whose attribute or configuration is about to be set. */
struct reprise_function_set {
	CUfunction handle;
	bool is_kernel;
	CUcontext context; /* of a kernel: the calling thread's context */
	/* Of a kernel: its function in `context`; NULL: not known to be loaded there. */
	CUfunction function;
	/* Of a kernel: the program cannot have its function. */
	bool nowhere;
};

/* The kernel's function in the current context, in which the kernel was launched. NULL if the
 * handle is no kernel's. */
CUfunction reprise_function_of_kernel(CUfunction handle);

/* An op that launches the function comes. Called before the eager call: a thread that sets an
 * attribute asks before the setting, and again behind it. Under the lane's lock. */
void reprise_lane_learn_function(struct reprise_lane *lane, CUfunction function);
/* True if traces, deferred ops or watched ops may launch what is set. Without the lane's lock
 * (known.h). */
bool reprise_lane_may_launch(const struct reprise_lane *lane,
                             const struct reprise_function_set *set);
/* True if one of the functions launched may be that of the kernel that is set, and it cannot be
 * told which. */
bool reprise_lane_may_launch_any(const struct reprise_lane *lane,
                                 const struct reprise_function_set *set);
