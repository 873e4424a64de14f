/*
 * The lanes of threads' own default streams. Only its own thread can issue to such a stream, so
 * nothing is ever held back on one: its traces are of one op each, and nobody else ever has to
 * issue anything there.
 */
#pragma once

#include "lane/lane.h"

/* The calling thread has such a lane now, or captures on its own stream, or has a call under way
 * (order.h): that ends with the thread. Takes no lock. */
void reprise_thread_owns(void);

/* What ended threads left behind is given up. By the building thread, with its lock held; true if
 * there was any. */
bool reprise_threads_tidy(void);

/* Writes down which attributes the calling thread's own stream has, whose lane it is
 * (graph/carried.h). Under the lane's lock, or before anybody finds it. */
void reprise_thread_read_attributes(struct reprise_lane *lane);

/* The calling thread sets attributes of its own stream: not `settled` before the driver's call, and
 * settled after it. */
void reprise_thread_attributes_change(bool settled);
