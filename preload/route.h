/*
 * From an address that the driver gave to the door that stands for it.
 *
 * No locks: look-ups come from any thread, and from inside the loader's lock.
 */
#pragma once

#include <stdbool.h>

#include "process/process.h"

/*
 * Starts Reprise and learns where the driver's functions are. With `load` false this happens only
 * if the process has the driver loaded already. Returns the mode; REPRISE_MODE_OFF if there is no
 * driver (yet), or while this thread is inside.
 */
enum reprise_mode reprise_route_open(bool load);

/*
 * What to hand out for `address`, which a look-up of `name` found: the door, or `address` itself
 * where no door is needed. A function of the driver that is not in the table gets one of the spare
 * doors, its own for as long as the process lives.
 */
void *reprise_route(const char *name, void *address);

/* As reprise_route(), but NULL if `address` is not a function of the driver. */
void *reprise_route_driver(const char *name, void *address);

/* The entry of that exported name, or REPRISE_ENTRY_COUNT. Slow. */
unsigned int reprise_route_entry(const char *name);
