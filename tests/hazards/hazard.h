/*
 * Hazards on the simulated driver: programs that make a sequence hot and then spring a trap, at
 * irregular iterations. They print what they end with; compare.py runs them plain and under
 * Reprise. The arithmetic is order-sensitive, so a lost, doubled, reordered or stale op shows.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef SHORT_HAZARDS /* for scripts/faults, which runs each thousands of times */
#define ITERATIONS 116u
#define CHECK_FAILED hazard_failed
void hazard_failed(void);
#else
#define ITERATIONS 1200u
#endif

#include "../programs/driver.h"

#define WORDS 16u
#define CHAIN 24u

struct hazard {
	const char *name;
	void (*run)(void);
};

/* Each ends with a NULL name. */
extern const struct hazard memory_hazards[], parameter_hazards[], waiting_hazards[],
	order_hazards[], context_hazards[], thread_hazards[], apart_hazards[], lifetime_hazards[],
	capture_hazards[], graph_hazards[], launch_hazards[], change_hazards[], replay_hazards[],
	ending_hazards[], room_hazards[], manners_hazards[], process_hazards[], patching_hazards[],
	limit_hazards[], fork_hazards[], device_hazards[], api_hazards[], identity_hazards[],
	judged_hazards[], gated_hazards[], guest_hazards[];

extern const struct hazard error_hazards[], blocked_hazards[], attribute_hazards[], clock_hazards[],
	range_hazards[], own_hazards[];

/* Set up before a hazard runs, by this unless the hazard does it itself, after it has forked; one
 * block of WORDS threads works on `x` and reads `y`. */
void hazard_set_up(void);
extern CUcontext hazard_context;
extern CUdevice hazard_device;
extern CUmodule hazard_module;
extern CUfunction hazard_mix, hazard_turn, hazard_fold;
extern CUdeviceptr hazard_x, hazard_y;
extern const char *hazard_module_path;

/*
 * Until Reprise has built the graphs of what is hot by now, so that how much is replayed is no
 * matter of time; nothing without it. They are built when the device has nothing to do: settle
 * waits for a stream first.
 */
void hazard_await_graphs(void);
void hazard_settle(CUstream stream);

/* True at irregular iterations, about one in thirty-seven, once the loop is hot; its graphs are
 * awaited before, where something comes to be built. */
bool hazard_springs(unsigned iteration);
bool hazard_is_irregular(unsigned iteration); /* the same, and nothing is awaited */

/* At the end of each iteration: settles some iterations after each of those, when what ended there
 * has become hot again. */
void hazard_settle_again(unsigned iteration, CUstream stream);

void hazard_launch(CUfunction function, CUdeviceptr x, unsigned argument, CUstream stream);

/* CHAIN launches on x: mix and turn by turns, arguments by place. Or the first of them, so that a
 * trace is left in its middle. */
void hazard_chain(CUdeviceptr x, CUstream stream);
void hazard_part_of_chain(CUdeviceptr x, unsigned count, CUstream stream);

/* Limits the process's address space to what it has now, and `more` bytes. */
void hazard_limit_address_space(size_t more);

/* Prints what x holds, as one number. Waits for everything. */
void hazard_print(const char *what, CUdeviceptr x);

/* What mix and turn make of a word, on the host. */
uint32_t hazard_mixed(uint32_t x, uint32_t y, uint32_t argument);

CUstream hazard_stream(unsigned flags);

/* A context of its own, with two kernels and their memory. Makes it current. */
struct hazard_place {
	CUcontext context;
	CUfunction mix, turn;
	CUdeviceptr x, y;
};

struct hazard_place hazard_make_place(void);

/* One of its kernels. Its context is current. */
void hazard_launch_there(const struct hazard_place *place, unsigned argument, CUstream stream);
/* Sets an attribute of the stream: which, and how, is told by the number. One in six is refused. */
CUresult hazard_set_attribute(CUstream stream, unsigned number);
CUfunction hazard_function(const char *name);
/* Of the same module, as a library's kernel. */
CUkernel hazard_kernel(const char *name);
/* With some of the device's multiprocessors; the caller destroys it. */
CUgreenCtx hazard_green_context(void);
/* Of a clock that never jumps. */
uint64_t hazard_now_ns(void);
/* Looks, without a call, until the first word has the value. False if it has not after five
 * seconds: the hold limit issues at the latest what is to write it. */
bool hazard_reaches(const volatile uint32_t *words, uint32_t value);
