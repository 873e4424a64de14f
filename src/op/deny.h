/*
 * The deny list (REPRISE_DENY): globs of names of kernels that are always eager and part of no
 * trace. Names are as the driver reports them, mangled for C++. The default is the kernels of NCCL
 * and NVSHMEM. They wait for other processes and devices, and it is not shown that a graph may
 * launch them wherever the program launches them alone.
 */
#pragma once

#include <stdbool.h>

/* True if the list has the kernel's name (name.h). Before CUDA 12.3 the driver does not tell names:
 * `name` is NULL and nothing is denied. One warning says so if the user gave the list. */
bool reprise_denied(const char *name);
