/* The memory of the program: what is put back before each schedule, its heap, and its thread-local
 * variables. The heap gives nothing out twice, so that the use of freed memory is seen. */
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inner.h"

#define HEAP_BYTES (64 << 20)
#define UNIT 16      /* bytes; all blocks are multiples of it */
#define FILLING 0xa5 /* of new blocks */

/* In memory that is not put back. The pointer to it never changes. */
static struct own {
	unsigned char *data, *kept_data; /* writable data of the program */
	size_t data_bytes;
	unsigned char *heap, *kept_heap, *freed, *kept_freed; /* a byte for each unit */
	size_t used, used_by_setup;
	unsigned char *variables, *fresh_variables, *kept_variables;
	size_t variables_bytes;
} * own;

void *__real_malloc(size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *block);

void *memory_own(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return pages;
}

/* Of the program itself, the first one that is told of. */
static int look_at_program(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	uintptr_t begin = 0, end = 0, read_only = 0;

	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
			begin = at;
			end = at + part->p_memsz;
		} else if (part->p_type == PT_GNU_RELRO) {
			read_only = (at + part->p_memsz + 4095) & ~(uintptr_t)4095;
		} else if (part->p_type == PT_TLS) {
			own->variables = info->dlpi_tls_data;
			own->variables_bytes = part->p_memsz;
		}
	}
	own->data = (unsigned char *)(read_only > begin && read_only < end ? read_only : begin);
	own->data_bytes = end - (uintptr_t)own->data;
	return 1;
}

void memory_begin(void)
{
	own = memory_own(sizeof(*own));
	dl_iterate_phdr(look_at_program, NULL);
	own->kept_data = memory_own(own->data_bytes);
	own->fresh_variables = memory_own(own->variables_bytes + 1);
	own->kept_variables = memory_own(own->variables_bytes + 1);
	own->freed = memory_own(HEAP_BYTES / UNIT);
	own->kept_freed = memory_own(HEAP_BYTES / UNIT);
	own->kept_heap = memory_own(HEAP_BYTES);
	variables_save(own->fresh_variables);
	own->heap = memory_own(HEAP_BYTES);
}

void memory_keep(void)
{
	own->used_by_setup = own->used;
	memcpy(own->kept_data, own->data, own->data_bytes);
	memcpy(own->kept_heap, own->heap, own->used);
	memcpy(own->kept_freed, own->freed, own->used / UNIT);
	variables_save(own->kept_variables);
}

void memory_put_back(void)
{
	memcpy(own->data, own->kept_data, own->data_bytes);
	memcpy(own->heap, own->kept_heap, own->used_by_setup);
	memcpy(own->freed, own->kept_freed, own->used_by_setup / UNIT);
	memset(own->freed + own->used_by_setup / UNIT, 0, (own->used - own->used_by_setup) / UNIT);
	own->used = own->used_by_setup;
	variables_load(own->kept_variables);
}

size_t memory_kept(void)
{
	return own->data_bytes + own->used_by_setup;
}

size_t variables_bytes(void)
{
	return own->variables_bytes + 1;
}

void variables_save(unsigned char *to)
{
	memcpy(to, own->variables, own->variables_bytes);
}

void variables_load(const unsigned char *from)
{
	memcpy(own->variables, from, own->variables_bytes);
}

void variables_fresh(unsigned char *to)
{
	memcpy(to, own->fresh_variables, own->variables_bytes);
}

/* ---- the heap ---- */

static bool is_of_heap(const volatile void *block)
{
	return own != NULL && own->heap != NULL && (const unsigned char *)block >= own->heap &&
	       (const unsigned char *)block < own->heap + HEAP_BYTES;
}

static size_t unit_of(const volatile void *address)
{
	return (size_t)((const unsigned char *)address - own->heap) / UNIT;
}

void memory_check(const volatile void *address, size_t bytes)
{
	if (is_of_heap(address) && own->freed[unit_of(address)] != 0)
		schedule_fail("memory is used that was freed");
}

/* The size of a block stands before it. */
static size_t *size_of(void *block)
{
	return (size_t *)block - 1;
}

static void *take(size_t alignment, size_t bytes)
{
	size_t at = (own->used + UNIT + alignment - 1) / alignment * alignment;

	if (at + bytes + UNIT > HEAP_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	own->used = (at + bytes + UNIT - 1) / UNIT * UNIT;
	*size_of(own->heap + at) = bytes;
	memset(own->heap + at, FILLING, bytes);
	return own->heap + at;
}

void *__wrap_malloc(size_t bytes)
{
	return own == NULL || own->heap == NULL ? __real_malloc(bytes) : take(UNIT, bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	void *block = __wrap_malloc(count * bytes);

	return block == NULL ? NULL : memset(block, 0, count * bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return take(alignment < UNIT ? UNIT : alignment, bytes);
}

void __wrap_free(void *block)
{
	if (block == NULL)
		return;
	if (!is_of_heap(block)) {
		__real_free(block);
		return;
	}
	if (own->freed[unit_of(block)] != 0)
		schedule_fail("memory is freed twice");
	memset(own->freed + unit_of(block), 1, (*size_of(block) + UNIT - 1) / UNIT);
}

void *__wrap_realloc(void *block, size_t bytes)
{
	void *other = __wrap_malloc(bytes);

	if (block == NULL || other == NULL)
		return other;
	memcpy(other, block, *size_of(block) < bytes ? *size_of(block) : bytes);
	__wrap_free(block);
	return other;
}
