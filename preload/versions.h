/*
 * cuda.h with every version of every entry point under its exported name, _ptsz and _ptds forms
 * too, and no macro that renames them. To be included before anything else that includes cuda.h.
 */
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
