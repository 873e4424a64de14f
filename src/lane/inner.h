/* What the files of a lane share. All of it under the lane's lock. */
#pragma once

#include "joint.h"
#include "lane.h"

/* Makes the context current if it is not; true if reprise_lane_restore() has something to undo. */
bool reprise_lane_make_current(CUcontext context);
void reprise_lane_restore(bool pushed);

/* What comes next comes after no op. */
static inline void reprise_lane_move_to(struct reprise_lane *lane, uint64_t before)
{
	lane->spot.before = before;
	lane->spot.value = 0;
}

/* Something repeats: the lane is watched closely for so many ops more, but never for longer than REPRISE_AWAKE_OPS. */
static inline void reprise_lane_stay_awake(struct reprise_lane *lane, uint64_t ops)
{
	uint64_t most = lane->counts.ops + REPRISE_AWAKE_OPS;
	uint64_t until = (lane->awake_until > lane->counts.ops ? lane->awake_until : lane->counts.ops) + ops;

	lane->awake_until = until < most ? until : most;
	lane->drowsy_span = 0;
}

/* The lane has to be told of barriers. There is nothing to tell it of any more, until its next op. */
void reprise_lane_attend(struct reprise_lane *lane);
void reprise_lane_unattend(struct reprise_lane *lane);

/* Where op `start` is of ops of which the first is at `first`. */
struct reprise_spot reprise_lane_spot_within(const struct reprise_op *ops, const bool *loose, unsigned int start, const struct reprise_spot *first);

/* There was no host memory for a trace. Where no thread makes room, the lane's own have to give way; true if one did. */
bool reprise_lane_make_room(struct reprise_lane *lane);

/* reprise_watch_found, with the lane: a segment has repeated. */
void reprise_lane_make_traces(void *lane, struct reprise_segment *segment);

/* Forgets the traces that only a joint lane can have. As reprise_lane_forget(). */
void reprise_lane_forget_forks(struct reprise_lane *lane, bool gone);

/* The program pauses before op `at` every time: two traces from now on, with the border there. */
void reprise_lane_split(struct reprise_lane *lane, struct reprise_trace *trace, unsigned int at);

/*
 * Whether the call is one of the next ops of the followed trace, those before it being absent this time: they were neither called nor answered,
 * and will not be issued. What comes next is then looked for behind it.
 */
bool reprise_lane_pass_over(struct reprise_lane *lane, const struct reprise_call *call);
