/* Entry points that no cuda.h declares (SIM_NEWER). */
#pragma once

#include "exports.h"

/* The newer form of that function, or the function; NULL if there is none. */
const struct sim_export *sim_newer_find(const char *function);
