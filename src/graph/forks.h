/*
 * Streams and events to capture graphs that fork over a stream group (lane/group/group.h).
 *
 * The builder uses one side; a thread that patches under the lane's lock uses the other. What a
 * member needs exists before a graph names the member, and until the last of these graphs is gone.
 */
#pragma once

#include <cuda.h>

#define REPRISE_MEMBERS_MOST 8      /* streams in a group; sets of members are bytes */
#define REPRISE_FORK_EVENTS_MOST 32 /* different events recorded in one graph */

enum reprise_side { REPRISE_FOR_BUILDING, REPRISE_FOR_PATCHING, REPRISE_SIDES };

struct reprise_forks {
	/* the program's streams; member 0 and its capture streams are in reprise_capture_streams */
	CUstream models[REPRISE_MEMBERS_MOST];
	CUstream streams[REPRISE_SIDES][REPRISE_MEMBERS_MOST];
	/* edges between branches; the last event joins branches at the end */
	CUevent edges[REPRISE_SIDES][REPRISE_FORK_EVENTS_MOST + 1];
	/* recorded by each graph at the branch's end; the stream's next work waits for it */
	CUevent branch_ends[REPRISE_MEMBERS_MOST];
};
