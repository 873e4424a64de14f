/* Contexts, errors that end a context, and the process. */
#include "hazard.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void body_by_kernel(CUfunction kernel, struct mirror *mirror, CUstream stream,
                           uint32_t first)
{
	for (uint32_t k = 0; k < BODY; k++) {
		uint32_t argument = first + k;

		CHECK_DRIVER(cuLaunchKernel(kernel, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                            (void *[]){&mirror->device, &argument}, NULL));
		mirror_mixed(mirror, argument);
	}
}

/* The same loop in two contexts, pushed and popped. */
static void second_context(void)
{
	struct mirror here, there;
	cudaStream_t stream, stream_there;
	CUcontext context, popped;
	cudaKernel_t kernel;

	mirror_init(&here);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGetKernel(&kernel, kernel_mix));
	CHECK_DRIVER(cuCtxCreate(&context, NULL, 0, 0));
	mirror_init(&there);
	CHECK_DRIVER(cuStreamCreate(&stream_there, CU_STREAM_NON_BLOCKING));
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		body_by_kernel((CUfunction)kernel, &here, stream, 0);
		CHECK_DRIVER(cuCtxPushCurrent(context));
		body_by_kernel((CUfunction)kernel, &there, stream_there, 0);
		if (trap_at(i))
			body_by_kernel((CUfunction)kernel, &there, stream_there, i);
		CHECK_DRIVER(cuCtxPopCurrent(&popped));
		if (trap_at(i))
			body_by_kernel((CUfunction)kernel, &here, stream, i);
		CHECK_DRIVER(cuStreamSynchronize(stream));
		if (i % 3 == 0) {
			CHECK_DRIVER(cuCtxPushCurrent(context));
			CHECK_DRIVER(cuStreamSynchronize(stream_there));
			CHECK_DRIVER(cuCtxPopCurrent(&popped));
		}
	}
	mirror_verify(&here, ITERATIONS);
	CHECK_DRIVER(cuCtxPushCurrent(context));
	CHECK_DRIVER(cuStreamSynchronize(stream_there));
	mirror_verify(&there, ITERATIONS);
	CHECK_DRIVER(cuStreamDestroy(stream_there));
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	CHECK_DRIVER(cuCtxDestroy(context));
	body_by_kernel((CUfunction)kernel, &here, stream, 7);
	mirror_verify(&here, ITERATIONS + 1);
}

static void hot_loop(unsigned iterations)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < iterations; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i))
			mirror_mix(&mirror, i, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, iterations);
}

/* The device is reset in mid-loop, with work under way, and everything begins again. */
static void device_reset(void)
{
	for (unsigned round = 0; round < 3; round++) {
		struct mirror mirror;
		cudaStream_t stream;

		hot_loop(HOT);
		mirror_init(&mirror);
		CHECK(cudaStreamCreate(&stream));
		for (unsigned i = 0; i < HOT; i++) {
			mirror_body(&mirror, stream);
			CHECK(cudaStreamSynchronize(stream));
		}
		mirror_body(&mirror, stream);
		CHECK(cudaDeviceReset());
	}
	hot_loop(HOT);
}

static void trap_in_body(struct mirror *mirror, bool trap, cudaStream_t stream)
{
	for (uint32_t k = 0; k < BODY; k++) {
		uint32_t argument = trap && k == 5 ? TRAP : k;

		/* Launches behind the fault may see it already. */
		(void)cudaLaunchKernel(kernel_trap, (dim3){1, 1, 1}, (dim3){WORDS, 1, 1},
		                       (void *[]){&mirror->device, &argument}, 0, stream);
	}
}

static void kernel_traps(void)
{
	hot_until_fault(trap_in_body);
}

/* A fork before the first CUDA call: both sides work. */
static void fork_before_init(void)
{
	int status = -1;
	pid_t child = fork();

	EXPECT(child >= 0, "no fork");
	if (!child) {
		hazard_deadline(25);
		hot_loop(ITERATIONS);
		_exit(42);
	}
	hot_loop(ITERATIONS);
	EXPECT(waitpid(child, &status, 0) == child, "the child is lost");
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 42, "the child ended with status %#x",
	       (unsigned)status);
}

