/*
 * Host memory that runs out for Reprise alone: malloc, calloc, realloc, aligned_alloc, strdup,
 * strndup and mmap fail on demand where libreprise.so calls them.
 *
 *     LD_PRELOAD=libhostmemory.so:libreprise.so HOST_MEMORY_FAIL=WHEN program
 *
 * WHEN is N (the N-th allocation, from 1), every=N (each N-th) or from-N (the N-th and each later
 * one). Everybody else gets memory. All is set up by the constructor, and only read afterwards;
 * allocations are counted over all threads.
 *
 * HOST_MEMORY_COUNT=FILE: three numbers of eight bytes: how many allocations there were, how many
 * of
 * them failed, and to where in libreprise.so the last of these returned. The file is mapped: they are
 * there however the process ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allocators.h"
#include "code.h"

static unsigned long first, last = (unsigned long)-1, every = 1;

static struct counts {
	_Atomic uint64_t allocations, refused, site;
} here, *counts = &here;

static void count_in(const char *path)
{
	static const char words[] = "HOST_MEMORY_COUNT: the file cannot be written\n";
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	counts = MAP_FAILED;
	if (file >= 0 && ftruncate(file, sizeof(*counts)) == 0)
		counts = (struct counts *)syscall(SYS_mmap, NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
		                                  MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		_exit(write(STDERR_FILENO, words, sizeof(words) - 1) < 0 ? 70 : 64);
	close(file);
}

__attribute__((constructor)) static void set_up(void)
{
	static const char refused[] = "HOST_MEMORY_FAIL: expected N, every=N or from-N\n";
	const char *text = getenv("HOST_MEMORY_FAIL");

	if (getenv("HOST_MEMORY_COUNT")) {
		count_in(getenv("HOST_MEMORY_COUNT"));
		code_find();
		first = last = (unsigned long)-1;
	}
	if (!text)
		return;
	last = (unsigned long)-1;
	if (strncmp(text, "every=", 6) == 0)
		first = every = strtoul(text + 6, NULL, 10);
	else if (strncmp(text, "from-", 5) == 0)
		first = strtoul(text + 5, NULL, 10);
	else
		first = last = strtoul(text, NULL, 10);
	if (first == 0)
		_exit(write(STDERR_FILENO, refused, sizeof(refused) - 1) < 0 ? 70 : 64);
	code_find();
}

static bool fails(const void *caller)
{
	unsigned long count;

	if (!code_has(caller))
		return false;
	count = atomic_fetch_add(&counts->allocations, 1) + 1;
	if (count < first || count > last || (count - first) % every != 0)
		return false;
	atomic_fetch_add(&counts->refused, 1);
	atomic_store(&counts->site, (uintptr_t)caller - code_base);
	errno = ENOMEM;
	return true;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : behind_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : behind_calloc(count, bytes);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : behind_realloc(memory, bytes);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : behind_aligned_alloc(alignment, bytes);
}

__attribute__((visibility("default"))) char *strndup(const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	char *copy = fails(__builtin_return_address(0)) ? NULL : behind_malloc(length + 1);

	if (copy)
		*(char *)mempcpy(copy, text, length) = '\0';
	return copy;
}

__attribute__((visibility("default"))) char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = fails(__builtin_return_address(0)) ? NULL : behind_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* Of files as large as there are: libreprise.so calls it mmap64, and so does this. */
__attribute__((visibility("default"))) void *mmap(void *address, size_t bytes, int protection,
                                                  int flags, int file, off_t offset)
{
	return fails(__builtin_return_address(0))
	           ? MAP_FAILED
	           : (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}
