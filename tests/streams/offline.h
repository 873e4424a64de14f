/* What a search that sees the whole stream finds: the standard that finding is held to. */
#pragma once

#include "opstream.h"

struct offline {
	size_t ops, repeated; /* those in pieces that came before */
	uint64_t host_ns;     /* for issuing all ops: the least that was found; pauses not counted */
};

/* Each lane for itself. Returns false if there is no memory. */
bool offline_search(struct offline *found, const struct opstream *stream, size_t from_op);
