/* Modules and libraries. */
#include "conformance.h"

static CUlibrary library(void)
{
	CUlibrary loaded;

	OK(cuLibraryLoadFromFile(&loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	return loaded;
}

static void a_function_is_found_by_name(void)
{
	CUfunction found = NULL, again = NULL;

	OK(cuModuleGetFunction(&found, module, "append"));
	OK(cuModuleGetFunction(&again, module, "append"));
	TRUE(found != NULL && found == again);
}

static void a_function_that_is_not_there_is_not_found(void)
{
	CUfunction found;

	EXPECT(cuModuleGetFunction(&found, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetFunction(NULL, module, "append"), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleGetFunction(&found, module, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void a_missing_file_is_not_found(void)
{
	CUmodule loaded;

	EXPECT(cuModuleLoad(&loaded, "/nonexistent/module.fatbin"), CUDA_ERROR_FILE_NOT_FOUND);
}

static void what_is_no_image_is_invalid(void)
{
	static const char text[4096] = "this is no image";
	CUmodule loaded;

	EXPECT(cuModuleLoadData(&loaded, text), CUDA_ERROR_INVALID_IMAGE);
	EXPECT(cuModuleLoadData(&loaded, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void a_variable_is_found_by_name(void)
{
	CUdeviceptr address = 0;
	size_t bytes = 0;

	OK(cuModuleGetGlobal(&address, &bytes, module, "counter"));
	EQUAL(bytes, sizeof(unsigned));
	TRUE(address != 0);
	OK(cuModuleGetGlobal(NULL, &bytes, module, "counter"));
	OK(cuModuleGetGlobal(&address, NULL, module, "counter"));
	EXPECT(cuModuleGetGlobal(&address, &bytes, module, "no_such_variable"), CUDA_ERROR_NOT_FOUND);
}

static void kernels_and_copies_see_one_variable(void)
{
	CUdeviceptr address;
	unsigned value = 5;
	size_t bytes;

	OK(cuModuleGetGlobal(&address, &bytes, module, "counter"));
	OK(cuMemcpyHtoD(address, &value, sizeof(value)));
	OK(launch("count", stream, NULL));
	finish(stream);
	OK(cuMemcpyDtoH(&value, address, sizeof(value)));
	EQUAL(value, 6);
}

static void each_load_has_variables_of_its_own(void)
{
	CUdeviceptr first, second;
	CUmodule again;
	size_t bytes;

	OK(cuModuleLoad(&again, module_path));
	OK(cuModuleGetGlobal(&first, &bytes, module, "counter"));
	OK(cuModuleGetGlobal(&second, &bytes, again, "counter"));
	TRUE(first != second);
	OK(cuModuleUnload(again));
}

static void functions_are_enumerated(void)
{
	CUfunction all[64], wanted = function("append");
	unsigned int count = 0, i;

	OK(cuModuleGetFunctionCount(&count, module));
	EQUAL(count, 10);
	OK(cuModuleEnumerateFunctions(all, count, module));
	for (i = 0; i < count && all[i] != wanted; i++)
		;
	TRUE(i < count);
}

static void a_module_may_be_unloaded(void)
{
	CUmodule again;

	OK(cuModuleLoad(&again, module_path));
	OK(cuModuleUnload(again));
}

static void a_library_gives_kernels(void)
{
	CUlibrary loaded = library();
	CUkernel kernel = NULL, missing;
	const char *name = NULL;
	CUlibrary owner = NULL;
	unsigned int count = 0;

	OK(cuLibraryGetKernel(&kernel, loaded, "append"));
	EXPECT(cuLibraryGetKernel(&missing, loaded, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
	OK(cuKernelGetName(&name, kernel));
	TRUE(strcmp(name, "append") == 0);
	OK(cuKernelGetLibrary(&owner, kernel));
	TRUE(owner == loaded);
	OK(cuLibraryGetKernelCount(&count, loaded));
	EQUAL(count, 10);
	OK(cuLibraryUnload(loaded));
}

static void a_missing_library_is_not_found(void)
{
	CUlibrary loaded;

	EXPECT(cuLibraryLoadFromFile(&loaded, "/nonexistent/library.fatbin", NULL, NULL, 0, NULL, NULL,
	                             0),
	       CUDA_ERROR_FILE_NOT_FOUND);
}

static void a_library_may_be_loaded_without_a_context(void)
{
	CUlibrary loaded;

	OK(cuInit(0));
	OK(cuLibraryLoadFromFile(&loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryUnload(loaded));
}

static void a_kernel_has_one_function_in_a_context(void)
{
	CUlibrary loaded = library();
	CUfunction first = NULL, second = NULL;
	CUkernel kernel;

	OK(cuLibraryGetKernel(&kernel, loaded, "append"));
	OK(cuKernelGetFunction(&first, kernel));
	OK(cuKernelGetFunction(&second, kernel));
	TRUE(first != NULL && first == second);
	TRUE((void *)first != (void *)kernel);
	OK(cuLibraryUnload(loaded));
}

static void a_kernel_may_be_launched_as_a_function(void)
{
	CUlibrary loaded = library();
	CUdeviceptr list = words();
	CUfunction as_function;
	CUkernel kernel;

	OK(cuLibraryGetKernel(&kernel, loaded, "append"));
	OK(cuKernelGetFunction(&as_function, kernel));
	OK(append_by((CUfunction)kernel, list, 1, stream));
	OK(append_by(as_function, list, 2, stream));
	finish(stream);
	is_list(list, 2);
	OK(cuLibraryUnload(loaded));
}

static void a_library_has_variables(void)
{
	CUlibrary loaded = library();
	CUdeviceptr address = 0;
	size_t bytes = 0;

	OK(cuLibraryGetGlobal(&address, &bytes, loaded, "counter"));
	EQUAL(bytes, sizeof(unsigned));
	EXPECT(cuLibraryGetGlobal(&address, &bytes, loaded, "no_such_variable"), CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryUnload(loaded));
}

static void a_library_has_a_module(void)
{
	CUlibrary loaded = library();
	CUmodule inside = NULL;
	CUfunction found;

	OK(cuLibraryGetModule(&inside, loaded));
	OK(cuModuleGetFunction(&found, inside, "append"));
	OK(cuLibraryUnload(loaded));
}

static void a_librarys_module_stays(void)
{
	CUlibrary loaded = library();
	CUmodule inside = NULL, again = NULL, owner = NULL;
	CUfunction found, same;
	CUkernel kernel;

	OK(cuLibraryGetModule(&inside, loaded));
	OK(cuLibraryGetModule(&again, loaded));
	TRUE(inside == again);
	OK(cuModuleGetFunction(&found, inside, "append"));
	OK(cuLibraryGetKernel(&kernel, loaded, "append"));
	OK(cuKernelGetFunction(&same, kernel));
	TRUE(found == same);
	OK(cuFuncGetModule(&owner, found));
	TRUE(owner == inside);
	EXPECT(cuModuleUnload(inside), CUDA_ERROR_NOT_PERMITTED);
	OK(cuLibraryUnload(loaded));
}

static void a_library_without_managed_variables_finds_none(void)
{
	CUlibrary loaded = library();
	CUdeviceptr address;
	size_t bytes;

	EXPECT(cuLibraryGetManaged(&address, &bytes, loaded, "counter"), CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryUnload(loaded));
}

static void kernels_are_enumerated(void)
{
	CUlibrary loaded = library();
	CUkernel all[16], wanted;
	unsigned int count = 0, i;

	OK(cuLibraryGetKernelCount(&count, loaded));
	TRUE(count <= 16);
	OK(cuLibraryEnumerateKernels(all, count, loaded));
	OK(cuLibraryGetKernel(&wanted, loaded, "append"));
	for (i = 0; i < count && all[i] != wanted; i++)
		;
	TRUE(i < count);
	OK(cuLibraryUnload(loaded));
}

static void no_function_is_unified(void)
{
	CUlibrary loaded = library();
	void *found;

	EXPECT(cuLibraryGetUnifiedFunction(&found, loaded, "append"), CUDA_ERROR_INVALID_VALUE);
	OK(cuLibraryUnload(loaded));
}

#define MODULE "Module Management: "
#define LIBRARY "Library Management: "

const struct check module_checks[] = {
	CHECK(a_function_is_found_by_name, MODULE "cuModuleGetFunction"),
	CHECK(a_function_that_is_not_there_is_not_found, MODULE "cuModuleGetFunction"),
	CHECK(a_missing_file_is_not_found, MODULE "cuModuleLoad"),
	CHECK(what_is_no_image_is_invalid, MODULE "cuModuleLoadData"),
	CHECK(a_variable_is_found_by_name, MODULE "cuModuleGetGlobal"),
	CHECK(kernels_and_copies_see_one_variable, MODULE "cuModuleGetGlobal"),
	CHECK(each_load_has_variables_of_its_own, MODULE "cuModuleLoad"),
	CHECK(functions_are_enumerated, MODULE "cuModuleEnumerateFunctions"),
	CHECK(a_module_may_be_unloaded, MODULE "cuModuleUnload"),
	CHECK(a_library_gives_kernels, LIBRARY "cuLibraryGetKernel"),
	CHECK(a_missing_library_is_not_found, LIBRARY "cuLibraryLoadFromFile"),
	CHECK_ALONE(a_library_may_be_loaded_without_a_context, LIBRARY "cuLibraryLoadFromFile",
                NO_CONTEXT),
	CHECK(a_kernel_has_one_function_in_a_context, LIBRARY "cuKernelGetFunction"),
	CHECK(a_kernel_may_be_launched_as_a_function, "Execution Control: cuLaunchKernel"),
	CHECK(a_library_has_variables, LIBRARY "cuLibraryGetGlobal"),
	CHECK(a_library_has_a_module, LIBRARY "cuLibraryGetModule"),
	CHECK(a_librarys_module_stays,
          MEASURED(LIBRARY "cuLibraryGetModule", "says nothing of unloading it")),
	CHECK(a_library_without_managed_variables_finds_none, LIBRARY "cuLibraryGetManaged"),
	CHECK(kernels_are_enumerated, LIBRARY "cuLibraryEnumerateKernels"),
	CHECK(no_function_is_unified,
          MEASURED("Library Management: cuLibraryGetUnifiedFunction", "CUDA_ERROR_NOT_FOUND")),
	CHECKS_END,
};
