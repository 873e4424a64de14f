#include "cli/doctor.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/search.h"
#include "cli/library.h"

#define OLDEST_DRIVER 12040 /* the first that tells kernels' parameters */
#define DEVICES_TOLD 16

/* The version in a toolkit's header: 13000 for 13.0; 0 if there is none. */
static int toolkit_version(const char *folder)
{
	char path[REPRISE_CLI_PATH_MOST], line[256];
	int version = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/include/cuda.h", folder);
	file = fopen(path, "r");
	while (file != NULL && version == 0 && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "#define CUDA_VERSION %d", &version);
	if (file != NULL)
		fclose(file);
	return version;
}

static void tell_toolkit(void)
{
	const char *const folders[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
	                               "/usr/lib/cuda", "/opt/cuda"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int version = folders[i] != NULL ? toolkit_version(folders[i]) : 0;

		if (version > 0) {
			reprise_cli_tell("toolkit",
			                 "CUDA %d.%d in %s; Reprise was built with the header of %d.%d",
			                 version / 1000, version % 1000 / 10, folders[i], CUDA_VERSION / 1000,
			                 CUDA_VERSION % 1000 / 10);
			return;
		}
	}
	reprise_cli_tell(
		"toolkit",
		"none found, and none is needed; Reprise was built with the header of CUDA %d.%d",
		CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

static void tell_devices(void *driver)
{
	typeof(&cuDeviceGetCount) get_count = dlsym(driver, "cuDeviceGetCount");
	typeof(&cuDeviceGet) get = dlsym(driver, "cuDeviceGet");
	typeof(&cuDeviceGetName) get_name = dlsym(driver, "cuDeviceGetName");
	typeof(&cuDeviceGetAttribute) get_attribute = dlsym(driver, "cuDeviceGetAttribute");
	int count = 0;

	if (get_count == NULL || get == NULL || get_name == NULL || get_attribute == NULL ||
	    get_count(&count) != CUDA_SUCCESS)
		return;
	for (int i = 0; i < count && i < DEVICES_TOLD; i++) {
		char name[128] = "";
		int major = 0, minor = 0;
		CUdevice device;

		if (get(&device, i) != CUDA_SUCCESS || get_name(name, sizeof(name), device) != CUDA_SUCCESS)
			continue;
		get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
		get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
		reprise_cli_tell("GPU", "%d: %s, compute capability %d.%d", i, name, major, minor);
	}
}

/* True if the driver starts. Prints its error if not. */
static bool starts(void *driver, struct reprise_hindrances *hindrances)
{
	typeof(&cuInit) init = dlsym(driver, "cuInit");
	typeof(&cuGetErrorName) get_name = dlsym(driver, "cuGetErrorName");
	CUresult result = init != NULL ? init(0) : CUDA_ERROR_NOT_FOUND;
	const char *name = NULL;
	char what[128];

	if (result == CUDA_SUCCESS)
		return true;
	if (get_name == NULL || get_name(result, &name) != CUDA_SUCCESS)
		name = "an unknown error";
	snprintf(what, sizeof(what), "the driver does not start: %s (%d)", name, result);
	reprise_hindrance_note(hindrances->replaying, sizeof(hindrances->replaying), "%s", what);
	reprise_cli_tell_conflict(
		what,
		result == CUDA_ERROR_STUB_LIBRARY
			? "this is the toolkit's stub, for linking only: take its folder from LD_LIBRARY_PATH"
			: "no CUDA program can run here, with or without Reprise: see whether nvidia-smi shows a GPU, and whether CUDA_VISIBLE_DEVICES hides it");
	return false;
}

static void tell_driver(void *driver, const char *path, struct reprise_hindrances *hindrances)
{
	typeof(&cuDriverGetVersion) get_version = dlsym(driver, "cuDriverGetVersion");
	char release[64];
	int version = 0;

	reprise_release_read(REPRISE_RELEASE_FILE, release, sizeof(release));
	if (get_version == NULL || get_version(&version) != CUDA_SUCCESS)
		version = 0;
	reprise_cli_tell("driver", "%s", path);
	reprise_cli_tell("driver's version", "CUDA %d.%d%s%s", version / 1000, version % 1000 / 10,
	                 release[0] != '\0' ? ", release " : "", release);
	if (starts(driver, hindrances))
		tell_devices(driver);
	if (version > 0 && version < OLDEST_DRIVER) {
		reprise_cli_tell_conflict(
			"a driver older than CUDA 12.4 does not tell the parameters of kernels: they are all launched as without Reprise",
			"update the driver");
		reprise_hindrance_note(hindrances->replaying, sizeof(hindrances->replaying),
		                       "the driver is older than CUDA 12.4");
	}
}

void reprise_cli_tell_machine(struct reprise_hindrances *hindrances)
{
	char path[REPRISE_CLI_PATH_MOST];
	void *driver = reprise_cli_open_driver(path);

	if (driver != NULL) {
		tell_driver(driver, path, hindrances);
	} else {
		reprise_cli_tell("driver",
		                 "no libcuda.so.1 is found here: programs run as without Reprise");
		reprise_hindrance_note(hindrances->replaying, sizeof(hindrances->replaying),
		                       "no libcuda.so.1 is found here");
	}
	tell_toolkit();
}
