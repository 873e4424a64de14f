/* The way of an op through its lane. */
#pragma once

#include "lane/lane.h"

/* Answers the op, or makes the eager call and returns its result. The caller holds no lock; no lock
 * is held during the eager call. The lane's context is current. */
CUresult reprise_lane_handle_op(struct reprise_lane *lane, struct reprise_call *call);
