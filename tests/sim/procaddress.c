/* cuGetProcAddress, and names that are not modelled. */
#include <stdio.h>

#include "api.h"
#include "device.h"
#include "exports.h"
#include "lacks.h"
#include "newer.h"
#include "options.h"

int sim_not_modelled(const char *name);

/* Called by what stands for a name that is not modelled. With SIM_STRICT it says so. */
int sim_not_modelled(const char *name)
{
	if (getenv("SIM_STRICT"))
		fprintf(stderr, "simulated driver: %s is not modelled\n", name);
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* The newest form of a function that a program of that version knows; per-thread forms, where they
 * exist, if the flags ask for them. */
static const struct sim_export *find(const char *symbol, int version, bool per_thread, bool *known)
{
	const struct sim_export *best =
		sim_options()->newer && (version >= SIM_NEWER_VERSION || version < 0)
			? sim_newer_find(symbol)
			: NULL;
	size_t i;

	*known = best != NULL;
	if (best)
		return best;
	for (i = 0; i < sim_export_count; i++) {
		const struct sim_export *entry = &sim_exports[i];

		if (strcmp(entry->function, symbol) != 0 || entry->version == 0 ||
		    (entry->suffix[0] && !per_thread) || sim_lacks(entry->name))
			continue;
		*known = true;
		if (entry->version > version && version >= 0)
			continue;
		if (!best || entry->version > best->version ||
		    (entry->version == best->version && entry->suffix[0]) ||
		    (entry->suffix[0] && !best->suffix[0]))
			best = entry->suffix[0] || !best || !best->suffix[0] ? entry : best;
	}
	return best;
}

static bool takes(const char *symbol, void **address, cuuint64_t flags)
{
	return symbol && address &&
	       flags <=
	           (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
}

/* Measured: a failed look-up by the first form writes nothing. */
API(SIM_NOTHING, cuGetProcAddress,
    (const char *symbol, void **address, int version, cuuint64_t flags),
    (symbol, address, version, flags))
{
	const struct sim_export *found;
	bool known;

	if (!takes(symbol, address, flags))
		return CUDA_ERROR_INVALID_VALUE;
	found = find(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
	if (!found)
		return CUDA_ERROR_NOT_FOUND;
	*address = found->address;
	return CUDA_SUCCESS;
}

/*
 * Measured: the second form succeeds whatever is found; only the status and a NULL tell. A version
 * of 99000 is an invalid value, and -1 stands for any. Programs of the driver's own major version
 * pass, as minor version compatibility has it.
 */
API(SIM_NOTHING, cuGetProcAddress_v2,
    (const char *symbol, void **address, int version, cuuint64_t flags,
     CUdriverProcAddressQueryResult *status),
    (symbol, address, version, flags, status))
{
	const struct sim_export *found;
	bool known;

	if (!takes(symbol, address, flags) || version / 1000 > sim_driver_version() / 1000)
		return CUDA_ERROR_INVALID_VALUE;
	found = find(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
	*address = found ? found->address : NULL;
	if (status && found)
		*status = CU_GET_PROC_ADDRESS_SUCCESS;
	else if (status)
		*status = known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
		                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

/* The driver's private tables: there are none. Measured: without a place or a table's id the value
 * is invalid. */
API(SIM_NOTHING, cuGetExportTable, (const void **table, const CUuuid *id), (table, id))
{
	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table = NULL;
	return CUDA_ERROR_NOT_FOUND;
}
