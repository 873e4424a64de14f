/*
 * The name that marks a stand-in for libcuda.so.1. The search for the real driver skips it
 * (src/driver/search.c), and a preloaded Reprise leaves the work to it (preload/route.c).
 */
#include "driver/search.h"

__attribute__((visibility("default"))) extern const char reprise_stand_in;
const char reprise_stand_in = 1;
