/* Finds the real driver where this object stands in for it: as libcuda.so.1 in a folder that the
 * loader searches before the driver's own. */
#pragma once

#include <stdbool.h>

#define REPRISE_DRIVER_NAME "libcuda.so.1"

/* A symbol that every stand-in exports, and no driver. */
#define REPRISE_STAND_IN_MARK "reprise_stand_in"

/* The driver's handle, as from dlopen(3) with these flags. NULL if there is no driver, or with
 * RTLD_NOLOAD none in this process. Leaves no error for the program to find. */
void *reprise_driver_open(int flags);

/* True if the object is a stand-in, this one or another. */
bool reprise_is_stand_in(void *handle);

/* The first driver in the folders that the loader searches for the object of that handle, and in
 * the loader's cache; NULL if there is none. */
void *reprise_driver_open_past(void *stand_in, int flags);
