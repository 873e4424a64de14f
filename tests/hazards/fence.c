/*
 * Host memory of Reprise's that ends the program when it is used after it was freed: blocks that libreprise.so takes, but for small ones, are pages of their own,
 * which nobody may touch once they are given back, and which are never used again.
 *
 *     LD_PRELOAD=libfence.so:libreprise.so program
 */
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST 1024u             /* bytes: less than a trace's block */
#define RESERVED ((size_t)8 << 30)
#define PAGE 4096u

/* The allocator behind, glibc's own. It need not be looked up: dlsym is Reprise's here, and allocates. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void __libc_free(void *memory);

static uintptr_t begin, end; /* of libreprise.so's code */
static unsigned char *pages; /* reserved; the first `taken` bytes have been given out */
static _Atomic size_t taken;

static int find_reprise(struct dl_phdr_info *library, size_t size, void *unused)
{
	const char *name = strrchr(library->dlpi_name, '/');

	(void)size;
	(void)unused;
	if (!name || strcmp(name, "/libreprise.so") != 0)
		return 0;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		if (library->dlpi_phdr[i].p_type != PT_LOAD || !(library->dlpi_phdr[i].p_flags & PF_X))
			continue;
		begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
		end = begin + library->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void set_up(void)
{
	void *reserved = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (reserved == MAP_FAILED)
		abort();
	pages = reserved;
	dl_iterate_phdr(find_reprise, NULL);
}

/* The block's size stands on a page before it. NULL if the caller is not Reprise, or the block is small. */
static void *fenced(size_t bytes, const void *caller)
{
	size_t whole = (bytes + PAGE - 1) / PAGE * PAGE + PAGE, at;

	if ((uintptr_t)caller - begin >= end - begin || bytes < LEAST)
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
	if (mmap(block - PAGE, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
}
