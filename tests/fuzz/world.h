/*
 * What the actions share: streams, buffers, functions, digests. There is a world for each of three
 * contexts: the first device's primary one, another one there, and the second device's where there
 * are two. The program is in one of them at a time; each is made when it is first entered.
 */
#pragma once

#include <cuda.h>
#include <stdint.h>
#include <string.h>

#include "actions.h"

enum {
	WORLDS = 3,
	FIELD_BYTES = 4 << 20, /* as much as a GPU maps by itself, so that it knows where it ends */
	FIELD_USED = 4096,
	PAGE = 4096,
	PARTS = 4, /* pages of which every other one is registered */
};

/* Memory that is given back and taken anew. */
struct fuzz_moving {
	CUdeviceptr at;
	bool ordered; /* by cuMemAllocAsync */
};

/* Host memory that copies go on to read while what it is changes. */
enum fuzz_host_kind { PAGEABLE, REGISTERED, PINNED };
struct fuzz_host {
	unsigned *at, *block; /* `block` is not pinned */
	enum fuzz_host_kind kind;
};

struct fuzz_world {
	bool started;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUstream stream[STREAMS];
	CUfunction mix, turn, stir, shared_mix, spin, signal, spread, wide, chain;
	CUdeviceptr words; /* the module's variable */
	CUlibrary library;
	CUkernel kernel; /* mix again, as a handle without a context */
	CUdeviceptr buffer[STREAMS][BUFFERS], managed[STREAMS], flag, far;
	CUdeviceptr field[STREAMS], written;
	struct fuzz_moving moving[STREAMS];
	struct fuzz_host host[STREAMS];
	char *parts[STREAMS];
	unsigned *pinned[STREAMS], *landing[STREAMS];
	volatile unsigned *mapped;
	CUdeviceptr mapped_device;
	CUevent event[EVENTS], handing[2], timing[2], edge[STREAMS];
	bool recorded[EVENTS];
	CUgraph graph[STREAMS];
	CUgraphExec exec[STREAMS];
	unsigned signals; /* the last value that the flag is to have */
	unsigned ticks;   /* the same of the mapped word */
	unsigned values;  /* the same of the words that streams write */
	uint64_t logged[STREAMS];
	unsigned functions[STREAMS]; /* that the streams were given */
};

extern struct fuzz_world *fuzz_current;
#define world (*fuzz_current)

/* On the simulated driver; some calls that are legal there would be a matter of chance, or of
 * taste, on a GPU. */
extern bool fuzz_simulated;

/* Mixes into the digest of results. After an error the thread's state is looked at: its context,
 * and its capture mode. */
CUresult fuzz_result(CUresult result);
#define CALL(call) fuzz_result(call)
void fuzz_look_at_state(void);

/* Whose digests a thread has, and what its state should be. */
struct fuzz_thread {
	unsigned number;
	CUcontext context;
	CUstreamCaptureMode mode;
};
extern _Thread_local struct fuzz_thread fuzz_thread;

/* Makes a context the thread's. */
void fuzz_set_context(CUcontext context);

/* The world of that number, made if it is not there; the current context is left as it is. */
struct fuzz_world *fuzz_world_of(int which);

/* Mixes into the digest of what the host saw. */
void fuzz_see(uint64_t value);
void fuzz_see_words(const unsigned *words, unsigned count);

/* Appends to the log of a stream's host functions. Called by the driver. */
void CUDA_CB fuzz_log(void *entry);
void *fuzz_log_entry(int stream, unsigned value);

/* A page of the program's own memory. */
extern unsigned fuzz_page[];

CUresult fuzz_load_module(void);
const char *fuzz_module_path(void);
CUstream fuzz_new_stream(int stream);
/*
 * A stream is about to be given a host function, and no lock is held that one wants: now and then
 * it is waited for. A stream has room for some dozens with work behind each (docs/conformance.md).
 * Who finds none while holding a lock that one of them wants stands still, without Reprise, too.
 */
void fuzz_function(int stream);

void fuzz_wait_host(unsigned microseconds);
