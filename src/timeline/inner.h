/* Shared by the threads that note events and the timeline's writer: chunks of memory, each of one
 * thread or of the GPU. */
#pragma once

#include "base/worker.h"
#include "timeline/timeline.h"

#define REPRISE_TIMELINE_CHUNK_BYTES 32768

struct reprise_timeline_event {
	uint64_t begin, end; /* ticks */
	union {              /* the grid of a kernel launch; the reason of another event */
		const char *reason;
		struct reprise_timeline_grid grid;
	};
	uint32_t ops;
	/* A graph's number, which wraps. Of a kernel launch, the row of its name. */
	uint32_t kind : 8, lane : 8, graph : 16;
};

_Static_assert(sizeof(struct reprise_timeline_event) == 32, "two in a line of the cache");

#define REPRISE_TIMELINE_CHUNK_EVENTS \
	(REPRISE_TIMELINE_CHUNK_BYTES / sizeof(struct reprise_timeline_event) - 2)
#define REPRISE_TIMELINE_CHUNK_ACTIVITIES \
	(REPRISE_TIMELINE_CHUNK_EVENTS * sizeof(struct reprise_timeline_event) / \
	 sizeof(struct reprise_gpu_activity))

/* The chunk's thread adds events and then advances `count`. The writer reads up to `count`, and
 * unmaps a chunk that is `ended` and fully written. */
struct reprise_timeline_chunk {
	struct reprise_timeline_chunk *next;  /* in the list, which grows at its head */
	struct reprise_timeline_chunk *newer; /* towards the head; the writer's */
	_Atomic uint32_t count;
	uint32_t written; /* the writer's */
	_Atomic bool ended;
	int thread; /* the kernel's number of it; 0 for the GPU */
	char name[16];
	union {
		struct reprise_timeline_event events[REPRISE_TIMELINE_CHUNK_EVENTS];
		/* Their names stay valid, and are escaped for JSON. */
		struct reprise_gpu_activity activities[REPRISE_TIMELINE_CHUNK_ACTIVITIES];
	};
};

_Static_assert(sizeof(struct reprise_timeline_chunk) <= REPRISE_TIMELINE_CHUNK_BYTES,
               "a chunk is what is mapped for it");

extern _Atomic(struct reprise_timeline_chunk *) reprise_timeline_chunks;

/* ---- events.c ---- */

/* The timeline's writer (workers/timeline.c). */
extern struct reprise_worker reprise_timeline_writer;

/* A further chunk, in the list. NULL if there may be no more, or no memory. */
struct reprise_timeline_chunk *reprise_timeline_chunk_make(void);

/* ---- activities.c ---- */

/* The size of an escaped name. */
#define REPRISE_TIMELINE_NAME_MOST 256

/* Escapes a name for JSON, cut where there is no room. Returns its length. */
size_t reprise_timeline_escape(char to[REPRISE_TIMELINE_NAME_MOST], const char *name);

/* Starts the timeline's writer if it is not there. False if that fails. */
bool reprise_timeline_writer_ready(void);
/* There are events to write. One load, unless the writer sleeps. */
void reprise_timeline_writer_wake(void);
