/*
 * Host memory that runs out for Reprise alone: malloc, calloc, realloc and aligned_alloc return
 * NULL on demand where libreprise.so calls them.
 *
 *     LD_PRELOAD=libhostmemory.so:libreprise.so HOST_MEMORY_FAIL=WHEN program
 *
 * WHEN is N (the N-th allocation, from 1), every=N (each N-th) or from-N (the N-th and each later
 * one). Everybody else gets memory. All is set up by the constructor, and only read afterwards;
 * allocations are counted over all threads.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocators.h"
#include "code.h"

static unsigned long first, last = (unsigned long)-1, every = 1;
static _Atomic unsigned long allocations;

__attribute__((constructor)) static void set_up(void)
{
	static const char refused[] = "HOST_MEMORY_FAIL: expected N, every=N or from-N\n";
	const char *text = getenv("HOST_MEMORY_FAIL");

	if (!text)
		return;
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
	count = atomic_fetch_add(&allocations, 1) + 1;
	if (count < first || count > last || (count - first) % every != 0)
		return false;
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
