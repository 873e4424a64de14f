#include "conformance.h"

const struct check fork_checks[] = {CHECKS_END};
