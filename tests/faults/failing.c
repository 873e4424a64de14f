/*
 * Driver calls of Reprise's that fail: put before those that libreprise.so makes for itself, in its
 * table of driver functions (src/driver/driver.h). The program's own calls, which doors pass on, go
 * past this.
 *
 *     LD_PRELOAD=librecord.so:libfailing.so:libreprise.so FAILING_AT=LOAD,TABLE FAILING_CALLS=FILE
 *         FAILING=WHOSE:NAME:N=ERROR program
 *
 * LOAD and TABLE are where reprise_driver_load() and reprise_driver are in libreprise.so, as nm
 * tells. WHOSE says which calls of that name are counted: `own`, or `issued`, the program's ops
 * that Reprise issues in its place: those whose stream and event are none that Reprise made. The
 * N-th, from 1, fails once. What it does besides is said by the sign behind the error:
 *
 *     none   nothing: the call has no effect (but 901 invalidates the thread's capture)
 *     +      it does what it is asked for, and answers the error
 *     !      it has no effect, and the current context is broken, as by an earlier kernel that failed
 *
 * FILE has a row (struct row) for each name and place in libreprise.so from which it was called:
 * how often, and how often it failed there. It is mapped, so that nothing is lost however the
 * process ends, and shared with forked ones.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/functions.h"
#include "fault_calls.h"

#define ROWS 1024
#define HANDLES 4096
#define LONGEST_NAME 47

/* As scripts/lib/faults.py reads it. */
struct row {
	char name[LONGEST_NAME + 1]; /* WHOSE:NAME */
	uint64_t site;               /* the return address, from the start of the library */
	uint64_t calls, struck;
};

enum form { BEFORE, AFTER, BREAKING };

enum call {
#define ANY(name, ...) CALL_##name,
	FAULT_CALLS(ANY, ANY, ANY, ANY, ANY)
#undef ANY
		CALL_COUNT,
};

/* The layout of src/driver/driver.h, whose header declares what this cuda.h declares otherwise. */
struct table {
#define X(name) __typeof__(name) *name;
	REPRISE_DRIVER_FUNCTIONS(X, X)
#undef X
};

static struct table real, *table;
static struct row *rows;
static uintptr_t base;
static unsigned long counts[CALL_COUNT][2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of `counts` */
static void *handles[HANDLES];                           /* streams and events of Reprise's */
static size_t handle_count;

static struct {
	const char *name; /* NULL: nothing fails */
	bool issued;
	unsigned long n;
	CUresult error;
	enum form form;
} failing;

/* Of the simulated driver. */
__attribute__((weak)) bool sim_fault_cause(CUresult error, bool breaks);

__attribute__((weak)) void sim_fault_reprises(bool begins);
__attribute__((weak)) void sim_fault_carries(CUstream to, CUstream from);

static bool is_own(void *handle)
{
	for (size_t i = 0; i < handle_count; i++)
		if (handles[i] == handle)
			return true;
	return false;
}

static void made(void *handle)
{
	pthread_mutex_lock(&lock);
	if (handle_count == HANDLES)
		abort();
	handles[handle_count++] = handle;
	pthread_mutex_unlock(&lock);
}

static void ended(void *handle)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < handle_count; i++)
		if (handles[i] == handle)
			handles[i--] = handles[--handle_count];
	pthread_mutex_unlock(&lock);
}

static struct row *row_of(const char *name, bool issued, uint64_t site)
{
	char whole[LONGEST_NAME + 1];

	strcat(strcpy(whole, issued ? "issued:" : "own:"), name);
	for (struct row *row = rows; row < rows + ROWS; row++) {
		if (row->name[0] == '\0') {
			row->site = site;
			strcpy(row->name, whole);
		}
		if (row->site == site && strcmp(row->name, whole) == 0)
			return row;
	}
	abort();
}

/* Counts the call. True if it is to fail. */
static bool fails(enum call call, const char *name, void *stream, void *event, bool is_op,
                  const void *from)
{
	bool issued, strikes;
	struct row *row;

	pthread_mutex_lock(&lock);
	issued = is_op && !is_own(stream) && !is_own(event);
	row = row_of(name, issued, (uintptr_t)from - base);
	row->calls++;
	strikes = ++counts[call][issued] == failing.n && failing.name && issued == failing.issued &&
	          strcmp(name, failing.name) == 0;
	row->struck += strikes;
	pthread_mutex_unlock(&lock);
	return strikes;
}

