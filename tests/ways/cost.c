/*
 * What the doors cost, for scripts/bench and as a test.
 *
 *   ways-cost                          dlsym of a name that is none of ours, and entry points
 *                                      with nothing deferred, in nanoseconds
 *   ways-cost --start LIBRARY PROGRAM  the start of a program that never uses CUDA, in
 *                                      microseconds: LIBRARY preloaded or not
 *
 * Both sides are measured by turns in this one process: under Reprise, the plain side calls the C
 * library's dlsym and the driver's own functions; without, both sides are the same. For each row:
 * the medians of both, and of the difference within a turn. scripts/costs makes a table of many
 * runs.
 */
#include <dlfcn.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define TURNS 301
#define CALLS 4000

/* By label: what matters is their class. The first has no door; the second, which a driver refuses
 * at once, is a barrier. */
extern unsigned int passed(int *version) __asm__("cuDriverGetVersion");
extern unsigned int barrier(void *function, unsigned int bytes) __asm__("cuParamSetSize");

typedef void *look_up(void *handle, const char *name);
typedef double measure(void *context);

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof(*values), compare);
	return values[TURNS / 2];
}

static void tell(const char *what, const char *unit, measure *once, void *plain, void *under)
{
	static double plain_took[TURNS], under_took[TURNS], more[TURNS];

	for (unsigned int turn = 0; turn < TURNS; turn++) {
		double first = once(turn % 2 == 0 ? plain : under),
			   second = once(turn % 2 == 0 ? under : plain);

		plain_took[turn] = turn % 2 == 0 ? first : second;
		under_took[turn] = turn % 2 == 0 ? second : first;
		more[turn] = under_took[turn] - plain_took[turn];
	}
	printf("cost=%s unit=%s plain=%.2f reprise=%.2f more=%.2f\n", what, unit, median(plain_took),
	       median(under_took), median(more));
}

static double of_look_up(void *context)
{
	look_up *find = (look_up *)context;
	double start = now_ns();

	for (unsigned int i = 0; i < CALLS; i++)
		(void)*(void *volatile *)&(void *){find(RTLD_DEFAULT, "strlen")};
	return (now_ns() - start) / CALLS;
}

static double of_passed(void *context)
{
	__typeof__(passed) *call = (__typeof__(passed) *)context;
	double start = now_ns();
	int version;

	for (unsigned int i = 0; i < CALLS; i++)
		call(&version);
	return (now_ns() - start) / CALLS;
}

static double of_barrier(void *context)
{
	__typeof__(barrier) *call = (__typeof__(barrier) *)context;
	double start = now_ns();

	for (unsigned int i = 0; i < CALLS; i++)
		call(NULL, 0);
	return (now_ns() - start) / CALLS;
}

/* The C library's own, which is in libdl.so.2 before 2.34. */
static look_up *plain_dlsym(void)
{
	void *library = dlopen("libdl.so.2", RTLD_LAZY);
	void *found = library != NULL ? dlvsym(library, "dlsym", "GLIBC_2.2.5") : NULL;

	return (look_up *)(found != NULL
	                       ? found
	                       : dlvsym(dlopen("libc.so.6", RTLD_LAZY), "dlsym", "GLIBC_2.34"));
}

static int tell_doors(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
	look_up *plain = plain_dlsym();

	if (driver == NULL || plain == NULL) {
		fprintf(stderr, "ways-cost: %s\n", dlerror());
		return 1;
	}
	tell("dlsym", "ns", of_look_up, (void *)plain, (void *)dlsym);
	tell("passed", "ns", of_passed, plain(driver, "cuDriverGetVersion"),
	     dlsym(driver, "cuDriverGetVersion"));
	tell("passed-linked", "ns", of_passed, plain(driver, "cuDriverGetVersion"), (void *)passed);
	tell("barrier", "ns", of_barrier, plain(driver, "cuParamSetSize"),
	     dlsym(driver, "cuParamSetSize"));
	tell("barrier-linked", "ns", of_barrier, plain(driver, "cuParamSetSize"), (void *)barrier);
	return 0;
}

struct start {
	const char *program;
	char *environment[2];
};

static double of_start(void *context)
{
	struct start *start = context;
	double begin = now_ns();
	int status = -1;
	pid_t child;

	if (posix_spawn(&child, start->program, NULL, NULL, (char *[]){(char *)start->program, NULL},
	                start->environment) != 0 ||
	    waitpid(child, &status, 0) != child || status != 0) {
		fprintf(stderr, "ways-cost: %s ended with %d\n", start->program, status);
		exit(1);
	}
	return (now_ns() - begin) / 1e3;
}

static int tell_start(const char *library, const char *program)
{
	char preload[4096];
	struct start plain = {program, {NULL}}, under = {program, {preload, NULL}};

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	tell("start", "us", of_start, &plain, &under);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--start") == 0)
		return tell_start(argv[2], argv[3]);
	return argc == 1 ? tell_doors() : 2;
}
