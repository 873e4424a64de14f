/*
 * The attributes of a stream, on the private streams that its ops are captured on. What is captured
 * takes them over (access policy window, memory synchronisation domain and its map, priority), so a
 * private stream that lacks one makes graphs of other work.
 *
 * Those of a created stream, and of the legacy stream of the context that is current, can be copied
 * by anybody. Those of a thread's own stream that thread alone can ask for: it writes them down
 * when they have changed, and they are set on the private streams one by one.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

#define REPRISE_CARRIED_MOST 8 /* attributes that a stream may have: CUDA 13 knows six */

/* What a thread's own stream has, as far as it was written down. Zeroed: what a new stream has. */
struct reprise_carried {
	bool unknown; /* a call that sets one is under way, or the driver does not tell */
	unsigned int count;
	struct {
		CUstreamAttrID id;
		CUstreamAttrValue value;
	} rows[REPRISE_CARRIED_MOST];
};

/* The program is about to set attributes of the stream, or of one that has the same handle. Any
 * thread. */
void reprise_carried_note(CUstream stream);

/* Whether it ever did so for a thread's own stream. */
bool reprise_carried_noted_per_thread(void);

/* Writes down what the calling thread's own stream has. */
void reprise_carried_read(struct reprise_carried *carried);

/* Gives the attributes of the program's stream to a private one; `carried` is for a thread's own.
 * False if that cannot be done, and the stream may have any. */
bool reprise_carried_bring(CUstream stream, CUstream model, const struct reprise_carried *carried);
