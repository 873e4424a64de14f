/*
 * Scanning: whether calls come again, by a hash of each four in a row. A lane in which none do need
 * not be watched, which takes six times as long, and backs off. Parameters and waits do not count,
 * and calls that come again by chance do: watching tells them apart.
 *
 * Any thread may scan at any time, without a lock. Two may overwrite each other's notes; then it
 * takes a few calls more until something is found.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/tuning.h"
#include "op/call.h"

#define REPRISE_SCAN_BITS 12
#define REPRISE_SCAN_SHIFT 16 /* of 64 bits: four calls */

/* All zero at first. */
struct reprise_scan {
	_Atomic uint64_t ops;    /* that were only scanned, and not counted yet */
	_Atomic uint64_t recent; /* of the last calls, the latest in the lowest bits */
	_Atomic uint32_t score;
	_Atomic uint32_t left; /* calls until the lane backs off if nothing is found */
	_Atomic uint16_t seen[1u << REPRISE_SCAN_BITS]; /* by a hash's high bits: its next ones */
};

/* A hash of what stays the same when a call comes again: function and grid, or kind and size.
 * Follows no pointer of the program's. */
static inline uint64_t reprise_scan_of(const struct reprise_call *call)
{
	const struct reprise_call_kernel *kernel = &call->kernel;

	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		return reprise_hash_mix(reprise_hash_mix((uintptr_t)kernel->function,
		                                         kernel->grid[0] ^ (uint64_t)kernel->grid[1] << 32),
		                        kernel->grid[2] ^ (uint64_t)kernel->block[0] << 32 ^
		                            (uint64_t)kernel->block[1] << 42 ^
		                            (uint64_t)kernel->block[2] << 52);
	case REPRISE_OP_COPY:
		return reprise_hash_mix(call->kind, call->copy.bytes);
	case REPRISE_OP_SET:
		return reprise_hash_mix(call->kind, call->set.width);
	case REPRISE_OP_HOST:
		return reprise_hash_mix(call->kind, (uintptr_t)call->host.function);
	default:
		return reprise_hash_mix(call->kind, 0);
	}
}

static inline bool reprise_scan_found(const struct reprise_scan *scan)
{
	return atomic_load_explicit(&scan->score, memory_order_relaxed) >= REPRISE_TUNE_SCAN_FOUND;
}

/* The score begins at 0 again. The table stays, so what comes again is found however far apart two
 * scans are. */
static inline void reprise_scan_forget_score(struct reprise_scan *scan)
{
	atomic_store_explicit(&scan->score, 0, memory_order_relaxed);
}

/* REPRISE_TUNE_SCAN_SPAN calls are scanned, if nothing is found before. */
static inline void reprise_scan_begin(struct reprise_scan *scan)
{
	atomic_store_explicit(&scan->left, REPRISE_TUNE_SCAN_SPAN, memory_order_relaxed);
}

/* A call is scanned. False if there have been enough. */
static inline bool reprise_scan_goes_on(struct reprise_scan *scan)
{
	uint32_t left = atomic_load_explicit(&scan->left, memory_order_relaxed);

	if (left == 0)
		return false;
	atomic_store_explicit(&scan->left, left - 1, memory_order_relaxed);
	return true;
}

/* Notes a call. True if enough of the last ones came before. */
static inline bool reprise_scan_note(struct reprise_scan *scan, const struct reprise_call *call)
{
	uint64_t recent =
				 (atomic_load_explicit(&scan->recent, memory_order_relaxed) << REPRISE_SCAN_SHIFT) +
				 reprise_scan_of(call),
			 hash = recent * 0x9e3779b97f4a7c15u;
	uint32_t score = atomic_load_explicit(&scan->score, memory_order_relaxed);
	uint16_t rest = (uint16_t)(hash >> (64 - REPRISE_SCAN_BITS - 16));
	_Atomic uint16_t *seen = &scan->seen[hash >> (64 - REPRISE_SCAN_BITS)];

	atomic_store_explicit(&scan->recent, recent, memory_order_relaxed);
	if (atomic_load_explicit(seen, memory_order_relaxed) == rest) {
		score += score < REPRISE_TUNE_SCAN_MOST ? REPRISE_TUNE_SCAN_AGAIN : 0;
	} else {
		atomic_store_explicit(seen, rest, memory_order_relaxed);
		score -= score > 0;
	}
	atomic_store_explicit(&scan->score, score, memory_order_relaxed);
	return score >= REPRISE_TUNE_SCAN_FOUND;
}
