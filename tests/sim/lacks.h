/* Entry points that the driver is told to lack (SIM_LACKS). */
#pragma once

#include <stdbool.h>

bool sim_lacks(const char *name);
