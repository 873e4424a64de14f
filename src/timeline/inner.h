/* What the threads that note events and the one that writes them share: chunks of memory, each of
 * one thread, or of the GPU. */
#pragma once

#include "base/worker.h"
#include "timeline/timeline.h"

#define REPRISE_TIMELINE_CHUNK_BYTES 32768

struct reprise_timeline_event {
	uint64_t begin, end; /* ticks */
	const char *reason;
	uint32_t ops;
	uint32_t kind : 8, lane : 8,
		graph : 16; /* the number of a graph wraps; of a kernel's launch, the row of its name */
};

_Static_assert(sizeof(struct reprise_timeline_event) == 32, "two in a line of the cache");

#define REPRISE_TIMELINE_CHUNK_EVENTS \
	(REPRISE_TIMELINE_CHUNK_BYTES / sizeof(struct reprise_timeline_event) - 2)
#define REPRISE_TIMELINE_CHUNK_ACTIVITIES \
	(REPRISE_TIMELINE_CHUNK_EVENTS * sizeof(struct reprise_timeline_event) / \
	 sizeof(struct reprise_gpu_activity))

/* Its thread adds events and moves `count`; the writer reads up to there, and unmaps it when it has
 * written all of a chunk that is `ended`. */
struct reprise_timeline_chunk {
	struct reprise_timeline_chunk *next;  /* in the list, which grows at its head */
	struct reprise_timeline_chunk *newer; /* the writer's way back to the head */
	_Atomic uint32_t count;
	uint32_t written; /* by the writer */
	_Atomic bool ended;
	int thread; /* as the kernel knows it; 0 for the GPU */
	char name[16];
	union {
		struct reprise_timeline_event events[REPRISE_TIMELINE_CHUNK_EVENTS];
		struct reprise_gpu_activity
			activities[REPRISE_TIMELINE_CHUNK_ACTIVITIES]; /* their names stay, and are as they
		                                                      stand in JSON */
	};
};

_Static_assert(sizeof(struct reprise_timeline_chunk) <= REPRISE_TIMELINE_CHUNK_BYTES,
               "a chunk is what is mapped for it");

extern _Atomic(struct reprise_timeline_chunk *) reprise_timeline_chunks;

/* ---- events.c ---- */

/* The thread that writes (workers/timeline.c). */
extern struct reprise_worker reprise_timeline_writer;

/* Another chunk, in the list. NULL if the timeline has taken what it may. */
struct reprise_timeline_chunk *reprise_timeline_chunk_make(void);

/* ---- activities.c ---- */

/* The longest name of what ran on the GPU, escaped. */
#define REPRISE_TIMELINE_NAME_MOST 256

/* Escapes a name as JSON has it, cut where there is no room. Returns its length. */
size_t reprise_timeline_escape(char to[REPRISE_TIMELINE_NAME_MOST], const char *name);

/* Starts the thread that writes, if there is none. False if there can be none. */
bool reprise_timeline_writer_ready(void);
/* There is something to write. A load, unless the thread sleeps. */
void reprise_timeline_writer_wake(void);
