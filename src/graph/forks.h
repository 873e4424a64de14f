/*
 * What it takes to capture a graph that forks over several streams of a joint lane
 * (lane/group/group.h): a private stream for each of its members, and events for the edges between
 * them.
 *
 * Of each kind there are two: the building thread uses one, who patches under the lane's lock the
 * other. What a member needs is there before any graph names the member, and goes after the last of
 * them.
 */
#pragma once

#include <cuda.h>

#define REPRISE_MEMBERS_MOST 8      /* streams in a lane; sets of members are bytes */
#define REPRISE_FORK_EVENTS_MOST 32 /* different events recorded in one graph */

enum reprise_side { REPRISE_FOR_BUILDING, REPRISE_FOR_PATCHING, REPRISE_SIDES };

struct reprise_forks {
	CUstream models[REPRISE_MEMBERS_MOST]; /* the program's streams; of the first, and of its
	                                          private streams, the workshop knows */
	CUstream streams[REPRISE_SIDES][REPRISE_MEMBERS_MOST];
	CUevent edges[REPRISE_SIDES]
				 [REPRISE_FORK_EVENTS_MOST + 1]; /* the last one joins what is left at the end */
	CUevent branch_ends[REPRISE_MEMBERS_MOST]; /* recorded by each graph at the end of that member's
	                                        branch: what is next on its stream waits for it */
};
