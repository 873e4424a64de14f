/* For `reprise doctor`: the driver, its GPUs, the toolkits. */
#pragma once

#include "cli/hindrance.h"

/* Prints them, and what is in the way. Starts the driver but makes no context. */
void reprise_cli_tell_machine(struct reprise_hindrances *hindrances);
