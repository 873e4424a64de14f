/*
 * What Reprise knows about kernels: where their parameters lie. Asked of the driver once for each
 * handle.
 *
 * Layouts are interned and live as long as the process, so that ops may point at them; there are as
 * many as there are different parameter lists.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_PARAMS_MOST 256

struct reprise_param {
	uint32_t offset;
	uint32_t size;
};

struct reprise_layout {
	uint32_t count;
	uint32_t bytes; /* of all parameters as the driver packs them */
	struct reprise_param params[];
};

struct reprise_function {
	const struct reprise_layout *layout; /* NULL: not known, launches of it are not recorded */
	bool fixed_grid; /* clusters are compiled in, so that not every grid is legal */
	bool denied;     /* on the deny list: always eager */
	bool launches;   /* may launch kernels itself: its code is linked with the device runtime */
	uint16_t name;   /* its row among the names (name.h); 0 if nobody wants to know */
};

/*
 * What is known of `function` (a CUfunction, or a CUkernel where the runtime passes one).
 * Thread-safe; calls the driver for a handle not seen since what handles mean may have changed
 * (REPRISE_CHANGES_FUNCTIONS). Source: cuFuncGetParamInfo, cuKernelGetParamInfo.
 */
struct reprise_function reprise_function_of(CUfunction function);

/*
 * Calls about a function that may load it (lane/loading.h). A launch surely does, and so does a
 * question for a kernel's function; of the others nobody knows. But who loads nothing the first
 * time does not the next time.
 */
enum reprise_function_call {
	REPRISE_FUNCTION_LAUNCH,
	REPRISE_FUNCTION_GET,
	REPRISE_FUNCTION_ATTRIBUTE,
	REPRISE_FUNCTION_SET,
	REPRISE_FUNCTION_NAME,
	REPRISE_FUNCTION_PARAM_COUNT,
	REPRISE_FUNCTION_PARAM_INFO,
	REPRISE_FUNCTION_DYNAMIC_MEMORY,
	REPRISE_FUNCTION_ACTIVE_BLOCKS,
	REPRISE_FUNCTION_ACTIVE_BLOCKS_WITH_FLAGS,
	REPRISE_FUNCTION_ACTIVE_CLUSTERS,
	REPRISE_FUNCTION_BLOCK_SIZE,
	REPRISE_FUNCTION_BLOCK_SIZE_WITH_FLAGS,
	REPRISE_FUNCTION_CLUSTER_SIZE,
};

/*
 * Whether such a call for it in the context has succeeded, or one that has loaded it. A kernel that
 * is not loaded is loaded by whatever asks about it, and an H200's driver then waits for work under
 * way with a lock that every launch needs: for ever, where a host function wants a mutex that who
 * launches holds. So Reprise asks nothing before the program's own launch has loaded it.
 */
bool reprise_function_had(CUfunction function, CUcontext context, enum reprise_function_call call);
void reprise_function_note(CUfunction function, CUcontext context, enum reprise_function_call call);

/* After fork, in the child: the lock may be held by a thread that is not there. */
void reprise_functions_reset(void);
