/*
 * A program for the test of the recorder that finds the driver as cudart does: it opens it for
 * itself alone, and looks all functions up. It puts a line of its own into the record.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	CUdriverProcAddressQueryResult status;
	void *query = NULL;
	int count = 0;

	if (driver == NULL)
		return 1;

	CUresult (*init)(unsigned int) = (CUresult(*)(unsigned int))dlsym(driver, "cuInit");
	CUresult (*get_count)(int *) = (CUresult(*)(int *))dlsym(driver, "cuDeviceGetCount");
	CUresult (*get_address)(const char *, void **, int, cuuint64_t,
	                        CUdriverProcAddressQueryResult *) =
		(CUresult(*)(const char *, void **, int, cuuint64_t,
	                 CUdriverProcAddressQueryResult *))dlsym(driver, "cuGetProcAddress_v2");
	void (*mark)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "record_mark");

	if (init == NULL || get_count == NULL || get_address == NULL ||
	    dlsym(driver, "cuNoSuchThing") != NULL || dlerror() == NULL)
		return 2;
	if (init(0) != CUDA_SUCCESS || get_count(&count) != CUDA_SUCCESS)
		return 3;
	if (mark != NULL)
		mark("#here");
	if (get_address("cuStreamQuery", &query, CUDA_VERSION,
	                CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status) != CUDA_SUCCESS ||
	    ((CUresult(*)(CUstream))query)(NULL) != CUDA_ERROR_INVALID_CONTEXT)
		return 4;

	CUresult (*retain)(CUcontext *, CUdevice) =
		(CUresult(*)(CUcontext *, CUdevice))dlsym(driver, "cuDevicePrimaryCtxRetain");
	CUresult (*set)(CUcontext) = (CUresult(*)(CUcontext))dlsym(driver, "cuCtxSetCurrent");
	CUresult (*exchange)(CUstreamCaptureMode *) =
		(CUresult(*)(CUstreamCaptureMode *))dlsym(driver, "cuThreadExchangeStreamCaptureMode");
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUcontext context;

	if (retain(&context, 0) != CUDA_SUCCESS || set(context) != CUDA_SUCCESS ||
	    set(context) != CUDA_SUCCESS || exchange(&mode) != CUDA_SUCCESS)
		return 5;
	return 0;
}
