/*
 * What is alive where a context ends, and at the end of the process what was left of contexts that
 * have ended. SIM_LEFT names the file. The driver frees a context's streams and events with it, but
 * not its graphs: who has made some there and does not destroy them leaks them.
 */
#pragma once

#include "context.h"

/* The context is about to end; its work is done. With the lock held. */
void sim_left_in(const struct sim_context *context);
