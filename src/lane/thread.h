/* The lanes of threads' own default streams. Only its own thread can issue to such a stream, so
 * nothing is deferred on one: its traces have one op each. */
#pragma once

#include "lane/lane.h"

/* Gives up the lanes of ended threads. By the builder, which holds the lock `compiling`. True if
 * there were any. */
bool reprise_threads_clean_up(void);

/* The calling thread sets attributes of its own stream. Call with `call_returned` false before the
 * driver's call, and with true after it. */
void reprise_thread_attributes_change(bool call_returned);
