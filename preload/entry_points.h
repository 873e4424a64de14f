/*
 * The table of entry points: as numbers, and where each leads. An entry is a row of
 * entry_points.def, or, from REPRISE_ENTRY_COUNT on, a spare door for a function that the table
 * does not have.
 *
 * An entry's slot in reprise_real is written before its door is handed out, and never changes then.
 *
 * Assembly includes this file too, for the number of spare doors.
 */
#pragma once

/* Spare doors; strict ones (spare.c). */
#define REPRISE_SPARE_DOORS 512
#define REPRISE_SPARE_STRICT_DOORS 64

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

/* Ordered by how much the door does: if two names share an address, the greater class wins. */
enum reprise_class {
	REPRISE_CLASS_NO_DOOR,
	REPRISE_CLASS_ALLOC,
	REPRISE_CLASS_RECORD,
	REPRISE_CLASS_ORDER,
	REPRISE_CLASS_SYNC,
	REPRISE_CLASS_LIFETIME,
	REPRISE_CLASS_OWN,
};

enum reprise_entry {
#define ENTRY(name, ...) REPRISE_ENTRY_##name,
#include "entry_points.def"
	REPRISE_ENTRY_COUNT,
	REPRISE_ENTRY_STRICT = REPRISE_ENTRY_COUNT + REPRISE_SPARE_DOORS,
	REPRISE_DOOR_COUNT = REPRISE_ENTRY_STRICT + REPRISE_SPARE_STRICT_DOORS,
};

struct reprise_entry_point {
	uint8_t class;    /* enum reprise_class */
	uint8_t argument; /* position of the stream or handle, from 1; 0: none */
	bool per_thread;
	uint8_t what; /* enum reprise_sync for SYNC, enum reprise_lifetime for LIFETIME */
	bool waits;   /* may wait for all work of a context or a device */
};

extern const struct reprise_entry_point reprise_entry_points[REPRISE_ENTRY_COUNT];

/* The entry's exported name; `entry` is below REPRISE_ENTRY_COUNT. */
const char *reprise_entry_name(unsigned int entry);

/* The driver's function for every entry, spare doors included; NULL if the driver has none. */
extern void *reprise_real[REPRISE_DOOR_COUNT];

/* Where an exported name leads; NULL until its first call. */
extern void *reprise_exported[REPRISE_ENTRY_COUNT];

/* The distance from each of these words to its entry's door; 0 for NO_DOOR entries, which
 * have none. */
extern const int32_t reprise_door_distances[REPRISE_DOOR_COUNT];

/* The code of the exported names lies between these two. */
extern const char reprise_exported_begin[], reprise_exported_end[];

static inline bool reprise_is_exported(const void *address)
{
	return (const char *)address >= reprise_exported_begin &&
	       (const char *)address < reprise_exported_end;
}

/* A function that answers CUDA_ERROR_NOT_SUPPORTED. */
void reprise_door_missing(void);

/* The address to hand out for `entry`: its door, or the driver's function if there is none. */
void *reprise_door_of(unsigned int entry);

#endif
