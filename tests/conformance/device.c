/* Initialisation and devices. */
#include "conformance.h"

static void nothing_works_before_cuinit(void)
{
	CUcontext current;
	int devices;

	EXPECT(cuDeviceGetCount(&devices), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuCtxGetCurrent(&current), CUDA_ERROR_NOT_INITIALIZED);
}

static void the_version_is_known_before_cuinit(void)
{
	int version = 0;

	OK(cuDriverGetVersion(&version));
	TRUE(version >= 13000);
	EXPECT(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
}

static void cuinit_takes_no_flags(void)
{
	EXPECT(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

static void cuinit_may_be_repeated(void)
{
	OK(cuInit(0));
	OK(cuInit(0));
}

static void devices_are_numbered_from_zero(void)
{
	CUdevice device = 9;
	int devices = 0;

	OK(cuDeviceGetCount(&devices));
	TRUE(devices > 0);
	OK(cuDeviceGet(&device, 0));
	EQUAL(device, 0);
	EXPECT(cuDeviceGet(&device, devices), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static int attribute(CUdevice_attribute which)
{
	int value = -1;

	OK(cuDeviceGetAttribute(&value, which, 0));
	return value;
}

static void attributes_of_a_device(void)
{
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), 0x7fffffff);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED), 1);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
	EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
	TRUE(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) >= 49152);
}

static void an_attribute_that_no_device_has_is_invalid(void)
{
	int value;

	EXPECT(cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_ERROR_INVALID_VALUE);
}

static void a_device_that_is_none_is_invalid(void)
{
	size_t bytes;
	char name[32];
	int value;

	EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 999),
	       CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceGetName(name, sizeof(name), 999), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceTotalMem(&bytes, 999), CUDA_ERROR_INVALID_DEVICE);
}

static void a_device_has_a_name_and_memory(void)
{
	char name[128] = "";
	size_t bytes = 0;
	CUuuid first, second;

	OK(cuDeviceGetName(name, sizeof(name), 0));
	TRUE(name[0] != '\0');
	OK(cuDeviceTotalMem(&bytes, 0));
	TRUE(bytes > 0);
	OK(cuDeviceGetUuid(&first, 0));
	OK(cuDeviceGetUuid(&second, 0));
	TRUE(memcmp(&first, &second, sizeof(first)) == 0);
}

static void free_memory_is_part_of_the_total(void)
{
	size_t unused = 0, total = 0;

	OK(cuMemGetInfo(&unused, &total));
	TRUE(unused > 0 && unused <= total);
}

#define INIT "Initialization: cuInit"
#define DEVICE "Device Management: "

const struct check device_checks[] = {
	CHECK_ALONE(nothing_works_before_cuinit, INIT, NO_CONTEXT),
	CHECK_ALONE(the_version_is_known_before_cuinit, "Version Management: cuDriverGetVersion",
                NO_CONTEXT),
	CHECK(cuinit_takes_no_flags, INIT),
	CHECK(cuinit_may_be_repeated, INIT),
	CHECK(devices_are_numbered_from_zero, DEVICE "cuDeviceGet"),
	CHECK(attributes_of_a_device,
          DEVICE "cuDeviceGetAttribute; Programming Guide, Compute Capabilities"),
	CHECK(an_attribute_that_no_device_has_is_invalid, DEVICE "cuDeviceGetAttribute"),
	CHECK(a_device_that_is_none_is_invalid,
          DEVICE "cuDeviceGetAttribute, cuDeviceGetName, cuDeviceTotalMem"),
	CHECK(a_device_has_a_name_and_memory,
          DEVICE "cuDeviceGetName, cuDeviceTotalMem, cuDeviceGetUuid"),
	CHECK(free_memory_is_part_of_the_total, "Memory Management: cuMemGetInfo"),
	CHECKS_END,
};
