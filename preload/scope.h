/*
 * What the loader would have found without us. A name that we export hides those of objects that
 * were opened with RTLD_LOCAL, which only they and what they need can see: the driver, or another
 * object's function of the same name.
 *
 * May be called from anywhere. Takes the loader's locks for as long as a look-up does.
 */
#pragma once

#include <link.h>
#include <stdbool.h>

/* The object that has the code at `address`, or NULL. */
struct link_map *reprise_scope_object(const void *address);

/*
 * What the code at `caller` sees of `name` in its own object and in those that this one needs. NULL
 * if there is nothing, and for the program itself, whose scope is the global one. Leaves no error
 * for the program to find.
 */
void *reprise_scope_of_caller(const void *caller, const char *name);

/* Whether the driver is in the global scope. Leaves no error. */
bool reprise_scope_has_driver(void);

/* Whether `address` is in the driver, or in an object of its name. */
bool reprise_scope_is_drivers(const void *address);

/* Any object's definition of `name` but ours and the driver's; NULL if there is none, which is
 * nearly always so. Leaves dlerror alone. */
void *reprise_scope_other_definition(const char *name);
