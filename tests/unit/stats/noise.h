/* Made-up times: periods of a loop that vary by 40 %, one in a hundred of which is up to a hundred
 * times as long. */
#pragma once

#include <math.h>
#include <stdint.h>

struct noise {
	uint64_t state;
	double spread; /* of a period, as a part of it */
	double stalls; /* the share of periods that are much longer */
};

static double noise_uniform(struct noise *noise)
{
	noise->state = noise->state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(noise->state >> 33) + 0.5) / (double)(UINT64_C(1) << 31);
}

static double noise_normal(struct noise *noise)
{
	return sqrt(-2 * log(noise_uniform(noise))) * cos(2 * 3.14159265358979 * noise_uniform(noise));
}

static uint64_t noise_period(struct noise *noise, double ns)
{
	double period = ns * exp(noise->spread * noise_normal(noise));

	if (noise_uniform(noise) < noise->stalls)
		period *= 1 + 99 * noise_uniform(noise);
	return (uint64_t)period;
}
