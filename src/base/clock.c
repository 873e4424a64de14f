#include "clock.h"

#include <stdatomic.h>

static uint64_t start_ns, start_ticks;

#ifdef REPRISE_VIRTUAL_CLOCK
uint64_t reprise_clock_virtual;
#endif

void reprise_clock_start(void)
{
	start_ns = reprise_clock_ns();
	start_ticks = reprise_clock_ticks();
}

uint64_t reprise_clock_start_ticks(void)
{
	return start_ticks;
}

/* Ticks in a nanosecond. */
static double rate(void)
{
	uint64_t ns = reprise_clock_ns() - start_ns, ticks = reprise_clock_ticks() - start_ticks;

	return ns == 0 || ticks == 0 ? 1.0 : (double)ticks / (double)ns;
}

uint64_t reprise_clock_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)((double)ticks / rate());
}

uint64_t reprise_clock_ns_to_ticks(uint64_t ns)
{
	return (uint64_t)((double)ns * rate());
}

uint64_t reprise_clock_steady_ns(uint64_t ticks)
{
	static _Atomic double steady;
	double before = atomic_load(&steady);

	if (before == 0) {
		double measured = rate();

		if (atomic_compare_exchange_strong(&steady, &before, measured))
			before = measured;
	}
	return (uint64_t)((double)(ticks - start_ticks) / before);
}
