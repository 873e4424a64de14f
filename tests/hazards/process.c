/* What a program may do with its process: fork in every way, close its files, live within limits.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hazard.h"

#define CANNOT 77

void hazard_set_up(void);

static void loop(CUdeviceptr x, unsigned iterations)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < iterations; iteration++) {
		if (iteration == 60)
			hazard_await_graphs();
		hazard_chain(x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
}

static pid_t start(const char *program)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(program, program, NULL);
		_exit(3);
	}
	return child;
}

static bool ends_with(pid_t child, int exit_status)
{
	int status = -1;

	return waitpid(child, &status, 0) == child && status == exit_status << 8;
}

/* Another program is started by vfork, which shares this one's memory until then, while ops are
 * deferred. */
static void vfork_mid_loop(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	unsigned started = 0;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			hazard_launch(hazard_mix, hazard_x, i, stream);
			if (i == CHAIN / 2 && hazard_springs(iteration))
				started += ends_with(start(iteration % 2 == 0 ? "/bin/true" : "/nowhere"),
				                     iteration % 2 == 0 ? 0 : 3);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	printf("started %u\n", started);
	hazard_print("x", hazard_x);
}

static atomic_bool forking_is_over;

static void *keep_busy(void *unused)
{
	CUdeviceptr x;

	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuMemAlloc(&x, WORDS * 4));
	while (!forking_is_over)
		loop(x, 50);
	return NULL;
}

/* One of several threads forks; the children use no CUDA, and end by exit, whose handlers are the
 * parent's. */
static void fork_threads(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_t threads[2];
	unsigned ended = 0;

	for (unsigned i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, keep_busy, NULL) != 0)
			abort();
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			pid_t child = i == CHAIN / 2 && hazard_springs(iteration) ? fork() : -1;

			if (child == 0)
				exit(9);
			if (child > 0)
				ended += ends_with(child, 9);
			hazard_launch(hazard_mix, hazard_x, i, stream);
		}
		CHECK(cuStreamSynchronize(stream));
	}
	forking_is_over = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("children ended as they should: %u\n", ended);
	hazard_print("x", hazard_x);
}

static atomic_bool has_asked;

/* Its first call is one that Reprise sees, and that the driver refuses. */
static void *ask_too_early(void *unused)
{
	if (cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED)
		printf("the driver was there already\n");
	has_asked = true;
	return unused;
}

/* A thread makes the first call, and before that has returned another one forks: both processes use
 * CUDA. */
static void fork_while_starting(void)
{
	pthread_t thread;
	pid_t child;

	pthread_create(&thread, NULL, ask_too_early, NULL);
	pthread_detach(thread); /* the child has none to join */
	usleep(100000);         /* slowstart.c: Reprise is starting by now, and goes on for a while */
	child = fork();
	if (child == 0) {
		alarm(20);
		hazard_set_up();
		loop(hazard_x, ITERATIONS / 4);
		hazard_print("child", hazard_x);
		exit(0);
	}
	printf("child ended as it should: %d\n", ends_with(child, 0));
	while (!has_asked)
		usleep(1000);
	hazard_set_up();
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
}

/* Becomes a daemon before it uses CUDA: the grandchild does the work, without a terminal, in
 * another folder. */
static void daemonise(void)
{
	int ends[2], status = -1;
	char none;
	pid_t child;

	if (pipe(ends) != 0)
		exit(1);
	child = fork();
	if (child == 0) {
		setsid();
		if (fork() != 0)
			_exit(0); /* the grandchild's output ends the runner's waiting */
		if (chdir("/") != 0 || freopen("/dev/null", "r", stdin) == NULL ||
		    freopen("/dev/null", "w", stderr) == NULL)
			_exit(1);
		hazard_set_up();
		loop(hazard_x, ITERATIONS);
		hazard_print("grandchild", hazard_x);
		exit(0);
	}
	close(ends[1]);
	waitpid(child, &status, 0);
	if (read(ends[0], &none, 1) != 0) /* until the grandchild has ended, too: which of the two
	                                     prints first must not be chance */
		exit(1);
	printf("child ended with %d\n", status);
}

