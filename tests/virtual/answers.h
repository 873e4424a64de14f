/*
 * A driver that answers what Reprise asks before it defers anything, and does nothing: every
 * function is a kernel with one parameter of 32 bits, there is one device, and an address tells
 * what kind of memory it is of.
 */
#pragma once

#include <cuda.h>

#include "op/memory.h"

/* Puts these functions into the driver's table. The others stay as they are. */
void answers_install(void);

/* An address in memory of that kind. `address` is less than 2^40. */
CUdeviceptr answers_address_in(enum reprise_memory memory, uint64_t address);
