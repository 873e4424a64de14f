/* The kernels of the GPU hazards, as cudaLaunchKernel takes them. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a graph is launched from the device. */
enum {
	GRAPH_WITHIN, /* as a part of the one that launches it */
	GRAPH_BEHIND,
	GRAPH_BESIDE /* as its sibling */
};

enum {
	WORDS = 64
}; /* of every array; a launch is one block of as many threads unless said otherwise */

/* More than the 4 KB of parameters that older toolkits allowed. */
struct large {
	uint32_t words[2000];
};

/* Three bytes of padding, then four more. */
struct padded {
	uint8_t factor;
	uint32_t addend;
	uint8_t shift;
};

extern const void
	*const kernel_mix; /* (uint32_t *x, uint32_t argument): x = x * A + argument + i */
extern const void *const kernel_absorb; /* (uint32_t *x, const uint32_t *y): x = x * B + 2 * y */
extern const void
	*const kernel_large; /* (uint32_t *x, struct large): x = x * A + the sum of all words */
extern const void *const
	kernel_padded; /* (uint32_t *x, struct padded) : x = x * (2 * factor + 1) + addend >> shift */
extern const void
	*const kernel_publish; /* (uint32_t *mapped, uint32_t value): 1 thread; for the host to see */
extern const void
	*const kernel_wait; /* (const uint32_t *flag, uint32_t value, uint32_t *late): 1 thread; until
                         *flag is at least value, 30 s at most, after which *late is set */
extern const void *const kernel_raise; /* (uint32_t *flag, uint32_t value): 1 thread */
extern const void
	*const kernel_count_down; /* (uint32_t *count, uint32_t times, cudaGraphConditionalHandle): 1
                                 thread; the condition of a loop in a graph */
extern const void *const kernel_launch_graph; /* (cudaGraphExec_t, uint32_t how, uint32_t *refused):
                                                 1 thread; launches a graph from the device;
                                                 *refused counts what that is refused for */
extern const void *const kernel_launch_graphs; /* (const cudaGraphExec_t *, uint32_t count, uint32_t
                                                how, uint32_t *refused): 1 thread; all of them */
extern const void *const kernel_relaunch; /* (uint32_t *count, uint32_t times): 1 thread; launches
                                             the device graph that it is in behind itself, until
                                             it has run `times` times */
extern const void
	*const kernel_in_device_graph; /* (uint32_t *x): x = x + 1 if it is in a device graph */
extern const void
	*const kernel_choose; /* (uint32_t *count, uint32_t choices, cudaGraphConditionalHandle): 1
                             thread; the condition is the count of its runs, modulo `choices` */
extern const void
	*const kernel_set_node; /* (cudaGraphDeviceNode_t, uint64_t offset, uint32_t *count): 1 thread;
                               sets 4 bytes of the node's parameters to the count of its runs, and
                               disables the node if that is a multiple of 3 */
extern const void *const kernel_delay;  /* (uint32_t us): 1 thread */
extern const void *const kernel_shared; /* (uint32_t *x, uint32_t words): mix by way of dynamic
                                           shared memory, words long */
extern const void *const
	kernel_cluster; /* (uint32_t *x): 8 blocks of 1 thread: x = x * A + blocks in the cluster */
extern const void *const kernel_cooperative; /* (uint32_t *x, uint32_t argument): 8 blocks of 8
                                                threads, two phases with a grid barrier */
extern const void
	*const kernel_crowd;                   /* (uint32_t *x, uint32_t *count, uint32_t argument): any
                                              number of blocks, with a grid barrier: x[0] = x[0] * A +
                                              the grid's blocks + argument; count is 0 before and after */
extern const void *const kernel_dependent; /* as mix, but waits for the kernel before it by itself
                                              (programmatic launch) */
extern const void *const kernel_trap;      /* as mix; faults if the argument is TRAP */
extern const void
	*const kernel_print; /* (uint32_t value): 1 thread; prints if value is a multiple of 64 */
extern const void *const kernel_shaped; /* (uint32_t *x): x = x * A + the grid's x + 31 y + 977 z +
                                           7 times the bytes of dynamic shared memory */

extern const void *const kernel_parent; /* (uint32_t *x, uint32_t argument): mix; it launches mix of
                                           argument + 1 and + 2 to follow it */
extern const void *const
	kernel_spawn; /* (uint32_t *x, uint32_t argument): 1 thread; it launches mix, beside itself */
extern const void *const
	kernel_streams; /* (uint32_t *x, uint32_t argument): 1 thread; it launches mix in a stream that
                       it makes, and of argument + 1 in another, behind an event of the first */
extern const void *const kernel_nested;    /* (uint32_t *x, uint32_t depth, uint32_t argument): 1
                                              thread; it launches mix of argument + depth, and then
                                              itself of depth - 1 until that was 0 */
extern const void *const kernel_by_copies; /* (uint32_t *x, uint32_t *y, uint32_t argument): 1
                                              thread; it copies x to y, mixes y and copies back */

extern const void *const kernel_linked; /* (uint32_t *x, uint32_t argument): mix; it launches
                                           nothing, though others of its module do */

#define TRAP 0xdeadu
#define MIX_FACTOR 1664525u
#define ABSORB_FACTOR 22695477u

#ifdef __cplusplus
}
#endif
