/* What the machine has for CUDA, for `reprise doctor`: the driver, its GPUs, toolkits. */
#pragma once

#include "cli/hindrance.h"

/* Prints it, and what of it is in the way. Asks the driver, which starts it, but makes no context.
 */
void reprise_cli_tell_machine(struct reprise_hindrances *hindrances);
