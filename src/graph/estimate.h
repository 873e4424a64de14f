/*
 * The ledger: what executable graphs take of the devices' memory, and whether there is room for one
 * more (REPRISE_MEMORY).
 *
 * No call of the driver's tells what a graph takes. So the free memory is read around the building
 * of some, and what all of these took together is divided by their nodes: the driver takes memory
 * in blocks, for many graphs at a time, and the program takes and gives back its own meanwhile, so
 * that a single reading means little. Readings that no graph can have caused are not counted.
 *
 * Written by the building thread, or while it is paused; read by anybody.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reading around one build; `free` is what was free before. */
struct reprise_estimate_reading {
	size_t free;
	bool taken;
};

/* The context of the graph is current. Not every build is read: that would take as long as
 * building. */
struct reprise_estimate_reading reprise_estimate_read_before(void);
void reprise_estimate_read_after(const struct reprise_estimate_reading *before, unsigned int nodes);

/* A graph of so many nodes was made; was destroyed. */
void reprise_estimate_add(unsigned int nodes);
void reprise_estimate_remove(unsigned int nodes);

/* Whether a graph of so many nodes would stay within the limit, beside those that there are. */
bool reprise_estimate_has_room(unsigned int nodes);

/* Bytes: what a node takes, by what was read so far, and what all graphs take. */
uint64_t reprise_estimate_node_bytes(void);
uint64_t reprise_estimate_bytes(void);
/* The most that they ever took, by what was known of nodes then. */
uint64_t reprise_estimate_most(void);

/* Counts one reading: `taken` bytes less were free after building `nodes` nodes. */
void reprise_estimate_note(int64_t taken, unsigned int nodes);

/* After fork, in the child: there are no graphs. */
void reprise_estimate_reset(void);
