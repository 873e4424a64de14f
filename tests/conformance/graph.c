#include "conformance.h"

const struct check graph_checks[] = {CHECKS_END};
