/*
 * What the loader would find without Reprise. An exported name of Reprise's hides those of objects
 * opened with RTLD_LOCAL, which only these objects and their dependents see: the driver, or another
 * object's function of the same name.
 *
 * May be called from anywhere. Takes the loader's locks as any look-up does.
 */
#pragma once

#include <link.h>
#include <stdbool.h>

/* The object with the code at `address`, or NULL. */
struct link_map *reprise_scope_object(const void *address);

/* What the code at `caller` finds for `name` in its own object and in those that it needs. NULL if
 * there is nothing, and for the program itself, whose scope is the global one. Leaves no error in
 * dlerror. */
void *reprise_scope_of_caller(const void *caller, const char *name);

/* True if the driver is in the global scope. Leaves no error in dlerror. */
bool reprise_scope_has_driver(void);

/* True if `address` is in the driver, or in an object of the same name. */
bool reprise_scope_is_drivers(const void *address);

/* A definition of `name` in any object but Reprise and the driver; NULL if there is none, as nearly
 * always. Leaves dlerror alone. */
void *reprise_scope_other_definition(const char *name);

/* The object's own definition of `name`, without those of the objects that it depends on; NULL if
 * it has none. dlsym cannot tell, and takes only handles from dlopen. Takes no lock, allocates
 * nothing, leaves dlerror alone. */
void *reprise_own_definition(const struct link_map *map, const char *name);
