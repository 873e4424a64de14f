/* What is the program's own: its threads' policies and processors, errno, dlerror, floating point,
 * file numbers, its own end; and what it forbids itself. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../include/reprise/reprise.h"
#include "hazard.h"

#define LEARNT 60 /* iterations, after which a loop waits for its graphs */

static void loop(CUdeviceptr x, unsigned iterations)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < iterations; iteration++) {
		if (iteration == LEARNT)
			hazard_await_graphs();
		hazard_chain(x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
}

/* ---- policies and processors ---- */

static bool is_named(pid_t thread, const char *begin)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)thread);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	if (fgets(name, sizeof(name), file) == NULL)
		name[0] = '\0';
	fclose(file);
	return strncmp(name, begin, strlen(begin)) == 0;
}

/* Threads of that name that are real-time, or may run on fewer processors than `all`. */
static unsigned in_the_way(const char *name, int all)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned count = 0;

	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		pid_t thread = (pid_t)atoi(entry->d_name);
		cpu_set_t set;

		if (thread == 0 || !is_named(thread, name) ||
		    sched_getaffinity(thread, sizeof(set), &set) != 0)
			continue;
		count += sched_getscheduler(thread) == SCHED_FIFO || CPU_COUNT(&set) < all;
	}
	if (folder != NULL)
		closedir(folder);
	return count;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The thread has one processor for itself and leaves it to nobody: it looks at memory that deferred
 * kernels write. */
static void real_time(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	volatile uint32_t *host;
	cpu_set_t before, one;
	CUdeviceptr mapped;
	void *memory;
	uint32_t expected = 0;
	unsigned late = 0;

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	sched_setscheduler(0, SCHED_FIFO,
	                   &(struct sched_param){.sched_priority = 10}); /* where it is allowed */
	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, memory, 0));
	host = memset(memory, 0, WORDS * 4);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2 && late == 0; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			double begin = seconds();

			hazard_launch(hazard_mix, mapped, i, stream);
			expected = hazard_mixed(expected, 5, i);
			while (hazard_springs(iteration) && i == CHAIN / 2 && host[WORDS - 1] != expected &&
			       late == 0)
				late += seconds() - begin > 10;
		}
		CHECK(cuStreamSynchronize(stream));
	}
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
	printf("late %u, in the way %u\n", late, in_the_way("reprise-", CPU_COUNT(&before)));
	hazard_print("x", mapped);
}

/* ---- what a program forbids itself ---- */

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

	loop(hazard_x, 1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		printf("not locked in\n");
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
}

/* What these programs call, and the simulated driver, once it is set up. */
static const int own_calls[] = {
	SYS_brk,        SYS_clock_nanosleep, SYS_close,       SYS_exit,  SYS_exit_group, SYS_fstat,
	SYS_ftruncate,  SYS_futex,           SYS_madvise,     SYS_mmap,  SYS_mprotect,   SYS_munmap,
	SYS_newfstatat, SYS_prlimit64,       SYS_sched_yield, SYS_write,
};

/* What Reprise calls beside these: docs/design/hostile.md, held by tests/ways/test_system_calls.py.
 */
static const int calls_of_reprise[] = {
#define X(name) SYS_##name,
#include "calls.h"
#undef X
};

#define MOST_CALLS 64

