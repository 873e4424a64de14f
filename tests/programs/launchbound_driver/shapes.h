/* What a run holds, and the shapes: the work of one iteration each. */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

enum { WORDS = 64, BUFFERS = 4, LENGTH = 24 };

struct stir {
	unsigned char rounds;
	unsigned short odd;
	unsigned long long addend;
};

struct run {
	CUmodule module;
	CUfunction mix, turn, stir, fold;
	CUstream stream, other;
	CUevent event, back;
	CUdeviceptr buffer[BUFFERS], scratch;
	unsigned *to_device, *from_device; /* pinned */
	uint64_t random;
	uint64_t noted;
	unsigned iteration;
	unsigned failures;   /* of this shape */
	unsigned unexpected; /* of all shapes that ought to have none */
};

/* Prints the call if it failed, and goes on. */
void run_check(struct run *run, CUresult result, const char *call);

#define CALL(run, call) run_check(run, call, #call)

uint32_t run_draw(struct run *run);
void run_note(struct run *run, uint32_t value); /* what the host saw goes into the checksum */

struct shape {
	const char *name;
	void (*iterate)(struct run *run);
	bool fails; /* has calls that must fail */
};

extern const struct shape shapes[]; /* ends with a NULL name */
