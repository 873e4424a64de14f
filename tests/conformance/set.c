#include "conformance.h"

const struct check set_checks[] = {CHECKS_END};
