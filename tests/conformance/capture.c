#include "conformance.h"

const struct check capture_checks[] = {CHECKS_END};
