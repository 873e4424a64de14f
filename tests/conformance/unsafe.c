#include "conformance.h"

const struct check unsafe_checks[] = {CHECKS_END};
