#include "gpu.h"

#include "../virtual/costs.h"

void gpu_run(struct gpu *gpu, unsigned int lane, uint64_t ops, uint64_t graphs, uint64_t now_ns)
{
	uint64_t *free_ns = &gpu->free_ns[lane];

	if (ops == 0)
		return;
	if (*free_ns < now_ns)
		*free_ns = now_ns;
	*free_ns += ops * gpu->op_ns + (graphs > 0 ? graphs * COST_BORDER : ops * COST_ALONE);
}

uint64_t gpu_wait_ns(const struct gpu *gpu, unsigned int lane, uint64_t now_ns)
{
	uint64_t until = now_ns;

	for (unsigned int i = 0; i < OPSTREAM_LANES; i++)
		if ((i == lane || lane == OPSTREAM_NO_LANE) && gpu->free_ns[i] > until)
			until = gpu->free_ns[i];
	return until - now_ns;
}

void gpu_hurry(struct gpu *gpu, uint64_t ns)
{
	for (unsigned int i = 0; i < OPSTREAM_LANES; i++)
		gpu->free_ns[i] -= gpu->free_ns[i] < ns ? gpu->free_ns[i] : ns;
}
