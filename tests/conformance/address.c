/* cuGetProcAddress, and the names and texts of errors. */
#include "conformance.h"

#define DRIVER "Driver Entry Point Access: cuGetProcAddress"
#define ERRORS "Error Handling: cuGetErrorName, cuGetErrorString"

static void *address_of(const char *name, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult found = (CUdriverProcAddressQueryResult)9;
	void *address = NULL;

	OK(cuGetProcAddress(name, &address, version, flags, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_SUCCESS);
	TRUE(address != NULL);
	return address;
}

static void a_name_has_an_address(void)
{
	CUresult (*version)(int *) =
		(CUresult(*)(int *))address_of("cuDriverGetVersion", 13000, CU_GET_PROC_ADDRESS_DEFAULT);
	int number = 0;

	OK(version(&number));
	TRUE(number >= 13000);
}

static void the_version_chooses_the_form(void)
{
	TRUE(address_of("cuStreamBeginCapture", 10000, 0) !=
	     address_of("cuStreamBeginCapture", 10010, 0));
	TRUE(address_of("cuGraphInstantiate", 10000, 0) != address_of("cuGraphInstantiate", 12000, 0));
}

static void a_later_version_finds_the_same_form(void)
{
	TRUE(address_of("cuStreamQuery", 2000, 0) == address_of("cuStreamQuery", 13000, 0));
}

static void per_thread_flag_chooses_the_per_thread_form(void)
{
	void *legacy = address_of("cuStreamQuery", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);

	TRUE(address_of("cuStreamQuery", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) !=
	     legacy);
	TRUE(address_of("cuStreamQuery", 13000, CU_GET_PROC_ADDRESS_DEFAULT) == legacy);
}

static void per_thread_flag_leaves_other_names_alone(void)
{
	TRUE(address_of("cuEventQuery", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) ==
	     address_of("cuEventQuery", 13000, 0));
}

static void an_unknown_name_is_told_by_the_status(void)
{
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
	void *address = &found;

	OK(cuGetProcAddress("cuNoSuchFunction", &address, 13000, 0, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	TRUE(address == NULL);
}

static void a_name_newer_than_the_version_is_told_by_the_status(void)
{
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
	void *address = &found;

	OK(cuGetProcAddress("cuMemAllocAsync", &address, 11010, 0, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

static void the_older_form_returns_the_error(void)
{
	CUresult (*older)(const char *, void **, int, cuuint64_t) =
		(CUresult(*)(const char *, void **, int, cuuint64_t))address_of("cuGetProcAddress", 11030,
	                                                                    0);
	void *address = &older;

	EXPECT(older("cuNoSuchFunction", &address, 13000, 0), CUDA_ERROR_NOT_FOUND);
	EXPECT(older("cuMemAllocAsync", &address, 11010, 0), CUDA_ERROR_NOT_FOUND);
	TRUE(address == &older);
}

static void the_status_need_not_be_asked_for(void)
{
	void *address = &address;

	OK(cuGetProcAddress("cuNoSuchFunction", &address, 13000, 0, NULL));
	TRUE(address == NULL);
}

static void forms_are_not_names(void)
{
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
	void *address;

	OK(cuGetProcAddress("cuMemAlloc_v2", &address, 13000, 0, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	OK(cuGetProcAddress("cuStreamQuery_ptsz", &address, 13000, 0, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void unknown_flags_of_an_address_are_invalid(void)
{
	void *address;

	EXPECT(cuGetProcAddress("cuInit", &address, 13000, 64, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void errors_have_names(void)
{
	const char *name = NULL;

	OK(cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, &name));
	TRUE(strcmp(name, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED") == 0);
	OK(cuGetErrorName(CUDA_SUCCESS, &name));
	TRUE(strcmp(name, "CUDA_SUCCESS") == 0);
}

static void errors_have_texts(void)
{
	const char *text = NULL;

	OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
	TRUE(strcmp(text, "invalid argument") == 0);
	OK(cuGetErrorString(CUDA_SUCCESS, &text));
	TRUE(strcmp(text, "no error") == 0);
	OK(cuGetErrorString(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, &text));
	TRUE(strcmp(text, "operation not permitted when stream is capturing") == 0);
}

static void an_unknown_error_has_neither(void)
{
	const char *name = "x", *text = "x";

	EXPECT(cuGetErrorName((CUresult)77777, &name), CUDA_ERROR_INVALID_VALUE);
	TRUE(name == NULL);
	EXPECT(cuGetErrorString((CUresult)77777, &text), CUDA_ERROR_INVALID_VALUE);
	TRUE(text == NULL);
}

static void errors_are_named_before_cuinit(void)
{
	const char *name = NULL;

	OK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name));
	TRUE(strcmp(name, "CUDA_ERROR_NOT_INITIALIZED") == 0);
}

static void a_version_has_to_be_possible(void)
{
	CUdriverProcAddressQueryResult found = (CUdriverProcAddressQueryResult)9;
	void *address = NULL;

	EXPECT(cuGetProcAddress("cuInit", &address, 99000, 0, &found), CUDA_ERROR_INVALID_VALUE);
	OK(cuGetProcAddress("cuInit", &address, -1, 0, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_SUCCESS);
	OK(cuGetProcAddress("cuInit", &address, 0, 0, &found));
	EQUAL(found, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

static void a_private_table_has_an_id(void)
{
	EXPECT(cuGetExportTable(NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

const struct check address_checks[] = {
	CHECK(a_name_has_an_address, DRIVER),
	CHECK(the_version_chooses_the_form, DRIVER),
	CHECK(a_later_version_finds_the_same_form, DRIVER),
	CHECK(per_thread_flag_chooses_the_per_thread_form, DRIVER),
	CHECK(per_thread_flag_leaves_other_names_alone, DRIVER),
	CHECK(an_unknown_name_is_told_by_the_status,
          MEASURED(DRIVER, "the result is CUDA_ERROR_NOT_FOUND")),
	CHECK(a_name_newer_than_the_version_is_told_by_the_status,
          MEASURED(DRIVER, "the result is CUDA_ERROR_NOT_FOUND")),
	CHECK(the_older_form_returns_the_error, DRIVER),
	CHECK(the_status_need_not_be_asked_for, MEASURED(DRIVER, "the result is CUDA_ERROR_NOT_FOUND")),
	CHECK(forms_are_not_names, DRIVER),
	CHECK(unknown_flags_of_an_address_are_invalid, DRIVER),
	CHECK(errors_have_names, ERRORS),
	CHECK(errors_have_texts, ERRORS),
	CHECK(an_unknown_error_has_neither, ERRORS),
	CHECK_ALONE(errors_are_named_before_cuinit, ERRORS, NO_CONTEXT),
	CHECK(a_version_has_to_be_possible, MEASURED(DRIVER, "says nothing of such versions")),
	CHECK(a_private_table_has_an_id, MEASURED("cuda.h", "cuGetExportTable is not documented")),
	CHECKS_END,
};
