/*
 * librecord.so: writes down the calls of the driver API that the program itself makes, with their results. It is preloaded
 * before libreprise.so, or alone: LD_PRELOAD=librecord.so:libreprise.so. Reprise calls the driver past it.
 *
 * Every function of cuda.h is forwarded to the next definition of its name, and then a line is added to the file that SIM_RECORD
 * names:
 *
 *   THREAD NAME RESULT        threads are numbered from 1 in order of their first call
 *
 * The lines of one thread are in the order in which its calls returned. The file is mapped and shared, so that it is whole
 * however the process ends; the end of it is zeros. A file that is there already is another process's, of which this one is the
 * child or the successor: then, and after a fork, the name is SIM_RECORD.PID.
 *
 * What the program gets from cuGetProcAddress is recorded as well; what it gets from dlsym with the driver's own handle is not.
 *
 * A line takes its place by adding to `used`. `mutex` guards the growth of the file, and so its opening.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record_calls.h"

#define LIMIT ((size_t)1 << 34) /* of addresses, not of memory */
#define STEP ((size_t)1 << 20)

enum {
	LONGEST_NAME = 100,
	LONGEST_LINE = LONGEST_NAME + 24,
};

enum call {
#define ANY(name, parameters, arguments) CALL_##name,
	RECORD_CALLS(ANY, ANY)
#undef ANY
	CALL_COUNT,
};

struct function {
	const char *name;
	void *own;
};

#define ANY(name, parameters, arguments) _Static_assert(sizeof(#name) <= LONGEST_NAME, #name);
RECORD_CALLS(ANY, ANY)
#undef ANY

static const struct function forwarded[CALL_COUNT] = {
#define ANY(name, parameters, arguments) {#name, (void *)name},
	RECORD_CALLS(ANY, ANY)
#undef ANY
};

static void *_Atomic next[CALL_COUNT];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *lines;           /* LIMIT addresses, of which `room` are the file's */
static atomic_size_t room;
static atomic_size_t used;    /* by lines; beyond `room` for as long as the file grows */
static atomic_bool off;       /* there is no SIM_RECORD */
static int file = -1;
static bool forked;

static atomic_uint threads;
static _Thread_local unsigned int thread;

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "librecord.so: %s: %s\n", what, strerror(errno));
	abort();
}

static int open_file(const char *path)
{
	char own[PATH_MAX];
	int found = -1;

	if (!forked)
		found = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (found < 0 && (forked || errno == EEXIST)) {
		snprintf(own, sizeof(own), "%s.%d", path, (int)getpid());
		found = open(own, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	}
	if (found < 0)
		give_up(path);
	return found;
}

/* With the mutex held; returns false if nothing is to be recorded. */
static bool start(void)
{
	const char *path = getenv("SIM_RECORD");

	if (path == NULL || path[0] == '\0') {
		atomic_store(&off, true);
		return false;
	}
	file = open_file(path);
	lines = mmap(NULL, LIMIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (lines == MAP_FAILED || madvise(lines, LIMIT, MADV_DONTFORK) != 0)
		give_up(path);
	return true;
}

static bool grow(size_t end)
{
	int error = errno; /* the program's */

	pthread_mutex_lock(&mutex);
	if (file >= 0 || start()) {
		while (atomic_load_explicit(&room, memory_order_relaxed) < end) {
			size_t size = atomic_load_explicit(&room, memory_order_relaxed) + STEP;

			errno = size <= LIMIT ? posix_fallocate(file, (off_t)(size - STEP), (off_t)STEP) : EFBIG;
			if (errno != 0)
				give_up("the record cannot grow");
			atomic_store_explicit(&room, size, memory_order_release);
		}
	}
	pthread_mutex_unlock(&mutex);
	errno = error;
	return !atomic_load(&off);
}

static char *put_number(char *at, unsigned int number)
{
	char digits[10];
	unsigned int count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

static void write_down(const char *name, size_t length, CUresult result)
{
	char line[LONGEST_LINE], *end;
	size_t size, at;

	if (atomic_load_explicit(&off, memory_order_relaxed))
		return;
	end = put_number(line, thread);
	*end++ = ' ';
	memcpy(end, name, length);
	end += length;
	*end++ = ' ';
	end = put_number(end, (unsigned int)result);
	*end++ = '\n';
	size = (size_t)(end - line);
	at = atomic_fetch_add_explicit(&used, size, memory_order_relaxed);
	if (at + size <= atomic_load_explicit(&room, memory_order_acquire) || grow(at + size))
		memcpy(lines + at, line, size);
}

/* The child's only thread is its first. */
static void begin_child(void)
{
	pthread_mutex_init(&mutex, NULL);
	if (file >= 0)
		close(file);
	file = -1;
	lines = NULL; /* by MADV_DONTFORK the addresses are not the child's */
	atomic_store(&room, 0);
	atomic_store(&used, 0);
	atomic_store(&threads, 0);
	thread = 0;
	forked = true;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

/* The next definition of a name, or NULL. Under Reprise it is the door that cuGetProcAddress hands out too. */
static void *find_next(enum call call)
{
	void *address = atomic_load_explicit(&next[call], memory_order_acquire);

	if (address == NULL) {
		address = dlsym(RTLD_NEXT, forwarded[call].name);
		atomic_store_explicit(&next[call], address, memory_order_release);
	}
	return address;
}

/* Stands for what this cuda.h declares and the driver has not. */
static CUresult missing(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

static void *enter(enum call call)
{
	void *address = find_next(call);

	if (thread == 0)
		thread = atomic_fetch_add(&threads, 1) + 1;
	return address != NULL ? address : (void *)missing;
}

/* The recorder's own function where `address` is the next definition of a form of `symbol`. */
static void *own_of(const char *symbol, void *address)
{
	size_t length = strlen(symbol);

	for (enum call call = 0; call < CALL_COUNT; call++) {
		const char *name = forwarded[call].name;

		if (strncmp(name, symbol, length) == 0 && (name[length] == '\0' || name[length] == '_') && find_next(call) == address)
			return forwarded[call].own;
	}
	return address;
}

#define FORWARD(name, parameters, arguments, ...) \
	__attribute__((visibility("default"))) CUresult name parameters \
	{ \
		CUresult record_result = ((__typeof__(&name))enter(CALL_##name)) arguments; \
\
		__VA_ARGS__ \
		write_down(#name, sizeof(#name) - 1, record_result); \
		return record_result; \
	}
#define CALL(name, parameters, arguments) FORWARD(name, parameters, arguments, )
#define LOOKUP(name, parameters, arguments) \
	FORWARD(name, parameters, arguments, if (record_result == CUDA_SUCCESS && *pfn != NULL) *pfn = own_of(symbol, *pfn);)
RECORD_CALLS(CALL, LOOKUP)