static void add_calls(struct sock_filter *filter, size_t *length, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		filter[(*length)++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		filter[(*length)++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
}

/* From now on, all threads get an error of every other call: FILTER_ERROR of the environment. */
static void allow_calls(bool of_reprise)
{
	const char *error = getenv("FILTER_ERROR");
	struct sock_filter filter[2 * MOST_CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	size_t length = 1;
	struct sock_fprog program = {.filter = filter};

	add_calls(filter, &length, own_calls, sizeof(own_calls) / sizeof(own_calls[0]));
	if (of_reprise)
		add_calls(filter, &length, calls_of_reprise,
		          sizeof(calls_of_reprise) / sizeof(calls_of_reprise[0]));
	filter[length++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	                                 SECCOMP_RET_ERRNO |
	                                     (error != NULL ? (unsigned)atoi(error) : EPERM));
	program.len = (unsigned short)length;
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		printf("not filtered\n");
}

/* On stderr, for compare.py: ops that came to the driver one by one. */
static void tell_eager(void)
{
	struct reprise_counts counts = {0};

	reprise_read_counts(&counts, sizeof(counts));
	fprintf(stderr, "eager=%d\n", (int)(ITERATIONS * CHAIN) - (int)counts.replayed);
}

static void own_calls_only(void)
{
	allow_calls(false);
	loop(hazard_x, ITERATIONS);
	tell_eager();
	hazard_print("x", hazard_x);
}

static void own_calls_only_later(void)
{
	loop(hazard_x, 1);
	allow_calls(false);
	loop(hazard_x, ITERATIONS);
	tell_eager();
	hazard_print("x", hazard_x);
}

static void needed_calls_only(void)
{
	allow_calls(true);
	loop(hazard_x, ITERATIONS);
	tell_eager();
	hazard_print("x", hazard_x);
}

/* ---- what calls leave in the thread ---- */

/* Whatever is inexact ends the process, in all threads; values change, so that graphs are patched.
 */
static void floating_point(void)
{
	CUstream stream;

	feclearexcept(FE_ALL_EXCEPT);
#if defined(__x86_64__)
	feenableexcept(FE_ALL_EXCEPT);
#endif
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		if (iteration % 64 == 60)
			hazard_await_graphs();
		for (unsigned i = 0; i < CHAIN; i++)
			hazard_launch(hazard_mix, hazard_x, i + (iteration & 64 ? iteration : 0), stream);
		CHECK(cuStreamSynchronize(stream));
	}
	printf("flags %d\n", fetestexcept(FE_ALL_EXCEPT));
	hazard_print("x", hazard_x);
}

/* There is no room for another thread, nor for much else: that is nothing which errno tells the
 * program. */
static void errno_kept(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned changed = 0;

	hazard_limit_address_space(1u << 18);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			errno = EXDEV;
			hazard_launch(hazard_mix, hazard_x, i, stream);
			changed += errno != EXDEV;
		}
		errno = EXDEV;
		CHECK(cuStreamSynchronize(stream));
		changed += errno != EXDEV;
	}
	printf("errno changed %u times\n", changed);
	hazard_print("x", hazard_x);
}

static const char *changed_by; /* the first call that changed errno */
static unsigned calls_that_changed;

#define KEPT(call) \
	do { \
		errno = EXDEV; \
		CHECK(call); \
		if (errno != EXDEV && calls_that_changed++ == 0) \
			changed_by = #call; \
	} while (0)

static void CUDA_CB do_nothing(void *unused)
{
	(void)unused;
}

/* Of every kind of door one, or more: ops, orders of streams, events, waits, questions, ends,
 * memory, attributes, captures. */
