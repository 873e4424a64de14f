/* The exported names as cuGetProcAddress sees them. */
#pragma once

#include <stddef.h>

struct sim_export {
	const char *name;     /* cuMemAlloc_v2 */
	const char *function; /* cuMemAlloc */
	int version;        /* 3020: the driver version that introduced this form; 0: not to be found by
	                       cuGetProcAddress */
	const char *suffix; /* "_ptsz", "_ptds" or "" */
	void *address;
};

extern const struct sim_export sim_exports[];
extern const size_t sim_export_count;
