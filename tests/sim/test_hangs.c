/* Hangs are found, and said who waits for whom; programs that only take their time are left alone.
 */
#include "sim_test.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <sys/wait.h>

#include "hang.h"

struct ending {
	int status;
	double seconds;
	char text[8192]; /* its stderr */
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs a program of its own in a process of its own. */
static struct ending ending_of(void (*program)(void))
{
	struct ending ending = {.seconds = -seconds()};
	size_t length = 0;
	ssize_t count;
	int ends[2];
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		program();
		_exit(0);
	}
	close(ends[1]);
	while ((count = read(ends[0], ending.text + length, sizeof(ending.text) - 1 - length)) > 0)
		length += (size_t)count;
	close(ends[0]);
	waitpid(child, &ending.status, 0);
	ending.seconds += seconds();
	return ending;
}

/* More than the third of a second that it takes, for machines that are busy; or than SIM_HANG_MS,
 * where a hang is found by its length alone. */
static void assert_hangs(void (*program)(void), const char *const *said)
{
	const char *length_ms = getenv("SIM_HANG_MS");
	double limit = 3 + (length_ms != NULL ? 1e-3 * strtod(length_ms, NULL) : 0);
	struct ending ending = ending_of(program);

	ck_assert_msg(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == SIM_HANG_STATUS,
	              "ended with %x: %s", ending.status, ending.text);
	ck_assert_msg(ending.seconds < limit, "took %.1f s", ending.seconds);
	for (; *said; said++)
		ck_assert_msg(strstr(ending.text, *said) != NULL, "did not say \"%s\": %s", *said,
		              ending.text);
}

static void assert_ends(void (*program)(void))
{
	struct ending ending = ending_of(program);

	ck_assert_msg(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0, "ended with %x: %s",
	              ending.status, ending.text);
	ck_assert_str_eq(ending.text, "");
}

#define SAID(...) ((const char *const[]){__VA_ARGS__, NULL})

static void spin_for_a_kernel_behind(void)
{
	CUdeviceptr flags;

	start();
	flags = words();
	CU(wait_flag(flags, 1, flags + 8, stream));
	CU(set_flag(flags, 1, stream));
	CU(cuStreamSynchronize(stream));
}

START_TEST(a_kernel_that_spins_for_one_behind_it_is_found)
{
	assert_hangs(spin_for_a_kernel_behind,
	             SAID("thread 1, in cuStreamSynchronize, waits for op", "kernel wait_flag", "spins",
	                  "kernel set_flag", "waits for op"));
}
END_TEST

static void *wait_for_other(void *unused)
{
	CU(cuCtxSetCurrent(context));
	CU(cuStreamSynchronize(other));
	return unused;
}

/* The other stream's work waits for the flag of the first, whose own kernel waits for the other's.
 */
static void spin_for_each_other(void)
{
	CUdeviceptr flags;
	pthread_t thread;

	start();
	flags = words();
	CU(wait_flag(flags, 1, flags + 8, stream));
	CU(set_flag(flags + 4, 1, stream));
	CU(wait_flag(flags + 4, 1, flags + 12, other));
	CU(set_flag(flags, 1, other));
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_other, NULL), 0);
	CU(cuStreamSynchronize(stream));
}

START_TEST(two_streams_that_spin_for_each_others_later_kernels_are_found)
{
	assert_hangs(spin_for_each_other,
	             SAID("thread 1, in cuStreamSynchronize, waits for op 4",
	                  ", in cuStreamSynchronize, waits for op 6", "stream 1: kernel wait_flag",
	                  "stream 2: kernel wait_flag", "stream 1: kernel set_flag",
	                  "stream 2: kernel set_flag"));
}
END_TEST

static void copy_behind_a_spinning_kernel(void)
{
	CUdeviceptr flags;

	start();
	flags = words();
	CU(wait_flag(flags, 1, flags + 8, CU_STREAM_LEGACY));
	word(flags, 2);
}

