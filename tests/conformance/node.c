#include "conformance.h"

const struct check node_checks[] = {CHECKS_END};
