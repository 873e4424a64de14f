/*
 * The timeline (REPRISE_TIMELINE): the program's calls and what Reprise made of them, as a file for
 * Perfetto and chrome://tracing. docs/looking.md describes it.
 *
 * An event is two readings of the processor's counter and 32 bytes in the calling thread's own
 * memory: no lock, and one system call in a thousand events. The timeline's writer writes the file
 * (workers/timeline.c). Without a timeline, each hook is a load and a branch.
 *
 * The file is bounded, and ends when it is full. Events are written as they come, so that they are
 * there however the program ends.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "stats/kernels.h"
#include "op/call.h"

/*
 * The kinds of events beside the kinds of ops (op/call.h), once: enumerator, name, category. A hold
 * is on its lane's track. All others are on the thread on which they happened, the inner within the
 * outer.
 */
#define REPRISE_TIMELINE_KINDS(X) \
	X(ORDER, "order", "call") \
	X(WAIT, "wait", "call") \
	X(LIFETIME, "free or change", "call") \
	X(HOLD, "deferral", "deferral") \
	X(REPLAY, "replay", "replay") \
	X(PATCH, "patch", "replay") \
	X(EXIT, "early exit", "early exit") \
	X(BUILD, "build", "build") \
	X(CAPTURE, "capture", "build") \
	X(INSTANTIATE, "instantiate", "build") \
	X(UPLOAD, "upload", "build")

enum reprise_timeline_kind {
	REPRISE_TIMELINE_AFTER_OPS = REPRISE_OP_KIND_COUNT - 1,
#define X(kind, name, category) REPRISE_TIMELINE_##kind,
	REPRISE_TIMELINE_KINDS(X)
#undef X
		REPRISE_TIMELINE_KIND_COUNT
};

#define REPRISE_TIMELINE_NO_LANE 255

/* A kernel's grid, in the eight bytes that it may take. All 0: none, or one that no driver accepts.
 */
struct reprise_timeline_grid {
	uint32_t x;
	uint16_t y, z;
};

/* Details of an event. 0: none, but for the lane. */
struct reprise_timeline_about {
	uint8_t lane; /* the lane's number */
	union {
		const char *reason;                /* why a side exit was made (reprise_exit_words) */
		struct reprise_timeline_grid grid; /* of a kernel launch */
	};
	/* The graph's number. Of a kernel launch, the row of its name (op/name.h). */
	uint32_t graph;
	uint32_t ops; /* number of ops */
};

extern _Atomic bool reprise_timeline_on;

/* The begin of an event, for reprise_timeline_end(). 0 if there is no timeline. */
static inline uint64_t reprise_timeline_begin(void)
{
	return __builtin_expect(atomic_load_explicit(&reprise_timeline_on, memory_order_relaxed), 0)
	           ? reprise_clock_ticks()
	           : 0;
}

void reprise_timeline_add(unsigned int kind, uint64_t begin,
                          const struct reprise_timeline_about *about);

/* The event of that `begin` ends now. Does nothing if `begin` is 0. `kind` is an op's, or of the
 * table above. */
static inline void reprise_timeline_end(unsigned int kind, uint64_t begin,
                                        struct reprise_timeline_about about)
{
	if (__builtin_expect(begin != 0, 0))
		reprise_timeline_add(kind, begin, &about);
}

static inline struct reprise_timeline_grid reprise_timeline_grid_of(const unsigned int grid[3])
{
	if (grid[1] > UINT16_MAX || grid[2] > UINT16_MAX)
		return (struct reprise_timeline_grid){0};
	return (struct reprise_timeline_grid){grid[0], (uint16_t)grid[1], (uint16_t)grid[2]};
}

/* The same for a call that belongs to no single lane. */
static inline void reprise_timeline_end_call(unsigned int kind, uint64_t begin)
{
	reprise_timeline_end(kind, begin,
	                     (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE});
}

/* What ran on the GPU. Called by gpu/gpu.h. */
void reprise_timeline_note(const struct reprise_gpu_activity *activities, size_t count);

/* When Reprise starts: begins the timeline if it was asked for. */
void reprise_timeline_start(void);

/* After fork, in the child: the events are the parent's. The child makes a file of its own. */
void reprise_timeline_reset(void);
void reprise_timeline_activities_reset(void);
