/*
 * The timeline (REPRISE_TIMELINE): what the program called and what Reprise made of it, as a file
 * for Perfetto and chrome://tracing. docs/looking.md describes it.
 *
 * An event is two readings of the processor's counter and 32 bytes in memory of the calling
 * thread's own: no lock, no system call but one in a thousand events. A thread of ours writes them
 * down (writer.c). While there is no timeline, each hook is a load and a branch.
 *
 * The file is bounded, and ends when it is full: events are written as they come, so that they are
 * there however the program ends, and what was written is not taken back.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "stats/activity.h"
#include "op/call.h"

/*
 * The kinds of events behind the kinds of ops, which are the program's calls (op/call.h), once:
 * enumerator, name, category. All but a hold are on the thread on which they happened, the inner
 * within the outer; holds are on their lane's track.
 */
#define REPRISE_TIMELINE_KINDS(X) \
	X(ORDER, "order", "call") \
	X(WAIT, "wait", "call") \
	X(LIFETIME, "lifetime", "call") \
	X(HOLD, "hold", "hold") \
	X(REPLAY, "replay", "replay") \
	X(PATCH, "patch", "replay") \
	X(EXIT, "side exit", "exit") \
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

/* What there is to say of an event beside its time; 0 where there is nothing, but the lane. */
struct reprise_timeline_about {
	uint8_t lane;       /* its number */
	const char *reason; /* a string that stays: of a side exit */
	uint32_t graph;     /* its number; of a kernel's launch, the row of its name (op/name.h) */
	uint32_t ops;       /* how many */
};

extern _Atomic bool reprise_timeline_on;

/* When an event begins: what reprise_timeline_end() wants to be given. 0 if there is no timeline.
 */
static inline uint64_t reprise_timeline_begin(void)
{
	return __builtin_expect(atomic_load_explicit(&reprise_timeline_on, memory_order_relaxed), 0)
	           ? reprise_clock_ticks()
	           : 0;
}

void reprise_timeline_add(unsigned int kind, uint64_t begin,
                          const struct reprise_timeline_about *about);

/* The event that began then ends now; nothing if `begin` is 0. `kind` is of an op or of the table
 * above. */
static inline void reprise_timeline_end(unsigned int kind, uint64_t begin,
                                        struct reprise_timeline_about about)
{
	if (__builtin_expect(begin != 0, 0))
		reprise_timeline_add(kind, begin, &about);
}

/* The same of a call that is no single lane's. */
static inline void reprise_timeline_end_call(unsigned int kind, uint64_t begin)
{
	reprise_timeline_end(kind, begin,
	                     (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE});
}

/* By gpu/gpu.h: what ran on the GPU. */
void reprise_timeline_note(const struct reprise_gpu_activity *activities, size_t count);

/* When Reprise starts: there is a timeline from now on, if it was asked for. */
void reprise_timeline_start(void);

/* After fork, in the child: what was noted is the parent's. The child has a file of its own. */
void reprise_timeline_reset(void);
void reprise_timeline_activities_reset(void);
