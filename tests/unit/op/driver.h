/*
 * A driver for the tests of src/op: it knows a little memory and a few functions, and writes down,
 * as text, what it is given.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>

#include "op/call.h"

/* Memory: each piece has PIECE bytes, and ends there. */
#define PIECE 0x10000
#define DEVICE_0 ((CUdeviceptr)0x10000000)
#define DEVICE_0_TOO ((CUdeviceptr)0x11000000)
#define DEVICE_1 ((CUdeviceptr)0x20000000)
#define PINNED ((CUdeviceptr)0x30000000)
#define PINNED_TOO ((CUdeviceptr)0x31000000)
#define MANAGED ((CUdeviceptr)0x40000000)
#define PAGEABLE ((CUdeviceptr)0x50000000)

/* Functions: two with parameters, one without any, one that takes only some grids, and one of which
 * the driver does not tell the parameters. */
#define FUNCTION ((CUfunction)0x1000)
#define FUNCTION_TOO ((CUfunction)0x2000)
#define FUNCTION_WITHOUT ((CUfunction)0x3000)
#define FUNCTION_OF_CLUSTERS ((CUfunction)0x4000)
#define FUNCTION_UNTOLD ((CUfunction)0x5000)

/* The parameters: an int, padding, eight bytes, and a struct of three. */
#define PARAMS_BYTES 19

void driver_begins(void);

/* The piece of memory at this address is on another device from now on. The program was not seen
 * to change it. */
void driver_moves(CUdeviceptr piece);

/* What the driver was given since the last time that this was asked. */
const char *driver_saw(void);

/* Makes the call as the program would. */
void driver_is_called(const struct reprise_call *call);
