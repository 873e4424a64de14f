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

enum {
	ROWS = 8,         /* of an array that is copied by rows */
	HALVES_LEAST = 16 /* words that are not halved again */
};

/* How far a kernel came with what there is only so much of. */
struct exhausted {
	uint32_t accepted, refused;
	uint32_t error; /* of the first that was refused */
};

enum { REFUSALS = 4 }; /* after so many it gives up */

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

/* (uint32_t *x, uint32_t *y, uint32_t argument): 1 thread; by way of y, words 8 to 23 are set, all
 * are mixed, and words 16 to 31 are set. */
extern const void *const kernel_by_memsets;

/* (uint32_t *x, uint32_t *y, uint32_t argument): 1 thread; by way of y, twice as large, words 1, 2,
 * 5 and 6 of each row are set, then all are mixed. */
extern const void *const kernel_by_rows;

/* (uint32_t *x, uint32_t words, uint32_t more): `words` threads, with `more` words of dynamic
 * shared memory beside theirs; x is turned round and mixed, then each half by itself, down to
 * HALVES_LEAST. */
extern const void *const kernel_halves;

/* (uint32_t *x, uint32_t *mapped, uint32_t argument): 1 thread; sets mapped[0] to the argument, and
 * launches absorb of mapped. */
extern const void *const kernel_from_host;

/* (uint32_t *x, uint32_t depth): absorb of the constants; it launches itself until depth was 0. */
extern const void *const kernel_absorb_constants;

/* The constants: WORDS words, for cudaMemcpyToSymbol. */
extern const void *const symbol_constants;

/* (uint32_t *x, uint32_t *y, cudaTextureObject_t of y, uint32_t depth): absorb of the texture;
 * until depth was 0 it copies x to y and launches itself. */
extern const void *const kernel_write_for_texture;

/* (uint32_t *x, uint32_t argument): 1 thread; mix by way of memory that it allocates, and of
 * argument + 1 back. */
extern const void *const kernel_by_heap;

/* (uint32_t *x, uint32_t argument): 1 thread; mix of each half by itself, as if it were all; then
 * the same of argument + 1, by a kernel that launches both; then mix of argument + 2. */
extern const void *const kernel_in_order;

/* (uint32_t *x, cudaStream_t *of_blocks, uint32_t *arrived, uint32_t argument): 2 blocks of 1
 * thread; mix of each half by itself, as if it were all, and again of argument + 1, in the same
 * streams, which two blocks have made. *arrived is 0 before and after. */
extern const void *const kernel_of_other_blocks;

/* (uint32_t value): 1 thread; if value is a multiple of 64, it prints, and then a child, and then
 * its tail. */
extern const void *const kernel_prints;

/* (uint32_t *x, uint32_t argument): 1 thread; launches mix, which faults if the argument is TRAP.
 */
extern const void *const kernel_child_traps;

/* (uint32_t *ran, uint32_t attempts, struct exhausted *seen): 1 thread; launches kernels that count
 * in *ran, until they are refused. */
extern const void *const kernel_exhaust_launches;

/* (void **events, uint32_t attempts, struct exhausted *seen): 1 thread; makes events until they are
 * refused. */
extern const void *const kernel_exhaust_events;

/* (uint32_t *x, uint32_t argument, uint32_t *seen): 1 thread; notes what CUDA says to what it does
 * not allow, then mix. */
extern const void *const kernel_mistakes;

/* (uint32_t *x, uint32_t argument, uint32_t *seen): 1 thread; notes what the device runtime says of
 * the device, of limits and of mix, then mix. */
extern const void *const kernel_ask;

extern const void *const kernel_linked; /* (uint32_t *x, uint32_t argument): mix; it launches
                                           nothing, though others of its module do */

#define TRAP 0xdeadu
#define MIX_FACTOR 1664525u
#define ABSORB_FACTOR 22695477u

#ifdef __cplusplus
}
#endif
