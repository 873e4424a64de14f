/*
 * Which hashes came before. A small table: what came longest ago is forgotten first, and two hashes
 * may be taken for one; so at worst a trace is made too many.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_HASH_SET_ROW_BITS 11 /* 8192 hashes: several of the longest periods */
#define REPRISE_HASH_SET_ROW 4

struct reprise_hash_entry {
	uint32_t hash;
	uint32_t segment; /* in which it came first */
};

struct reprise_hash_set {
	struct reprise_hash_entry rows[1u << REPRISE_HASH_SET_ROW_BITS][REPRISE_HASH_SET_ROW];
};

/* Where the hash is noted, or else the sight that would give way to it. */
static inline struct reprise_hash_entry *reprise_hash_set_find(struct reprise_hash_set *seen,
                                                               uint64_t hash, uint32_t segment)
{
	struct reprise_hash_entry
		*row = seen->rows[hash * 0x9e3779b97f4a7c15u >> (64 - REPRISE_HASH_SET_ROW_BITS)],
		*oldest = row;

	for (struct reprise_hash_entry *sight = row; sight < row + REPRISE_HASH_SET_ROW; sight++) {
		if (sight->hash == (uint32_t)hash)
			return sight;
		if (segment - sight->segment > segment - oldest->segment)
			oldest = sight;
	}
	return oldest;
}

/* Whether it came before this segment: what is new may well come several times in a row. */
static inline bool reprise_hash_set_has(struct reprise_hash_set *seen, uint64_t hash,
                                        uint32_t segment)
{
	const struct reprise_hash_entry *sight = reprise_hash_set_find(seen, hash, segment);

	return sight->hash == (uint32_t)hash && sight->segment != segment;
}

/* The same, and notes it. */
static inline bool reprise_hash_set_note(struct reprise_hash_set *seen, uint64_t hash,
                                         uint32_t segment)
{
	struct reprise_hash_entry *sight = reprise_hash_set_find(seen, hash, segment);

	if (sight->hash == (uint32_t)hash)
		return sight->segment != segment;
	*sight = (struct reprise_hash_entry){(uint32_t)hash, segment};
	return false;
}
