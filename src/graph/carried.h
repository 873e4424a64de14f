/*
 * The attributes of the program's streams, for capture streams. A captured kernel takes over its
 * stream's attributes (access policy window, memory synchronisation domain and its map, priority).
 * So a capture stream must have those of the program's stream.
 *
 * Any thread can copy those of a created stream, or of the legacy stream of the current context.
 * Only the thread itself can read those of its own default stream. It stores them when they have
 * changed, and they are set on the capture streams one by one.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

#define REPRISE_CARRIED_MOST 8 /* attributes of a stream: CUDA 13 knows six */

/* The stored attributes of a thread's own stream. Zeroed: those of a new stream. */
struct reprise_carried {
	bool unknown; /* a call that sets one is in progress, or the driver does not tell */
	unsigned int count;
	struct {
		CUstreamAttrID id;
		CUstreamAttrValue value;
	} rows[REPRISE_CARRIED_MOST];
};

/* The program is about to set attributes of the stream, or of another one with the same handle. Any
 * thread. */
void reprise_carried_note(CUstream stream);

/* True if it ever did so for a thread's own stream. */
bool reprise_carried_noted_per_thread(void);

/* Stores the attributes of the calling thread's own stream. */
void reprise_carried_read(struct reprise_carried *carried);

/* Gives a capture stream the attributes of the program's stream `model`; `carried` is for a
 * thread's own. False if that fails; the capture stream may then have any. */
bool reprise_carried_bring(CUstream stream, CUstream model, const struct reprise_carried *carried);
