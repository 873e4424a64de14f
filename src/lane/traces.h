/*
 * A lane's traces: which functions they launch, and giving them up.
 *
 * Under the lane's lock. Any context may be current.
 */
#pragma once

#include <stdbool.h>

#include "lane/lane.h"

/* ---- which functions a lane launches: other threads read this without the lane's lock (known.h).
 * A kernel and the function made from it are two handles of one thing. A kernel has another
 * function in each context. ---- */

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

/* ---- giving traces up: for want of memory, with what they name, and with the stream ---- */

/* Gives the trace up, with its graph. */
void reprise_lane_drop(struct reprise_lane *lane, struct reprise_trace *trace);

/* Forgets all traces, or those that may launch what is set. Nothing is deferred, and building is
 * paused. */
void reprise_lane_forget(struct reprise_lane *lane);
void reprise_lane_forget_function(struct reprise_lane *lane,
                                  const struct reprise_function_set *set);
/* Limits the dynamic shared memory that traces agree with, and graphs are built with: the program
 * has set it of that function, or is about to (`is_set`), and reprise_lane_may_launch_any() is
 * false. As the ones above, and no segment is open. */
void reprise_lane_limit_shared(struct reprise_lane *lane, const struct reprise_function_set *set,
                               unsigned int bytes, bool is_set);
/* Forgets traces that name arrays or contexts, which may be other contexts than the lane's. */
void reprise_lane_forget_elsewhere(struct reprise_lane *lane);

/* Forgets traces that name the event. Nothing is deferred or watched. False if a trace stays
 * because its graph is being built. */
bool reprise_lane_forget_event(struct reprise_lane *lane, CUevent event);

/* Forgets the traces that only a group can have. As reprise_lane_forget(). */
void reprise_lane_forget_forks(struct reprise_lane *lane);

/* There was no host memory for a trace: asks the builder to make some. While observing, there is no
 * builder: gives up a trace of this lane, and returns true if there was one. */
bool reprise_lane_make_room(struct reprise_lane *lane);

/* When the lane's least recently used trace was used, in ticks; 0 if it has none that can go. */
uint64_t reprise_lane_oldest(const struct reprise_lane *lane);
/* Gives that trace up. False if there is none. */
bool reprise_lane_evict(struct reprise_lane *lane);

/* Gives up the watch of a lane that had no ops since `before`, in ticks. The lane begins to watch
 * anew when ops come. False if it had ops, or has no watch. */
bool reprise_lane_stop_watching(struct reprise_lane *lane, uint64_t before);

/* Destroys the capture streams, after reprise_lane_forget(). They are taken from the lane under its
 * lock, and destroyed under no lock: the driver may keep the thread that destroys them. */
struct reprise_capture_streams reprise_lane_take_capture_streams(struct reprise_lane *lane);
void reprise_lane_close(struct reprise_capture_streams *capture_streams);

/* Forgets the open segment: the driver refused an op in it, or something that it names is about to
 * end. */
void reprise_lane_drop_segment(struct reprise_lane *lane);

/* The next op comes behind `before`, which is no op (trace/site.h). */
static inline void reprise_lane_move_to(struct reprise_lane *lane, uint64_t before)
{
	lane->position.before = before;
	lane->position.value = 0;
}

/* ---- making room: one limit for all lanes, so that a lane without ops gives way to an active
 * one. No lock is held. ---- */

/* Gives up the least recently used trace of all lanes. `host`: host memory is wanted, so the watch
 * of a lane without ops for a second goes first, and no trace goes where only the lanes' tables are
 * too many: its memory is no room for them. False if nothing was given up. By the builder. */
bool reprise_lanes_evict(bool host);
