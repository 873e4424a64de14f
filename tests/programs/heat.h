/* What the heat solvers share: options, the first temperatures, and the results on stdout, which
 * hold nothing that varies. */
#pragma once

#include <getopt.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAT_RATE 0.2

struct heat {
	unsigned size; /* points along each side */
	unsigned steps;
	unsigned every;      /* steps between two convergence checks */
	int default_stream;  /* work on the default stream, with synchronous copies */
	const char *module;  /* driver API only */
	unsigned devices;    /* heat-devices only */
	const char *mode;    /* heat-devices only */
	double *cells;       /* size * size, on the host */
	double *interval_us; /* wall time from check to check */
	unsigned checks;
};

/* The residual is a tree of sums with a fixed order (heat_kernels.cu). How many sums `count`
 * numbers make, and their blocks. */
#define HEAT_FOLD_BLOCK 64u

static inline unsigned heat_folded(unsigned count)
{
	return (count + 15u) / 16u;
}

static inline unsigned heat_blocks(unsigned threads)
{
	return (threads + HEAT_FOLD_BLOCK - 1) / HEAT_FOLD_BLOCK;
}

static inline double heat_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static inline unsigned heat_number(const char *text, unsigned long least)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < least || value > 1000000) {
		fprintf(stderr, "heat: %s is not a number from %lu to 1000000\n", text, least);
		exit(2);
	}
	return (unsigned)value;
}

static inline void heat_parse(struct heat *heat, int argc, char **argv)
{
	static const struct option options[] = {
		{"size", required_argument, NULL, 'n'},   {"steps", required_argument, NULL, 's'},
		{"every", required_argument, NULL, 'e'},  {"default-stream", no_argument, NULL, 'd'},
		{"module", required_argument, NULL, 'm'}, {"devices", required_argument, NULL, 'D'},
		{"mode", required_argument, NULL, 'M'},   {NULL, 0, NULL, 0},
	};
	int option;

	memset(heat, 0, sizeof *heat);
	heat->size = 128;
	heat->steps = 10000;
	heat->every = 20;
	heat->devices = 2;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'n')
			heat->size = heat_number(optarg, 3);
		else if (option == 's')
			heat->steps = heat_number(optarg, 3);
		else if (option == 'e')
			heat->every = heat_number(optarg, 3);
		else if (option == 'D')
			heat->devices = heat_number(optarg, 1);
		else if (option == 'M')
			heat->mode = optarg;
		else if (option == 'd')
			heat->default_stream = 1;
		else if (option == 'm')
			heat->module = optarg;
		else
			exit(2);
	}
	if (heat->size > 16384) {
		fprintf(stderr, "heat: a side has at most 16384 points\n");
		exit(2);
	}
	heat->cells = (double *)malloc(sizeof(double) * heat->size * heat->size);
	heat->interval_us = (double *)malloc(sizeof(double) * (heat->steps / heat->every + 1));
	if (!heat->cells || !heat->interval_us)
		exit(2);
	for (unsigned i = 0; i < heat->size * heat->size; i++) {
		unsigned row = i / heat->size, column = i % heat->size;

		heat->cells[i] = row == 0      ? 100.0
		                 : column == 0 ? 50.0
		                               : (double)((row * 31 + column * 17) % 10);
	}
}

/* Called at each check with what came back from the device; prints every tenth. */
static inline void heat_check(struct heat *heat, unsigned step, double residual, double took_us)
{
	if (heat->checks % 10 == 0)
		printf("step %u residual %.17g\n", step, residual);
	heat->interval_us[heat->checks++] = took_us;
}

static inline int heat_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The digest goes to stdout, the times to stderr. */
static inline void heat_finish(struct heat *heat, double total_us)
{
	uint64_t digest = 14695981039346656037u;

	for (unsigned i = 0; i < heat->size * heat->size; i++) {
		uint64_t bits;

		memcpy(&bits, &heat->cells[i], sizeof bits);
		digest = (digest ^ bits) * 1099511628211u;
		digest ^= digest >> 29;
	}
	printf("size=%u steps=%u every=%u digest=%016" PRIx64 "\n", heat->size, heat->steps,
	       heat->every, digest);
	if (heat->checks) {
		qsort(heat->interval_us, heat->checks, sizeof(double), heat_compare);
		fprintf(stderr, "us_per_step=%.3f ms_total=%.2f\n",
		        heat->interval_us[heat->checks / 2] / heat->every, total_us / 1000);
	}
	free(heat->cells);
	free(heat->interval_us);
}
