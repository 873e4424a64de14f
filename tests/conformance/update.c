#include "conformance.h"

const struct check update_checks[] = {CHECKS_END};
