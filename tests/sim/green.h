/* Green contexts (green.c). */
#pragma once

#include "object.h"
#include "sim.h"

struct sim_green {
	struct sim_object object;
	CUdevice device;
	unsigned int multiprocessors;
};
