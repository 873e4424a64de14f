#include "op/function.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/changes.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/options.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "op/name.h"

/* The table has ROWS rows of ROW handles. A handle that falls out is asked about again after its
 * next launch. */
#define ROWS 1024
#define ROW 4
/* Contexts noted per handle. In further ones the function is taken to be loaded. */
#define CONTEXTS_MOST 3
/* Layouts are kept for good: traces point at them. A program that compiles kernels for ever may
 * have any number; those of kernels with further ones are not known. */
#define LAYOUTS_MOST 1024

struct entry {
	CUfunction handle;
	/* The generation that the entry belongs to (base/changes.h); 0: empty. */
	uint32_t under;
	bool answered; /* the driver was asked */
	uint8_t context_count;
	/* The contexts of calls about the function. The bits of `calls` are enum
	 * reprise_function_call. */
	CUcontext contexts[CONTEXTS_MOST];
	uint16_t calls[CONTEXTS_MOST];
	struct reprise_function function;
};

/* Protects everything below. Not held while the driver is called. */
static struct reprise_lock table_lock;
static struct entry *table;
static unsigned int turn; /* the next entry of a row to reuse */
static struct interned {
	struct interned *next;
	struct reprise_layout layout;
} * layouts;
static unsigned int layout_count;

static const struct reprise_layout *intern(const struct reprise_param *params, uint32_t count)
{
	size_t bytes = count * sizeof(*params);

	for (struct interned *known = layouts; known != NULL; known = known->next)
		if (known->layout.count == count && memcmp(known->layout.params, params, bytes) == 0)
			return &known->layout;

	struct interned *added = layout_count < LAYOUTS_MOST ? malloc(sizeof(*added) + bytes) : NULL;

	if (added == NULL)
		return NULL;
	layout_count++;
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

/* True if the handle is of the kind that it is taken for. */
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

/* Returns the number of parameters and fills `params`, which holds REPRISE_PARAMS_MOST; -1 if the
 * driver does not tell. */
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
	/* Documented: an index past the last parameter gives CUDA_ERROR_INVALID_VALUE. For the first
	 * index, that may also mean a bad handle. */
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

/* All code that launches kernels is linked with libcudadevrt, which has this variable. */
static const char launcher_variable[] = "__CNPRT_VERSION_NUMBER__";

/* Of code that has the variable. Nothing is built in observe, so nobody would ask; and whether an
 * older driver tells the truth was not measured. */
static enum reprise_launching linked(void)
{
	int version = 0;

	return reprise_option(REPRISE_OPTION_MODE) != REPRISE_MODE_OBSERVE &&
	               reprise_driver.cuDriverGetVersion != NULL &&
	               reprise_driver.cuDriverGetVersion(&version) == CUDA_SUCCESS &&
	               version >= REPRISE_TUNE_LAUNCHING_DRIVER
	           ? REPRISE_LAUNCHING_MAYBE
	           : REPRISE_LAUNCHING_ALWAYS;
}

static enum reprise_launching by_module(CUfunction function)
{
	CUdeviceptr address;
	CUmodule module;
	size_t bytes;

	if (reprise_driver.cuFuncGetModule == NULL || reprise_driver.cuModuleGetGlobal_v2 == NULL)
		return REPRISE_LAUNCHING_ALWAYS;
	return reprise_driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS &&
	               reprise_driver.cuModuleGetGlobal_v2(&address, &bytes, module,
	                                                   launcher_variable) == CUDA_SUCCESS
	           ? linked()
	           : REPRISE_LAUNCHING_NEVER;
}

static enum reprise_launching by_library(CUkernel kernel)
{
	CUdeviceptr address;
	CUlibrary library;
	size_t bytes;

	return reprise_driver.cuKernelGetLibrary(&library, kernel) == CUDA_SUCCESS &&
	               reprise_driver.cuLibraryGetGlobal(&address, &bytes, library,
	                                                 launcher_variable) == CUDA_SUCCESS
	           ? linked()
	           : REPRISE_LAUNCHING_NEVER;
}

/* A driver of CUDA 12.4 tells the module of a library's kernel by its function. */
static enum reprise_launching launching(CUfunction function, bool is_kernel)
{
	if (!is_kernel)
		return by_module(function);
	if (reprise_driver.cuKernelGetLibrary != NULL && reprise_driver.cuLibraryGetGlobal != NULL)
		return by_library((CUkernel)function);
	if (reprise_driver.cuKernelGetFunction == NULL ||
	    reprise_driver.cuKernelGetFunction(&function, (CUkernel)function) != CUDA_SUCCESS)
		return REPRISE_LAUNCHING_ALWAYS;
	return by_module(function);
}

/* The row for a handle; NULL if there is no memory. */
static struct entry *row_of(CUfunction function)
{
	if (table == NULL)
		table = calloc(ROWS * ROW, sizeof(*table));
	return table != NULL ? &table[reprise_hash_mix((uintptr_t)function, 1) % ROWS * ROW] : NULL;
}

/* The valid entry of a handle; NULL if there is none. */
static struct entry *entry_of(CUfunction function)
{
	struct entry *row = row_of(function);

	for (unsigned int i = 0; row != NULL && i < ROW; i++)
		if (row[i].handle == function &&
		    row[i].under == reprise_changes_now(REPRISE_CHANGES_FUNCTIONS))
			return &row[i];
	return NULL;
}

/* An empty entry for the handle, of generation `under`; NULL if there is no memory. */
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

/* The index of the context, or of where to add it; CONTEXTS_MOST if there is no room. */
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

/* What the table has of a function: nothing, or whether it was launched in the context, and what
 * the driver answered. */
enum known { LAUNCHED = 1, ANSWERED = 2 };

/* *found: if it was answered. Of no context: not launched. */
static unsigned int look_up(CUfunction function, CUcontext context, struct reprise_function *found)
{
	const struct entry *entry;
	unsigned int known = 0;

	reprise_lock_take(&table_lock);
	entry = entry_of(function);
	if (entry != NULL && context != NULL && had(entry, context, REPRISE_FUNCTION_LAUNCH))
		known |= LAUNCHED;
	if (entry != NULL && entry->answered) {
		known |= ANSWERED;
		*found = entry->function;
	}
	reprise_lock_give(&table_lock);
	return known;
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

/* The driver's answers about a function. */
struct answer {
	int count; /* of parameters; -1: not known */
	const char *name;
	struct reprise_param params[REPRISE_PARAMS_MOST];
	struct reprise_deny_texts texts;
};

/* Without the table's lock: the driver may load code, or wait for other threads. */
static void ask(CUfunction function, struct answer *answer, struct reprise_function *found)
{
	int entered = reprise_enter();
	bool is_kernel;

	answer->count = ask_params(function, &is_kernel, answer->params);
	found->fixed_grid = answer->count < 0 || has_fixed_grid(function, is_kernel);
	found->launching =
		answer->count >= 0 ? launching(function, is_kernel) : REPRISE_LAUNCHING_NEVER;
	answer->name = reprise_name_of(function, is_kernel);
	found->denied = reprise_denied(answer->name, &answer->texts);
	reprise_leave(entered);
}

/* Completes `found`, and caches it if generation `under` is still valid. */
static void keep(CUfunction function, uint32_t under, const struct answer *answer,
                 struct reprise_function *found)
{
	struct entry *entry;
	bool complete;

	reprise_lock_take(&table_lock);
	found->layout = row_of(function) != NULL && answer->count >= 0
	                    ? intern(answer->params, (uint32_t)answer->count)
	                    : NULL;
	/* Without a layout there was no memory, so the driver is asked again; or there are too many. */
	complete = found->layout != NULL || answer->count < 0 || layout_count == LAYOUTS_MOST;
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

static struct reprise_function ask_of(CUfunction function)
{
	struct reprise_function found = {.fixed_grid = true};
	struct answer *answer;
	uint32_t under;

	answer = malloc(sizeof(*answer)); /* the program's stack may be small */
	if (answer == NULL)
		return found;
	under = reprise_changes_learn(REPRISE_CHANGES_FUNCTIONS);
	ask(function, answer, &found);
	keep(function, under, answer, &found);
	free(answer);
	return found;
}

void reprise_function_note_launching(CUfunction function, enum reprise_launching launching)
{
	struct entry *entry;

	reprise_lock_take(&table_lock);
	entry = entry_of(function);
	if (entry != NULL)
		entry->function.launching = launching;
	reprise_lock_give(&table_lock);
}

bool reprise_function_known(CUfunction function, struct reprise_function *found)
{
	return (look_up(function, NULL, found) & ANSWERED) != 0;
}

struct reprise_function reprise_function_of(CUfunction function)
{
	struct reprise_function found;

	return reprise_function_known(function, &found) ? found : ask_of(function);
}

bool reprise_function_launched(CUfunction function, CUcontext context,
                               struct reprise_function *found)
{
	unsigned int known = look_up(function, context, found);

	if ((known & LAUNCHED) == 0)
		return false;
	if ((known & ANSWERED) == 0)
		*found = ask_of(function);
	return true;
}

void reprise_functions_reset(void)
{
	atomic_store(&table_lock.word, 0);
}
