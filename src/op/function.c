#include "op/function.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/changes.h"
#include "base/hash.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "op/deny.h"
#include "op/name.h"

#define ROWS 1024       /* handles known at a time, by rows; */
#define ROW 4           /* more fall out, and are asked again once they have been launched again */
#define CONTEXTS_MOST 3 /* that are noted of each; in more, it is taken to be loaded */

struct entry {
	CUfunction handle;
	uint32_t under; /* what is known was learnt under (base/changes.h); 0: nothing is */
	bool answered;  /* the driver was asked */
	uint8_t context_count;
	CUcontext contexts[CONTEXTS_MOST]; /* where there were calls about it, */
	uint16_t calls[CONTEXTS_MOST];     /* and which, a bit each (enum reprise_function_call) */
	struct reprise_function function;
};

static struct reprise_lock
	table_lock; /* protects everything below; the driver is called without it */
static struct entry *table;
static unsigned int turn; /* whose place in a row is given up */
static struct interned {
	struct interned *next;
	struct reprise_layout layout;
} * layouts;

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

static CUresult param_info(CUfunction function, bool is_kernel, size_t index, size_t *offset,
                           size_t *size)
{
	if (is_kernel)
		return reprise_driver.cuKernelGetParamInfo((CUkernel)function, index, offset, size);
	return reprise_driver.cuFuncGetParamInfo(function, index, offset, size);
}

/* Whether the handle is what it is taken for. */
static bool is_there(CUfunction function, bool is_kernel)
{
	CUfunction of_kernel;
	int registers;

	if (is_kernel)
		return reprise_driver.cuKernelGetFunction != NULL &&
		       reprise_driver.cuKernelGetFunction(&of_kernel, (CUkernel)function) == CUDA_SUCCESS;
	return reprise_driver.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) ==
	       CUDA_SUCCESS;
}

/* How many parameters there are, in `params`, which holds REPRISE_PARAMS_MOST; -1 if the driver
 * does not tell. */
static int ask_params(CUfunction function, bool *is_kernel, struct reprise_param *params)
{
	size_t offset, size;
	uint32_t count = 0;
	CUresult result;

	*is_kernel = false;
	if (reprise_driver.cuFuncGetParamInfo == NULL)
		return -1;
	result = param_info(function, false, 0, &offset, &size);
	if (result != CUDA_SUCCESS && reprise_driver.cuKernelGetParamInfo != NULL) {
		CUresult as_kernel = param_info(function, true, 0, &offset, &size);

		*is_kernel = result == CUDA_ERROR_INVALID_HANDLE || as_kernel == CUDA_SUCCESS;
		result = *is_kernel ? as_kernel : result;
	}
	for (; result == CUDA_SUCCESS && count < REPRISE_PARAMS_MOST;
	     result = param_info(function, *is_kernel, count, &offset, &size))
		params[count++] = (struct reprise_param){(uint32_t)offset, (uint32_t)size};
	/* Documented: an index past the last parameter is CUDA_ERROR_INVALID_VALUE. Where that is said
	 * of the first, it may be said of the handle. */
	return result == CUDA_ERROR_INVALID_VALUE && (count > 0 || is_there(function, *is_kernel))
	           ? (int)count
	           : -1;
}

static bool has_fixed_grid(CUfunction function, bool is_kernel)
{
	static const CUfunction_attribute restricting[] = {
		CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
	};
	bool any = false;

	if (is_kernel &&
	    (reprise_driver.cuKernelGetFunction == NULL ||
	     reprise_driver.cuKernelGetFunction(&function, (CUkernel)function) != CUDA_SUCCESS))
		return true;
	for (size_t i = 0; i < sizeof(restricting) / sizeof(restricting[0]); i++) {
		int value = 0;

		if (reprise_driver.cuFuncGetAttribute(&value, restricting[i], function) != CUDA_SUCCESS &&
		    i == 0)
			return false; /* a driver without clusters */
		any = any || value != 0;
	}
	return any;
}

/* All code that launches kernels is linked with libcudadevrt, which has this variable; nothing
 * tells the kernels that do from those beside them. */
static bool may_launch(CUfunction function, bool is_kernel)
{
	static const char variable[] = "__CNPRT_VERSION_NUMBER__";
	CUdeviceptr address;
	CUlibrary library;
	CUmodule module;
	size_t bytes;

	if (is_kernel)
		return reprise_driver.cuKernelGetLibrary != NULL &&
		       reprise_driver.cuLibraryGetGlobal != NULL &&
		       reprise_driver.cuKernelGetLibrary(&library, (CUkernel)function) == CUDA_SUCCESS &&
		       reprise_driver.cuLibraryGetGlobal(&address, &bytes, library, variable) ==
		           CUDA_SUCCESS;
	return reprise_driver.cuFuncGetModule != NULL && reprise_driver.cuModuleGetGlobal_v2 != NULL &&
	       reprise_driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS &&
	       reprise_driver.cuModuleGetGlobal_v2(&address, &bytes, module, variable) == CUDA_SUCCESS;
}

/* The row of a handle; NULL if there is no memory. */
static struct entry *row_of(CUfunction function)
{
	if (table == NULL)
		table = calloc(ROWS * ROW, sizeof(*table));
	return table != NULL ? &table[reprise_hash_mix((uintptr_t)function, 1) % ROWS * ROW] : NULL;
}

/* What is known of a handle so far; NULL if that is nothing. */
static struct entry *entry_of(CUfunction function)
{
	struct entry *row = row_of(function);

