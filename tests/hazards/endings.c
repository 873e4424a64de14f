/* The process: forks, other programs, plugins, and the ways in which it ends. */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hazard.h"

/* A hot loop, and half a chain that nobody waits for. */
static void leave_pending(void)
{
	CUstream stream;

	hazard_set_up();
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (iteration == 20 || iteration == 40)
			hazard_settle(stream);
	}
	hazard_print("x", hazard_x);
	fflush(stdout);
	for (unsigned i = 0; i < CHAIN / 2; i++)
		hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, hazard_x, i * 7 + 1, stream);
}

static void end_by_exit(void)
{
	exit(7);
}

static void end_at_once(void)
{
	_exit(8);
}

static void end_by_signal(void)
{
	kill(getpid(), SIGTERM);
	pause();
}

/* Processes end with work deferred, in four ways: children, one after another, and this one by
 * return. What had to be visible was waited for. */
static void exit_pending(void)
{
	static void (*const ends[])(void) = {end_by_exit, end_at_once, end_by_signal};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0) {
			leave_pending();
			ends[i]();
		}
		waitpid(child, &status, 0);
		printf("child ended with %#x\n", (unsigned)status);
		fflush(stdout);
	}
	leave_pending();
}

/* Forks before CUDA is used; then both use it. */
static void fork_before_init(void)
{
	pid_t child = fork();
	CUstream stream;
	int status = 0;

	hazard_set_up();
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	if (child != 0) {
		waitpid(child, &status, 0);
		printf("child ended with %d\n", status);
	}
	hazard_print(child != 0 ? "parent" : "child", hazard_x);
}

static volatile uint32_t *seen; /* pinned memory */
static uint32_t at_fork;
static pid_t parent;

/* In the child, after what others registered later. */
static void look(void)
{
	if (getpid() != parent && *seen != at_fork)
		printf("the child did work of its parent's\n");
}

/* A child of fork that ends at once, by exit. */
static void fork_and_exit(void)
{
	pid_t child;
	int status = 0;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		at_fork = *seen; /* here nobody else is at work on it */
		exit(5);
	}
	waitpid(child, &status, 0);
	if (WEXITSTATUS(status) != 5)
		printf("the child ended with %#x\n", (unsigned)status);
}

/* A process is forked, or another program started, while ops are deferred. */
static void fork_exec_mid_loop(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr mapped;
	void *memory;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, memory, 0));
	CHECK(cuMemsetD32(mapped, 1, WORDS));
	CHECK(cuCtxSynchronize());
	seen = memory;
	parent = getpid();
	atexit(look);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			hazard_launch(hazard_mix, mapped, i, stream);
			if (i == CHAIN / 2 && iteration % 300 == 77 && system("true") != 0)
				printf("true was false\n");
			if (i == CHAIN / 2 && iteration % 100 == 78)
				fork_and_exit();
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", mapped);
}

/*
 * A plugin that is linked with the driver comes and goes: with its own copy of everything that it
 * passed to the driver, and with work deferred, which its destructor sees to.
 */
static void dlclose_plugin(void)
{
	char path[4096], *end;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);

	path[length > 0 ? length : 0] = '\0';
	end = strrchr(path, '/');
	strcpy(end != NULL ? end : path, "/libhazardplugin.so");
	for (unsigned round = 0; round < 25; round++) {
		void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void (*work)(CUmodule module, CUdeviceptr x, CUdeviceptr y, unsigned round,
		             void (*settle)(CUstream stream));

		if (plugin == NULL) {
			printf("%s\n", dlerror());
			return;
		}
		*(void **)&work = dlsym(plugin, "hazard_plugin_work");
		work(hazard_module, hazard_x, hazard_y, round, hazard_settle);
		dlclose(plugin);
	}
	hazard_print("x", hazard_x);
}

const struct hazard ending_hazards[] = {
	{"exit_pending", exit_pending},
	{"fork_before_init", fork_before_init},
	{"fork_exec_mid_loop", fork_exec_mid_loop},
	{"dlclose_plugin", dlclose_plugin},
	{NULL, NULL},
};
