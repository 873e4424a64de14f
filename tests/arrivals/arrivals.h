// The calls of the runtime API that take a stream, each with what it needs to be made: calls.cu.
// main.cu makes them one at a time.
#pragma once

#include <cstddef>
#include <cuda_runtime.h>

constexpr size_t BYTES = 4096;
constexpr size_t WIDTH = 64; // of the array and of what is copied to and from it, in bytes
constexpr size_t HEIGHT = 16;

// What the calls are made with. Everything is there for each of them, but what the device does not
// support is null.
struct world {
	cudaStream_t stream; // on which the call is made: a created one, or null, the default stream
	cudaStream_t other;  // made or ended by the call, or a second one
	cudaEvent_t event;
	void *device, *second;
	void *pinned, *pageable, *managed;
	void *pooled; // made or ended by the call
	cudaArray_t array;
	cudaMemPool_t pool;
	cudaGraph_t graph;    // of one empty node
	cudaGraph_t captured; // what the call began or ended
	cudaGraphExec_t executable;
	cudaGraphExec_t made;
};

struct call {
	const char *name;
	const char *way; // where it is made in several ways
	cudaError_t (*make)(world &);
	void (*before)(world &); // before and after what is looked at; may be null
	void (*after)(world &);
	bool created_only;  // makes no sense on the default stream
	const char *unless; // why it may arrive nowhere; null: it has to arrive
};

struct not_made {
	const char *name;
	const char *reason;
};

extern const call calls[];
extern const size_t call_count;
extern const not_made others[];
extern const size_t other_count;
