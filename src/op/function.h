/*
 * What Reprise knows about kernels: where their parameters lie. Asked of the driver once for each handle.
 *
 * Layouts are interned and live as long as the process, so that ops may point at them; there are as many as there are
 * different parameter lists.
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
	bool fixed_grid;                     /* clusters are compiled in, so that not every grid is legal */
	bool denied;                         /* on the deny list: always eager */
	bool launches;                       /* may launch kernels itself: its code is linked with the device runtime */
	uint16_t name;                       /* its row among the names (name.h); 0 if nobody wants to know */
};

/*
 * What is known of `function` (a CUfunction, or a CUkernel where the runtime passes one). Thread-safe; calls the driver for a
 * handle not seen since what handles mean may have changed (REPRISE_CHANGES_FUNCTIONS). Source: cuFuncGetParamInfo, cuKernelGetParamInfo.
 */
struct reprise_function reprise_function_of(CUfunction function);

/*
 * Whether a launch of it in the context has returned. A kernel that was never launched there is loaded by whatever asks about it, and an H200's driver then
 * waits for work under way with a lock that every launch needs: for ever, where a host function wants a mutex that who launches holds. So nobody asks before
 * the program's own launch has loaded it.
 */
bool reprise_function_was_launched(CUfunction function, CUcontext context);
void reprise_function_note_launch(CUfunction function, CUcontext context);

/* After fork, in the child: the lock may be held by a thread that is not there. */
void reprise_functions_reset(void);
