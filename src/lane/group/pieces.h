/*
 * How a watched segment of a stream group is split into traces: forks that join, and steps of
 * streams of which none comes first, whose graphs are launched beside them (trace/beside.h). Under
 * the head's lock. This decides what may pay, never what is right: whether a graph may be launched
 * is asked where its trace is entered.
 */
#pragma once

#include "lane/lane.h"
#include "trace/watch.h"

struct reprise_pieces {
	struct reprise_lane *lane;
	const struct reprise_segment *segment;
	uint64_t hold_ns;
	/* an event that was recorded before the op is waited for at it or later */
	bool crossed[REPRISE_TUNE_SEGMENT_MOST];
	/* a graph beside the streams may begin with the op, and end before it; the last: at the end */
	bool begins[REPRISE_TUNE_SEGMENT_MOST + 1];
	unsigned int beside; /* the first op of such a graph; the segment's count if there is none */
};

/* False if no traces are made of the segment yet: the whole may still be seen. */
bool reprise_pieces_begin(struct reprise_pieces *pieces, struct reprise_lane *lane,
                          const struct reprise_segment *segment, uint64_t hold_ns);

/* The number of ops, at least 1, of the piece that begins with op `start`. `*useful`: they are
 * worth a graph. `*placed`: as many ops behind a wait alone. */
unsigned int reprise_pieces_next(struct reprise_pieces *pieces, unsigned int start, bool *placed,
                                 bool *useful);

/* True if no traces are made of this piece and what follows, yet: a call has cut a fork, of which
 * the piece is a part. */
bool reprise_pieces_await_whole(struct reprise_pieces *pieces, unsigned int start,
                                unsigned int count, const struct reprise_position *position);