/* Whether the call is made all the same. */
static bool cause(void)
{
	return failing.form == AFTER ||
	       (sim_fault_cause && sim_fault_cause(failing.error, failing.form == BREAKING));
}

static void carries(CUstream to, CUstream from)
{
	if (sim_fault_carries)
		sim_fault_carries(to, from);
}

static void reprises(bool begins)
{
	if (sim_fault_reprises)
		sim_fault_reprises(begins);
}

/* `after` is done with what is answered. */
#define FAILING(name, parameters, arguments, is_op, stream, event, after) \
	static CUresult failing_##name parameters \
	{ \
		bool strikes = fails(CALL_##name, #name, (void *)(stream), (void *)(event), is_op, \
		                     __builtin_return_address(0)); \
		CUresult result = CUDA_SUCCESS; \
\
		if (strikes && !cause()) { \
			result = failing.error; \
			after; \
			return result; \
		} \
		reprises(true); \
		result = real.name arguments; \
		reprises(false); \
		after; \
		return strikes ? failing.error : result; \
	}
#define CALL(name, parameters, arguments) FAILING(name, parameters, arguments, false, NULL, NULL, )
#define OP(name, parameters, arguments, stream, event) \
	FAILING(name, parameters, arguments, true, stream, event, )
#define MAKE(name, parameters, arguments, handle) \
	FAILING(name, parameters, arguments, false, NULL, NULL, \
	        if (result == CUDA_SUCCESS) made((void *)*(handle)))
#define END(name, parameters, arguments, handle) \
	FAILING(name, parameters, arguments, false, NULL, NULL, \
	        if (result == CUDA_SUCCESS) ended((void *)(uintptr_t)(handle)))
/* Whose op is captured on the stream is known all the same. */
#define COPY(name, parameters, arguments, to, from) \
	FAILING(name, parameters, arguments, false, NULL, NULL, carries(to, from))
FAULT_CALLS(CALL, OP, MAKE, END, COPY)
#undef CALL
#undef OP
#undef MAKE
#undef END
#undef COPY

static int look(struct dl_phdr_info *library, size_t size, void *unused)
{
	const char *name = strrchr(library->dlpi_name, '/');

	(void)size;
	(void)unused;
	if (!name || strcmp(name, "/libreprise.so") != 0)
		return 0;
	base = library->dlpi_addr;
	return 1;
}

static _Noreturn void refuse(const char *words)
{
	_exit(write(STDERR_FILENO, words, strlen(words)) < 0 ? 70 : 64);
}

static void read_failing(void)
{
	char *text = getenv("FAILING"), *end;

	if (!text || !*text)
		return;
	text = strdup(text);
	failing.issued = strncmp(text, "issued:", 7) == 0;
	failing.name = strchr(text, ':');
	end = failing.name ? strchr(++failing.name, ':') : NULL;
	if (!end)
		refuse("FAILING: expected WHOSE:NAME:N=ERROR\n");
	*end = '\0';
	failing.n = strtoul(end + 1, &end, 10);
	failing.error = *end == '=' ? (CUresult)strtoul(end + 1, &end, 10) : CUDA_SUCCESS;
	failing.form = *end == '+' ? AFTER : *end == '!' ? BREAKING : BEFORE;
	if (failing.n == 0 || failing.error == CUDA_SUCCESS)
		refuse("FAILING: expected WHOSE:NAME:N=ERROR\n");
}

static void map_rows(void)
{
	const char *path = getenv("FAILING_CALLS");
	int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (file < 0 || ftruncate(file, ROWS * sizeof(*rows)) != 0)
		refuse("FAILING_CALLS: the file cannot be written\n");
	rows = mmap(NULL, ROWS * sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (rows == MAP_FAILED)
		refuse("FAILING_CALLS: the file cannot be mapped\n");
	close(file);
}

/* Before Reprise starts: its table is filled, which it then finds done. */
__attribute__((constructor)) static void set_up(void)
{
	char *at = getenv("FAILING_AT");
	bool (*load)(void);

	dl_iterate_phdr(look, NULL);
	if (base == 0)
		return;
	if (!at)
		refuse("FAILING_AT: expected LOAD,TABLE\n");
	load = (bool (*)(void))(base + strtoul(at, &at, 16));
	table = (struct table *)(base + strtoul(at + 1, NULL, 16));
	read_failing();
	map_rows();
	if (!load())
		refuse("failing: there is no driver\n");
	real = *table;
#define ANY(name, ...) \
	if (real.name) \
		table->name = failing_##name;
	FAULT_CALLS(ANY, ANY, ANY, ANY, ANY)
#undef ANY
}