START_TEST(a_copy_that_waits_for_a_flag_nobody_sets_is_found)
{
	assert_hangs(copy_behind_a_spinning_kernel,
	             SAID("in cuMemcpyDtoH_v2, waits", "kernel wait_flag"));
}
END_TEST

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take_mutex(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
}

static void wait_with_the_lock_of_a_host_function(void)
{
	start();
	pthread_mutex_lock(&mutex);
	CU(cuLaunchHostFunc(stream, take_mutex, NULL));
	CU(cuStreamSynchronize(stream));
}

START_TEST(a_host_function_that_needs_the_lock_of_the_thread_that_waits_is_found)
{
	assert_hangs(wait_with_the_lock_of_a_host_function,
	             SAID("thread 1, in cuStreamSynchronize", "host runs"));
}
END_TEST

/* No thread is inside the driver: the host function that would give the lock back is behind the
 * kernel. */
static void wait_outside_the_driver(void)
{
	CUdeviceptr flags;

	start();
	flags = words();
	CU(wait_flag(flags, 1, flags + 8, stream));
	CU(set_flag(flags, 1, stream));
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
}

START_TEST(a_program_asleep_for_good_while_a_kernel_spins_is_found)
{
	assert_hangs(wait_outside_the_driver,
	             SAID("no thread waits in the driver", "kernel wait_flag", "kernel set_flag"));
}
END_TEST

static void poll_for_good(void)
{
	CUdeviceptr flags;

	setenv("SIM_HANG_MS", "300", 1);
	start();
	flags = words();
	CU(wait_flag(flags, 1, flags + 8, stream));
	while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		;
}

START_TEST(a_program_that_polls_for_good_is_found_after_a_longer_time)
{
	assert_hangs(poll_for_good, SAID("nothing has moved for 300 ms\n", "kernel wait_flag"));
}
END_TEST

static CUgraph graph;
static bool instantiated;

static void *instantiate(void *unused)
{
	CUgraphExec exec;

	CU(cuCtxSetCurrent(context));
	CU(cuGraphInstantiate(&exec, graph, 0));
	__atomic_store_n(&instantiated, true, __ATOMIC_SEQ_CST);
	return unused;
}

/* The launch that the kernel spins for comes behind words written, nothing that Reprise makes
 * graphs of; one of them finds the other thread at it. */