	for (unsigned int i = 0; row != NULL && i < ROW; i++)
		if (row[i].handle == function &&
		    row[i].under == reprise_changes_now(REPRISE_CHANGES_FUNCTIONS))
			return &row[i];
	return NULL;
}

/* A place for it, with nothing known under `under`; NULL if there is no memory. */
static struct entry *place_for(CUfunction function, uint32_t under)
{
	struct entry *row = row_of(function), *place;

	if (row == NULL)
		return NULL;
	place = &row[turn++ % ROW];
	for (unsigned int i = 0; i < ROW; i++)
		if (row[i].handle == function ||
		    row[i].under != reprise_changes_now(REPRISE_CHANGES_FUNCTIONS))
			place = &row[i];
	*place = (struct entry){.handle = function, .under = under};
	return place;
}

static bool look_up(CUfunction function, struct reprise_function *found)
{
	const struct entry *entry;
	bool known;

	reprise_lock_take(&table_lock);
	entry = entry_of(function);
	known = entry != NULL && entry->answered;
	if (known)
		*found = entry->function;
	reprise_lock_give(&table_lock);
	return known;
}

/* Where the context is, or would be; CONTEXTS_MOST if there is no room. */
static unsigned int context_at(const struct entry *entry, CUcontext context)
{
	unsigned int at = 0;

	while (at < entry->context_count && entry->contexts[at] != context)
		at++;
	return at;
}

#define BIT(call) ((uint16_t)(1u << (call)))
#define LOADED (BIT(REPRISE_FUNCTION_LAUNCH) | BIT(REPRISE_FUNCTION_GET))

static bool had(const struct entry *entry, CUcontext context, enum reprise_function_call call)
{
	unsigned int at = context_at(entry, context);

	if (at == entry->context_count)
		return at == CONTEXTS_MOST;
	return (entry->calls[at] & BIT(call)) != 0 ||
	       (call != REPRISE_FUNCTION_LAUNCH && (entry->calls[at] & LOADED) != 0);
}

bool reprise_function_had(CUfunction function, CUcontext context, enum reprise_function_call call)
{
	const struct entry *entry;
	bool was;

	reprise_lock_take(&table_lock);
	entry = entry_of(function);
	was = entry != NULL && had(entry, context, call);
	reprise_lock_give(&table_lock);
	return was;
}

static void note(struct entry *entry, CUcontext context, enum reprise_function_call call)
{
	unsigned int at = context_at(entry, context);

	if (at == CONTEXTS_MOST)
		return;
	if (at == entry->context_count) {
		entry->contexts[at] = context;
		entry->calls[at] = 0;
		entry->context_count++;
	}
	entry->calls[at] |= BIT(call);
}

void reprise_function_note(CUfunction function, CUcontext context, enum reprise_function_call call)
{
	uint32_t under = reprise_changes_learn(REPRISE_CHANGES_FUNCTIONS);
	struct entry *entry;

	reprise_lock_take(&table_lock);
	entry = entry_of(function);
	if (entry == NULL && under == reprise_changes_now(REPRISE_CHANGES_FUNCTIONS))
		entry = place_for(function, under);
	if (entry != NULL)
		note(entry, context, call);
	reprise_lock_give(&table_lock);
}

/* What the driver says of a function, as far as it is no pointer of ours. */
struct answer {
	int count; /* of parameters; -1: not known */
	const char *name;
	struct reprise_param params[REPRISE_PARAMS_MOST];
};

/* Without the table's lock: the driver may load code, or wait for others. */
static void ask(CUfunction function, struct answer *answer, struct reprise_function *found)
{
	int entered = reprise_enter();
	bool is_kernel;

	answer->count = ask_params(function, &is_kernel, answer->params);
	found->fixed_grid = answer->count < 0 || has_fixed_grid(function, is_kernel);
	found->launches = answer->count >= 0 && may_launch(function, is_kernel);
	answer->name = reprise_name_of(function, is_kernel);
	found->denied = reprise_denied(answer->name);
	reprise_leave(entered);
}

/* Completes what was found, and keeps it if it was learnt `under` what still holds. */
static void keep(CUfunction function, uint32_t under, const struct answer *answer,
                 struct reprise_function *found)
{
	struct entry *entry;
	bool complete;

	reprise_lock_take(&table_lock);
	found->layout = row_of(function) != NULL && answer->count >= 0
	                    ? intern(answer->params, (uint32_t)answer->count)
	                    : NULL;
	complete = found->layout != NULL ||
	           answer->count < 0; /* else there was no memory: to be asked again */
	found->fixed_grid = found->fixed_grid || found->layout == NULL;
	found->name = reprise_names_wanted ? reprise_name_row(answer->name) : 0;
	if (complete && under == reprise_changes_now(REPRISE_CHANGES_FUNCTIONS)) {
		entry = entry_of(function);
		if (entry == NULL)
			entry = place_for(function, under);
		if (entry != NULL) {
			entry->answered = true;
			entry->function = *found;
		}
	}
	reprise_lock_give(&table_lock);
}

struct reprise_function reprise_function_of(CUfunction function)
{
	struct reprise_function found = {.fixed_grid = true};
	struct answer *answer;
	uint32_t under;

	if (look_up(function, &found))
		return found;
	answer = malloc(sizeof(*answer)); /* a stack may be small */
	if (answer == NULL)
		return found;
	under = reprise_changes_learn(REPRISE_CHANGES_FUNCTIONS);
	ask(function, answer, &found);
	keep(function, under, answer, &found);
	free(answer);
	return found;
}

void reprise_functions_reset(void)
{
	atomic_store(&table_lock.word, 0);
}
