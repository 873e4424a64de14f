#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"
#include "capture.h"
#include "context.h"
#include "memory.h"

static VECTOR(struct sim_loaded *) libraries;

size_t sim_loaded_count(const struct sim_loaded *loaded)
{
	return (size_t)(loaded->table->kernels_end - loaded->table->kernels);
}

void sim_loaded_free(struct sim_loaded *loaded)
{
	const struct sim_global *const *global;
	size_t i;

	for (global = loaded->table->globals; global != loaded->table->globals_end; global++)
		if (sim_memory_of((uintptr_t)(*global)->address))
			sim_memory_free(sim_memory_of((uintptr_t)(*global)->address));
	for (i = 0; i < loaded->functions.count; i++)
		if (loaded->functions.at[i])
			sim_function_free(loaded->functions.at[i]);
	for (i = 0; i < loaded->kernels.count; i++)
		if (loaded->kernels.at[i])
			sim_library_kernel_free(loaded->kernels.at[i]);
	for (i = 0; i < loaded->modules.count; i++)
		sim_object_free(loaded->modules.at[i]);
	sim_clear(&loaded->functions);
	sim_clear(&loaded->kernels);
	sim_clear(&loaded->modules);
	dlclose(loaded->handle);
	close(loaded->file);
	if (loaded->context) {
		for (i = 0; loaded->context->loaded.at[i] != loaded; i++)
			;
		sim_remove(&loaded->context->loaded, i);
	} else {
		for (i = 0; libraries.at[i] != loaded; i++)
			;
		sim_remove(&libraries, i);
	}
	sim_object_free(loaded);
}

struct sim_loaded *sim_library_module(struct sim_loaded *library, struct sim_context *context)
{
	struct sim_loaded *module;
	size_t i;

	for (i = 0; i < library->modules.count; i++)
		if (library->modules.at[i]->context == context)
			return library->modules.at[i];
	module = sim_object_new(SIM_A_MODULE, sizeof(*module));
	module->context = context;
	module->table = library->table;
	module->library = library;
	sim_push(&library->modules, module);
	return module;
}

void sim_library_forget_context(const struct sim_context *context)
{
	size_t i, j, k;

	for (i = 0; i < libraries.count; i++) {
		for (j = libraries.at[i]->modules.count; j-- > 0;) {
			if (libraries.at[i]->modules.at[j]->context != context)
				continue;
			sim_object_free(libraries.at[i]->modules.at[j]);
			sim_remove(&libraries.at[i]->modules, j);
		}
		for (j = 0; j < libraries.at[i]->kernels.count; j++) {
			struct sim_library_kernel *kernel = libraries.at[i]->kernels.at[j];

			for (k = kernel ? kernel->functions.count : 0; k-- > 0;) {
				if (kernel->functions.at[k]->context != context)
					continue;
				sim_function_free(kernel->functions.at[k]);
				sim_remove(&kernel->functions, k);
			}
		}
	}
}

#define FILE_NAME_MOST 64

