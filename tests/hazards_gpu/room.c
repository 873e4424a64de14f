/* Device memory that runs out: what graphs hold of it is the program's as soon as it asks. */
#include "hazard.h"

#include <stdio.h>

enum {
	BODIES = 96,
	LAUNCHES = 150,
	VISITS = 24,
	BLOCKS = 512,
	LOOP = 24, /* launches */
};

static const size_t block_bytes = 2 << 20;
static const size_t left_bytes = 384 << 20; /* by the ballast */
static const size_t slack_bytes = 24 << 20; /* what the driver may have kept for itself since */

/* How much there is, in blocks, all of which are taken and given back. */
static size_t room(void)
{
	static void *blocks[BLOCKS];
	unsigned count = 0;

	while (count < BLOCKS && cudaMalloc(&blocks[count], block_bytes) == cudaSuccess)
		count++;
	(void)cudaGetLastError();
	for (unsigned i = 0; i < count; i++)
		CHECK(cudaFree(blocks[i]));
	return count * block_bytes;
}

static void body(struct mirror *mirror, unsigned which, cudaStream_t stream)
{
	for (unsigned k = 0; k < LAUNCHES; k++)
		mirror_mix(mirror, scramble(which * LAUNCHES + k), stream);
	CHECK(cudaStreamSynchronize(stream));
}

/*
 * Many long bodies, whose graphs take some 40 MB, in what little memory is left. The program has to
 * get as much of it as before there were any graphs; and after that the loops go on, replayed
 * again.
 */
static void out_of_memory(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	void *ballast;
	size_t unused, all, before, now;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	body(&mirror, 0, stream);
	CHECK(cudaMemGetInfo(&unused, &all));
	if (unused < 2 * left_bytes || cudaMalloc(&ballast, unused - left_bytes) != cudaSuccess)
		hazard_skip("the device's memory is not free");
	before = room();
	for (unsigned visit = 1; visit <= 2 * VISITS; visit++) {
		hazard_deadline(60);
		for (unsigned which = 0; which < BODIES; which++)
			body(&mirror, which, stream);
		if (visit % VISITS != 0)
			continue;
		for (unsigned k = 0; k < LAUNCHES / 2; k++) /* the room is wanted with work deferred */
			mirror_mix(&mirror, scramble(k), stream);
		now = room();
		EXPECT(now + slack_bytes >= before, "visit %u: there were %zu MB, and now %zu MB", visit,
		       before >> 20, now >> 20);
	}
	mirror_verify(&mirror, VISITS);
	CHECK(cudaFree(ballast));
}

/*
 * Loops that come one after another, each often enough to be worth graphs, and none ever again.
 * What is free never falls by more than graphs may take (REPRISE_MEMORY, 256 MiB unless set).
 */
static void ten_thousand_loops(void)
{
	const size_t most_bytes = (size_t)256 << 20;
	size_t before, least, now, all;
	struct mirror mirror;
	cudaStream_t stream;
	double begin;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	body(&mirror, 0, stream);
	CHECK(cudaMemGetInfo(&before, &all));
	least = before;
	begin = seconds_now();
	for (unsigned number = 0; number < 10000; number++) {
		hazard_deadline(60);
		for (unsigned iteration = 0; iteration < 10; iteration++) {
			for (unsigned k = 0; k < LOOP; k++)
				mirror_mix(&mirror, scramble(number * LOOP + k), stream);
			CHECK(cudaStreamSynchronize(stream));
		}
		if (number % 16 != 0)
			continue;
		CHECK(cudaMemGetInfo(&now, &all));
		least = now < least ? now : least;
	}
	fprintf(stderr, "us_per_loop=%.1f MiB=%zu\n", (seconds_now() - begin) * 100,
	        (before - least) >> 20);
	EXPECT(least + most_bytes + slack_bytes >= before, "there were %zu MB, and once %zu MB",
	       before >> 20, least >> 20);
	mirror_verify(&mirror, VISITS);
}

const struct hazard room_hazards[] = {
	{"ten_thousand_loops", ten_thousand_loops},
	{"out_of_memory", out_of_memory},
	{NULL, NULL},
};
