/* What the command says of options in the environment: those that it sets itself, and what is wrong
 * with the others. The library is told of both (base/options.h). */
#pragma once

#include <stdbool.h>

#include "base/options.h"

/* Sets the option, on account of what `by` names. Says so where the environment had another value.
 * False if there is no memory. */
bool reprise_given_set(enum reprise_option option, const char *value, const char *by);

/* Names variables that are no options, and values that cannot be used; the library does not name
 * them again. */
void reprise_given_look(void);
