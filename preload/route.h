/*
 * Finds the door for an address of the driver's.
 *
 * Takes no locks: look-ups come from any thread, and while the loader's lock is held.
 */
#pragma once

#include <stdbool.h>

#include "process/process.h"

/* Starts Reprise and learns the addresses of the driver's functions. If `load` is false, only if
 * the process has loaded the driver already. Returns the mode: REPRISE_MODE_OFF if there is no
 * driver (yet), or while this thread is inside Reprise. */
enum reprise_mode reprise_route_open(bool load);

/* What to hand out for `address`, the result of a look-up of `name`: the door, or `address` itself
 * if it needs none. A function of the driver's that the table does not have gets a spare door, its
 * own for the life of the process. */
void *reprise_route(const char *name, void *address);

/* As reprise_route(), but NULL if `address` is not a function of the driver. */
void *reprise_route_driver(const char *name, void *address);
