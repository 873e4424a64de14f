/* The lock is a leaf, and taken only if it is free: no thread waits here. */
#include "stats/series.h"

#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/tuning.h"
#include "stats/counters.h"

static struct reprise_lock series_lock;
static struct reprise_series noted;
static uint64_t unseen; /* ops that no lane has seen, of those that are noted */

void reprise_series_begin(void)
{
	atomic_store(&series_lock.word, 0); /* in a forked child, another thread may have held it */
	noted = (struct reprise_series){.began_ns = reprise_clock_ns(),
	                                .interval_ns = REPRISE_TUNE_SERIES_FIRST_NS};
	unseen = 0;
}

static void double_intervals(uint64_t *values)
{
	for (unsigned int i = 0; i < REPRISE_SERIES_MOST / 2; i++)
		values[i] = values[2 * i] + values[2 * i + 1];
	memset(values + REPRISE_SERIES_MOST / 2, 0, REPRISE_SERIES_MOST / 2 * sizeof(*values));
}

/* The present interval. Under the lock. */
static unsigned int now(void)
{
	uint64_t since = reprise_clock_ns() - noted.began_ns;

	while (since / noted.interval_ns >= REPRISE_SERIES_MOST) {
		double_intervals(noted.ops);
		double_intervals(noted.replayed);
		noted.interval_ns *= 2;
		noted.count = (noted.count + 1) / 2;
	}
	return (unsigned int)(since / noted.interval_ns);
}

/* Under the lock. */
static void note(uint64_t ops, uint64_t replayed)
{
	uint64_t unseen_now = reprise_counted(REPRISE_COUNT_unseen_ops);
	unsigned int interval = now();

	noted.ops[interval] += ops + (unseen_now - unseen);
	unseen = unseen_now;
	noted.replayed[interval] += replayed;
	if (noted.count <= interval)
		noted.count = interval + 1;
}

bool reprise_series_note(uint64_t ops, uint64_t replayed)
{
	bool begun;

	if (!reprise_lock_try(&series_lock))
		return false;
	begun = noted.interval_ns != 0;
	if (begun)
		note(ops, replayed);
	reprise_lock_give(&series_lock);
	return begun;
}

bool reprise_series_read(struct reprise_series *series)
{
	if (!reprise_lock_try(&series_lock))
		return false;
	*series = noted;
	reprise_lock_give(&series_lock);
	return true;
}
