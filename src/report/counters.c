#include "counters.h"

_Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];
