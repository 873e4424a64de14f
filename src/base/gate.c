#include "gate.h"

#include <sched.h>

#include "clock.h"
#include "lock.h"

struct reprise_gate_place reprise_gate_places[REPRISE_GATE_PLACES];
_Atomic uint32_t reprise_gate_closed;

void reprise_gate_wait(void)
{
	uint64_t begin = reprise_clock_ns();

	while (atomic_load(&reprise_gate_closed) != 0)
		reprise_futex_wait(&reprise_gate_closed, 1, 0);
	reprise_waited_since(begin);
}

bool reprise_gate_close(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	atomic_store(&reprise_gate_closed, 1);
	for (unsigned int i = 0; i < REPRISE_GATE_PLACES; i++)
		while (atomic_load(&reprise_gate_places[i].going) != 0) {
			if (reprise_clock_ns() > end) {
				reprise_gate_open();
				return false;
			}
			sched_yield();
		}
	return true;
}

void reprise_gate_open(void)
{
	atomic_store(&reprise_gate_closed, 0);
	reprise_futex_wake(&reprise_gate_closed);
}

void reprise_gate_reset(void)
{
	atomic_store(&reprise_gate_closed, 0);
	for (unsigned int i = 0; i < REPRISE_GATE_PLACES; i++)
		atomic_store(&reprise_gate_places[i].going, 0);
}
