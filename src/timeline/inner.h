/* What the threads that note events and the one that writes them share: chunks of memory, each of one thread. */
#pragma once

#include "timeline.h"

#define REPRISE_TIMELINE_CHUNK_BYTES 32768

struct reprise_timeline_event {
	uint64_t begin, end; /* ticks */
	const char *reason;
	uint32_t ops;
	uint32_t kind : 8, lane : 8, graph : 16; /* the number of a graph wraps */
};

_Static_assert(sizeof(struct reprise_timeline_event) == 32, "two in a line of the cache");

#define REPRISE_TIMELINE_CHUNK_EVENTS (REPRISE_TIMELINE_CHUNK_BYTES / sizeof(struct reprise_timeline_event) - 2)

/* Its thread adds events and moves `count`; the writer reads up to there, and unmaps it when it has written all of a chunk that is `ended`. */
struct reprise_timeline_chunk {
	struct reprise_timeline_chunk *next; /* in the list, which grows at its head */
	_Atomic uint32_t count;
	uint32_t written; /* by the writer */
	_Atomic bool ended;
	int thread; /* as the kernel knows it */
	char name[16];
	struct reprise_timeline_event events[REPRISE_TIMELINE_CHUNK_EVENTS];
};

_Static_assert(sizeof(struct reprise_timeline_chunk) <= REPRISE_TIMELINE_CHUNK_BYTES, "a chunk is what is mapped for it");

extern _Atomic(struct reprise_timeline_chunk *) reprise_timeline_chunks;

/* ---- writer.c ---- */

/* Starts the thread that writes, if there is none. False if there can be none. */
bool reprise_timeline_writer_start(void);
/* There is something to write. A load, unless the thread sleeps. */
void reprise_timeline_writer_watch(void);
void reprise_timeline_writer_wake(void);
void reprise_timeline_writer_finish(uint64_t patience_ns);
void reprise_timeline_writer_reset(void);
