#include "function.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"
#include "../base/keep.h"
#include "../base/lock.h"
#include "../driver/driver.h"
#include "../report/counters.h"
#include "deny.h"
#include "name.h"

#define TABLE_SIZE 4096 /* handles known at a time; more fall out and are asked again */

struct entry {
	CUfunction handle;
	struct reprise_function function;
};

static struct reprise_lock table_lock; /* protects everything below */
static struct entry *table;
static struct interned {
	struct interned *next;
	struct reprise_layout layout;
} *layouts;

static const struct reprise_layout *intern(const struct reprise_param *params, uint32_t count)
{
	size_t bytes = count * sizeof(*params);

	for (struct interned *known = layouts; known != NULL; known = known->next)
		if (known->layout.count == count && memcmp(known->layout.params, params, bytes) == 0)
			return &known->layout;

	struct interned *added = malloc(sizeof(*added) + bytes);

	if (added == NULL)
		return NULL;
	added->layout.count = count;
	added->layout.bytes = count > 0 ? params[count - 1].offset + params[count - 1].size : 0;
	memcpy(added->layout.params, params, bytes);
	added->next = layouts;
	layouts = added;
	return &added->layout;
}

static CUresult param_info(CUfunction function, bool is_kernel, size_t index, size_t *offset, size_t *size)
{
	if (is_kernel)
		return reprise_driver.cuKernelGetParamInfo((CUkernel)function, index, offset, size);
	return reprise_driver.cuFuncGetParamInfo(function, index, offset, size);
}

/* False if there was no memory to keep the answer: to be asked again. *layout is NULL if the driver does not tell. */
static bool ask_layout(CUfunction function, bool *is_kernel, const struct reprise_layout **layout)
{
	static struct reprise_param params[REPRISE_PARAMS_MOST]; /* under the table's lock; stacks may be small */
	size_t offset, size;
	uint32_t count = 0;
	CUresult result;

	*layout = NULL;
	if (reprise_driver.cuFuncGetParamInfo == NULL)
		return true;
	*is_kernel = false;
	result = param_info(function, false, 0, &offset, &size);
	if (result == CUDA_ERROR_INVALID_HANDLE && reprise_driver.cuKernelGetParamInfo != NULL) {
		*is_kernel = true;
		result = param_info(function, true, 0, &offset, &size);
	}
	for (; result == CUDA_SUCCESS && count < REPRISE_PARAMS_MOST; result = param_info(function, *is_kernel, count, &offset, &size))
		params[count++] = (struct reprise_param){(uint32_t)offset, (uint32_t)size};
	/* Documented: an index past the last parameter is CUDA_ERROR_INVALID_VALUE. */
	if (result != CUDA_ERROR_INVALID_VALUE)
		return true;
	*layout = intern(params, count);
	return *layout != NULL;
}

static bool has_fixed_grid(CUfunction function, bool is_kernel)
{
	int width = 0, must = 0;

	if (is_kernel && (reprise_driver.cuKernelGetFunction == NULL ||
	                  reprise_driver.cuKernelGetFunction(&function, (CUkernel)function) != CUDA_SUCCESS))
		return true;
	if (reprise_driver.cuFuncGetAttribute(&must, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, function) != CUDA_SUCCESS)
		return false; /* a driver without clusters */
	reprise_driver.cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function);
	return must != 0 || width != 0;
}

/* All code that launches kernels is linked with libcudadevrt, which has this variable; nothing tells the kernels that do from those beside them. */
static bool may_launch(CUfunction function, bool is_kernel)
{
	static const char variable[] = "__CNPRT_VERSION_NUMBER__";
	CUdeviceptr address;
	CUlibrary library;
	CUmodule module;
	size_t bytes;

	if (is_kernel)
		return reprise_driver.cuKernelGetLibrary != NULL && reprise_driver.cuLibraryGetGlobal != NULL &&
		       reprise_driver.cuKernelGetLibrary(&library, (CUkernel)function) == CUDA_SUCCESS &&
		       reprise_driver.cuLibraryGetGlobal(&address, &bytes, library, variable) == CUDA_SUCCESS;
	return reprise_driver.cuFuncGetModule != NULL && reprise_driver.cuModuleGetGlobal_v2 != NULL &&
	       reprise_driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS &&
	       reprise_driver.cuModuleGetGlobal_v2(&address, &bytes, module, variable) == CUDA_SUCCESS;
}

struct reprise_function reprise_function_of(CUfunction function)
{
	REPRISE_KEEP_ERRNO;
	struct reprise_function found = {.fixed_grid = true};
	bool is_kernel = false;

	reprise_lock_take(&table_lock);
	if (table == NULL)
		table = calloc(TABLE_SIZE, sizeof(*table));
	if (table != NULL) {
		struct entry *entry = &table[reprise_hash_mix((uintptr_t)function, 1) % TABLE_SIZE];

		if (entry->handle != function) {
			int entered = reprise_enter();
			const char *name;

			entry->handle = ask_layout(function, &is_kernel, &entry->function.layout) ? function : NULL;
			entry->function.fixed_grid = entry->function.layout == NULL || has_fixed_grid(function, is_kernel);
			entry->function.launches = entry->function.layout != NULL && may_launch(function, is_kernel);
			name = reprise_name_of(function, is_kernel);
			entry->function.denied = reprise_denied(name);
			entry->function.name = reprise_reporting ? reprise_name_row(name) : 0;
			reprise_leave(entered);
		}
		found = entry->function;
	}
	reprise_lock_give(&table_lock);
	return found;
}

void reprise_functions_forget(void)
{
	reprise_lock_take(&table_lock);
	if (table != NULL)
		memset(table, 0, TABLE_SIZE * sizeof(*table));
	reprise_lock_give(&table_lock);
}

void reprise_functions_reset(void)
{
	atomic_store(&table_lock.word, 0);
	reprise_functions_forget();
}
