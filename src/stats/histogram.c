#include "stats/histogram.h"

_Atomic uint64_t reprise_histograms[REPRISE_HISTOGRAM_COUNT][REPRISE_BUCKETS];

uint64_t reprise_bucket_begin(unsigned int bucket)
{
	return bucket < 4 ? bucket : (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

uint64_t reprise_histogram_median(enum reprise_histogram histogram)
{
	uint64_t all = 0, below = 0;

	for (unsigned int i = 0; i < REPRISE_BUCKETS; i++)
		all += atomic_load(&reprise_histograms[histogram][i]);
	for (unsigned int i = 0; i < REPRISE_BUCKETS; i++) {
		below += atomic_load(&reprise_histograms[histogram][i]);
		if (below * 2 > all)
			return (reprise_bucket_begin(i) + reprise_bucket_begin(i + 1)) / 2;
	}
	return 0;
}

void reprise_histograms_forget(void)
{
	for (unsigned int i = 0; i < REPRISE_HISTOGRAM_COUNT; i++)
		for (unsigned int bucket = 0; bucket < REPRISE_BUCKETS; bucket++)
			atomic_store(&reprise_histograms[i][bucket], 0);
}