static void call_all(unsigned iteration, CUdeviceptr pinned_at, CUdeviceptr words, CUevent event,
                     CUstream stream, CUstream other)
{
	CUstreamAttrValue value = {.priority = 0};
	CUgraphExec executable;
	CUdeviceptr memory;
	CUmodule module;
	CUstream ending;
	CUevent marked;
	CUgraph graph;
	int number;

	for (unsigned i = 0; i < CHAIN; i++) {
		void *params[] = {&hazard_x, &hazard_y, &i};

		KEPT(cuLaunchKernel(i % 2 == 0 ? hazard_mix : hazard_turn, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                    params, NULL));
	}
	KEPT(cuMemcpyAsync(pinned_at, hazard_x, 64, stream));
	KEPT(cuMemsetD32Async(words, 5, 4, stream));
	KEPT(cuStreamSynchronize(stream));
	if (iteration % 20 != 19)
		return;
	KEPT(cuLaunchHostFunc(stream, do_nothing, NULL));
	KEPT(cuStreamWriteValue32(stream, words, 5, 0));
	KEPT(cuMemsetD8Async(words + 192, 5, 4, CU_STREAM_PER_THREAD));
	KEPT(cuEventRecord(event, stream));
	KEPT(cuStreamWaitEvent(other, event, CU_EVENT_WAIT_DEFAULT));
	KEPT(cuMemsetD32Async(words + 64, 5, 4, other));
	KEPT(cuEventSynchronize(event));
	KEPT(cuEventQuery(event));
	KEPT(cuCtxSynchronize());
	KEPT(cuStreamQuery(stream));
	KEPT(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, hazard_mix));
	KEPT(cuFuncSetAttribute(hazard_fold, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	                        (int)(iteration % 100)));
	KEPT(cuEventCreate(&marked, CU_EVENT_DEFAULT));
	KEPT(cuEventRecord(marked, other));
	KEPT(cuEventDestroy(marked));
	KEPT(cuStreamCreate(&ending, CU_STREAM_NON_BLOCKING));
	KEPT(cuMemsetD32Async(words + 128, 5, 4, ending));
	KEPT(cuStreamSetAttribute(ending, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
	KEPT(cuMemAllocAsync(&memory, 256, ending));
	KEPT(cuMemFreeAsync(memory, ending));
	KEPT(cuStreamDestroy(ending));
	KEPT(cuMemAlloc(&memory, 256));
	KEPT(cuMemFree(memory));
	KEPT(cuModuleLoad(&module, hazard_module_path));
	KEPT(cuModuleUnload(module));
	hazard_part_of_chain(hazard_x, 3, stream);
	KEPT(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	KEPT(cuMemsetD32Async(words, 5, 4, stream));
	KEPT(cuStreamEndCapture(stream, &graph));
	KEPT(cuGraphInstantiate(&executable, graph, 0));
	KEPT(cuGraphLaunch(executable, stream));
	KEPT(cuGraphExecDestroy(executable));
	KEPT(cuGraphDestroy(graph));
}

/* Streams that fork and join, so that their lanes do, and events that end then. */
static void fork_and_join(CUdeviceptr words, CUstream stream, CUstream other)
{
	CUevent forks, joins;

	KEPT(cuEventCreate(&forks, CU_EVENT_DISABLE_TIMING));
	KEPT(cuEventCreate(&joins, CU_EVENT_DISABLE_TIMING));
	for (unsigned i = 0; i < 60; i++) {
		KEPT(cuMemsetD32Async(words, 5, 4, stream));
		KEPT(cuEventRecord(forks, stream));
		KEPT(cuStreamWaitEvent(other, forks, CU_EVENT_WAIT_DEFAULT));
		KEPT(cuMemsetD32Async(words + 64, 5, 4, other));
		KEPT(cuEventRecord(joins, other));
		KEPT(cuStreamWaitEvent(stream, joins, CU_EVENT_WAIT_DEFAULT));
		KEPT(cuMemsetD32Async(words, 6, 4, stream));
		KEPT(cuStreamSynchronize(stream));
	}
	KEPT(cuEventDestroy(forks));
	KEPT(cuEventDestroy(joins));
}

static void *call_all_there(void *host)
{
	CUstream stream, other;
	CUdeviceptr pinned, words;
	CUevent event;

	KEPT(cuCtxSetCurrent(hazard_context));
	KEPT(cuMemHostGetDevicePointer(&pinned, host, 0));
	KEPT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	KEPT(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	KEPT(cuMemAlloc(&words, 256));
	KEPT(cuEventCreate(&event, CU_EVENT_DEFAULT));
	for (unsigned iteration = 0; iteration < 160; iteration++) {
		call_all(iteration, pinned, words, event, stream, other);
		if (iteration % 20 == 9)
			hazard_await_graphs();
	}
	fork_and_join(words, stream, other);
	return NULL;
}

/* Whatever Reprise asks the C library for changes errno (spoil.c): from the first call on, and
 * again in a second thread, which does all for the first time. */
static void errno_spoiled(void)
{
	CUcontext context;
	pthread_t thread;
	void *host;

	KEPT(cuInit(0));
	KEPT(cuDevicePrimaryCtxRetain(&context, 0)); /* the first that has a door */
	hazard_set_up();
	KEPT(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
	call_all_there(host);
	pthread_create(&thread, NULL, call_all_there, host);
	pthread_join(thread, NULL);
	printf("errno changed %u times%s%s\n", calls_that_changed,
	       changed_by != NULL ? ", first by " : "", changed_by != NULL ? changed_by : "");
	hazard_print("x", hazard_x);
}

/* An error of the loader's waits until it is asked for, whatever CUDA is called for the first time
 * meanwhile. */
static void pending_dlerror(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUevent event;
	const char *error;

	loop(hazard_x, ITERATIONS / 4);
	if (dlopen("/nowhere/at-all.so", RTLD_NOW) != NULL)
		abort();
	CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
	loop(hazard_x, LEARNT); /* no longer: to wait for graphs, the program looks up a name */
	CHECK(cuEventRecord(event, stream));
	CHECK(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_DEFAULT));
	CHECK(cuEventSynchronize(event));
	CHECK(cuEventDestroy(event));
	CHECK(cuStreamDestroy(stream));
	error = dlerror();
	printf("dlerror: %s\n", error != NULL ? error : "none");
	hazard_print("x", hazard_x);
}

/* ---- file numbers ---- */

/* As a daemon that closes stderr, and gives its number to a file of its own, before it uses CUDA.
 */
static void closed_before(void)
{
	char path[] = "/tmp/closed-before-XXXXXX";
	int scratch = mkstemp(path);
	struct stat status;

	unlink(path);
	dup2(scratch, STDERR_FILENO);
	hazard_set_up();
	loop(hazard_x, ITERATIONS);
	fstat(scratch, &status);
	printf("bytes in the program's file: %ld\n", (long)status.st_size);
	hazard_print("x", hazard_x);
}

/* ---- the end ---- */

static void *end_last(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	loop(hazard_x, ITERATIONS / 8);
	return NULL;
}

static void tell_at_exit(void)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	hazard_print("at exit", hazard_x);
	fflush(stdout);
}

static void *wait_a_while(void *unused)
{
	struct timespec pause = {.tv_nsec = 20000000};

	nanosleep(&pause, NULL);
	return NULL;
}

/* The main thread ends before the others: with one that uses CUDA, or with one that never did. (A
 * driver with threads of its own would keep the process alive.) */
static void end_main_thread(void *(*last)(void *))
{
	pthread_t thread;

	hazard_set_up();
	atexit(tell_at_exit);
	loop(hazard_x, ITERATIONS / 4);
	if (pthread_create(&thread, NULL, last, NULL) != 0)
		abort();
	pthread_exit(NULL);
}

static void end_child(pid_t child)
{
	struct timespec pause = {.tv_nsec = 1000000};
	double begin = seconds();
	int status = -1;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (seconds() - begin > 20)
			kill(child, SIGKILL);
		nanosleep(&pause, NULL);
	}
	printf("child ended with %#x\n", (unsigned)status);
	fflush(stdout);
}

static void main_thread_ends(void)
{
	static void *(*const last[])(void *) = {end_last, wait_a_while};

	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0)
			end_main_thread(last[i]);
		end_child(child);
	}
	hazard_set_up();
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
}

const struct hazard guest_hazards[] = {
	{"real_time", real_time},
	{"locked_in", locked_in},
	{"own_calls_only", own_calls_only},
	{"own_calls_only_later", own_calls_only_later},
	{"needed_calls_only", needed_calls_only},
	{"floating_point", floating_point},
	{"errno_kept", errno_kept},
	{"errno_spoiled", errno_spoiled},
	{"pending_dlerror", pending_dlerror},
	{"closed_before", closed_before},
	{"main_thread_ends", main_thread_ends},
	{NULL, NULL},
};
