/*
 * The spare doors, for functions of the driver that the table of entry points does not have: an
 * unknown function is a barrier (invariant 8).
 */
#pragma once

/* Gives `address`, a function of that name, a spare door and returns its entry. If none is left,
 * nothing is deferred from then on, and REPRISE_DOOR_COUNT is returned. Any thread, no lock. */
unsigned int reprise_spare_take(const char *name, void *address);

/* Tells the inner rooms of a call through the spare door of `entry`. */
void reprise_spare_tell(unsigned int entry);
