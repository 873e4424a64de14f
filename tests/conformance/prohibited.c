#include "conformance.h"

const struct check prohibited_checks[] = {CHECKS_END};
