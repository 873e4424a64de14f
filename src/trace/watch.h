/*
 * Watching: eager ops are kept for a while and cut into segments. A segment that came before is
 * worth a trace.
 *
 * Cuts must fall at the same ops again: at barriers, and in long runs at the op whose hash is the
 * least since the segment began and stays the least for a while (asymmetric extremum chunking). The
 * hash is of the shapes of the last ops; values count only where shapes are equal, so that changing
 * parameters do not move cuts. A fork is not cut before it joins again, if it does.
 *
 * At known sites (trace/site.h), the parts whose values came before are worth traces: all parts, if
 * all values of the segment came together before. Any-value ops returned often, with new values
 * each time: a part whose other values came before is worth a trace, too.
 *
 * Belongs to one lane, under its lock. O(1) per op.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"
#include "trace/site.h"

struct reprise_watch;

/* The one that was made ahead, or a new one; NULL if there is no memory. */
struct reprise_watch *reprise_watch_new(void);
void reprise_watch_free(struct reprise_watch *watch);

/* Makes one ahead, for the next reprise_watch_new(), unless there is one or memory is short. It is
 * 350 KB, and touches all of it: else the program's thread would, a page fault at a time. Any
 * thread of Reprise's, no lock. */
void reprise_watch_make_ahead(void);

/* After fork, in the child: the parent's is not counted any more. */
void reprise_watch_reset(void);

/* A stretch of ops, and the gaps between them. */
struct reprise_segment {
	const struct reprise_op *ops;
	/* nanoseconds before each op; the first gap does not count */
	const uint32_t *gaps;
	unsigned int count;
	struct reprise_position position; /* of the first op */
	bool ends_in_wait;
	bool exact;      /* all its values came together before */
	bool *any_value; /* ops that agree with any values */
};

/* Called for each segment with known ops. The segment is valid during the call only. */
typedef void (*reprise_watch_found)(void *context, struct reprise_segment *segment);

/* The slot for the next op; reprise_op_complete() may write its payload. Until the op is kept, the
 * next call returns the same slot. NULL if there is no memory. */
struct reprise_op *reprise_watch_slot(struct reprise_watch *watch,
                                      const struct reprise_op *examined);
/* Keeps the op in the slot. `border`: a long segment may be cut before this op. */
void reprise_watch_keep(struct reprise_watch *watch, uint32_t gap_ticks, bool border,
                        reprise_watch_found found, void *context);

/* The number of the segment that the next op is kept in. */
uint32_t reprise_watch_segment(const struct reprise_watch *watch);

/* A segment begins with the next op. */
void reprise_watch_begin(struct reprise_watch *watch, const struct reprise_position *position);

/* Ends the segment: at a barrier (`wait`: the host waits there), or because a trace begins. */
void reprise_watch_end(struct reprise_watch *watch, bool wait, reprise_watch_found found,
                       void *context);

/* Forgets the segment: the driver refused an op in it. */
void reprise_watch_drop(struct reprise_watch *watch);

/* Within `found`: notes the part of `count` ops from `start` on. True if it is worth a trace. Once
 * for each part. */
bool reprise_watch_note_part(struct reprise_watch *watch, struct reprise_segment *segment,
                             unsigned int start, unsigned int count);

/* True if this value followed the last two kept ones before, lately. */
bool reprise_watch_knows(struct reprise_watch *watch, uint64_t value);
