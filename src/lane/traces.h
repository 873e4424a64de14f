/*
 * The traces that a lane has: given up for want of memory, forgotten with what they name, and all
 * of them when the stream goes.
 *
 * Under the lane's lock. Any context may be current.
 */
#pragma once

#include "lane/functions.h"
#include "lane/lane.h"

/* Gives the trace up, with its graph. */
void reprise_lane_drop(struct reprise_lane *lane, struct reprise_trace *trace);

/* Forgets all traces, or those that may launch what is set. Nothing may be deferred, and building
 * is paused. */
void reprise_lane_forget(struct reprise_lane *lane);
void reprise_lane_forget_function(struct reprise_lane *lane,
                                  const struct reprise_function_set *set);
/* Forgets those that name arrays or contexts, which may be others' than the lane's. */
void reprise_lane_forget_elsewhere(struct reprise_lane *lane);

/* Forgets those that name the event. Nothing may be deferred or watched. False if one stays, since
 * the building thread has its graph in work. */
bool reprise_lane_forget_event(struct reprise_lane *lane, CUevent event);

/* Forgets the traces that only a joint lane can have. As reprise_lane_forget(). */
void reprise_lane_forget_forks(struct reprise_lane *lane);

/* There was no host memory for a trace. Where no thread makes room, the lane's own have to give
 * way; true if one did. */
bool reprise_lane_make_room(struct reprise_lane *lane);

/* When its least recently used trace was used, in ticks; 0 if it has none that could go. */
uint64_t reprise_lane_oldest(const struct reprise_lane *lane);
/* Gives that trace up. False if there is none. */
bool reprise_lane_evict(struct reprise_lane *lane);

/* Gives up what was watched of a lane that had no ops since so many ticks. It begins to watch anew
 * when they come. False if it did, or there is nothing. */
bool reprise_lane_stop_watching(struct reprise_lane *lane, uint64_t before);

/*
 * Gives the private streams back, after reprise_lane_forget() of all traces: they are taken from
 * the lane under its lock, and destroyed under none, since the driver may keep who does so.
 */
struct reprise_capture_streams reprise_lane_take_capture_streams(struct reprise_lane *lane);
void reprise_lane_close(struct reprise_capture_streams *capture_streams);

/* What is watched since the last barrier is forgotten: something in it was refused by the driver,
 * or is about to end. */
void reprise_lane_drop_segment(struct reprise_lane *lane);

/* What comes next comes after no op. */
static inline void reprise_lane_move_to(struct reprise_lane *lane, uint64_t before)
{
	lane->position.before = before;
	lane->position.value = 0;
}
