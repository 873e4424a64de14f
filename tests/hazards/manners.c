/* Signals, small stacks, threads that are cancelled or end: what a library in somebody else's
 * process has to bear. */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hazard.h"

void hazard_set_up(void);

/* ---- signals ---- */

static volatile sig_atomic_t signals;

static void write_something(int signal)
{
	signals = signals + 1;
	if (write(STDERR_FILENO, "", 0) < 0)
		signals = -1;
}

static void every_millisecond(int signal, int timer, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval interval = {{0, 1000}, {0, 1000}};

	sigaction(signal, &action, NULL);
	setitimer(timer, &interval, NULL);
}

static void hot_loop(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	printf("signals came: %d\n", signals > 0);
	hazard_print("x", hazard_x);
}

/* A profiler of the host's code, and a timer, interrupt everything once a millisecond; no call is
 * restarted. */
static void signal_handler(void)
{
	every_millisecond(SIGPROF, ITIMER_PROF, write_something, 0);
	every_millisecond(SIGUSR1, ITIMER_PROF, write_something, 0);
	every_millisecond(SIGALRM, ITIMER_REAL, write_something, 0);
	hot_loop();
}

static void use_stack(void *memory, size_t size)
{
	if (sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = size}, NULL) != 0)
		abort();
}

/* Sanitizers want much of a stack for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HANDLER_LEAST (1u << 16)
#else
#define HANDLER_LEAST 512u
#endif

/* 4 KiB, or what the kernel itself puts there and the handler needs. */
static void alternate_stack(void)
{
	size_t least = getauxval(AT_MINSIGSTKSZ) + HANDLER_LEAST, size = least > 4096 ? least : 4096;

	write_something(0); /* the loader finds write() elsewhere than there */
	use_stack(malloc(size), size);
	every_millisecond(SIGPROF, ITIMER_PROF, write_something, SA_ONSTACK | SA_RESTART);
	hot_loop();
}

static sigjmp_buf way_back;

static void jump(int signal)
{
	siglongjmp(way_back, 1);
}

/* A signal ends the program's own waiting, by a jump, while ops are deferred. */
static void signal_longjmp(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct sigaction action = {.sa_handler = jump};

	sigaction(SIGALRM, &action, NULL);
	for (volatile unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, hazard_x, i, stream);
			if (i != CHAIN / 2 || !hazard_springs(iteration) || sigsetjmp(way_back, 1) != 0)
				continue;
			setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 20 + iteration % 400}},
			          NULL);
			for (;;)
				pause();
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

static void leave(int signal)
{
	exit(7);
}

static void loop_until_signal(unsigned microseconds)
{
	CUstream stream;

	hazard_set_up();
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	signal(SIGVTALRM, leave);
	for (unsigned iteration = 0;; iteration++) {
		hazard_chain(hazard_x, stream);
		if (iteration % 8 == 0)
			CHECK(cuStreamSynchronize(stream));
		if (iteration == 400)
			setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {0, microseconds}}, NULL);
	}
}

/* A handler calls exit, wherever the program is. */
static void signal_exit(void)
{
	for (unsigned child = 0; child < 16; child++) {
		int status = 0;
		pid_t process;

		fflush(stdout);
		process = fork();
		if (process == 0) {
			alarm(5);
			loop_until_signal(1000 + child * 321);
		}
		waitpid(process, &status, 0);
		printf("child ended with %d, by signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
	}
}

/* Stopped and continued, as by a terminal or a scheduler, every other millisecond. */
static void stop_and_continue(void)
{
	pid_t program = getpid(), other = fork();
	int status;

	if (other == 0) {
		for (unsigned i = 0; i < 60 && getppid() == program; i++) {
			kill(program, SIGSTOP);
			usleep(i % 4 * 500);
			kill(program, SIGCONT);
			usleep(1000 + i % 7 * 300);
		}
		_exit(0);
	}
	hazard_set_up();
	signals = 1;
	hot_loop();
	/* Not killed: that could come between its stop and its continue, and nothing would wake this
	 * process. */
	waitpid(other, &status, 0);
}

/* ---- threads ---- */

#define THREADS 4u
/* Sanitizers want much of a stack for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK (1u << 22)
#define STACK_LEAST STACK
#else
#define STACK (1u << 18)
#define STACK_LEAST 0u
#endif
#define PAINT 0xa5

/* What each thread works on. */
static struct {
	CUdeviceptr x;
	CUstream stream;
	unsigned iterations;
} own[THREADS];

static void give_each_its_own(void)
{
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK(cuMemAlloc(&own[i].x, WORDS * 4));
		CHECK(cuMemsetD32(own[i].x, i, WORDS));
		own[i].stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	}
	CHECK(cuCtxSynchronize());
}

static void print_each(void)
{
	for (unsigned i = 0; i < THREADS; i++) {
		printf("%u iterations\n", own[i].iterations);
		hazard_print("x", own[i].x);
	}
}

static void run_threads(void *(*run)(void *), size_t stack)
{
	pthread_t threads[THREADS];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (stack > 0)
		pthread_attr_setstacksize(&attributes, stack);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &attributes, run, &own[i]) != 0)
			abort();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_attr_destroy(&attributes);
}

