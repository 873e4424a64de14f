#include "array.h"

#include "api.h"
#include "capture.h"
#include "context.h"
#include "drain.h"
#include "memory.h"

static VECTOR(struct sim_array *) arrays;

static size_t element_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

static size_t row_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	return shape->Width * shape->NumChannels * element_bytes(shape->Format);
}

static size_t or_one(size_t count)
{
	return count ? count : 1;
}

/* "The channels must be 1, 2, or 4"; heights and depths of zero stand for fewer dimensions:
 * cuArray3DCreate. */
static CUresult create(CUarray *made, const CUDA_ARRAY3D_DESCRIPTOR *wanted)
{
	struct sim_memory *memory;
	struct sim_array *array;
	CUresult result;

	if (!made || !wanted || !row_bytes(wanted) ||
	    (wanted->NumChannels != 1 && wanted->NumChannels != 2 && wanted->NumChannels != 4))
		return CUDA_ERROR_INVALID_VALUE;
	if (wanted->Flags)
		return CUDA_ERROR_NOT_SUPPORTED;
	result = sim_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	memory = sim_memory_new(sim_current(), SIM_DEVICE,
	                        row_bytes(wanted) * or_one(wanted->Height) * or_one(wanted->Depth), 0);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	array = sim_object_new(SIM_AN_ARRAY, sizeof(*array));
	array->context = sim_current();
	array->memory = memory;
	array->shape = *wanted;
	sim_push(&arrays, array);
	*made = (CUarray)array;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *wanted),
    (array, wanted))
{
	return create(array, wanted);
}

API(SIM_CONTEXT, cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *wanted),
    (array, wanted))
{
	CUDA_ARRAY3D_DESCRIPTOR shape;

	if (!wanted)
		return CUDA_ERROR_INVALID_VALUE;
	shape = (CUDA_ARRAY3D_DESCRIPTOR){.Width = wanted->Width,
	                                  .Height = wanted->Height,
	                                  .Format = wanted->Format,
	                                  .NumChannels = wanted->NumChannels};
	return create(array, &shape);
}

API(SIM_CONTEXT, cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * told, CUarray handle),
    (told, handle))
{
	const struct sim_array *array = sim_object_of(SIM_AN_ARRAY, handle);

	if (!told)
		return CUDA_ERROR_INVALID_VALUE;
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	*told = array->shape;
	return CUDA_SUCCESS;
}

static void array_free(struct sim_array *array)
{
	size_t i;

	for (i = 0; arrays.at[i] != array; i++)
		;
	sim_remove(&arrays, i);
	sim_object_free(array);
}

/* As freeing other memory it waits for the device. */
API(SIM_CONTEXT, cuArrayDestroy, (CUarray handle), (handle))
{
	struct sim_array *array = sim_object_of(SIM_AN_ARRAY, handle);
	CUresult result = sim_capture_unsafe();

	if (result != CUDA_SUCCESS)
		return result;
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_drain_synchronize(array->context);
	/* Another thread may have been let in meanwhile. */
	array = sim_object_of(SIM_AN_ARRAY, handle);
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_memory_free(array->memory);
	array_free(array);
	return CUDA_SUCCESS;
}

bool sim_array_resolve(CUmemorytype *type, CUarray handle, CUdeviceptr *device, size_t *pitch,
                       size_t *height)
{
	const struct sim_array *array = sim_object_of(SIM_AN_ARRAY, handle);

	if (*type != CU_MEMORYTYPE_ARRAY)
		return true;
	if (!array)
		return false;
	*type = CU_MEMORYTYPE_DEVICE;
	*device = array->memory->base;
	*pitch = row_bytes(&array->shape);
	*height = array->shape.Height;
	return true;
}

void sim_array_forget_context(const struct sim_context *context)
{
	size_t i;

	for (i = arrays.count; i-- > 0;)
		if (arrays.at[i]->context == context)
			array_free(arrays.at[i]);
}
