// The shapes: what one iteration of each issues, how it waits, and how one would write it with
// graphs by hand.
#pragma once

#include "run.h"

struct Shape {
	const char *name;
	const char *about;
	void (*body)(Run &run, uint64_t iteration);
	void (*finish)(Run &run, uint64_t iteration); // what the host does at an iteration's end
	uint32_t (*choose)(Random &random, const uint32_t *earlier,
	                   uint64_t iteration); // may be null: always 0
	const char *forms; // separated by commas: eager, and the hand-written ones that make sense, the
	                   // likeliest first. Every shape has floor, too
	int warmup, iterations,
		batches; // iterations of one batch; about a second in all, eager, on an H200
	int threads;
	Stream stream;
};

extern const Shape shapes[];
extern const int shape_count;

const Shape *find_shape(const char *name);
