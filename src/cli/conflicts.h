/* What else is there that Reprise would share a program with, or that would keep it out, for
 * `reprise doctor`. */
#pragma once

#include "cli/hindrance.h"

/* Prints what is in the way, and what to do about each. */
void reprise_cli_tell_conflicts(struct reprise_hindrances *hindrances);
