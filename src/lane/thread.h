/*
 * The lanes of threads' own default streams. Only its own thread can issue to such a stream, so
 * nothing is ever held back on one: its traces are of one op each, and nobody else ever has to
 * issue anything there.
 */
#pragma once

#include "lane/lane.h"

/* What ended threads left behind is given up. By the building thread, with its lock held; true if
 * there was any. */
bool reprise_threads_tidy(void);

/* The calling thread sets attributes of its own stream: not `settled` before the driver's call, and
 * settled after it. */
void reprise_thread_attributes_change(bool settled);
