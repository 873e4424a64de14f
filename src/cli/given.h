/* The options in the environment: those that the command sets, and what is wrong with others. The
 * library is told of both (base/options.h). */
#pragma once

#include <stdbool.h>

#include "base/options.h"

/* Sets the option; `by` names the reason. Says so if the environment had another value. False if
 * there is no memory. */
bool reprise_given_set(enum reprise_option option, const char *value, const char *by);

/* Reports unknown variables and values that cannot be used. The library does not report
 * them again. */
void reprise_given_look(void);
