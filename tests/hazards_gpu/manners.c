/* Signals, small stacks, cancelled threads; what calls leave in the thread; what a program forbids
 * itself. */
#include "hazard.h"

#include <errno.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void note_signal(int signal)
{
	(void)signal;
	signals = signals + 1;
}

static void every_millisecond(int signal, int timer, int flags)
{
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = flags};
	struct itimerval interval = {{0, 1000}, {0, 1000}};

	sigaction(signal, &action, NULL);
	setitimer(timer, &interval, NULL);
}

static sigjmp_buf way_back;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(way_back, 1);
}

/* Interrupts the program's own waiting, while work is under way, by a jump out of the handler. */
static void wait_until_interrupted(unsigned microseconds)
{
	struct sigaction action = {.sa_handler = jump}, before;

	sigaction(SIGVTALRM, &action, &before);
	if (sigsetjmp(way_back, 1) == 0) {
		setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {0, microseconds}}, NULL);
		for (;;)
			continue;
	}
	sigaction(SIGVTALRM, &before, NULL);
}

/* A profiler's signal a thousand times a second, on an alternate stack, which interrupts every
 * system call; and jumps. */
static void signal_handlers(void)
{
	static char stack[1 << 16];
	struct mirror mirror;
	cudaStream_t stream;

	EXPECT(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL) == 0,
	       "no alternate stack");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	every_millisecond(SIGPROF, ITIMER_PROF, SA_ONSTACK);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i) && i % 5 == 0)
			wait_until_interrupted(50 + i % 300);
		mirror_mix(&mirror, i, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
	EXPECT(signals > 0, "no signal came");
}

/* ---- stacks ---- */

#define STACK (1u << 20)
#define PAINT 0xa5

static unsigned char *
	thread_begins; /* above it on the stack are the thread's descriptor and its thread-local data */

static void *work_on_painted_stack(void *given)
{
	struct mirror *mirror = given;
	cudaStream_t stream;

	thread_begins = __builtin_frame_address(0);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(mirror, stream);
		mirror_mix(mirror, trap_at(i) ? i : 7, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	return NULL;
}

/* How much stack a thread's calls need, and its thread-local data, on stderr: scripts/gpu-test
 * compares both runs. */
static void stack_use(void)
{
	unsigned char *stack =
		mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mirror mirror;
	pthread_attr_t attributes;
	pthread_t thread;
	unsigned untouched = 0;

	mirror_init(&mirror);
	EXPECT(stack != MAP_FAILED, "no memory for a stack");
	memset(stack, PAINT, STACK);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK);
	EXPECT(!pthread_create(&thread, &attributes, work_on_painted_stack, &mirror), "no thread");
	pthread_join(thread, NULL);
	while (untouched < STACK && stack[untouched] == PAINT)
		untouched++;
	fprintf(stderr, "stack=%td thread_local=%td\n", thread_begins - (stack + untouched),
	        stack + STACK - thread_begins);
	mirror_verify(&mirror, ITERATIONS);
}

/* ---- cancellation ---- */

static void *go_on_until_cancelled(void *given)
{
	struct mirror *mirror = given;
	cudaStream_t stream;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0;; i++) {
		mirror_body(mirror, stream);
		if (i == HOT + 50)
			pthread_cancel(pthread_self());
		if (i % 100 == 0)
			CHECK(cudaStreamSynchronize(stream));
		/* Here alone: the driver does not promise that its calls are no cancellation points. */
		pthread_setcancelstate(before, NULL);
		pthread_testcancel();
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	}
	return NULL;
}

/* Threads end by cancellation with work pending, over and over; nothing of it is lost, and nobody
 * waits for them. */
static void cancellation(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	for (unsigned i = 0; i < 8; i++) {
		pthread_t thread;
		void *result = NULL;

		EXPECT(!pthread_create(&thread, NULL, go_on_until_cancelled, &mirror), "no thread");
		pthread_join(thread, &result);
		EXPECT(result == PTHREAD_CANCELED, "the thread was not cancelled");
		mirror_verify(&mirror, i);
	}
}

/* ---- what calls leave in the thread, and what a program forbids itself ---- */

/* From the first loop on, no launch changes errno or sets a flag of the floating-point environment;
 * values change, so that graphs are patched. */
static void thread_state_kept(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	mirror_body(&mirror, stream);
	CHECK(cudaStreamSynchronize(stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		feclearexcept(FE_ALL_EXCEPT);
		errno = EXDEV;
		mirror_body(&mirror, stream);
		mirror_mix(&mirror, i / 64, stream);
		EXPECT(errno == EXDEV, "iteration %u: errno is %d", i, errno);
		EXPECT(fetestexcept(FE_ALL_EXCEPT) == 0, "iteration %u: floating-point flags %#x", i,
		       (unsigned)fetestexcept(FE_ALL_EXCEPT));
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A filter of system calls that ends the process where a thread is started, set after the first
 * work on the device. */
static void locked_in(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	mirror_body(&mirror, stream);
	CHECK(cudaStreamSynchronize(stream));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		hazard_skip("a process may not lock itself in here");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

const struct hazard manners_hazards[] = {
	{"thread_state_kept", thread_state_kept}, {"locked_in", locked_in},
	{"signal_handlers", signal_handlers},     {"stack_use", stack_use},
	{"cancellation", cancellation},           {NULL, NULL},
};