/* The end of an ELF image in memory: its section headers come last. */
static size_t image_size(const void *image)
{
	const Elf64_Ehdr *header = image;

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

/* A new file without a name, and by what the loader finds it meanwhile: its number, or where there
 * is no /proc a name that is taken away when it is loaded. */
static int make_file(char path[static FILE_NAME_MOST], bool *named)
{
	int file = memfd_create("simulated module", MFD_CLOEXEC);

	snprintf(path, FILE_NAME_MOST, "/proc/self/fd/%d", file);
	*named = file >= 0 && access(path, F_OK) != 0;
	if (!*named)
		return file;
	close(file);
	snprintf(path, FILE_NAME_MOST, "/tmp/simulated-module-XXXXXX");
	return mkostemp(path, O_CLOEXEC);
}

static CUresult load(struct sim_loaded **made, enum sim_kind kind, const void *image, size_t size)
{
	struct sim_context *context = kind == SIM_A_MODULE ? sim_current() : NULL;
	char path[FILE_NAME_MOST];
	bool named;
	int file = make_file(path, &named);
	const struct sim_global *const *global;
	const struct sim_module *table;
	struct sim_loaded *loaded;
	void *handle = NULL;

	if (file < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (write(file, image, size) == (ssize_t)size)
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (named)
		unlink(path);
	table = handle ? dlsym(handle, "sim_module") : NULL;
	if (!table || table->version != SIM_MODULE_VERSION) {
		if (handle)
			dlclose(handle);
		close(file);
		return CUDA_ERROR_INVALID_IMAGE;
	}
	/* Measured: libraries wait as modules do. */
	if (sim_current())
		sim_drain(sim_current());
	loaded = sim_object_new(kind, sizeof(*loaded));
	loaded->context = context;
	loaded->handle = handle;
	loaded->file = file;
	loaded->table = table;
	if (context)
		sim_push(&context->loaded, loaded);
	else
		sim_push(&libraries, loaded);
	/* A library's variables are known in the context that is current, or in the first device's. */
	if (!context)
		context = sim_current() ? sim_current() : sim_context_primary(0);
	for (global = table->globals; global != table->globals_end; global++)
		sim_memory_know(context, SIM_DEVICE, (uintptr_t)(*global)->address, (*global)->size, 0)
			->owned_by_module = true;
	*made = loaded;
	return CUDA_SUCCESS;
}

static CUresult load_image(struct sim_loaded **made, enum sim_kind kind, const void *image)
{
	size_t size = image ? image_size(image) : 0;

	if (!image || !made)
		return CUDA_ERROR_INVALID_VALUE;
	return size ? load(made, kind, image, size) : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult load_file(struct sim_loaded **made, enum sim_kind kind, const char *path)
{
	CUresult result = CUDA_ERROR_FILE_NOT_FOUND;
	struct stat status;
	void *image;
	int file;

	if (!path || !made)
		return CUDA_ERROR_INVALID_VALUE;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return result;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (image != MAP_FAILED) {
			result = load(made, kind, image, (size_t)status.st_size);
			munmap(image, (size_t)status.st_size);
		}
	}
	close(file);
	return result;
}

/* Measured: loading is permitted beside captures of every mode. */
API(SIM_CONTEXT, cuModuleLoad, (CUmodule * module, const char *path), (module, path))
{
	return load_file((struct sim_loaded **)module, SIM_A_MODULE, path);
}

API(SIM_CONTEXT, cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
{
	return load_image((struct sim_loaded **)module, SIM_A_MODULE, image);
}

API(SIM_CONTEXT, cuModuleLoadDataEx,
    (CUmodule * module, const void *image, unsigned int count, CUjit_option *options,
     void **values),
    (module, image, count, options, values))
{
	return load_image((struct sim_loaded **)module, SIM_A_MODULE, image);
}

API(SIM_CONTEXT, cuModuleLoadFatBinary, (CUmodule * module, const void *image), (module, image))
{
	return load_image((struct sim_loaded **)module, SIM_A_MODULE, image);
}

/* Measured: unlike loading it is unsafe beside a capture. */
API(SIM_CONTEXT, cuModuleUnload, (CUmodule handle), (handle))
{
	struct sim_loaded *module = sim_object_of(SIM_A_MODULE, handle);
	CUresult result;

	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	if (module->library)
		return CUDA_ERROR_NOT_PERMITTED;
	result = sim_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	sim_context_synchronize(module->context);
	sim_loaded_free(module);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), (mode))
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_EAGER_LOADING;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuModuleGetFunction, (CUfunction * function, CUmodule handle, const char *name),
    (function, handle, name))
{
	struct sim_loaded *module = sim_object_of(SIM_A_MODULE, handle);

	if (!function || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	*function = (CUfunction)sim_module_function(module, name);
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API(SIM_CONTEXT, cuModuleGetFunctionCount, (unsigned int *count, CUmodule handle), (count, handle))
{
	const struct sim_loaded *module = sim_object_of(SIM_A_MODULE, handle);

	if (!count || !module)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (unsigned int)sim_loaded_count(module);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuModuleEnumerateFunctions,
    (CUfunction * functions, unsigned int count, CUmodule handle), (functions, count, handle))
{
	struct sim_loaded *module = sim_object_of(SIM_A_MODULE, handle);
	size_t i;

	if (!functions || !module)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count && i < sim_loaded_count(module); i++)
		functions[i] = (CUfunction)sim_module_function_at(module, i);
	return CUDA_SUCCESS;
}

static CUresult get_global(const struct sim_loaded *loaded, CUdeviceptr *address, size_t *bytes,
                           const char *name)
{
	const struct sim_global *const *global;

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!loaded)
		return CUDA_ERROR_INVALID_HANDLE;
	for (global = loaded->table->globals; global != loaded->table->globals_end; global++) {
		if (strcmp((*global)->name, name) != 0)
			continue;
		if (address)
			*address = (CUdeviceptr)(uintptr_t)(*global)->address;
		if (bytes)
			*bytes = (*global)->size;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_FOUND;
}

API(SIM_CONTEXT, cuModuleGetGlobal_v2,
    (CUdeviceptr * address, size_t *bytes, CUmodule handle, const char *name),
    (address, bytes, handle, name))
{
	return get_global(sim_object_of(SIM_A_MODULE, handle), address, bytes, name);
}

API(SIM_INIT, cuLibraryLoadFromFile,
    (CUlibrary * library, const char *path, CUjit_option *jit_options, void **jit_values,
     unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count),
    (library, path, jit_options, jit_values, jit_count, options, values, count))
{
	return load_file((struct sim_loaded **)library, SIM_A_LIBRARY, path);
}

API(SIM_INIT, cuLibraryLoadData,
    (CUlibrary * library, const void *image, CUjit_option *jit_options, void **jit_values,
     unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count),
    (library, image, jit_options, jit_values, jit_count, options, values, count))
{
	return load_image((struct sim_loaded **)library, SIM_A_LIBRARY, image);
}

API(SIM_INIT, cuLibraryUnload, (CUlibrary handle), (handle))
{
	struct sim_loaded *library = sim_object_of(SIM_A_LIBRARY, handle);

	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	if (sim_current())
		sim_context_synchronize(sim_current());
	sim_loaded_free(library);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuLibraryGetKernel, (CUkernel * kernel, CUlibrary handle, const char *name),
    (kernel, handle, name))
{
	struct sim_loaded *library = sim_object_of(SIM_A_LIBRARY, handle);

	if (!kernel || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	*kernel = (CUkernel)sim_library_kernel(library, name);
	return *kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API(SIM_INIT, cuLibraryGetKernelCount, (unsigned int *count, CUlibrary handle), (count, handle))
{
	const struct sim_loaded *library = sim_object_of(SIM_A_LIBRARY, handle);

	if (!count || !library)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (unsigned int)sim_loaded_count(library);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuLibraryEnumerateKernels, (CUkernel * kernels, unsigned int count, CUlibrary handle),
    (kernels, count, handle))
{
	struct sim_loaded *library = sim_object_of(SIM_A_LIBRARY, handle);
	size_t i;

	if (!kernels || !library)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count && i < sim_loaded_count(library); i++)
		kernels[i] = (CUkernel)sim_library_kernel_at(library, i);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuLibraryGetGlobal,
    (CUdeviceptr * address, size_t *bytes, CUlibrary handle, const char *name),
    (address, bytes, handle, name))
{
	return get_global(sim_object_of(SIM_A_LIBRARY, handle), address, bytes, name);
}

API(SIM_CONTEXT, cuLibraryGetModule, (CUmodule * module, CUlibrary handle), (module, handle))
{
	struct sim_loaded *library = sim_object_of(SIM_A_LIBRARY, handle);

	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	*module = (CUmodule)sim_library_module(library, sim_current());
	return CUDA_SUCCESS;
}

/* No variable is managed. */
API(SIM_CONTEXT, cuLibraryGetManaged,
    (CUdeviceptr * address, size_t *bytes, CUlibrary handle, const char *name),
    (address, bytes, handle, name))
{
	if (!name || !sim_object_of(SIM_A_LIBRARY, handle))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_ERROR_NOT_FOUND;
}

/* No function is unified. Measured: the result is not CUDA_ERROR_NOT_FOUND. */
API(SIM_INIT, cuLibraryGetUnifiedFunction, (void **function, CUlibrary handle, const char *name),
    (function, handle, name))
{
	return CUDA_ERROR_INVALID_VALUE;
}
