/* CUDA arrays, as plain rows of device memory: what copies need. Kernels cannot read them. */
#pragma once

#include "object.h"
#include "sim.h"

struct sim_array {
	struct sim_object object;
	struct sim_context *context;
	struct sim_memory *memory;
	CUDA_ARRAY3D_DESCRIPTOR shape;
};

/* Puts the memory of the array that a side of a copy names in its place. False if it is none. */
bool sim_array_resolve(CUmemorytype *type, CUarray array, CUdeviceptr *device, size_t *pitch,
                       size_t *height);

/* Everything of a context that is going away; its memory goes by itself. */
void sim_array_forget_context(const struct sim_context *context);