static void launch_beside_an_instantiation(void)
{
	CUdeviceptr flags, list;
	pthread_t thread;

	start();
	flags = words();
	list = words();
	CU(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
	CU(set_flag(list, 0, other));
	CU(cuStreamEndCapture(other, &graph));
	CU(wait_flag(flags, 1, flags + 8, stream));
	ck_assert_int_eq(pthread_create(&thread, NULL, instantiate, NULL), 0);
	while (!__atomic_load_n(&instantiated, __ATOMIC_SEQ_CST))
		CU(cuStreamWriteValue32(other, list, 0, 0));
	CU(set_flag(flags, 1, other));
	pthread_join(thread, NULL);
	CU(cuCtxSynchronize());
}

static void launch_beside_an_instantiation_with_room(void)
{
	setenv("SIM_GRAPH_ROOM", "2M", 1);
	launch_beside_an_instantiation();
}

START_TEST(a_kernel_that_spins_for_a_launch_held_back_by_a_growing_heap_is_found)
{
	assert_hangs(launch_beside_an_instantiation,
	             SAID(", waits for thread ", ", in cuGraphInstantiateWithFlags, waits for op ",
	                  "kernel wait_flag", "spins"));
	assert_ends(launch_beside_an_instantiation_with_room);
}
END_TEST

/* Long enough that Reprise wants a graph of the loop, which it cannot have while the kernel spins.
 */
static void free_behind_a_spinning_kernel(void)
{
	CUdeviceptr flags, list;

	start();
	flags = words();
	list = words();
	CU(wait_flag(flags, 1, flags + 8, stream));
	for (unsigned i = 0; i < 1000; i++) {
		CU(set_flag(list, 0, other));
		CU(set_flag(list + 4, 0, other));
		CU(cuStreamSynchronize(other));
	}
	CU(cuMemFree(list));
}

START_TEST(memory_freed_behind_a_spinning_kernel_after_a_loop_is_found)
{
	assert_hangs(free_behind_a_spinning_kernel,
	             SAID("thread 1, in cuMemFree_v2, waits", "kernel wait_flag", "spins"));
}
END_TEST

/* A thread of the program sets a flag after some time, and calls nothing. */
struct setter {
	volatile unsigned *flag;
	bool busy;
};

static void *set_later(void *argument)
{
	const struct setter *setter = argument;
	double end = seconds() + 0.3;

	if (!setter->busy)
		usleep(300000);
	while (seconds() < end)
		;
	*setter->flag = 1;
	return NULL;
}

static void wait_for_a_thread(bool busy)
{
	struct setter setter = {.busy = busy};
	pthread_t thread;

	start();
	CU(cuMemHostAlloc((void **)&setter.flag, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	setter.flag[0] = setter.flag[1] = 0;
	CU(wait_flag((CUdeviceptr)(uintptr_t)setter.flag, 1, (CUdeviceptr)(uintptr_t)(setter.flag + 1),
	             stream));
	ck_assert_int_eq(pthread_create(&thread, NULL, set_later, &setter), 0);
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(setter.flag[1], 1);
	pthread_join(thread, NULL);
}

static void wait_for_a_busy_thread(void)
{
	wait_for_a_thread(true);
}

static void wait_for_a_sleeping_thread(void)
{
	wait_for_a_thread(false);
}

START_TEST(a_kernel_may_wait_for_a_thread_that_computes_or_sleeps)
{
	assert_ends(wait_for_a_busy_thread);
	assert_ends(wait_for_a_sleeping_thread);
}
END_TEST

static void spin_legally(void)
{
	CUdeviceptr flags;
	unsigned i;

	start();
	flags = words();
	for (i = 1; i <= 50; i++) {
		CU(wait_flag(flags, i, flags + 8, stream));
		CU(set_flag(flags + 4, i, stream));
		CU(set_flag(flags, i, other));
		CU(wait_flag(flags + 4, i, flags + 12, other));
	}
	CU(cuStreamSynchronize(stream));
	CU(cuStreamSynchronize(other));
	ck_assert_uint_eq(word(flags, 2), 50);
	ck_assert_uint_eq(word(flags, 3), 50);
}

static void *wait_for_stream(void *unused)
{
	CU(cuCtxSetCurrent(context));
	CU(cuStreamSynchronize(stream));
	return unused;
}

/* Nothing happens for a long time but that two kernels change a word. */
static void volley(void)
{
	unsigned even = 0, odd = 1, end = 600;
	CUdeviceptr ball;
	pthread_t thread;

	start();
	ball = words();
	CU(launch("volley", stream, (void *[]){&ball, &even, &end}));
	CU(launch("volley", other, (void *[]){&ball, &odd, &end}));
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_stream, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(word(ball, 0), 600);
}

START_TEST(kernels_that_spin_and_get_on_are_left_alone)
{
	assert_ends(spin_legally);
	assert_ends(volley);
}
END_TEST

RUN("hangs", a_kernel_that_spins_for_one_behind_it_is_found,
    two_streams_that_spin_for_each_others_later_kernels_are_found,
    a_copy_that_waits_for_a_flag_nobody_sets_is_found,
    a_host_function_that_needs_the_lock_of_the_thread_that_waits_is_found,
    a_program_asleep_for_good_while_a_kernel_spins_is_found,
    a_program_that_polls_for_good_is_found_after_a_longer_time,
    a_kernel_that_spins_for_a_launch_held_back_by_a_growing_heap_is_found,
    memory_freed_behind_a_spinning_kernel_after_a_loop_is_found,
    a_kernel_may_wait_for_a_thread_that_computes_or_sleeps,
    kernels_that_spin_and_get_on_are_left_alone)
