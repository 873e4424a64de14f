/*
 * Watching: ops that pass eagerly are kept for a while and cut into segments; a segment that came
 * before is worth a trace.
 *
 * Cuts fall where they fall again: at barriers, and in long runs at the op whose hash is the least
 * since the segment began and stays so for a while (asymmetric extremum chunking, as in
 * deduplication). What decides is the shapes of the last ops, and the values only where shapes do
 * not tell, so that changing parameters do not move the cuts. Where streams fork, they are cut
 * where they have been joined again, if they ever are.
 *
 * Of a segment with known places (place.h), the parts whose values came before are worth traces:
 * all, if the segment's values came before in whole. Ops that came back often, with values that are
 * new again and again, are loose: a part whose values came before but for those is worth a trace
 * too, which stands for any values there.
 *
 * Belongs to one lane, under its lock. O(1) an op.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"
#include "trace/position.h"

#define REPRISE_SEGMENT_LEAST 96   /* no cut within so many ops */
#define REPRISE_SEGMENT_SURVIVE 32 /* an extremum must stand so long */
#define REPRISE_SEGMENT_MOST 192

struct reprise_watch;

struct reprise_watch *reprise_watch_new(void);
void reprise_watch_free(struct reprise_watch *watch);

/* A stretch of ops, and what the watcher knows of the program's pauses between them. */
struct reprise_segment {
	const struct reprise_op *ops;
	const uint32_t *
		gaps; /* nanoseconds that the program thought before each op; the first is not part of it */
	unsigned int count;
	struct reprise_position position; /* of the first op */
	bool ends_in_wait;
	bool exact;      /* all its values came together before */
	bool *any_value; /* ops whose values did not come before */
};

/* Called for each segment that is worth a trace, while it is still there. */
typedef void (*reprise_watch_found)(void *context, struct reprise_segment *segment);

/*
 * The slot for the next op: reprise_op_complete() may write the payload there. It counts once it is
 * kept; until then the next call gives the same slot again. NULL if there is no memory.
 */
struct reprise_op *reprise_watch_slot(struct reprise_watch *watch,
                                      const struct reprise_op *examined);
/* `border`: a segment may begin with this op, if a long one has to be cut somewhere. */
void reprise_watch_keep(struct reprise_watch *watch, uint32_t gap_ticks, bool border,
                        reprise_watch_found found, void *context);

/* A segment begins with the next op. */
void reprise_watch_begin(struct reprise_watch *watch, const struct reprise_position *position);

/* The segment ends here: at a barrier (`wait`: one that the host waits at), or because a trace
 * begins. */
void reprise_watch_end(struct reprise_watch *watch, bool wait, reprise_watch_found found,
                       void *context);

/* Forgets the segment: an op in it was refused by the driver. */
void reprise_watch_drop(struct reprise_watch *watch);

/* While a segment is shown: notes the part of `count` ops from `start` on, and says whether it is
 * worth a trace of its own. Once for each part. */
bool reprise_watch_note_part(struct reprise_watch *watch, struct reprise_segment *segment,
                             unsigned int start, unsigned int count);

/* Whether this value came before, lately, after the last two kept. */
bool reprise_watch_knows(struct reprise_watch *watch, uint64_t value);
