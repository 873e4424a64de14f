/* Functions of modules, kernels of libraries, and their attributes. */
#include "schedule.h"
#include "drain.h"
#include "api.h"
#include "context.h"
#include "device.h"
#include "module.h"

static const int first_attributes[CU_FUNC_ATTRIBUTE_MAX] = {
	[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
	[CU_FUNC_ATTRIBUTE_NUM_REGS] = 16,
	[CU_FUNC_ATTRIBUTE_PTX_VERSION] = 90,
	[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90,
	[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 49152,
	[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1,
};

static struct sim_function *function_new(struct sim_context *context, struct sim_loaded *owner,
                                         const struct sim_kernel *code, const int *attributes)
{
	struct sim_function *function = sim_object_new(SIM_A_FUNCTION, sizeof(*function));

	function->context = context;
	function->owner = owner;
	function->code = code;
	memcpy(function->attributes, attributes, sizeof(function->attributes));
	return function;
}

void sim_function_free(struct sim_function *function)
{
	sim_object_free(function);
}

void sim_library_kernel_free(struct sim_library_kernel *kernel)
{
	size_t i;

	for (i = 0; i < kernel->functions.count; i++)
		sim_function_free(kernel->functions.at[i]);
	sim_clear(&kernel->functions);
	sim_object_free(kernel);
}

struct sim_function *sim_module_function_at(struct sim_loaded *module, size_t position)
{
	if (module->library)
		return sim_library_kernel_in(sim_library_kernel_at(module->library, position),
		                             module->context);
	while (module->functions.count < sim_loaded_count(module))
		sim_push(&module->functions, NULL);
	if (!module->functions.at[position])
		module->functions.at[position] =
			function_new(module->context, module, module->table->kernels[position],
		                 first_attributes);
	return module->functions.at[position];
}

struct sim_library_kernel *sim_library_kernel_at(struct sim_loaded *library, size_t position)
{
	struct sim_library_kernel *kernel;

	while (library->kernels.count < sim_loaded_count(library))
		sim_push(&library->kernels, NULL);
	kernel = library->kernels.at[position];
	if (!kernel) {
		kernel = sim_object_new(SIM_A_KERNEL, sizeof(*kernel));
		kernel->library = library;
		kernel->code = library->table->kernels[position];
		for (size_t i = 0; i < SIM_MOST_DEVICES; i++)
			memcpy(kernel->attributes[i], first_attributes, sizeof(first_attributes));
		library->kernels.at[position] = kernel;
	}
	return kernel;
}

static bool find(const struct sim_loaded *loaded, const char *name, size_t *position)
{
	for (*position = 0; *position < sim_loaded_count(loaded); ++*position)
		if (strcmp(loaded->table->kernels[*position]->name, name) == 0)
			return true;
	return false;
}

struct sim_function *sim_module_function(struct sim_loaded *module, const char *name)
{
	size_t position;

	return find(module, name, &position) ? sim_module_function_at(module, position) : NULL;
}

struct sim_library_kernel *sim_library_kernel(struct sim_loaded *library, const char *name)
{
	size_t position;

	return find(library, name, &position) ? sim_library_kernel_at(library, position) : NULL;
}

struct sim_function *sim_library_kernel_in(struct sim_library_kernel *kernel,
                                           struct sim_context *context)
{
	size_t i;

	for (i = 0; i < kernel->functions.count; i++)
		if (kernel->functions.at[i]->context == context)
			return kernel->functions.at[i];
	sim_push(&kernel->functions, function_new(context, kernel->library, kernel->code,
	                                          kernel->attributes[context->device]));
	kernel->functions.at[kernel->functions.count - 1]->kernel = kernel;
	return kernel->functions.at[kernel->functions.count - 1];
}

struct sim_function *sim_function_of(CUfunction handle, struct sim_context *context)
{
	struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	return kernel ? sim_library_kernel_in(kernel, context) : sim_object_of(SIM_A_FUNCTION, handle);
}

/* As with CUDA, all kernels are loaded with their library then. */
static bool loads_early(void)
{
	const char *how = getenv("CUDA_MODULE_LOADING");

	return how && strcmp(how, "EAGER") == 0;
}

/*
 * Who asks about a kernel that is not loaded in the context loads it, and so does its first launch.
 * That waits for host functions that run, with everybody else kept out: on an H200 the first kernel
 * of a context does (docs/results/2026-11-24-loading-h200.md). Here each does.
 */
static void load(struct sim_library_kernel *kernel, struct sim_context *context)
{
	struct sim_op *function;
	size_t i;

	for (i = 0; i < kernel->functions.count; i++)
		if (kernel->functions.at[i]->context == context)
			return;
	while (context && !loads_early() && (function = sim_schedule_function(context)))
		sim_drain_op(context, function);
	if (context)
		sim_library_kernel_in(kernel, context);
}

struct sim_function *sim_function_to_launch(CUfunction handle)
{
	return sim_function_asked_about(handle);
}

struct sim_function *sim_function_asked_about(CUfunction handle)
{
	struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	if (kernel)
		load(kernel, sim_current());
	return sim_function_of(handle, sim_current());
}

size_t sim_function_bytes(const struct sim_kernel *code)
{
	const struct sim_parameter *last = code->parameters + code->parameter_count - 1;

	return code->parameter_count ? last->offset + last->size : 0;
}

static CUresult get_attribute(const int *attributes, CUfunction_attribute attribute, int *value)
{
	if (!value || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attributes[attribute];
	return CUDA_SUCCESS;
}

/* Which attributes may be set, and to what: the documentation of cuFuncSetAttribute and of
 * CUfunction_attribute. */
static CUresult set_attribute(int *attributes, CUfunction_attribute attribute, int value)
{
	int most = sim_device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	bool allowed;

	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		allowed = value >= 0 && value <= most - attributes[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		allowed = value >= -1 && value <= 100;
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		allowed = value >= 0 && value <= 8;
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		allowed = true;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		allowed = value >= 0 && value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
		break;
	default:
		allowed = false;
	}
	if (!allowed)
		return CUDA_ERROR_INVALID_VALUE;
	attributes[attribute] = value;
	return CUDA_SUCCESS;
}

static CUresult parameter_info(const struct sim_kernel *code, size_t index, size_t *offset,
                               size_t *size)
{
	if (!offset || index >= code->parameter_count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = code->parameters[index].offset;
	if (size)
		*size = code->parameters[index].size;
	return CUDA_SUCCESS;
}

/* A CUkernel is refused by all of these: it stands for a function only where something is launched,
 * and where occupancy is asked for. */
API(SIM_CONTEXT, cuFuncGetAttribute,
    (int *value, CUfunction_attribute attribute, CUfunction handle), (value, attribute, handle))
{
	const struct sim_function *function = sim_object_of(SIM_A_FUNCTION, handle);

	return function ? get_attribute(function->attributes, attribute, value)
	                : CUDA_ERROR_INVALID_HANDLE;
}

API(SIM_CONTEXT, cuFuncSetAttribute, (CUfunction handle, CUfunction_attribute attribute, int value),
    (handle, attribute, value))
{
	struct sim_function *function = sim_object_of(SIM_A_FUNCTION, handle);
	CUresult result;

	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	result = set_attribute(function->attributes, attribute, value);
	if (result == CUDA_SUCCESS)
		function->own[attribute] = true;
	return result;
}

API(SIM_CONTEXT, cuFuncSetCacheConfig, (CUfunction handle, CUfunc_cache config), (handle, config))
{
	if (config > CU_FUNC_CACHE_PREFER_EQUAL)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_object_of(SIM_A_FUNCTION, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API(SIM_CONTEXT, cuFuncGetModule, (CUmodule * module, CUfunction handle), (module, handle))
{
	const struct sim_function *function = sim_object_of(SIM_A_FUNCTION, handle);

	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*module = (CUmodule)(function->kernel
	                         ? sim_library_module(function->kernel->library, function->context)
	                         : function->owner);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuFuncGetName, (const char **name, CUfunction handle), (name, handle))
{
	const struct sim_function *function = sim_object_of(SIM_A_FUNCTION, handle);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = function->code->name;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuFuncGetParamInfo,
    (CUfunction handle, size_t index, size_t *offset, size_t *size), (handle, index, offset, size))
{
	const struct sim_function *function = sim_object_of(SIM_A_FUNCTION, handle);

	return function ? parameter_info(function->code, index, offset, size)
	                : CUDA_ERROR_INVALID_HANDLE;
}

API(SIM_CONTEXT, cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction handle),
    (state, handle))
{
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_object_of(SIM_A_FUNCTION, handle))
		return CUDA_ERROR_INVALID_HANDLE;
	*state = CU_FUNCTION_LOADING_STATE_LOADED;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuFuncLoad, (CUfunction handle), (handle))
{
	return sim_object_of(SIM_A_FUNCTION, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API(SIM_CONTEXT, cuKernelGetFunction, (CUfunction * function, CUkernel handle), (function, handle))
{
	struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	load(kernel, sim_current());
	*function = (CUfunction)sim_library_kernel_in(kernel, sim_current());
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuKernelGetLibrary, (CUlibrary * library, CUkernel handle), (library, handle))
{
	const struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	if (!library)
		return CUDA_ERROR_INVALID_VALUE;
	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	*library = (CUlibrary)kernel->library;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuKernelGetName, (const char **name, CUkernel handle), (name, handle))
{
	const struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = kernel->code->name;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuKernelGetParamInfo, (CUkernel handle, size_t index, size_t *offset, size_t *size),
    (handle, index, offset, size))
{
	struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	load(kernel, sim_current());
	return parameter_info(kernel->code, index, offset, size);
}

API(SIM_INIT, cuKernelGetAttribute,
    (int *value, CUfunction_attribute attribute, CUkernel handle, CUdevice device),
    (value, attribute, handle, device))
{
	const struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_device_exists(device) ? get_attribute(kernel->attributes[device], attribute, value)
	                                 : CUDA_ERROR_INVALID_DEVICE;
}

/* A kernel's attribute holds for all contexts of the device, but not for functions that were given
 * one of their own, before or after: the documentation of cuKernelSetAttribute. */
API(SIM_INIT, cuKernelSetAttribute,
    (CUfunction_attribute attribute, int value, CUkernel handle, CUdevice device),
    (attribute, value, handle, device))
{
	struct sim_library_kernel *kernel = sim_object_of(SIM_A_KERNEL, handle);
	CUresult result;
	size_t i;

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	load(kernel, sim_current());
	result = set_attribute(kernel->attributes[device], attribute, value);
	for (i = 0; result == CUDA_SUCCESS && i < kernel->functions.count; i++)
		if (kernel->functions.at[i]->context->device == device &&
		    !kernel->functions.at[i]->own[attribute])
			kernel->functions.at[i]->attributes[attribute] = value;
	return result;
}

API(SIM_INIT, cuKernelSetCacheConfig, (CUkernel handle, CUfunc_cache config, CUdevice device),
    (handle, config, device))
{
	return sim_object_of(SIM_A_KERNEL, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
