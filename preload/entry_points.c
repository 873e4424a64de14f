#include "entry_points.h"

#include <stddef.h>

#include "base/placement.h"
#include "entry/entry.h"

#define FORM_PLAIN false
#define FORM_PER_THREAD true
#define RESULT_UNCHECKED false
#define RESULT_CHECKED false
#define RESULT_WAITS true

const struct reprise_entry_point reprise_entry_points[REPRISE_ENTRY_COUNT] = {
#define RECORD(name, stream, form, takes) {REPRISE_CLASS_RECORD, stream, FORM_##form, 0, false},
#define ORDER(name, stream, form, takes) {REPRISE_CLASS_ORDER, stream, FORM_##form, 0, false},
#define SYNC(name, what, stream, form, result, takes) \
	{REPRISE_CLASS_SYNC, stream, FORM_##form, REPRISE_SYNC_##what, RESULT_##result},
#define LIFETIME(name, what, handle, form, result, takes) \
	{REPRISE_CLASS_LIFETIME, handle, FORM_##form, REPRISE_LIFETIME_##what, RESULT_##result},
#define OWN(name, stream, form, takes) {REPRISE_CLASS_OWN, stream, FORM_##form, 0, false},
#define ALLOC(name, stream, form, takes) {REPRISE_CLASS_ALLOC, stream, FORM_##form, 0, false},
#define NO_DOOR(name, ...) {REPRISE_CLASS_NO_DOOR, 0, false, 0, false},
#include "entry_points.def"
};

/* All names in one block, and an offset for each: pointers would cost every process one relocation
 * per name. */
#define ENTRY(name, ...) char text_##name[sizeof(#name)];
struct names {
#include "entry_points.def"
};

#define ENTRY(name, ...) #name,
static const struct names names = {
#include "entry_points.def"
};

#define ENTRY(name, ...) offsetof(struct names, text_##name),
static const uint16_t name_offsets[REPRISE_ENTRY_COUNT] = {
#include "entry_points.def"
};

const char *reprise_entry_name(unsigned int entry)
{
	return (const char *)&names + name_offsets[entry];
}

void *reprise_real[REPRISE_DOOR_COUNT] REPRISE_HOT_DATA;
void *reprise_exported[REPRISE_ENTRY_COUNT];

void *reprise_door_of(unsigned int entry)
{
	const int32_t *distance = &reprise_door_distances[entry];

	return *distance != 0 ? (char *)distance + *distance
	                      : __atomic_load_n(&reprise_real[entry], __ATOMIC_RELAXED);
}