/* What the command prints goes to stderr. */
static int run_and_wait(char *const *command)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	EXPECT(!posix_spawn(&child, command[0], &actions, NULL, command, environ), "cannot start %s",
	       command[0]);
	posix_spawn_file_actions_destroy(&actions);
	EXPECT(waitpid(child, &status, 0) == child, "the child is lost");
	return status;
}

/* Other programs are started in mid-loop, with work under way. */
static void fork_exec_mid_loop(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	unsigned started = 0;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i) && started++ < 5)
			EXPECT(run_and_wait((char *[]){"/bin/true", NULL}) == 0,
			       "iteration %u: /bin/true failed", i);
		mirror_mix(&mirror, 3, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/*
 * The child of exit_pending: a hot loop, and then one more round, which nobody waits for. "linger"
 * gives it the time that work may be held at most, a hundredfold and more, and then ends without
 * any clean-up; the parent looks at the shared page.
 */
static void end_with_work_pending(const char *how, const char *path)
{
	struct mirror mirror;
	cudaStream_t stream;
	int file = open(path, O_RDWR);
	uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), last = HOT + 1;

	EXPECT(page != MAP_FAILED, "cannot map %s", path);
	if (cudaHostRegister(page, 4096, cudaHostRegisterMapped) != cudaSuccess)
		hazard_skip("shared memory cannot be registered");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (uint32_t i = 1; i <= last; i++) {
		mirror_body(&mirror, stream);
		launch(kernel_publish, 1, 1, (void *[]){&page, &i}, stream);
		if (i < last)
			CHECK(cudaStreamSynchronize(stream));
	}
	if (!strcmp(how, "linger")) {
		usleep(100000);
		_exit(42);
	}
	if (!strcmp(how, "_exit"))
		_exit(42);
	if (!strcmp(how, "exit"))
		exit(42);
	if (!strcmp(how, "signal"))
		raise(SIGTERM);
}

/* The program ends with work pending: by return from main, exit, _exit, a signal. */
static void exit_pending(void)
{
	static const struct {
		char *how;
		int status;
	} ways[] = {
		{"return", 0},       {"exit", 42 << 8},   {"_exit", 42 << 8},
		{"signal", SIGTERM}, {"linger", 42 << 8},
	};
	char path[] = "/dev/shm/exit_pending_XXXXXX", self[4096] = "";

	if (hazard_arguments[0]) {
		end_with_work_pending(hazard_arguments[0], hazard_arguments[1]);
		return;
	}
	int file = mkstemp(path);
	if (file < 0 || ftruncate(file, 4096) || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		hazard_skip("no shared memory file");
	uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		*page = 0;
		hazard_deadline(30);
		int status = run_and_wait((char *[]){self, "exit_pending", ways[i].how, path, NULL});
		uint32_t reached = *(volatile uint32_t *)page;

		if (status == 77 << 8) {
			unlink(path);
			hazard_skip("its child was skipped");
		}
		if (status != ways[i].status || reached < HOT ||
		    (!strcmp(ways[i].how, "linger") && reached != HOT + 1)) {
			unlink(path);
			hazard_fail(__FILE__, __LINE__,
			            "%s: status %#x, not %#x; iteration %u of %d was reached", ways[i].how,
			            (unsigned)status, (unsigned)ways[i].status, reached, HOT + 1);
		}
	}
	unlink(path);
}

const struct hazard lifetime_hazards[] = {
	{"second_context", second_context},
	{"device_reset", device_reset},
	{"kernel_traps", kernel_traps},
	{"fork_before_init", fork_before_init},
	{"fork_exec_mid_loop", fork_exec_mid_loop},
	{"exit_pending", exit_pending},
	{NULL, NULL},
};
