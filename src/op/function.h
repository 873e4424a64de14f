/*
 * What Reprise knows about kernels. The driver is asked once for each handle.
 *
 * Layouts of parameters are interned and live as long as the process, so that ops may point at
 * them. There is one for each different list of parameters.
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
	uint32_t bytes; /* of all parameters, as the driver packs them */
	struct reprise_param params[];
};

/* Whether a kernel launches kernels. */
enum reprise_launching {
	REPRISE_LAUNCHING_NEVER,
	REPRISE_LAUNCHING_MAYBE,  /* its code is linked with the device runtime: the builder asks the
	                             driver before the first graph with it (graph/launching.h) */
	REPRISE_LAUNCHING_ALWAYS, /* it does, or nothing tells that it does not: it is eager */
};

struct reprise_function {
	const struct reprise_layout *layout; /* NULL: not known, launches are not recorded */
	bool fixed_grid;                     /* not every grid is legal, because of clusters */
	bool denied;                         /* on the deny list: always eager */
	uint8_t launching;                   /* enum reprise_launching */
	uint16_t name;                       /* its row of names (name.h); 0 if names are not wanted */
};

/*
 * What is known of `function` (a CUfunction, or a CUkernel if the runtime passes one). Any thread.
 * Calls the driver for a handle not seen since the last change of handles
 * (REPRISE_CHANGES_FUNCTIONS). Source: cuFuncGetParamInfo, cuKernelGetParamInfo.
 */
struct reprise_function reprise_function_of(CUfunction function);

/* The same, and asks nothing: false if the driver was not asked yet. */
bool reprise_function_known(CUfunction function, struct reprise_function *found);

/* The builder has asked the driver: not MAYBE. Nothing is kept for a handle that fell out of the
 * table. */
void reprise_function_note_launching(CUfunction function, enum reprise_launching launching);

/* What is known of a function that was launched in the context. False, and nothing is asked, if no
 * such launch is known (reprise_function_had()). */
bool reprise_function_launched(CUfunction function, CUcontext context,
                               struct reprise_function *found);

/*
 * Calls about a function that may load it (lane/loading.h). A launch and cuKernelGetFunction always
 * load it; for the others that is not known. But a call that loaded nothing the first time does not
 * load the next time.
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
 * True if such a call has succeeded in the context, or one that loaded the function. A question
 * about a kernel that is not loaded may load it. An H200's driver then waits for running work with
 * a lock that every launch needs: a deadlock, if a host function wants a mutex that a launching
 * thread holds. So Reprise asks nothing before the program's own launch has loaded the kernel.
 */
bool reprise_function_had(CUfunction function, CUcontext context, enum reprise_function_call call);
void reprise_function_note(CUfunction function, CUcontext context, enum reprise_function_call call);

/* After fork, in the child: the lock may be held by a thread that does not exist there. */
void reprise_functions_reset(void);
