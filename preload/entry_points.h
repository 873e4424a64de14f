/*
 * The table of entry points as numbers. An entry is a row of entry_points.def, or, from
 * REPRISE_ENTRY_COUNT on, a spare door for a function that the table does not have.
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

#endif
