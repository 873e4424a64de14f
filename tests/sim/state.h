/*
 * What the driver keeps for a thread of the program, as the recorder writes it down
 * (record_state.c): no call of the driver API shows all of it, and none is made for it.
 */
#pragma once

#include <stdint.h>

#define SIM_STATE_SHOWN 8

struct sim_state {
	uint32_t depth;                     /* how many contexts are on the thread's stack */
	uint32_t mode;                      /* cuThreadExchangeStreamCaptureMode */
	uint32_t error;                     /* sticky, of the current context */
	uint64_t contexts[SIM_STATE_SHOWN]; /* the uppermost, the current one first; no number is used
	                                       twice, 0: destroyed */
};

/* Of the calling thread. Takes no lock: what is behind `error` may be under way. */
typedef void sim_ask_state(struct sim_state *state);

/* The recorder has it if it is preloaded; the simulated driver calls it when it is loaded. */
__attribute__((weak, visibility("default"))) void record_states_by(sim_ask_state *ask);
