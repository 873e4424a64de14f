/*
 * What the recorder writes down. The file is mapped and shared, so that it is whole however the
 * process ends; the end of it is zeros. A line takes its place by adding to `used`. `mutex` guards
 * the growth of the file, and so its opening.
 */
#include "record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIMIT ((size_t)1 << 34) /* of addresses, not of memory */
#define STEP ((size_t)1 << 20)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *lines; /* LIMIT addresses, of which `room` are the file's */
static atomic_size_t room;
static atomic_size_t used; /* by lines; beyond `room` for as long as the file grows */
static atomic_bool off;    /* there is no SIM_RECORD */
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

			errno =
				size <= LIMIT ? posix_fallocate(file, (off_t)(size - STEP), (off_t)STEP) : EFBIG;
			if (errno != 0)
				give_up("the record cannot grow");
			atomic_store_explicit(&room, size, memory_order_release);
		}
	}
	pthread_mutex_unlock(&mutex);
	errno = error;
	return !atomic_load(&off);
}

char *record_put_number(char *at, unsigned int number)
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

void record_write(const char *name, size_t length, unsigned int result)
{
	char line[RECORD_LONGEST_NAME + 24], *end;
	size_t size, at;

	if (atomic_load_explicit(&off, memory_order_relaxed))
		return;
	end = record_put_number(line, thread);
	*end++ = ' ';
	memcpy(end, name, length);
	end += length;
	*end++ = ' ';
	end = record_put_number(end, result);
	*end++ = '\n';
	size = (size_t)(end - line);
	at = atomic_fetch_add_explicit(&used, size, memory_order_relaxed);
	if (at + size <= atomic_load_explicit(&room, memory_order_acquire) || grow(at + size))
		memcpy(lines + at, line, size);
}

void record_thread(void)
{
	if (thread == 0)
		thread = atomic_fetch_add(&threads, 1) + 1;
}

bool record_thread_has_number(void)
{
	return thread != 0;
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
