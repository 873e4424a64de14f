/*
 * Scanning: whether calls come again. A lane in which none do need not be watched, which takes
 * seven times as long. Each call is known by two hashes: of what stays the same where it is the
 * same call, its grid or size included, and of its form, without them. Four of the first in a row
 * are looked up, and sixteen of the second: a loop may have another grid each time, and a few
 * kernels in random order have the same forms, but not sixteen in a row. Parameters and waits do
 * not count. Calls that come again by chance do: watching tells them apart.
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

#define REPRISE_SCAN_BITS 13
/* Of 64 bits: how far older calls move with each, until they are gone. */
#define REPRISE_SCAN_SHIFT 16
#define REPRISE_SCAN_SHIFT_FORMS 4

/* All zero at first. */
struct reprise_scan {
	_Atomic uint64_t ops;    /* that were only scanned, and not counted yet */
	_Atomic uint64_t recent; /* of the last calls, the latest in the lowest bits */
	_Atomic uint64_t forms;  /* of their forms */
	_Atomic uint32_t score;
	_Atomic uint32_t left; /* calls until the lane backs off if nothing is found */
	_Atomic uint16_t seen[1u << REPRISE_SCAN_BITS]; /* by a hash's high bits: its next ones */
};

struct reprise_scan_key {
	uint64_t whole, form;
};

static inline struct reprise_scan_key reprise_scan_key_of(uint64_t form, uint64_t rest)
{
	struct reprise_scan_key key = {.form = form};

	key.whole = reprise_hash_mix(form, rest);
	return key;
}

static inline struct reprise_scan_key reprise_scan_key_of_kernel(
	CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z)
{
	uint64_t form = reprise_hash_mix((uintptr_t)function,
	                                 block_x ^ (uint64_t)block_y << 16 ^ (uint64_t)block_z << 32);

	return reprise_scan_key_of(form, grid_x ^ (uint64_t)grid_y << 32 ^ (uint64_t)grid_z << 48);
}

/* Of any other op; `what`: its bytes, elements or function. */
static inline struct reprise_scan_key reprise_scan_key_of_kind(enum reprise_op_kind kind,
                                                               uint64_t what)
{
	return reprise_scan_key_of(reprise_hash_mix(kind, 0), what);
}

/* Follows no pointer of the program's. */
static inline struct reprise_scan_key reprise_scan_key(const struct reprise_call *call)
{
	const struct reprise_call_kernel *kernel = &call->kernel;

	switch (call->kind) {
	case REPRISE_OP_KERNEL:
		return reprise_scan_key_of_kernel(kernel->function, kernel->grid[0], kernel->grid[1],
		                                  kernel->grid[2], kernel->block[0], kernel->block[1],
		                                  kernel->block[2]);
	case REPRISE_OP_COPY:
		return reprise_scan_key_of_kind(call->kind, call->copy.bytes);
	case REPRISE_OP_SET:
		return reprise_scan_key_of_kind(call->kind, call->set.width);
	case REPRISE_OP_HOST:
		return reprise_scan_key_of_kind(call->kind, (uintptr_t)call->host.function);
	default:
		return reprise_scan_key_of_kind(call->kind, 0);
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

/* The calls before, with one more. */
static inline uint64_t reprise_scan_add(_Atomic uint64_t *before, unsigned int shift, uint64_t key)
{
	uint64_t all = (atomic_load_explicit(before, memory_order_relaxed) << shift) + key;

	atomic_store_explicit(before, all, memory_order_relaxed);
	return all;
}

/* True if the calls came before. Notes them. */
static inline bool reprise_scan_knows(struct reprise_scan *scan, uint64_t calls)
{
	uint64_t hash = calls * 0x9e3779b97f4a7c15u;
	uint16_t rest = (uint16_t)(hash >> (64 - REPRISE_SCAN_BITS - 16));
	_Atomic uint16_t *seen = &scan->seen[hash >> (64 - REPRISE_SCAN_BITS)];

	if (atomic_load_explicit(seen, memory_order_relaxed) == rest)
		return true;
	atomic_store_explicit(seen, rest, memory_order_relaxed);
	return false;
}

/* Notes a call. True if enough of the last ones came before. */
static inline bool reprise_scan_note(struct reprise_scan *scan, struct reprise_scan_key key)
{
	uint64_t recent = reprise_scan_add(&scan->recent, REPRISE_SCAN_SHIFT, key.whole),
			 forms = reprise_scan_add(&scan->forms, REPRISE_SCAN_SHIFT_FORMS, key.form);
	uint32_t score = atomic_load_explicit(&scan->score, memory_order_relaxed);
	bool known = reprise_scan_knows(scan, recent);

	if (reprise_scan_knows(scan, ~forms) || known)
		score += score < REPRISE_TUNE_SCAN_MOST ? REPRISE_TUNE_SCAN_AGAIN : 0;
	else
		score -= score > 0;
	atomic_store_explicit(&scan->score, score, memory_order_relaxed);
	return score >= REPRISE_TUNE_SCAN_FOUND;
}

/* A call is only scanned. True if it need not be looked at: there have not been enough, and nothing
 * was found. Counts it. */
static inline bool reprise_scan_passes(struct reprise_scan *scan, struct reprise_scan_key key)
{
	if (reprise_scan_found(scan)) /* with this call, which has been noted */
		return false;
	if (!reprise_scan_goes_on(scan) || reprise_scan_note(scan, key))
		return false;
	atomic_store_explicit(&scan->ops, atomic_load_explicit(&scan->ops, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
	return true;
}
