/*
 * The lanes of threads' own default streams. Only its own thread can issue to such a stream, so nothing is ever held back on one: its traces are of
 * one op each, and nobody else ever has to issue anything there.
 */
#pragma once

#include "lane.h"

/* The calling thread has such a lane now, or a call under way (order.h): it is given up when the thread has ended. Takes no lock. */
void reprise_thread_owns(void);

/* What ended threads left behind is given up. By the building thread, with its lock held; true if there was any. */
bool reprise_threads_tidy(void);

/* The attributes of such a stream were set, and graphs are captured on streams of ours that cannot copy them: all of them are eager from now on. */
void reprise_threads_leave_alone(void);

/* False from then on. */
bool reprise_threads_usable(void);
