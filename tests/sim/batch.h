/* Batches of memory operations: on a stream each is an op of its own, in a graph they are one node.
 */
#pragma once

#include "work.h"

/* Checks the parameters, which are copied. */
CUresult sim_work_batch(struct sim_work **made, struct sim_context *context, unsigned int count,
                        const CUstreamBatchMemOpParams *params, unsigned int flags);

void sim_batch_work_clear(struct sim_work *work);

/* What cuGraphExecBatchMemOpNodeSetParams permits to change. */
bool sim_batch_may_become(const struct sim_work *old, const struct sim_work *wanted);
