/* For programs of the driver API: fail by name. */
#pragma once

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CHECK_FAILED
#define CHECK_FAILED() exit(1)
#endif

#define CHECK(call) \
	do { \
		CUresult check_result = (call); \
		if (check_result != CUDA_SUCCESS) { \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, \
			        (int)check_result); \
			CHECK_FAILED(); \
		} \
	} while (0)
