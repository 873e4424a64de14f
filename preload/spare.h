/*
 * The spare doors, for functions of the driver that the table of entry points does not know:
 * unknown is a barrier (invariant 8).
 */
#pragma once

/*
 * Makes a spare door lead to `address`, a function of that name, and returns its entry. When there
 * are none left, nothing is deferred any more, and REPRISE_DOOR_COUNT is returned. Any thread, no
 * lock.
 */
unsigned int reprise_spare_take(const char *name, void *address);

/* What a call through the spare door of `entry` means to the inner rooms. */
void reprise_spare_tell(unsigned int entry);
