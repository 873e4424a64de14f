/* For `reprise doctor`: what else would be in the program's process, or would keep Reprise out of
 * it. */
#pragma once

#include "cli/hindrance.h"

/* Prints each conflict and what to do about it. */
void reprise_cli_tell_conflicts(struct reprise_hindrances *hindrances);
