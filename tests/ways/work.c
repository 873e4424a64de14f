/* WAY is LINKED (the loader finds the driver's functions), LOOKED_UP (dlopen and dlsym do) or ASKED
 * (cuGetProcAddress does). */
#include "work.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#define LINKED 1
#define LOOKED_UP 2
#define ASKED 3

/* By their names without version. */
#define FUNCTIONS(X) \
	X(cuInit) \
	X(cuDeviceGet) \
	X(cuDevicePrimaryCtxRetain) \
	X(cuDevicePrimaryCtxRelease) \
	X(cuCtxSetCurrent) \
	X(cuModuleLoad) \
	X(cuModuleGetFunction) \
	X(cuStreamCreate) \
	X(cuStreamSynchronize) \
	X(cuStreamDestroy) \
	X(cuMemAlloc) \
	X(cuMemFree) \
	X(cuMemcpyHtoD) \
	X(cuMemcpyDtoH) \
	X(cuLaunchKernel)

/* cuda.h has renamed them to the version that it is for, which is the name that the driver exports.
 */
#define EXPORTED_TEXT(name) #name
#define EXPORTED(name) EXPORTED_TEXT(name)

#define X(name) __typeof__(name) *name##_here;
static struct {
	FUNCTIONS(X)
} driver;
#undef X

#define CALL(name, ...) \
	do { \
		CUresult result = driver.name##_here(__VA_ARGS__); \
		if (result != CUDA_SUCCESS) { \
			fprintf(stderr, "work: " #name ": error %d\n", (int)result); \
			return 0; \
		} \
	} while (0)

#if WAY == LINKED
static bool find_driver(void)
{
#define X(name) driver.name##_here = name;
	FUNCTIONS(X)
#undef X
	return true;
}
#else
static void *find(void *library, const char *name, const char *exported)
{
#if WAY == LOOKED_UP
	return dlsym(library, exported);
#else
	CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
		(__typeof__(get))dlsym(library, "cuGetProcAddress_v2");
	void *function = NULL;

	return get != NULL && get(name, &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, NULL) ==
	                          CUDA_SUCCESS
	           ? function
	           : NULL;
#endif
}

static bool find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	bool found = library != NULL;

	if (!found)
		fprintf(stderr, "work: %s\n", dlerror());
#define X(name) \
	driver.name##_here = \
		found ? (__typeof__(driver.name##_here))find(library, #name, EXPORTED(name)) : NULL; \
	found = found && driver.name##_here != NULL;
	FUNCTIONS(X)
#undef X
	return found;
}
#endif

#define THREADS 64
#define BLOCKS 2
#define WORDS (THREADS * BLOCKS)
#define KERNELS 20
#define ROUNDS 400

static unsigned int digest(const unsigned int *words)
{
	unsigned int value = 0;

	for (unsigned int i = 0; i < WORDS; i++)
		value = value * 69069u + words[i];
	return value | 1;
}

unsigned int work(const char *module_path)
{
	unsigned int words[WORDS];
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction mix;
	CUstream stream;
	CUdeviceptr x, y;

	if (!find_driver())
		return 0;
	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = i;
	CALL(cuInit, 0);
	CALL(cuDeviceGet, &device, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, device);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoad, &module, module_path);
	CALL(cuModuleGetFunction, &mix, module, "mix");
	CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	CALL(cuMemAlloc, &x, sizeof(words));
	CALL(cuMemAlloc, &y, sizeof(words));
	CALL(cuMemcpyHtoD, x, words, sizeof(words));
	CALL(cuMemcpyHtoD, y, words, sizeof(words));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int argument = 0; argument < KERNELS; argument++)
			CALL(cuLaunchKernel, mix, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream,
			     (void *[]){&x, &y, &argument}, NULL);
		CALL(cuStreamSynchronize, stream);
	}
	CALL(cuMemcpyDtoH, words, x, sizeof(words));
	CALL(cuMemFree, y);
	CALL(cuMemFree, x);
	CALL(cuStreamDestroy, stream);
	CALL(cuDevicePrimaryCtxRelease, device);
	return digest(words);
}
