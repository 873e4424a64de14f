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

#define PAGE 4096
#define PARTS 2
#define LOOK_FIRST 20 /* after each of the first schedules */
#define LOOK_EVERY 500

enum { CLEAN, WRITTEN, ALWAYS };

/* A part of memory that is put back. */
struct part {
	unsigned char *begin, *kept;
	size_t bytes;
	unsigned char *pages; /* CLEAN, WRITTEN by this schedule, or ALWAYS put back */
	uint32_t *list;       /* the numbers of those that are put back */
	unsigned int count;
};

/* In memory that is not put back. The pointer to it never changes. */
static struct own {
	unsigned char *data, *kept_data; /* writable data of the program */
	size_t data_bytes;
	unsigned char *heap, *kept_heap, *freed, *kept_freed; /* a byte for each unit */
	size_t used, used_by_setup;
	bool frees; /* a schedule has freed a block of setup()'s */
	struct part parts[PARTS];
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
	own->parts[0] =
		(struct part){.begin = own->data, .kept = own->kept_data, .bytes = own->data_bytes};
	own->parts[1] = (struct part){.begin = own->heap, .kept = own->kept_heap, .bytes = own->used};
	for (unsigned int i = 0; i < PARTS; i++) {
		struct part *part = &own->parts[i];

		memcpy(part->kept, part->begin, part->bytes);
		part->pages = memory_own(part->bytes / PAGE + 1);
		part->list = memory_own((part->bytes / PAGE + 1) * sizeof(*part->list));
	}
	memcpy(own->kept_freed, own->freed, own->used / UNIT);
	variables_save(own->kept_variables);
}

/* ---- pages that a schedule has written: only these are put back ---- */

static size_t bytes_of(const struct part *part, size_t page)
{
	return part->bytes - page * PAGE < PAGE ? part->bytes - page * PAGE : PAGE;
}

void memory_note_write(const volatile void *address, size_t bytes)
{
	for (unsigned int i = 0; i < PARTS; i++) {
		struct part *part = &own->parts[i];
		size_t first = (size_t)((uintptr_t)address - (uintptr_t)part->begin), last;

		if (first >= part->bytes)
			continue;
		last = (first + bytes - 1) / PAGE;
		for (size_t page = first / PAGE; page <= last && page * PAGE < part->bytes; page++) {
			if (part->pages[page] != CLEAN)
				continue;
			part->pages[page] = WRITTEN;
			part->list[part->count++] = (uint32_t)page;
		}
	}
}

static void put_back(struct part *part)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < part->count; i++) {
		uint32_t page = part->list[i];

		memcpy(part->begin + page * PAGE, part->kept + page * PAGE, bytes_of(part, page));
		if (part->pages[page] == ALWAYS)
			part->list[kept++] = page;
		else
			part->pages[page] = CLEAN;
	}
	part->count = kept;
}

/* What functions of the C library write is not noted. It is looked for now and then: such a page is
 * put back each time from then on, and the schedules since are run again. */
static void look_for_others(struct part *part)
{
	for (size_t page = 0; page * PAGE < part->bytes; page++) {
		if (part->pages[page] == ALWAYS ||
		    memcmp(part->begin + page * PAGE, part->kept + page * PAGE, bytes_of(part, page)) == 0)
			continue;
		if (part->pages[page] == CLEAN) {
			scheduler->grew = true;
			part->list[part->count++] = (uint32_t)page;
			part->pages[page] = ALWAYS;
		}
	}
}

void memory_put_back(void)
{
	if (scheduler->schedules % LOOK_EVERY == 0 || scheduler->schedules < LOOK_FIRST)
		for (unsigned int i = 0; i < PARTS; i++)
			look_for_others(&own->parts[i]);
	for (unsigned int i = 0; i < PARTS; i++)
		put_back(&own->parts[i]);
	if (own->frees)
		memcpy(own->freed, own->kept_freed, own->used_by_setup / UNIT);
	own->frees = false;
	memset(own->freed + own->used_by_setup / UNIT, 0,
	       (own->used - own->used_by_setup + UNIT - 1) / UNIT);
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
	own->frees = own->frees || unit_of(block) < own->used_by_setup / UNIT;
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
