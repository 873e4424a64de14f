#include "base/clock.h"

#include <stdatomic.h>

/* A rate is in ticks per nanosecond, times 2^32. Integers only: these functions run on the
 * program's threads, whose floating point flags and traps belong to the program. */
#define RATE_BITS 32
#define RATE_ONE (UINT64_C(1) << RATE_BITS)

__extension__ typedef unsigned __int128 wide;

static uint64_t start_ns, start_ticks;

#ifdef REPRISE_VIRTUAL_CLOCK
uint64_t reprise_clock_virtual;
#endif

void reprise_clock_start(void)
{
	start_ns = reprise_clock_ns();
	start_ticks = reprise_clock_ticks();
}

static uint64_t rate(void)
{
	uint64_t ns = reprise_clock_ns() - start_ns, ticks = reprise_clock_since(start_ticks);
	uint64_t measured = ns == 0 ? 0 : (uint64_t)(((wide)ticks << RATE_BITS) / ns);

	return measured == 0 ? RATE_ONE : measured;
}

uint64_t reprise_clock_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)(((wide)ticks << RATE_BITS) / rate());
}

uint64_t reprise_clock_ns_to_ticks(uint64_t ns)
{
	return (uint64_t)((wide)ns * rate() >> RATE_BITS);
}

uint64_t reprise_clock_steady_ns(uint64_t ticks)
{
	static _Atomic uint64_t steady;
	uint64_t before = atomic_load(&steady);

	if (before == 0) {
		uint64_t measured = rate();

		if (atomic_compare_exchange_strong(&steady, &before, measured))
			before = measured;
	}
	return (uint64_t)(((wide)reprise_clock_elapsed(start_ticks, ticks) << RATE_BITS) / before);
}
