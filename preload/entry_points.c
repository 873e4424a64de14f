#include "entry_points.h"

#include <stddef.h>

#include "../src/lane/doors.h"

#define FORM_PLAIN false
#define FORM_PER_THREAD true

const struct reprise_entry_point reprise_entry_points[REPRISE_ENTRY_COUNT] = {
#define RECORD(name, stream, form) {REPRISE_CLASS_RECORD, stream, FORM_##form, 0},
#define ORDER(name, stream, form) {REPRISE_CLASS_ORDER, stream, FORM_##form, 0},
#define SYNC(name, stream, form, result) {REPRISE_CLASS_SYNC, stream, FORM_##form, 0},
#define LIFETIME(name, what, handle, form, result) \
	{REPRISE_CLASS_LIFETIME, handle, FORM_##form, REPRISE_LIFETIME_##what},
#define OWN(name, stream, form) {REPRISE_CLASS_OWN, stream, FORM_##form, 0},
#define ALLOC(name, stream, form) {REPRISE_CLASS_ALLOC, stream, FORM_##form, 0},
#define PASS(name) {REPRISE_CLASS_PASS, 0, false, 0},
#include "entry_points.def"
};

/* The names one after the other, and where each begins: pointers would cost every process a relocation per name. */
#define RECORD(name, stream, form) char text_##name[sizeof(#name)];
#define ORDER(name, stream, form) char text_##name[sizeof(#name)];
#define SYNC(name, stream, form, result) char text_##name[sizeof(#name)];
#define LIFETIME(name, what, handle, form, result) char text_##name[sizeof(#name)];
#define OWN(name, stream, form) char text_##name[sizeof(#name)];
#define ALLOC(name, stream, form) char text_##name[sizeof(#name)];
#define PASS(name) char text_##name[sizeof(#name)];
struct names {
#include "entry_points.def"
};

#define RECORD(name, stream, form) #name,
#define ORDER(name, stream, form) #name,
#define SYNC(name, stream, form, result) #name,
#define LIFETIME(name, what, handle, form, result) #name,
#define OWN(name, stream, form) #name,
#define ALLOC(name, stream, form) #name,
#define PASS(name) #name,
static const struct names names = {
#include "entry_points.def"
};

#define RECORD(name, stream, form) offsetof(struct names, text_##name),
#define ORDER(name, stream, form) offsetof(struct names, text_##name),
#define SYNC(name, stream, form, result) offsetof(struct names, text_##name),
#define LIFETIME(name, what, handle, form, result) offsetof(struct names, text_##name),
#define OWN(name, stream, form) offsetof(struct names, text_##name),
#define ALLOC(name, stream, form) offsetof(struct names, text_##name),
#define PASS(name) offsetof(struct names, text_##name),
static const uint16_t name_offsets[REPRISE_ENTRY_COUNT] = {
#include "entry_points.def"
};

const char *reprise_entry_name(unsigned int entry)
{
	return (const char *)&names + name_offsets[entry];
}
