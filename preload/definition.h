/*
 * Looking a name up in one object alone, without the objects that it depends on. dlsym cannot do
 * that, and takes only handles that dlopen gave out.
 */
#pragma once

#include <link.h>

/* The address of the object's own definition of `name`, or NULL. No lock, no allocation; leaves
 * dlerror alone. */
void *reprise_own_definition(const struct link_map *map, const char *name);
