/*
 * What a loop uses of the process's processor time, for as many ops: its periods may have more of
 * them or fewer.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdint.h>

struct reprise_used {
	uint64_t ns, ops;             /* of the process, and of the loop, as told last */
	uint64_t begun_ns, begun_ops; /* the same, where what is compared began */
};

static inline void reprise_used_note(struct reprise_used *used, uint64_t ns, uint64_t ops)
{
	used->ns = ns;
	used->ops = ops;
}

static inline void reprise_used_begin(struct reprise_used *used)
{
	used->begun_ns = used->ns;
	used->begun_ops = used->ops;
}

/* Since then, nanoseconds for a thousand ops. 0 if it is not known. */
static inline uint64_t reprise_used_since(const struct reprise_used *used)
{
	return used->ns > used->begun_ns && used->ops > used->begun_ops
	           ? (used->ns - used->begun_ns) * 1000 / (used->ops - used->begun_ops)
	           : 0;
}
