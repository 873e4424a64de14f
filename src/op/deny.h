/*
 * The deny list (REPRISE_DENY): kernels that are always eager and part of no trace, by globs of
 * their names as the driver tells them, which for C++ are the mangled ones. Unless told otherwise
 * those of NCCL and NVSHMEM, which wait for other processes and devices: nobody has shown that they
 * may be launched as part of a graph wherever a program launches them alone.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether the list has the kernel's name (name.h). Where the driver does not tell it (before
 * CUDA 12.3) it is NULL and nothing is denied, which is said once if the list was given.
 */
bool reprise_denied(const char *name);
