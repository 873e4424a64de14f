/*
 * cuda.h with every version of every entry point under its exported name, _ptsz and _ptds forms
 * included, and without the macros that rename them. Include it before any other header that
 * includes cuda.h.
 */
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
