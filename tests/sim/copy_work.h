/* Copies, memsets and writes of single words as works. */
#pragma once

#include "work.h"

CUresult sim_copy_work_run(struct sim_work *work);
CUresult sim_set_work_run(struct sim_work *work);
CUresult sim_word_work_run(struct sim_work *work);

/* The two ends of a copy, unified or not, array or not: 0 for what cannot be. */
uintptr_t sim_copy_source(const CUDA_MEMCPY3D *shape);
uintptr_t sim_copy_target(const CUDA_MEMCPY3D *shape);
