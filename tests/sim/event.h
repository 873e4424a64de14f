/* Events. What an event stands for is the op that recorded it last, or a place in a capture. */
#pragma once

#include "object.h"
#include "op.h"
#include "shared_event.h"
#include "sim.h"

struct sim_node;

struct sim_event {
	struct sim_object object;
	struct sim_context *context;
	unsigned int flags;
	struct sim_op *op;               /* the last record; NULL before the first */
	uint64_t paced;                  /* when the GPU comes to it (pace.h) */
	bool captured;                   /* last recorded in a capturing stream: */
	uint64_t capture;                /* the capture's id, */
	VECTOR(struct sim_node *) nodes; /* and what the record depends on there */
	struct sim_shared_event *shared; /* NULL unless it is of several processes, */
	uint64_t count; /* and the last record here; another process may have recorded it since */
	int file;       /* by which others open it; -1 if it was opened here */
};

struct sim_event *sim_event_new(unsigned int flags);
void sim_event_free(struct sim_event *event);

/* The op records the event. */
void sim_event_recorded(struct sim_event *event, struct sim_op *op);

/* A record of the event, or a wait, that may be a node of a graph; and its event, which must still
 * be there: what a GPU does else is anybody's guess. */
void sim_event_name(struct sim_work *work, struct sim_event *event);
struct sim_event *sim_event_of(const struct sim_work *work);
