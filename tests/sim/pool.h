/* Memory pools: the default one of each device, and those that programs create. */
#pragma once

#include "object.h"

struct sim_pool {
	struct sim_object object;
	CUdevice device;
	bool is_default;
	bool destroyed; /* the handle is refused; what was allocated from it may still be freed */
	cuuint64_t release_threshold;
	int reuse[3]; /* CU_MEMPOOL_ATTR_REUSE_*, in order */
	cuuint64_t used, used_high;
	cuuint64_t most; /* bytes; 0: as many as there are */
};

/* Memory of the pool has been freed. */
void sim_pool_returned(struct sim_pool *pool, size_t bytes);
