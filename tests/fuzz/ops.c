#include "ops.h"

_Thread_local struct fuzz_given fuzz_given;

int fuzz_in(int value, int count)
{
	return (value % count + count) % count;
}

int fuzz_stream_of(int value)
{
	return fuzz_in(value, STREAMS);
}

CUdeviceptr fuzz_buffer_of(int stream, int which)
{
	return world.buffer[stream][fuzz_in(which, BUFFERS)];
}

unsigned fuzz_changing(int how)
{
	switch (fuzz_in(how, CHANGES)) {
	case 0:
		return (unsigned)how;
	case 1:
		return (unsigned)iteration;
	case 2:
		return (unsigned)iteration % 2;
	case 3:
		return (unsigned)iteration % 3;
	case 4:
		return (unsigned)iteration / 50;
	case 5:
		return iteration < 20 ? (unsigned)iteration : (unsigned)iteration % 2;
	case 6:
		return chance((unsigned)how);
	default:
		return fuzz_late(how) ? (unsigned)iteration : (unsigned)how;
	}
}

bool fuzz_late(int when)
{
	return iteration >= 20 + fuzz_in(when, 10) && chance((unsigned)when + 7919) % 12 == 0;
}

void fuzz_spoil(void)
{
	memset(&fuzz_given, 0xa5, sizeof(fuzz_given));
}

void fuzz_take(CUdeviceptr x, CUdeviceptr y, unsigned argument)
{
	fuzz_spoil(); /* padding differs from zero */
	fuzz_given.x = x;
	fuzz_given.y = y;
	fuzz_given.argument = argument;
	fuzz_given.functor.rounds = (unsigned char)(argument % 3 + 1);
	fuzz_given.functor.odd = (unsigned short)argument;
	fuzz_given.functor.addend = argument * 3ull;
	memset((char *)&fuzz_given.functor + 1, (int)chance(3), 1);
}

CUresult fuzz_launch_mix(CUfunction function, CUstream stream, CUdeviceptr x, CUdeviceptr y,
                         unsigned argument)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument};
	CUresult result;

	fuzz_take(x, y, argument);
	result = cuLaunchKernel(function, WORDS / 32, 1, 1, 32, 1, 1, 0, stream, params, NULL);
	fuzz_spoil();
	return result;
}

CUresult fuzz_work(int stream, int which, unsigned argument)
{
	return fuzz_launch_mix(world.mix, world.stream[stream], fuzz_buffer_of(stream, which),
	                       fuzz_buffer_of(stream, which / BUFFERS), argument);
}

void fuzz_add_edge(int from, int to)
{
	CALL(cuEventRecord(world.edge[from], world.stream[from]));
	CALL(cuStreamWaitEvent(world.stream[to], world.edge[from], 0));
}

CUresult fuzz_signal_on(CUstream stream, CUdeviceptr flag, unsigned value)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.argument};
	CUresult result;

	fuzz_take(flag, 0, value);
	result = cuLaunchKernel(world.signal, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
	fuzz_spoil();
	return result;
}

CUresult fuzz_spin_on(int stream, CUdeviceptr flag, unsigned value)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.argument, &fuzz_given.y, &fuzz_given.gave_up};
	CUresult result;

	fuzz_take(flag, world.buffer[stream][0], value);
	fuzz_given.gave_up = world.mapped_device + 2 * sizeof(unsigned);
	result = cuLaunchKernel(world.spin, 1, 1, 1, 32, 1, 1, 0, world.stream[stream], params, NULL);
	fuzz_spoil();
	return result;
}