/* All that may become deep: replays, updates of nodes and of whole graphs, side exits. */
static void *work_on_a_small_stack(void *mine)
{
	unsigned i = (unsigned)((__typeof__(&own[0]))mine - own);

	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned k = 0; k < CHAIN; k++)
			hazard_launch(k % 2 == 0 ? hazard_mix : hazard_turn, own[i].x,
			              k % 8 == 3 ? iteration : k, own[i].stream);
		CHECK(cuMemcpyAsync(own[i].x + (hazard_springs(iteration) ? 4 : 0),
		                    own[i].x + (hazard_springs(iteration) ? 0 : 4), 4, own[i].stream));
		CHECK(cuStreamSynchronize(own[i].stream));
	}
	return NULL;
}

static size_t least_stack(void)
{
	size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);

	return least > STACK_LEAST ? least : STACK_LEAST;
}

/* Threads with the least stack there may be; and how much one needs, on stderr, for compare.py to
 * compare. */
static void small_stacks(void)
{
	unsigned char *stack =
		mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	unsigned untouched = 0;

	give_each_its_own();
	run_threads(work_on_a_small_stack, least_stack());
	memset(stack, PAINT, STACK);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK);
	if (pthread_create(&thread, &attributes, work_on_a_small_stack, &own[0]) != 0)
		abort();
	pthread_join(thread, NULL);
	while (untouched < STACK && stack[untouched] == PAINT)
		untouched++;
	fprintf(stderr, "stack=%u\n", STACK - untouched);
	print_each();
}

static CUstream stream_of_handler;
static CUdeviceptr x_of_handler;

static void work_in_handler(int signal)
{
	static unsigned turn;

	hazard_chain(x_of_handler, stream_of_handler);
	hazard_launch(hazard_mix, x_of_handler, turn++, stream_of_handler);
	CHECK(cuStreamSynchronize(stream_of_handler));
}

/* A handler that launches and waits, on a stack of its own; and how much it needs of that. */
static void handler_stack(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct sigaction action = {.sa_handler = work_in_handler, .sa_flags = SA_ONSTACK};
	unsigned char *stack = malloc(STACK);
	unsigned untouched = 0;

	stream_of_handler = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc(&x_of_handler, WORDS * 4));
	CHECK(cuMemsetD32(x_of_handler, 1, WORDS));
	CHECK(cuCtxSynchronize());
	use_stack(memset(stack, PAINT, STACK), STACK);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		hazard_part_of_chain(hazard_x, CHAIN / 2, stream);
		raise(SIGUSR1);
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	while (untouched < STACK && stack[untouched] == PAINT)
		untouched++;
	fprintf(stderr, "stack=%u\n", STACK - untouched);
	hazard_print("x", hazard_x);
	hazard_print("of the handler", x_of_handler);
}

/* The thread is to be cancelled, but is not until it says so itself: no call that it makes is a
 * point where that may happen. */
static void *go_on_though_cancelled(void *mine)
{
	unsigned i = (unsigned)((__typeof__(&own[0]))mine - own);

	CHECK(cuCtxSetCurrent(hazard_context));
	for (;; own[i].iterations++) {
		if (own[i].iterations == 60)
			hazard_await_graphs();
		if (own[i].iterations == 100)
			pthread_cancel(pthread_self());
		if (own[i].iterations == 900)
			pthread_testcancel(); /* with half a chain pending */
		hazard_chain(own[i].x, own[i].stream);
		for (unsigned k = 0; k < CHAIN / 2; k++)
			hazard_launch(hazard_mix, own[i].x, own[i].iterations, own[i].stream);
		if (own[i].iterations < 100)
			CHECK(cuStreamSynchronize(
				own[i].stream)); /* graphs are built when there is nothing to do */
	}
	return NULL;
}

static void cancellation(void)
{
	give_each_its_own();
	run_threads(go_on_though_cancelled, 0);
	for (unsigned i = 0; i < THREADS; i++)
		hazard_chain(own[i].x, own[i].stream); /* nobody holds anything that this would wait for */
	print_each();
}

/* Threads come and go, each leaving ops behind that nobody has issued yet. */
static void *leave_in_the_middle(void *mine)
{
	unsigned i = (unsigned)((__typeof__(&own[0]))mine - own);

	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned k = 0; k < 40; k++, own[i].iterations++) {
		hazard_chain(own[i].x, own[i].stream);
		CHECK(cuStreamSynchronize(own[i].stream));
	}
	for (unsigned k = 0; k < CHAIN / 2; k++)
		hazard_launch(k % 2 == 0 ? hazard_mix : hazard_turn, own[i].x, k * 7 + 1, own[i].stream);
	pthread_exit(NULL);
}

static void thread_exit(void)
{
	give_each_its_own();
	for (unsigned round = 0; round < 30; round++)
		run_threads(leave_in_the_middle, 0);
	print_each();
}

const struct hazard manners_hazards[] = {
	{"signal_handler", signal_handler},
	{"alternate_stack", alternate_stack},
	{"signal_longjmp", signal_longjmp},
	{"signal_exit", signal_exit},
	{"stop_and_continue", stop_and_continue},
	{"small_stacks", small_stacks},
	{"handler_stack", handler_stack},
	{"cancellation", cancellation},
	{"thread_exit", thread_exit},
	{NULL, NULL},
};
