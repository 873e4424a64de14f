/*
 * The memory estimate: what executable graphs take of device memory, and whether there is room for
 * more (REPRISE_MEMORY).
 *
 * The driver does not tell what a graph takes. So the free memory is read before and after some
 * builds, and the sum of the differences is divided by the nodes built. A single reading means
 * little: the driver takes memory in blocks for many graphs, and the program allocates and frees
 * meanwhile. Readings that no graph can have caused are dropped.
 *
 * Written by the builder, or while it is paused; read by any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reading around one build; `free`: bytes free before it. */
struct reprise_estimate_reading {
	size_t free;
	bool taken;
};

/* The graph's context must be current. Only some builds are read: reading is as slow as
 * building. */
struct reprise_estimate_reading reprise_estimate_read_before(void);
void reprise_estimate_read_after(const struct reprise_estimate_reading *before, unsigned int nodes);

/* A graph of so many nodes was built; was destroyed. */
void reprise_estimate_add(unsigned int nodes);
void reprise_estimate_remove(unsigned int nodes);

/* True if a graph of so many nodes, beside the existing ones, stays within the limit. */
bool reprise_estimate_has_room(unsigned int nodes);

/* Estimated bytes: of a node, and of all graphs. */
uint64_t reprise_estimate_node_bytes(void);
uint64_t reprise_estimate_bytes(void);
/* The most that all graphs ever took, as estimated then. */
uint64_t reprise_estimate_most(void);

/* Adds a reading: `taken` bytes less were free after building `nodes` nodes. */
void reprise_estimate_note(int64_t taken, unsigned int nodes);

/* After fork, in the child: there are no graphs, and there never were any. */
void reprise_estimate_reset(void);
