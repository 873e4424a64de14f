/*
 * Histograms of durations, in ticks of the processor's counter. Four buckets to each power of two:
 * a bucket is at most a quarter wide.
 *
 * Times come from where a clock is read anyway. Any thread, no lock: one of two simultaneous
 * readings may be lost, which does no harm.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* All histograms, once: name in reports, and what is counted. */
#define REPRISE_HISTOGRAMS(X) \
	X(eager, "eager calls; one in 17 is timed") \
	X(graph, \
	  "launches of graphs that needed no patch; all until a sequence is known to gain, then one in 8") \
	X(interval, "observe only: from the return of one call to the return of the next, with no call between them that ends a sequence")

enum reprise_histogram {
#define X(name, text) REPRISE_HISTOGRAM_##name,
	REPRISE_HISTOGRAMS(X)
#undef X
		REPRISE_HISTOGRAM_COUNT
};

/* Up to 2^40 ticks, some minutes. The last bucket has all longer times. */
#define REPRISE_BUCKETS 160

extern _Atomic uint64_t reprise_histograms[REPRISE_HISTOGRAM_COUNT][REPRISE_BUCKETS];

static inline unsigned int reprise_bucket_of(uint64_t ticks)
{
	unsigned int power, bucket;

	if (ticks < 4)
		return (unsigned int)ticks;
	power = 63u - (unsigned int)__builtin_clzll(ticks);
	bucket = (power - 1) * 4 + (unsigned int)(ticks >> (power - 2) & 3);
	return bucket < REPRISE_BUCKETS ? bucket : REPRISE_BUCKETS - 1;
}

static inline void reprise_histogram_note(enum reprise_histogram histogram, uint64_t ticks)
{
	_Atomic uint64_t *bucket = &reprise_histograms[histogram][reprise_bucket_of(ticks)];

	atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
}

/* The least ticks of the bucket. */
uint64_t reprise_bucket_begin(unsigned int bucket);

/* The middle of the bucket with the median, in ticks; 0 if nothing was counted. */
uint64_t reprise_histogram_median(enum reprise_histogram histogram);

void reprise_histograms_forget(void);
