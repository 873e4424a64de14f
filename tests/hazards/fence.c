/*
 * Host memory of Reprise's that ends the program when it is used after it was freed: blocks that
 * libreprise.so takes, but for small ones, are pages of their own, which nobody may touch once they
 * are given back, and which are never used again.
 *
 *     LD_PRELOAD=libfence.so:libreprise.so program
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code.h"

#define LEAST 1024u /* bytes: less than a trace's block */
#define RESERVED ((size_t)8 << 30)
#define PAGE 4096u

/* The allocator behind, glibc's own. It need not be looked up: dlsym is Reprise's here, and
 * allocates. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void __libc_free(void *memory);

static unsigned char *pages; /* reserved; the first `taken` bytes have been given out */
static _Atomic size_t taken;

__attribute__((constructor)) static void set_up(void)
{
	void *reserved =
		mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (reserved == MAP_FAILED)
		abort();
	pages = reserved;
	code_find();
}

/* The block's size stands on a page before it. NULL if the caller is not Reprise, or the block is
 * small. */
static void *fenced(size_t bytes, const void *caller)
{
	size_t whole = (bytes + PAGE - 1) / PAGE * PAGE + PAGE, at;

	if (!code_has(caller) || bytes < LEAST)
		return NULL;
	at = atomic_fetch_add(&taken, whole);
	if (at + whole > RESERVED || mprotect(pages + at, whole, PROT_READ | PROT_WRITE) != 0)
		abort();
	memcpy(pages + at, &whole, sizeof(whole));
	return pages + at + PAGE;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
	void *memory = fenced(bytes, __builtin_return_address(0));

	return memory ? memory : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
	void *memory = fenced(count * bytes, __builtin_return_address(0));

	return memory ? memory : __libc_calloc(count, bytes);
}

__attribute__((visibility("default"))) void free(void *memory)
{
	unsigned char *block = memory;
	size_t whole;

	if (!pages || (uintptr_t)block - (uintptr_t)pages >= RESERVED) {
		__libc_free(memory);
		return;
	}
	memcpy(&whole, block - PAGE, sizeof(whole));
	if (mmap(block - PAGE, whole, PROT_NONE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
}
