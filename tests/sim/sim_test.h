/* What the simulation's own tests share. Each test runs in a process of its own (Check forks), so
 * options may be set in it. */
#pragma once

#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define CU(call) ck_assert_int_eq((call), CUDA_SUCCESS)

enum { WORDS = 64 };

static const char *module_path;
static CUcontext context;
static CUmodule module;
static CUstream stream, other; /* non-blocking */

static void start(void)
{
	CU(cuInit(0));
	CU(cuDevicePrimaryCtxRetain(&context, 0));
	CU(cuCtxSetCurrent(context));
	CU(cuModuleLoad(&module, module_path));
	CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CU(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
}

static inline CUfunction function(const char *name)
{
	CUfunction found;

	CU(cuModuleGetFunction(&found, module, name));
	return found;
}

/* One thread. */
static inline CUresult launch(const char *name, CUstream on, void **params)
{
	return cuLaunchKernel(function(name), 1, 1, 1, 1, 1, 1, 0, on, params, NULL);
}

/* list[++list[0]] = value */
static inline CUresult append(CUdeviceptr list, unsigned value, CUstream on)
{
	void *params[] = {&list, &value};

	return launch("append", on, params);
}

static inline CUresult wait_flag(CUdeviceptr flag, unsigned value, CUdeviceptr result, CUstream on)
{
	void *params[] = {&flag, &value, &result};

	return launch("wait_flag", on, params);
}

static inline CUresult set_flag(CUdeviceptr flag, unsigned value, CUstream on)
{
	void *params[] = {&flag, &value};

	return launch("set_flag", on, params);
}

/* Device memory of zeros. */
static inline CUdeviceptr words(void)
{
	CUdeviceptr address;

	CU(cuMemAlloc(&address, WORDS * sizeof(unsigned)));
	CU(cuMemsetD32(address, 0, WORDS));
	CU(cuCtxSynchronize());
	return address;
}

static inline unsigned word(CUdeviceptr address, unsigned position)
{
	unsigned value;

	CU(cuMemcpyDtoH(&value, address + position * sizeof(value), sizeof(value)));
	return value;
}

/* The list that `append` made is 1, 2, ... count. */
static inline void assert_list(CUdeviceptr list, unsigned count)
{
	unsigned i;

	ck_assert_uint_eq(word(list, 0), count);
	for (i = 1; i <= count; i++)
		ck_assert_uint_eq(word(list, i), i);
}

/* The tests of one file: RUN(name, tests...) defines main. */
#define RUN(name, ...) \
	int main(int argc, char **argv) \
	{ \
		const TTest *tests[] = {__VA_ARGS__}; \
		Suite *suite = suite_create(name); \
		TCase *cases = tcase_create(name); \
		tcase_set_timeout(cases, \
		                  60); /* seconds: it ends a test that stands still, and no slow one */ \
\
		module_path = argc > 1 ? argv[1] : ""; \
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) \
			tcase_add_test(cases, tests[i]); \
		suite_add_tcase(suite, cases); \
		return run_suite(suite); \
	}
