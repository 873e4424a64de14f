/* A time-stamp counter that is not the same on all processors, and begins anew: what Reprise reads
 * of it goes back, while the clocks are as ever. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "code.h"
#include "hazard.h"

#define CANNOT 77

#if defined(__x86_64__)

#include <ucontext.h>
#include <x86intrin.h>

#define BEHIND \
	(UINT64_C(1) << 20)           /* ticks: another processor's counter, at each second reading \
	                               */
#define FIRST (UINT64_C(2) << 20) /* where it begins anew */

static volatile unsigned readings;
static uint64_t begun; /* where it has begun anew; 0: not yet */

static uint64_t counter(const void *reader)
{
	uint64_t ticks;

	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	ticks = __rdtsc();
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if (!code_has(reader))
		return ticks;
	return ticks - (readings++ % 2 == 0 ? 0 : BEHIND) - (begun == 0 ? 0 : begun - FIRST);
}

/* In the place of the instruction, of which the kernel makes a signal. */
static void read_counter(int signal, siginfo_t *unused, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)registers[REG_RIP];
	bool rdtsc = code[0] == 0x0f && code[1] == 0x31,
		 rdtscp = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
	uint64_t ticks;

	(void)unused;
	if (!rdtsc && !rdtscp)
		abort();
	ticks = counter(code);
	registers[REG_RAX] = (greg_t)(ticks & UINT32_MAX);
	registers[REG_RDX] = (greg_t)(ticks >> 32);
	if (rdtscp)
		registers[REG_RCX] = 0;
	registers[REG_RIP] += rdtsc ? 2 : 3;
}

/* In this thread alone: threads of Reprise's are there by now, and have the flag as it was. */
static void take_over_counter(void)
{
	struct sigaction action = {.sa_sigaction = read_counter, .sa_flags = SA_SIGINFO | SA_NODEFER};

	code_find();
	sigaction(SIGSEGV, &action, NULL);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) {
		perror("the counter cannot be taken over");
		exit(CANNOT);
	}
}

static void begin_counter_anew(void)
{
	begun = counter(NULL);
}

#else

static void begin_counter_anew(void)
{
}

static void take_over_counter(void)
{
	fprintf(stderr, "the counter cannot be taken over on this machine\n");
	exit(CANNOT);
}

#endif

/* Replays, side exits, changed values, pauses. */
static void counter_jumps(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	hazard_chain(hazard_x, stream);
	CHECK(cuStreamSynchronize(stream));
	take_over_counter();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		if (iteration == ITERATIONS / 2)
			begin_counter_anew();
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		hazard_launch(hazard_mix, hazard_x, iteration / 50, stream);
		if (hazard_springs(iteration))
			hazard_launch(hazard_turn, hazard_x, iteration, stream);
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		hazard_settle_again(iteration, stream);
	}
	hazard_print("x", hazard_x);
}

const struct hazard clock_hazards[] = {
	{"counter_jumps", counter_jumps},
	{NULL, NULL},
};
