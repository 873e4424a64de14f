// What one thread of the benchmark works with: its stream, its buffers, its random numbers, and the
// few ways in which a shape issues work. A shape's body calls launch, copy and so on; launches go
// to the stream (eager, and stream capture), or to a sink.
#pragma once

#include <cstdint>
#include <cuda_runtime.h>
#include <vector>

enum {
	BUFFERS = 4,
	SIDE_STREAMS = 4,
	PARTS = 3,           // of a Jacobi iteration: each has a side stream
	MOST_BLOCKS = 1024,  // of a launch
	PINNED_WORDS = 1024, // of either pinned buffer
};

// A 64-bit generator (splitmix64); the same seed gives every form the same arguments.
struct Random {
	uint64_t state;
	uint64_t next();
	uint32_t below(uint32_t limit)
	{
		return (uint32_t)((next() >> 32) * limit >> 32);
	}
};

struct Launch {
	const void *kernel;
	uint32_t blocks;
	uint32_t *x;
	const uint32_t *y;
	uint32_t argument;

	bool operator==(const Launch &other) const
	{
		return kernel == other.kernel && blocks == other.blocks && x == other.x && y == other.y &&
		       argument == other.argument;
	}
};

// Takes launches in the stream's place. It takes nothing else: bodies that are given one only
// launch kernels.
struct Sink {
	virtual ~Sink() = default;
	virtual void take(const Launch &launch) = 0;
};

// The stream of the program's work.
enum Stream { OWN, LEGACY, PER_THREAD };

struct Run {
	explicit Run(uint64_t seed, Stream kind, uint64_t iterations);
	~Run();

	void launch(const void *kernel, uint32_t blocks, uint32_t *x, const uint32_t *y,
	            uint32_t argument);
	void copy(void *to, const void *from, size_t bytes);
	void set(void *to, int value, size_t bytes);
	void record(cudaEvent_t event);
	void await(cudaEvent_t event);
	void think(double us);

	// Until all is done that the body has issued.
	void wait();

	// One block's words, in the order of the stream.
	uint32_t *allocate();
	void release(uint32_t *words);

	// Folds a value that the host saw into the checksum.
	void note(uint32_t value)
	{
		noted = (noted ^ value) * 0x9E3779B97F4A7C15ull + 1;
	}
	uint64_t checksum();

	cudaStream_t own_stream; // the stream of the program's work
	cudaStream_t stream;     // where launches go: own_stream, or the capturing stream
	cudaStream_t capture_stream;
	cudaStream_t side[SIDE_STREAMS];
	cudaEvent_t fork, join[SIDE_STREAMS];
	cudaEvent_t met[2][PARTS]; // of this iteration and of the one before

	uint32_t *buffer[BUFFERS]; // device, MOST_BLOCKS * BLOCK words each
	uint32_t *scratch;         // device, for copies and memsets
	uint32_t *halo[2][PARTS];  // device, a block each: neighbours fill it in one iteration, and the
	                           // part's kernel reads it in the next
	uint32_t *hoisted =
		nullptr;           // device: what allocate gives again and again, where a form has it so
	uint32_t *to_device;   // pinned, PINNED_WORDS
	uint32_t *from_device; // pinned, PINNED_WORDS

	// Chosen before the clock starts, one for each iteration: see Shape::choose.
	std::vector<uint32_t> choice;
	Random random; // for bodies; in step in all forms

	Sink *sink = nullptr;
	bool answered = false; // ops are answered, and never executed
	bool capturing = false;
	bool beside = false; // side streams have work that own_stream does not wait for
	uint64_t ops = 0;
	double thought_us = 0;
	uint64_t noted = 0;
};
