/* Kernels of the fuzzer's programs: those of the other driver-API programs (mix, turn, stir), and some that share, spin and signal. */
#include "../programs/driver_kernels.cu"

/* By one thread, with as much dynamic shared memory as it is launched with. */
KERNEL(shared_mix, (unsigned *, x), (unsigned, argument))
{
	KERNEL_SHARED(unsigned, scratch);

	if (threadIdx.x)
		return;
	scratch[0] = x[0] + argument;
	x[0] = scratch[0] * 69069u + KERNEL_SHARED_BYTES();
}

/* By all threads of a grid and block of any dimensions: what each adds says where it stands. */
KERNEL(spread, (unsigned *, x), (unsigned, argument))
{
	unsigned place = blockIdx.x + 5u * blockIdx.y + 23u * blockIdx.z + 101u * threadIdx.x + 499u * threadIdx.y + 1999u * threadIdx.z;

	atomicAdd(&x[place % 64u], place * 2654435761u + argument);
}

/* A structure that is no multiple of a word, with a word that is not where words stand elsewhere. */
struct wide {
	unsigned char bytes[5];
	unsigned short half;
	unsigned long long word;
	float real;
};

/* By one thread: every bit of what it is given counts. */
KERNEL(wide, (unsigned *, x), (unsigned long long, word), (double, real), (struct wide, by))
{
	union { double real; unsigned long long word; } whole;
	union { float real; unsigned word; } single;
	unsigned value = x[0];

	if (threadIdx.x)
		return;
	whole.real = real;
	single.real = by.real;
	value = value * 69069u + (unsigned)word;
	value = value * 69069u + (unsigned)(word >> 32);
	value = value * 69069u + (unsigned)whole.word;
	value = value * 69069u + (unsigned)(whole.word >> 32);
	for (unsigned i = 0; i < 5; i++)
		value = value * 69069u + by.bytes[i];
	value = value * 69069u + by.half;
	value = value * 69069u + (unsigned)by.word;
	value = value * 69069u + (unsigned)(by.word >> 32);
	x[0] = value * 69069u + single.word;
}

/* As mix, but may begin before what came before it on the stream has ended, where the launch says so, and waits for it. */
KERNEL(chain, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	KERNEL_WAIT_FOR_OTHERS();
	x[i] = x[i] * 22695477u + 3u * y[i] + argument;
}

/* A variable of the module's. */
struct words {
	unsigned word[64];
};

GLOBAL(struct words, words);

/* Waits until *flag has reached `value`; gives up after a long time, which shows in x, and is counted. */
SPINNING_KERNEL(spin, (const volatile unsigned *, flag), (unsigned, value), (unsigned *, x), (volatile unsigned *, gave_up))
{
	unsigned tries = 0;

	if (threadIdx.x)
		return;
	while (*flag < value && ++tries < 20000000u)
		KERNEL_PAUSE();
	if (*flag < value) {
		*gave_up = *gave_up + 1;
		value = 0xdeadu;
	}
	x[0] = x[0] * 5u + value;
}

KERNEL(signal, (volatile unsigned *, flag), (unsigned, value))
{
	if (threadIdx.x)
		return;
	__threadfence_system();
	*flag = value;
	__threadfence_system();
}
