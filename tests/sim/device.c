#include "device.h"

#include <stdio.h>

#include "api.h"
#include "context.h"
#include "memory.h"
#include "options.h"

static bool initialised;

/* An H200's, where programs look at them. */
static const int attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
	[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = 1024,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = 1024,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64,
	[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = 0x7fffffff,
	[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535,
	[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = 65535,
	[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 49152,
	[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 232448,
	[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = 233472,
	[CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK] = 1024,
	[CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = 65536,
	[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32,
	[CU_DEVICE_ATTRIBUTE_MAX_PITCH] = 0x7fffffff,
	[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = 65536,
	[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = 65536,
	[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1980000,
	[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 3201000,
	[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 6144,
	[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 62914560,
	[CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 512,
	[CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT] = 32,
	[CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT] = 512,
	[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 132,
	[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = 2048,
	[CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR] = 32,
	[CU_DEVICE_ATTRIBUTE_GPU_OVERLAP] = 1,
	[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = 3,
	[CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY] = 1,
	[CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS] = 1,
	[CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING] = 1,
	[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9,
	[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = 0,
	[CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED] = 1,
	[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 1,
	[CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] = 1,
	[CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED] = 1,
	[CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM] = 1,
	[CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED] = 1,
	[CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 1,
	[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] = 1,
	[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 1,
};

bool sim_device_initialised(void)
{
	return initialised;
}

bool sim_device_exists(CUdevice device)
{
	return device >= 0 && device < sim_options()->devices;
}

int sim_device_attribute(CUdevice_attribute attribute)
{
	return attributes[attribute];
}

API(SIM_NOTHING, cuInit, (unsigned int flags), (flags))
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_options()->devices > SIM_MOST_DEVICES)
		sim_misuse("SIM_DEVICES is more than %d", SIM_MOST_DEVICES);
	if (sim_options()->devices <= 0)
		return CUDA_ERROR_NO_DEVICE;
	sim_memory_reserve();
	initialised = true;
	return CUDA_SUCCESS;
}

int sim_driver_version(void)
{
	return sim_options()->newer ? SIM_NEWER_VERSION : SIM_DRIVER_VERSION;
}

API(SIM_NOTHING, cuDriverGetVersion, (int *version), (version))
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = sim_driver_version();
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetCount, (int *count), (count))
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sim_options()->devices;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
{
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetName, (char *name, int size, CUdevice device), (name, size, device))
{
	if (!name || size <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)size, "Simulated device");
	return CUDA_SUCCESS;
}

static CUresult device_uuid(CUuuid *uuid, CUdevice device)
{
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid->bytes, "reprise sim dev", 15);
	uuid->bytes[15] = (char)device;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), (uuid, device))
{
	return device_uuid(uuid, device);
}

API(SIM_INIT, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), (uuid, device))
{
	return device_uuid(uuid, device);
}

API(SIM_INIT, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device), (bytes, device))
{
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sim_options()->memory;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device),
    (value, attribute, device))
{
	if (!value || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*value = attributes[attribute];
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*value = device + 1;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
    (major, minor, device))
{
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR];
	*minor = attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR];
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuDeviceGetPCIBusId, (char *text, int size, CUdevice device), (text, size, device))
{
	if (!text || size < 13)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(text, (size_t)size, "0000:%02X:00.0", (unsigned int)device + 1);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuMemGetInfo_v2, (size_t * unused, size_t *total), (unused, total))
{
	if (unused)
		*unused = sim_memory_unused(sim_current()->device);
	if (total)
		*total = sim_options()->memory;
	return CUDA_SUCCESS;
}
