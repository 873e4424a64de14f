#include "report/caller.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/symbol.h"

/* A shared cudart, or the driver. */
static bool is_runtime_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	return reprise_begins(name, "libcudart") || reprise_begins(name, "libcuda.so");
}

/* Internal functions of a static cudart, whose names are used nowhere else. */
static bool is_inner(const char *name)
{
	return reprise_begins(name, "libcudart_static_") || reprise_begins(name, "__cudart");
}

/* The functions that programs call, and code that nvcc writes. */
static bool is_api(const char *name)
{
	name += reprise_begins(name, "__") ? 2 : 0;
	return reprise_begins(name, "cuda") && isupper((unsigned char)name[4]);
}

/* A template of the runtime's headers, such as cudaMalloc<float>, compiled as a function of its
 * own. */
static bool is_template(const char *name)
{
	if (!reprise_begins(name, "_Z"))
		return false;
	name += strcspn(name, "0123456789");
	return is_api(name + strspn(name, "0123456789")) && strstr(name, "E9cudaError") != NULL;
}

/* True if the frame is the runtime's; then the next one may be, too. Keeps the name of the API
 * function called. */
static bool is_runtime(const struct reprise_symbol *symbol, bool first, char *runtime)
{
	bool library = is_runtime_library(symbol->library);

	if (!library && is_inner(symbol->name))
		return true;
	if (!library && runtime[0] != '\0')
		return is_template(symbol->name);
	if (!is_api(symbol->name) || (first && !library))
		return library;
	memcpy(runtime, symbol->name, strnlen(symbol->name, REPRISE_RUNTIME_NAME_MOST - 1));
	return true;
}

void reprise_caller_find(const struct reprise_call_site *site, struct reprise_caller *caller)
{
	static struct reprise_symbol symbol;

	memset(caller, 0, sizeof(*caller));
	for (unsigned int i = 0; i < site->depth; i++) {
		caller->address = site->frames[i];
		if (!reprise_symbol_find(caller->address, &symbol) ||
		    !is_runtime(&symbol, i == 0, caller->runtime))
			return;
	}
	caller->address = site->frames[0];
	caller->runtime[0] = '\0';
}
