/*
 * Looks a name up in one object, without the objects that it depends on. dlsym cannot do this, and
 * it takes only handles from dlopen.
 */
#pragma once

#include <link.h>

/* The object's own definition of `name`, or NULL. Takes no lock, allocates nothing, leaves dlerror
 * alone. */
void *reprise_own_definition(const struct link_map *map, const char *name);