/* Stdin, stdout and stderr are closed, and files of the program's own have their numbers: nothing
 * is written there but by itself. */
static void closed_streams(void)
{
	char path[] = "/tmp/closed-streams-XXXXXX";
	int out = fcntl(STDOUT_FILENO, F_DUPFD, 100), scratch = mkstemp(path);
	struct stat status;

	unlink(path);
	for (int file = 0; file <= 2; file++)
		dup2(scratch, file);
	loop(hazard_x, ITERATIONS);
	fstat(scratch, &status);
	dup2(out, STDOUT_FILENO);
	printf("bytes in the program's file: %ld\n", (long)status.st_size);
	hazard_print("x", hazard_x);
}

/* Every file is closed that the program did not open itself, as daemons do. */
static void closed_files(void)
{
	loop(hazard_x, ITERATIONS / 2);
	for (int file = 3; file < 1024; file++)
		close(file);
	loop(hazard_x, ITERATIONS / 2);
	hazard_print("x", hazard_x);
}

/* No file may be opened, and none may grow. On a slow machine there may be a report from before the
 * limits. */
static void no_files(void)
{
	const char *report = getenv("REPRISE_REPORT");

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3});
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}); /* the report thread can open files */
	if (report != NULL)
		unlink(report);
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
	fflush(stdout);
}

/* Little address space is left when the loop becomes hot: what Reprise cannot have, it does
 * without. */
static void little_address_space(void)
{
	loop(hazard_x, 1); /* the simulation's own threads are there */
	/* Too little for another of malloc's arenas, which has 64 MiB, or for many threads. */
	hazard_limit_address_space(60u << 20);
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
}

#define NOBODY 54321 /* a user that has no process */

/* A limit holds for root, too, if he has the processes of another user and not these rights. */
static void give_up_being_unlimited(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return;
	data[0].effective &= ~(1u << CAP_SYS_RESOURCE | 1u << CAP_SYS_ADMIN);
	if (setresuid(NOBODY, (uid_t)-1, (uid_t)-1) == 0)
		syscall(SYS_capset, &header, data);
}

static void *do_nothing(void *unused)
{
	return unused;
}

/* Before the first op, the user has as many threads as he may have. */
static void limit_of_threads(void)
{
	pthread_t thread;

	if (geteuid() == 0)
		give_up_being_unlimited();
	setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
	if (pthread_create(&thread, NULL, do_nothing, NULL) == 0) {
		fprintf(stderr, "the limit on threads does not hold here\n");
		exit(CANNOT);
	}
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
}

/* For two seconds no file may grow, whose default is to end the process by a signal; then again. */
static void files_may_not_grow(void)
{
	struct rlimit before, none;

	getrlimit(RLIMIT_FSIZE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none);
	for (unsigned i = 0; i < 4; i++) {
		loop(hazard_x, ITERATIONS / 4);
		nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
	}
	hazard_print("x", hazard_x);
	setrlimit(RLIMIT_FSIZE, &before);
}

/* Nowhere to write, nothing to find: the root is an empty folder, or where that is not allowed the
 * folder is gone. */
static void nowhere(void)
{
	char path[] = "/tmp/nowhere-XXXXXX";

	if (mkdtemp(path) == NULL || chdir(path) != 0 || rmdir(path) != 0)
		abort();
	if (geteuid() == 0 && chroot(".") != 0)
		abort();
	loop(hazard_x, ITERATIONS);
	hazard_print("x", hazard_x);
}

const struct hazard process_hazards[] = {
	{"vfork_mid_loop", vfork_mid_loop},
	{"fork_threads", fork_threads},
	{"fork_while_starting", fork_while_starting},
	{"daemonise", daemonise},
	{"closed_streams", closed_streams},
	{"closed_files", closed_files},
	{"no_files", no_files},
	{"little_address_space", little_address_space},
	{"limit_of_threads", limit_of_threads},
	{"files_may_not_grow", files_may_not_grow},
	{"nowhere", nowhere},
	{NULL, NULL},
};
