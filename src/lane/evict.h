/* Making room: one limit for all lanes, so that a lane without ops gives way to an active one. */
#pragma once

#include <stdbool.h>

/* Gives up the least recently used trace of all lanes. `host`: host memory is wanted, so the watch
 * of a lane without ops for a second goes first. False if there was nothing to give up. By the
 * builder. */
bool reprise_lanes_evict(bool host);
