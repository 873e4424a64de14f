/* Kernel launches as works. */
#pragma once

#include "work.h"

CUresult sim_kernel_work_run(struct sim_work *work);
/* Whether the function may be launched with such dimensions and shared memory. */
bool sim_kernel_may_have_shape(CUfunction function, struct sim_dim grid, struct sim_dim block,
                               unsigned int shared_bytes);

bool sim_kernel_work_spins(const struct sim_work *work);

/* The priority that the launch has of itself, or else the one given. */
int sim_kernel_work_priority(const struct sim_work *work, int otherwise);

/* The value of a launch attribute, or NULL if the launch does not carry it. */
const CUlaunchAttributeValue *sim_kernel_work_attribute(const struct sim_work *work,
                                                        CUlaunchAttributeID id);
