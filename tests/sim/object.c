#include "object.h"

#include <sys/mman.h>

#define RANGE ((size_t)16 << 30)
#define GRAIN 64

static char *range;
static size_t used;
static struct sim_object *unused[SIM_KINDS], *newest[SIM_KINDS];
static size_t sizes[SIM_KINDS];
static uint32_t ordinals[SIM_KINDS];
static uint64_t serials;

static struct sim_object *take(enum sim_kind kind, size_t size)
{
	struct sim_object *object = unused[kind];

	if (object) {
		unused[kind] = object->next_free;
		return object;
	}
	if (!range) {
		range = mmap(NULL, RANGE, PROT_READ | PROT_WRITE,
		             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (range == MAP_FAILED)
			sim_misuse("no address space");
	}
	object = (struct sim_object *)(range + used);
	used += (size + GRAIN - 1) / GRAIN * GRAIN;
	if (used > RANGE)
		sim_misuse("too many objects");
	return object;
}

void *sim_object_new(enum sim_kind kind, size_t size)
{
	struct sim_object *object = take(kind, size);

	sizes[kind] = size;
	memset(object, 0, size);
	object->kind = kind;
	object->ordinal = ++ordinals[kind];
	object->serial = ++serials;
	object->is_reprises = sim_self()->reprises;
	object->older = newest[kind];
	if (object->older)
		object->older->newer = object;
	newest[kind] = object;
	return object;
}

void sim_object_free(void *pointer)
{
	struct sim_object *object = pointer;
	enum sim_kind kind = object->kind;

	if (object->older)
		object->older->newer = object->newer;
	if (object->newer)
		object->newer->older = object->older;
	else
		newest[kind] = object->older;
	memset(object, 0, sizes[kind]);
	object->next_free = unused[kind];
	unused[kind] = object;
}

struct sim_object *sim_object_newest(enum sim_kind kind)
{
	return newest[kind];
}

void *sim_object_of(enum sim_kind kind, const void *handle)
{
	uintptr_t offset = (uintptr_t)handle - (uintptr_t)range;
	const struct sim_object *object = handle;

	if (!range || offset >= used || offset % GRAIN || object->kind != kind)
		return NULL;
	return (void *)(uintptr_t)handle;
}
