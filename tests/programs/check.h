// One way to fail: name the call, the error and the place, and exit with 1.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) \
	do { \
		cudaError_t check_error = (call); \
		if (check_error != cudaSuccess) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
			        cudaGetErrorName(check_error)); \
			exit(1); \
		} \
	} while (0)
