/* Kernels of the fuzzer's programs: those of the other driver-API programs (mix, turn, stir), and some that share, spin and signal. */
#include "../programs/driver_kernels.cu"

/* By one thread, with as much dynamic shared memory as it is launched with. */
KERNEL(shared_mix, (unsigned *, x), (unsigned, argument))
{
	KERNEL_SHARED(unsigned, scratch);

	if (threadIdx.x)
		return;
	scratch[0] = x[0] + argument;
	x[0] = scratch[0] * 69069u + 1u;
}

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
