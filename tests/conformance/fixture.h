/* Running one check: between the table of checks and the processes that run them. */
#pragma once

#include "conformance.h"

enum { FAILURE_ROOM = 440 };

/* Sets up, runs the check and gives everything back; NULL, or what was expected and seen. After a
 * failure the process is not to be used further. */
const char *fixture_run(const struct check *check);

/* What the machine is. Both initialise the driver. */
bool fixture_is_simulation(void);
bool fixture_has_two_devices(void);
