/* Hashes that came before. The table is small: the hash noted longest ago is forgotten first, and
 * two hashes may be taken for one. At worst a trace too many is made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_HASH_SET_ROW_BITS 11 /* 8192 hashes: several of the longest periods */
#define REPRISE_HASH_SET_ROW 4

struct reprise_hash_entry {
	uint32_t hash;
	uint32_t segment; /* in which it was noted */
};

struct reprise_hash_set {
	struct reprise_hash_entry rows[1u << REPRISE_HASH_SET_ROW_BITS][REPRISE_HASH_SET_ROW];
};

/* The entry of the hash, or else the one to replace. */
static inline struct reprise_hash_entry *reprise_hash_set_find(struct reprise_hash_set *set,
                                                               uint64_t hash, uint32_t segment)
{
	struct reprise_hash_entry
		*row = set->rows[hash * 0x9e3779b97f4a7c15u >> (64 - REPRISE_HASH_SET_ROW_BITS)],
		*oldest = row;

	for (struct reprise_hash_entry *entry = row; entry < row + REPRISE_HASH_SET_ROW; entry++) {
		if (entry->hash == (uint32_t)hash)
			return entry;
		if (segment - entry->segment > segment - oldest->segment)
			oldest = entry;
	}
	return oldest;
}

/* True if the hash came before this segment. A new one may repeat within one segment. */
static inline bool reprise_hash_set_has(struct reprise_hash_set *set, uint64_t hash,
                                        uint32_t segment)
{
	const struct reprise_hash_entry *entry = reprise_hash_set_find(set, hash, segment);

	return entry->hash == (uint32_t)hash && entry->segment != segment;
}

/* The same; also notes the hash. */
static inline bool reprise_hash_set_note(struct reprise_hash_set *set, uint64_t hash,
                                         uint32_t segment)
{
	struct reprise_hash_entry *entry = reprise_hash_set_find(set, hash, segment);

	if (entry->hash == (uint32_t)hash)
		return entry->segment != segment;
	*entry = (struct reprise_hash_entry){(uint32_t)hash, segment};
	return false;
}
