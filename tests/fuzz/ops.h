/* What the files of actions share: arguments taken modulo what there is, values that change,
 * launches, edges. */
#pragma once

#include "world.h"

/* An argument of any size as a position in what there is. */
int fuzz_in(int value, int count);
int fuzz_stream_of(int value);
CUdeviceptr fuzz_buffer_of(int stream, int which);

/*
 * How an argument changes: not at all, with the iteration, in cycles of two and three, seldom, in a
 * cycle of two that begins late, at random, or hardly ever, and not at first.
 */
unsigned fuzz_changing(int how);

/* True now and then, once a loop has become hot: when something is to be refused. */
bool fuzz_late(int when);

/* Parameters stand in one place for all launches of a thread, and are spoilt after each. */
struct fuzz_given {
	CUdeviceptr x, y;
	unsigned argument;
	CUdeviceptr gave_up;
	struct {
		unsigned char rounds;
		unsigned short odd;
		unsigned long long addend;
	} functor;
	unsigned long long word;
	double real;
	struct {
		unsigned char bytes[5];
		unsigned short half;
		unsigned long long word;
		float real;
	} wide;
};

extern _Thread_local struct fuzz_given fuzz_given;

void fuzz_spoil(void);
void fuzz_take(CUdeviceptr x, CUdeviceptr y, unsigned argument);

CUresult fuzz_launch_mix(CUfunction function, CUstream stream, CUdeviceptr x, CUdeviceptr y,
                         unsigned argument);

/* A launch that works on two of the stream's buffers. */
CUresult fuzz_work(int stream, int which, unsigned argument);

/* What comes next on `to` comes after what came on `from`. */
void fuzz_add_edge(int from, int to);

/* A kernel that waits until the flag has the value, and one that sets it. */
CUresult fuzz_spin_on(int stream, CUdeviceptr flag, unsigned value);
CUresult fuzz_signal_on(CUstream stream, CUdeviceptr flag, unsigned value);
