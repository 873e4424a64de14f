#include "cli/paired.h"

#include <math.h>
#include <stdlib.h>

#define OUTSIDE 0.05 /* the probability that the true ratio is outside the interval */

static int by_size(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/* How many of the least and of the greatest of the means of two pairs are outside the interval; 0
 * if there are too few pairs. `chances` has room for each sum of ranks. */
static size_t outside(size_t count, double *chances)
{
	size_t greatest = count * (count + 1) / 2, cut = 0;
	double chance = 0;

	/* The distribution of the sum of those ranks whose sign is positive, each with one half. */
	chances[0] = 1;
	for (size_t sum = 1; sum <= greatest; sum++)
		chances[sum] = 0;
	for (size_t rank = 1; rank <= count; rank++)
		for (size_t sum = greatest + 1; sum-- > 0;)
			chances[sum] = (chances[sum] + (sum >= rank ? chances[sum - rank] : 0)) / 2;
	while (2 * (chance += chances[cut]) <= OUTSIDE)
		cut++;
	return cut;
}

bool reprise_paired_of(const double *over, const double *under, size_t count,
                       struct reprise_paired *paired)
{
	size_t all = count * (count + 1) / 2, at = 0, cut;
	double *means = malloc((all + 1) * sizeof(*means)), middle;

	if (means == NULL)
		return false;
	cut = outside(count, means);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			means[at++] = sqrt(over[i] / under[i] * (over[j] / under[j]));
	qsort(means, all, sizeof(*means), by_size);
	middle = all % 2 != 0 ? means[all / 2] : sqrt(means[all / 2 - 1] * means[all / 2]);
	*paired = (struct reprise_paired){.ratio = middle, .bounded = cut > 0};
	if (cut > 0) {
		paired->least = means[cut - 1];
		paired->greatest = means[all - cut];
	}
	free(means);
	return true;
}
