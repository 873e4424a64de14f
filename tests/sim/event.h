/* Events. What an event stands for is the op that recorded it last, or a place in a capture. */
#pragma once

#include "object.h"
#include "op.h"
#include "sim.h"

struct sim_node;

struct sim_event {
	struct sim_object object;
	struct sim_context *context;
	unsigned int flags;
	struct sim_op *op; /* the last record; NULL before the first */
	bool captured;     /* last recorded in a capturing stream: */
	uint64_t capture;  /* the capture's id, */
	VECTOR(struct sim_node *) nodes; /* and what the record depends on there */
};

void sim_event_free(struct sim_event *event);

/* The op records the event. */
void sim_event_recorded(struct sim_event *event, struct sim_op *op);
