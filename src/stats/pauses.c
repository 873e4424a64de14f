#include "stats/pauses.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/tuning.h"
#include "stats/histogram.h"
#include "stats/kernels.h"

static _Atomic uint64_t seen, firsts, count, sum;

static void add(_Atomic uint64_t *to, uint64_t amount)
{
	atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + amount,
	                      memory_order_relaxed);
}

uint64_t reprise_pause_note(bool first, uint64_t ticks)
{
	uint64_t before = atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed);

	if (reprise_kernels_at_work())
		return before;
	if (!first)
		reprise_histogram_note(REPRISE_HISTOGRAM_interval, ticks);
	if (before < REPRISE_TUNE_PAUSES_AFTER)
		return before;
	if (first || ticks > reprise_clock_ns_to_ticks(REPRISE_TUNE_PAUSES_WAITED_NS)) {
		add(&firsts, 1);
	} else {
		add(&count, 1);
		add(&sum, ticks);
	}
	return before;
}

struct reprise_pauses reprise_pauses_read(void)
{
	return (struct reprise_pauses){.firsts = atomic_load(&firsts),
	                               .count = atomic_load(&count),
	                               .ticks = atomic_load(&sum)};
}

void reprise_pauses_forget(void)
{
	atomic_store(&seen, 0);
	atomic_store(&firsts, 0);
	atomic_store(&count, 0);
	atomic_store(&sum, 0);
}
