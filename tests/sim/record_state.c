/* Takes little of the thread's stack: there are hazards that measure it. */
#include "record_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "record_file.h"
#include "state.h"

#define KNOWN \
	16 /* contexts that a thread remembers; a program that has more is numbered anew, in both runs \
	      alike */

static sim_ask_state *_Atomic ask;

static _Thread_local struct {
	struct sim_state last;
	uint64_t contexts[KNOWN];
	uint64_t seen; /* how many had a number so far */
} known;

void record_states_by(sim_ask_state *by)
{
	atomic_store(&ask, by);
}

/* 0: destroyed. */
static unsigned int number_of(uint64_t context)
{
	uint64_t back;

	if (context == 0)
		return 0;
	for (back = 1; back <= known.seen && back <= KNOWN; back++)
		if (known.contexts[(known.seen - back) % KNOWN] == context)
			return (unsigned int)(known.seen - back + 1);
	known.contexts[known.seen++ % KNOWN] = context;
	return (unsigned int)known.seen;
}

static unsigned int shown(const struct sim_state *state)
{
	return state->depth < SIM_STATE_SHOWN ? state->depth : SIM_STATE_SHOWN;
}

static bool same(const struct sim_state *a, const struct sim_state *b)
{
	return a->depth == b->depth && a->mode == b->mode &&
	       memcmp(a->contexts, b->contexts, shown(a) * sizeof(a->contexts[0])) == 0;
}

static char *put(char *at, const char *text, unsigned int number)
{
	return record_put_number(stpcpy(at, text), number);
}

static void write_state(const struct sim_state *state)
{
	char line[RECORD_LONGEST_NAME], *end = put(line, "@depth=", state->depth);

	/* The lowest first, so that a context has its number from when it came. */
	for (unsigned int i = shown(state); i-- > 0;)
		number_of(state->contexts[i]);
	for (unsigned int i = 0; i < shown(state); i++)
		end = put(end, i == 0 ? ",contexts=" : ".", number_of(state->contexts[i]) % 10000);
	end = put(end, ",mode=", state->mode);
	record_write(line, (size_t)(end - line), 0);
}

void record_state(void)
{
	sim_ask_state *by = atomic_load_explicit(&ask, memory_order_acquire);
	struct sim_state state;

	if (by == NULL)
		return;
	by(&state);
	if (same(&state, &known.last))
		return;
	write_state(&state);
	known.last = state;
}

__attribute__((destructor)) static void write_error(void)
{
	sim_ask_state *by = atomic_load(&ask);
	struct sim_state state;
	char line[RECORD_LONGEST_NAME];

	if (by == NULL || !record_thread_has_number())
		return;
	record_state();
	by(&state);
	if (state.error != 0)
		record_write(line, (size_t)(put(line, "@error=", state.error) - line), 0);
}
