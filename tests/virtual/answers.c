#include "answers.h"

#include <stddef.h>

#include "driver/driver.h"

#define MEMORY_SHIFT 40

static CUresult CUDAAPI parameter(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	if (index > 0)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 0;
	*size = sizeof(uint32_t);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI no_attribute(int *value, CUfunction_attribute attribute,
                                     CUfunction function)
{
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI a_module(CUmodule *module, CUfunction function)
{
	*module = NULL;
	return CUDA_SUCCESS;
}

/* So it is not linked with the device runtime. */
static CUresult CUDAAPI no_variable(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                    const char *name)
{
	return CUDA_ERROR_NOT_FOUND;
}

CUdeviceptr answers_address_in(enum reprise_memory memory, uint64_t address)
{
	return address | (CUdeviceptr)memory << MEMORY_SHIFT;
}

static CUresult CUDAAPI kind_of_memory(unsigned int count, CUpointer_attribute *attributes,
                                       void **answers, CUdeviceptr address)
{
	static const uint64_t types[] = {[REPRISE_MEMORY_DEVICE] = CU_MEMORYTYPE_DEVICE,
	                                 [REPRISE_MEMORY_PINNED] = CU_MEMORYTYPE_HOST,
	                                 [REPRISE_MEMORY_OTHER] = 0};

	for (unsigned int i = 0; i < count; i++) {
		if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
			*(uint64_t *)answers[i] = types[address >> MEMORY_SHIFT];
		if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
			*(uint64_t *)answers[i] = address >> MEMORY_SHIFT << MEMORY_SHIFT;
		if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
			*(uint64_t *)answers[i] = UINT64_C(1) << MEMORY_SHIFT;
	}
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI range_of_memory(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	*base = address >> MEMORY_SHIFT << MEMORY_SHIFT;
	*bytes = UINT64_C(1) << MEMORY_SHIFT;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI one_device(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI no_context(CUcontext *context)
{
	*context = NULL;
	return CUDA_SUCCESS;
}

void answers_install(void)
{
	reprise_driver.cuFuncGetParamInfo = parameter;
	reprise_driver.cuFuncGetAttribute = no_attribute;
	reprise_driver.cuFuncGetModule = a_module;
	reprise_driver.cuModuleGetGlobal_v2 = no_variable;
	reprise_driver.cuPointerGetAttributes = kind_of_memory;
	reprise_driver.cuMemGetAddressRange_v2 = range_of_memory;
	reprise_driver.cuDeviceGetCount = one_device;
	reprise_driver.cuCtxGetCurrent = no_context;
}
